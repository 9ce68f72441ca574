"""Expected utility, semivariance, which is one too, and the value of cumulative prospect theory."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.arms.quadrature import DOUBT, Tail, beyond, integrals
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.base.parameters import Parameter
from prudent.compile.types import helper, kernel
from prudent.confidence.fixed_n import band_bounds, mean_bounds
from prudent.risk.base import RiskMeasure, risks, total


class ExpectedUtility(RiskMeasure):
    """−E u(X), a cost. A subclass writes u as `utility`; it must not decrease, so that larger rewards never cost more.

    Intervals: Hoeffding and empirical Bernstein on u(X), which lies in [u(low), u(high)]. Assumes independent rewards
    in [low, high], and that u is finite there; otherwise the interval is as wide as the range of −u.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from prudent import ExpectedUtility
    >>> @dataclass(frozen=True)
    ... class Own(ExpectedUtility):
    ...     name = "own"
    ...     def utility(self, x):
    ...         return np.sqrt(x)
    >>> round(Own().cost("uniform(0, 1)"), 3)
    -0.667
    """

    moment: ClassVar[str] = "expected utility"
    quasiconcave: ClassVar = True

    @abstractmethod
    def utility(self, x: Array) -> Array:
        """u(x), element by element."""

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        return 0.0 - law.expectation(self.utility, self.moment)

    def weigh(self, values: Array, weights: Array) -> float:
        return 0.0 - total(weights * self.utility(values))

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        gains, ends = self.utility(rewards), self.utility(np.array([low, high]))
        least, most = mean_bounds(pulls, gains.mean(), gains.var(), failure, ends[0], ends[1])
        return 0.0 - most, 0.0 - least


@risks.add("exponential-utility")
@dataclass(frozen=True)
class ExponentialUtility(ExpectedUtility):
    """u(x) = (1 − e^(−λx))/λ: constant absolute aversion λ to risk [Pratt64].

    It ranks laws as `entropic` does. Assumes independent rewards in [low, high] for its intervals.

    Examples
    --------
    >>> from prudent import ExponentialUtility
    >>> round(ExponentialUtility(lam=1).cost("gaussian(1.0, 0.25)"), 3)
    -0.583
    """

    lam: float = 1.0

    grows: ClassVar = {"lam": -1}

    def utility(self, x: Array) -> Array:
        return -np.expm1(-self.lam * x) / self.lam

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        # The logarithm of the moment is known where the moment is too large for the integral.
        exponent = law.log_laplace(self.lam)
        if exponent > 700.0:
            raise PrudentError(
                f"{self.name}: the cost of {law} is e^{exponent:.0f}, too large for a float; take entropic"
            )
        return math.expm1(exponent) / self.lam


@risks.add("loss-averse")
@dataclass(frozen=True)
class LossAverse(ExpectedUtility):
    """u(x) = x − reference, and `aversion` times that for a loss; 2.25 is the median of [Tversky92].

    Assumes independent rewards in [low, high] for its intervals.

    Examples
    --------
    >>> from prudent import LossAverse
    >>> round(LossAverse(aversion=2.25).cost("gaussian(1.0, 0.25)"), 3)
    -0.995
    """

    aversion: float = 2.25
    reference: float = 0.0

    grows: ClassVar = {"reference": 1}
    own_parameters: ClassVar = {
        "aversion": Parameter(1.0, math.inf, "high", "how much more a loss hurts than a gain pleases"),
        "reference": Parameter(-math.inf, math.inf, "high", ""),
    }

    def utility(self, x: Array) -> Array:
        gain = x - self.reference
        return np.minimum(gain, self.aversion * gain)


@risks.add("semivariance")
@dataclass(frozen=True)
class Semivariance(ExpectedUtility):
    """E[(target − X)⁺²], a cost (chapter 9 of [Markowitz59]): only rewards below the target count.

    Assumes independent rewards in [low, high] for its intervals; `high` may be infinite.

    Examples
    --------
    >>> from prudent import Semivariance
    >>> round(Semivariance(target=0.5).cost("gaussian(1.0, 0.25)"), 3)
    0.019
    """

    target: float = 0.0

    moment = "second moment below the target"
    grows: ClassVar = {"target": 1}
    own_parameters: ClassVar = {"target": Parameter(-math.inf, math.inf, "high", "")}

    def utility(self, x: Array) -> Array:
        return -(np.maximum(self.target - x, 0.0) ** 2)


@helper
def weighted(p: Any, rest: Any, eta: float) -> Any:
    """p^η/(p^η + (1 − p)^η)^(1/η), where `rest` is 1 − p with all digits: a share of 1e-17 has a weight that counts."""
    rare = p**eta
    return rare / (rare + rest**eta) ** (1.0 / eta)


@risks.add("cpt")
@dataclass(frozen=True)
class CPT(RiskMeasure):
    """Minus the value of cumulative prospect theory [Tversky92], a cost.

    It is ∫ w⁻(P(v > z)) dz − ∫ w⁺(P(u > z)) dz over z from 0, with u = ((X − reference)⁺)^curvature of gains and
    v = aversion · ((reference − X)⁺)^curvature of losses.
    Probabilities are weighted by p^η/(p^η + (1 − p)^η)^(1/η), η = `gains` for w⁺ and `losses` for w⁻: rare events count
    more than they should. The defaults are the medians of that paper. Curvature, aversion and η of 1 give minus the
    mean. Intervals: the Dvoretzky–Kiefer–Wolfowitz band, because the cost falls as rewards move up. Assumes
    independent rewards in [low, high].

    Examples
    --------
    >>> from prudent import CPT
    >>> round(CPT().cost("gaussian(1.0, 0.25)"), 3)
    -0.837
    """

    curvature: float = 0.88
    aversion: float = 2.25
    gains: float = 0.61
    losses: float = 0.69
    reference: float = 0.0

    weight: ClassVar = Parameter(0.28, 1.0, "", "a smaller η gives rare events more weight, 1 their probability")
    grows: ClassVar = {"reference": 1}
    own_parameters: ClassVar = {
        "curvature": Parameter(0.0, 1.0, "low", "1 counts gains as they are, less counts large ones less"),
        "aversion": Parameter(0.0, math.inf, "low high", "how much more a loss hurts than a gain pleases"),
        "gains": weight,
        "losses": weight,
        "reference": Parameter(-math.inf, math.inf, "low high", "rewards above it are gains, those below are losses"),
    }

    def cost(self, law: Law | str) -> float:
        law = arms.make(self.name, law)
        if (atoms := law.atoms()) is not None:
            return float(self.weigh(*atoms))
        (gained, best), (lost, worst) = self._side(law, True), self._side(law, False)
        size = np.abs(gained).sum() + np.abs(lost).sum() + abs(best.rest) + abs(worst.rest)
        if not math.isfinite(size):
            why = f"{law} has no finite expected utility under these weights"
            raise PrudentError(f"{self.name}: {why}; its tails are too heavy")
        if best.doubt + worst.doubt > DOUBT * size:
            fix = "take a measure that gives them less weight, such as cvar"
            raise PrudentError(f"{self.name}: the cost of {law} rests on rewards too rare for floats; {fix}")
        return self.aversion * math.fsum([*lost, worst.rest]) - math.fsum([*gained, best.rest])

    def _side(self, law: Law, upper: bool) -> tuple[Array, Tail]:
        """The weighted value of gains, or that of losses, in pieces, and what lies beyond the last edge."""
        sign, eta = (1.0, self.gains) if upper else (-1.0, self.losses)
        worth = np.maximum(sign * (law.edges() - self.reference), 0.0) ** self.curvature
        worth = np.unique(np.append(0.0, worth))
        # Values are unit·(e^t − 1): on t tails that are powers fall exponentially, and others faster.
        unit = float(np.median(worth[1:])) if len(worth) > 1 else 1.0

        def weight(t: Array) -> Array:
            distance = (unit * np.expm1(t)) ** (1.0 / self.curvature)
            below, above = law.masses(self.reference + sign * distance)
            p, rest = (above, below) if upper else (below, above)
            return np.asarray(weighted(p, rest, eta) * unit * np.exp(t))

        steps = np.log1p(worth / unit)
        bounded = math.isfinite(law.support[upper])
        pieces = integrals(weight, steps)
        return pieces, Tail(0.0, 0.0) if bounded or len(steps) < 2 else beyond(weight, float(steps[-1]) * (1.0 + 1e-9))

    def weigh(self, values: Array, weights: Array) -> float:
        worth = prospect(values, weights, self.curvature, self.aversion, self.gains, self.losses, self.reference)
        return 0.0 - worth

    def bounds(
        self, pulls: int, mean: float, variance: float, rewards: Array, failure: float, low: float, high: float
    ) -> tuple[float, float]:
        return band_bounds(self, pulls, rewards, failure, low, high)


@kernel
def prospect(
    values: Array, weights: Array, curvature: float, aversion: float, gains: float, losses: float, reference: float
) -> float:
    """The value of the law that gives each of the ascending values its weight; by parts, so that equal values count as
    one."""
    up_to, from_on = np.cumsum(weights), np.cumsum(weights[::-1])[::-1]
    total = up_to[-1]
    worth, last_value = 0.0, len(values) - 1
    for i in range(len(values)):  # losses, the largest first: each adds its distance to the next
        if values[i] >= reference:
            break
        share, rest = up_to[i] / total, from_on[i + 1] / total if i < last_value else 0.0
        last = i == last_value or values[i + 1] >= reference
        after = 0.0 if last else (reference - values[i + 1]) ** curvature
        worth -= aversion * weighted(share, rest, losses) * ((reference - values[i]) ** curvature - after)
    for i in range(len(values) - 1, -1, -1):  # gains, the largest first
        if values[i] <= reference:
            break
        share, rest = from_on[i] / total, up_to[i - 1] / total if i > 0 else 0.0
        before = 0.0 if i == 0 or values[i - 1] <= reference else (values[i - 1] - reference) ** curvature
        worth += weighted(share, rest, gains) * ((values[i] - reference) ** curvature - before)
    return worth
