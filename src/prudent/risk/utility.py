"""Expected utility, and semivariance, which is one too."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.arrays import Array
from prudent.confidence.once import mean_bounds
from prudent.errors import PrudentError
from prudent.parameters import Parameter
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
