"""The value of cumulative prospect theory."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prudent.arms.base import Law, arms
from prudent.arms.quadrature import DOUBT, Tail, beyond, integrals
from prudent.arrays import Array
from prudent.compiled import kernel
from prudent.confidence.once import band_bounds
from prudent.errors import PrudentError
from prudent.parameters import Parameter
from prudent.risk.base import RiskMeasure, risks


def weighted(p: Array, eta: float) -> Array:
    """p^η/(p^η + (1 − p)^η)^(1/η)."""
    rare = p**eta
    worth: Array = rare / (rare + np.maximum(1.0 - p, 0.0) ** eta) ** (1.0 / eta)
    return worth


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
            return weighted(law.masses(self.reference + sign * distance)[upper], eta) * unit * np.exp(t)

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
    total = weights.sum()
    worth, share = 0.0, 0.0
    for i in range(len(values)):  # losses, the largest first: each adds its distance to the next
        if values[i] >= reference:
            break
        share += weights[i] / total
        last = i + 1 == len(values) or values[i + 1] >= reference
        after = 0.0 if last else (reference - values[i + 1]) ** curvature
        worth -= aversion * counts(min(share, 1.0), losses) * ((reference - values[i]) ** curvature - after)
    share = 0.0
    for i in range(len(values) - 1, -1, -1):  # gains, the largest first
        if values[i] <= reference:
            break
        share += weights[i] / total
        before = 0.0 if i == 0 or values[i - 1] <= reference else (values[i - 1] - reference) ** curvature
        worth += counts(min(share, 1.0), gains) * ((values[i] - reference) ** curvature - before)
    return worth


@kernel
def counts(p: float, eta: float) -> float:
    """The weight of one probability."""
    rare: float = p**eta
    return rare / (rare + (1.0 - p) ** eta) ** (1.0 / eta)
