"""Costs from densities: what exact costs are compared with, for random laws and measures.

`benchmarks/costs.py` prints the comparison for many of them, the tests demand it for fewer.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special, stats

from helpers.random_laws import KINDS, MEASURES, random_law, random_measure
from helpers.reference_laws import Reference, stairs
from prudent import Distortion, Mixture, PrudentError, StudentT

DISTORTED = {"exponential-spectrum", "proportional-hazard", "wang", "dual-power"}
TOLERANCE = 1e-7
"""How far a cost may be off, relative to its size plus the spread of rewards, the distance between the quartiles."""

COARSE = 1e-5
"""The same for distortions of mixtures, whose reference is a sum of steps, and for weights that are rounded."""

# Costs by definition. A measure is −∫ x dg(F), an expectation, or made of mean, variance and tail means.


def spectrum(risk: Any, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """g′(F), from F and 1 − F."""
    if risk.name == "exponential-spectrum":
        return risk.k * np.exp(-risk.k * below) / -math.expm1(-risk.k)
    if risk.name == "proportional-hazard":
        return risk.r * below ** (risk.r - 1.0)
    if risk.name == "dual-power":
        return risk.k * above ** (risk.k - 1.0)
    z = np.where(below < above, special.ndtri(below), -special.ndtri(above))
    return np.exp(-risk.lam * (z + 0.5 * risk.lam))


def distorted(risk: Any, below: np.ndarray) -> np.ndarray:
    """g(F)."""
    if risk.name == "exponential-spectrum":
        return np.expm1(-risk.k * below) / math.expm1(-risk.k)
    if risk.name == "proportional-hazard":
        return below**risk.r
    if risk.name == "dual-power":
        return -np.expm1(risk.k * np.log1p(-np.minimum(below, 1.0 - 1e-16)))
    return special.ndtr(special.ndtri(below) + risk.lam)


def weight(eta: float, p: np.ndarray) -> np.ndarray:
    """How much a probability counts in prospect theory."""
    return p**eta / (p**eta + (1.0 - p) ** eta) ** (1.0 / eta)


def weight_slope(eta: float, p: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Its derivative, from p and 1 − p."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        both = p**eta + rest**eta
        slope = p**eta / both ** (1.0 / eta) * (eta / p - (p ** (eta - 1.0) - rest ** (eta - 1.0)) / both)
    return np.where((p > 1e-300) & (rest > 1e-300), slope, 0.0)


def worths(risk: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of gains and of losses."""
    gains, losses = np.maximum(x - risk.reference, 0.0), np.maximum(risk.reference - x, 0.0)
    return gains**risk.curvature, risk.aversion * losses**risk.curvature


class Sums:
    """What costs are made of, for a law with a density."""

    def __init__(self, law: Any) -> None:
        self.law, self.grid = law, Reference(law)

    def expect(self, function: Callable, kinks: tuple[float, ...] = ()) -> float:
        return self.grid.expect(function, kinks)

    def quantile(self, alpha: float) -> float:
        return self.grid.quantile(alpha)

    def share(self, x: float) -> float:
        return self.expect(lambda y: (y <= x).astype(float), (x,))

    def log_laplace(self, lam: float) -> float:
        return Reference(self.law, lam).log_laplace(lam)

    def distortion(self, risk: Any) -> float:
        grid = self.grid
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            terms = grid.weight * grid.x * spectrum(risk, grid.below, grid.above)
        # Rarer rewards are none: their share is no float.
        return -math.fsum(np.where((grid.weight > 1e-300) & (grid.below > 1e-300), terms, 0.0).sum(1))

    def prospect(self, risk: Any) -> float:
        """Each reward counts by the slope of the weight at its rank; kinks are spread over fine panels."""
        grid, (gains, losses) = self.grid, worths(risk, self.grid.x)
        gain = gains * weight_slope(risk.gains, grid.above, grid.below)
        loss = losses * weight_slope(risk.losses, grid.below, grid.above)
        return math.fsum(np.where(grid.weight > 1e-300, grid.weight * (loss - gain), 0.0).sum(1))


class Steps:
    """The same for a law on finitely many values, by its definition."""

    def __init__(self, values: np.ndarray, weights: np.ndarray) -> None:
        self.values, self.weights = values, weights
        self.steps = [step for step in stairs(values, weights) if step[2] > step[1]]

    def expect(self, function: Callable, kinks: tuple[float, ...] = ()) -> float:
        return math.fsum(self.weights * function(self.values))

    def quantile(self, alpha: float) -> float:
        return next((x for x, _, high in self.steps if high >= alpha * (1.0 - 1e-13)), self.steps[-1][0])

    def share(self, x: float) -> float:
        return math.fsum(self.weights[self.values <= x])

    def log_laplace(self, lam: float) -> float:
        small = self.expect(lambda x: np.expm1(-lam * (x - self.values[0])))
        if small > -0.5:
            return math.log1p(small) - lam * self.values[0]
        return float(special.logsumexp(-lam * self.values, b=self.weights))

    def distortion(self, risk: Any) -> float:
        low, high = (distorted(risk, np.minimum([step[k] for step in self.steps], 1.0)) for k in (1, 2))
        high[-1] = 1.0
        return -math.fsum(np.array([step[0] for step in self.steps]) * (high - low))

    def prospect(self, risk: Any) -> float:
        cost = 0.0
        for x, low, end in self.steps:
            gain, loss = (float(worth) for worth in worths(risk, np.array(x)))
            high = min(end, 1.0)
            cost += loss * (weight(risk.losses, high) - weight(risk.losses, low))
            cost -= gain * (weight(risk.gains, 1.0 - low) - weight(risk.gains, 1.0 - high))
        return cost


class Blend:
    """The same for a mixture with a density in it: sums over its parts, and F from scipy.stats."""

    def __init__(self, law: Mixture) -> None:
        self.parts = [(w, part, sums_of(part)) for w, part in law.live()]
        self.known = [(w, frozen(part)) for w, part in law.live()]

    def expect(self, function: Callable, kinks: tuple[float, ...] = ()) -> float:
        return math.fsum(w * sums.expect(function, kinks) for w, _, sums in self.parts)

    def share(self, x: float) -> float:
        return float(self._masses(np.array([x]))[0][0])

    def quantile(self, alpha: float) -> float:
        each = [sums.quantile(alpha) for _, _, sums in self.parts]
        low, high = min(each), max(each)
        for _ in range(90):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.share(middle) >= alpha * (1.0 - 1e-13) else (middle, high)
        return high

    def log_laplace(self, lam: float) -> float:
        logs = [sums.log_laplace(lam) for _, _, sums in self.parts]
        return float(special.logsumexp(logs, b=[w for w, _, _ in self.parts]))

    def distortion(self, risk: Any) -> float:
        """∫ x dg(F) as a Stieltjes sum over the points of all parts; the middle of an upper and a lower bound."""
        both, below, above = self.points
        upper = above < 0.5
        mass = np.where(upper, 1.0 - distorted_best(risk, above), distorted(risk, below))
        gains = np.where(upper[1:] & upper[:-1], -np.diff(distorted_best(risk, above)), np.diff(mass))
        return -math.fsum(0.5 * (both[1:] + both[:-1]) * gains)

    def prospect(self, risk: Any) -> float:
        both, below, above = self.points
        gains, losses = worths(risk, 0.5 * (both[1:] + both[:-1]))
        gain = math.fsum(-gains * np.diff(weight(risk.gains, above)))
        return math.fsum(losses * np.diff(weight(risk.losses, below))) - gain

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points of all parts, each with its left neighbour, and the shares of rewards below and above."""
        each = [sums.grid.x.ravel() if isinstance(sums, Sums) else sums.values for _, _, sums in self.parts]
        x = np.unique(np.concatenate(each))
        both = np.sort(np.concatenate([x, np.nextafter(x, -math.inf)]))
        return both, *self._masses(both)

    def _masses(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, above = (sum(w * getattr(law, side)(x) for w, law in self.known) for side in ("cdf", "sf"))
        return np.minimum(below, 1.0), np.minimum(above, 1.0)


def distorted_best(risk: Any, above: np.ndarray) -> np.ndarray:
    """1 − g(F), from 1 − F."""
    if risk.name == "exponential-spectrum":
        return (np.exp(-risk.k * (1.0 - above)) - math.exp(-risk.k)) / -math.expm1(-risk.k)
    if risk.name == "proportional-hazard":
        return -np.expm1(risk.r * np.log1p(-np.minimum(above, 1.0 - 1e-16)))
    if risk.name == "dual-power":
        return above**risk.k
    return special.ndtr(special.ndtri(above) - risk.lam)


def frozen(law: Any) -> Any:
    """The law as scipy.stats has it."""
    if (atoms := law.atoms()) is not None:
        return _Stairs(*atoms)
    return {
        "gaussian": lambda: stats.norm(law.mean, math.sqrt(law.variance)),
        "beta": lambda: stats.beta(law.a, law.b),
        "uniform": lambda: stats.uniform(law.low, law.high - law.low),
        "exponential": lambda: stats.expon(0.0, law.mean),
        "student-t": lambda: stats.t(law.degrees, law.location, law.scale),
        "truncated-gaussian": lambda: _Truncated(law.center, law.scale, law.low, law.high),
    }[law.name]()


class _Truncated(NamedTuple):
    """For ends near the centre; scipy.stats.truncnorm is right for others too, but slow."""

    center: float
    scale: float
    low: float
    high: float

    def _share(self, low: Any, high: Any) -> np.ndarray:
        share = special.ndtr((high - self.center) / self.scale) - special.ndtr((low - self.center) / self.scale)
        return np.maximum(share, 0.0)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return self._share(self.low, np.clip(x, self.low, self.high)) / self._share(self.low, self.high)

    def sf(self, x: np.ndarray) -> np.ndarray:
        return self._share(np.clip(x, self.low, self.high), self.high) / self._share(self.low, self.high)


class _Stairs(NamedTuple):
    values: np.ndarray
    weights: np.ndarray

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return np.append(0.0, np.cumsum(self.weights))[np.searchsorted(self.values, x, side="right")]

    def sf(self, x: np.ndarray) -> np.ndarray:
        above = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        return above[np.searchsorted(self.values, x, side="right")]


def sums_of(law: Any) -> Any:
    if (atoms := law.atoms()) is not None:
        return Steps(*atoms)
    return Blend(law) if isinstance(law, Mixture) else Sums(law)


def reference_cost(risk: Any, sums: Any) -> float:
    """The cost by its definition."""
    if isinstance(risk, Distortion) and risk.name in DISTORTED:
        return sums.distortion(risk)
    return DEFINITIONS[risk.name](risk, sums)


def _loss_averse(risk: Any, sums: Any) -> float:
    at, slope = risk.reference, risk.aversion
    return -sums.expect(lambda x: np.where(x < at, slope, 1.0) * (x - at), (at,))


def _semivariance(risk: Any, sums: Any) -> float:
    return sums.expect(lambda x: np.where(x < risk.target, risk.target - x, 0.0) ** 2, (risk.target,))


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls crosses 0; the interval grows until it holds that point."""
    while falls(low) < 0.0:
        low, high = low - 2.0 * (high - low), low
    while falls(high) > 0.0:
        low, high = high, high + 2.0 * (high - low)
    return float(optimize.brentq(falls, low, high, xtol=1e-12 * (high - low), rtol=1e-12))


def _shortfall(risk: Any, sums: Any) -> float:
    def excess(t: float) -> float:
        return sums.expect(lambda x: np.maximum(-x - t, 0.0) ** risk.power / risk.power, (-t,)) - risk.threshold

    return _root(excess, -sums.quantile(0.9), -sums.quantile(0.1) + 1e-3)


def _expectile(risk: Any, sums: Any) -> float:
    def excess(t: float) -> float:
        slope = lambda x: np.where(x < -t, 1.0 - risk.asymmetry, risk.asymmetry)  # noqa: E731
        return sums.expect(lambda x: slope(x) * (-t - x), (-t,))

    return _root(excess, -sums.quantile(0.9), -sums.quantile(0.1) + 1e-3)


def _evar(risk: Any, sums: Any) -> float:
    """The least over λ: downhill on a rough grid, then Brent's method, which needs few digits of λ where it is flat."""

    def bound(s: float) -> float:
        return (sums.log_laplace(math.exp(s)) - math.log(risk.alpha)) / math.exp(s)

    spread = sums.quantile(0.75) - sums.quantile(0.25)
    s, step = math.log(math.sqrt(-2.0 * math.log(risk.alpha)) / spread) if spread > 0.0 else 0.0, 1.5
    best = bound(s)
    for step in (1.5, -1.5):
        while abs(s) < 60.0 and (following := bound(s + step)) < best:
            s, best = s + step, following
    return min(best, float(optimize.minimize_scalar(bound, bounds=(s - 1.5, s + 1.5), options={"xatol": 1e-4}).fun))


def _mean_variance(risk: Any, sums: Any) -> float:
    return -mean(sums) if math.isinf(risk.rho) else variance(sums) - risk.rho * mean(sums)


def _mixed(risk: Any, sums: Any) -> float:
    return risk.variance * variance(sums) - risk.mean * mean(sums) - risk.tail * best(sums, risk.alpha)


DEFINITIONS: dict[str, Callable[[Any, Any], float]] = {
    "cpt": lambda risk, sums: sums.prospect(risk),
    "evar": _evar,
    "expectile": _expectile,
    "shortfall": _shortfall,
    "entropic": lambda risk, sums: sums.log_laplace(risk.lam) / risk.lam,
    "exponential-utility": lambda risk, sums: math.expm1(sums.log_laplace(risk.lam)) / risk.lam,
    "loss-averse": _loss_averse,
    "semivariance": _semivariance,
    "satisficing": lambda risk, sums: -sums.expect(lambda x: np.minimum(x, risk.goal), (risk.goal,)),
    "var": lambda risk, sums: -sums.quantile(risk.alpha),
    "cvar": lambda risk, sums: -worst(sums, risk.alpha),
    "mean-cvar": lambda risk, sums: -(1.0 - risk.weight) * mean(sums) - risk.weight * worst(sums, risk.alpha),
    "mean-variance": _mean_variance,
    "mixed": _mixed,
    "sharpe": lambda risk, sums: -mean(sums) / math.sqrt(risk.epsilon + variance(sums)),
}


def mean(sums: Any) -> float:
    return sums.expect(lambda x: x)


def variance(sums: Any) -> float:
    centre = mean(sums)
    return sums.expect(lambda x: (x - centre) ** 2)


def worst(sums: Any, alpha: float) -> float:
    """max over c of c − E(c − X)⁺/α [Rockafellar00], attained at the quantile, and flat there."""
    c = sums.quantile(alpha)
    return c - sums.expect(lambda x: np.maximum(c - x, 0.0), (c,)) / alpha


def best(sums: Any, alpha: float) -> float:
    """min over c of c + E(X − c)⁺/α."""
    c = sums.quantile(1.0 - alpha) if alpha < 1.0 else 0.0
    return c + sums.expect(lambda x: np.maximum(x - c, 0.0), (c,)) / alpha if alpha < 1.0 else mean(sums)


def degrees_needed(risk: Any) -> float:
    """Above how many degrees of freedom a Student law has the moment that the measure needs."""
    if risk.name == "shortfall":
        return risk.power
    if risk.name == "cpt":
        return risk.curvature / min(risk.gains, risk.losses)
    if risk.name in {"var", "entropic", "evar", "exponential-utility"}:
        return 0.0 if risk.name == "var" else math.inf
    if risk.name in {"semivariance", "mixed", "sharpe"} or (risk.name == "mean-variance" and math.isfinite(risk.rho)):
        return 2.0
    return max(1.0, 1.0 / risk.r) if risk.name == "proportional-hazard" else 1.0


def room(risk: Any, law: Any) -> float:
    """By how much the law has the moment that the measure needs: below 1 it has not."""
    if risk.name == "var" and risk.alpha == 1.0 and math.isinf(law.support[1]):
        return 0.0
    degrees = [part.degrees for part in getattr(law, "components", [law]) if isinstance(part, StudentT)]
    return min(degrees, default=math.inf) / degrees_needed(risk) if degrees and risk.name != "var" else math.inf


class Verdict(NamedTuple):
    """How far a cost is off, and what became of it.

    It is right or wrong; refused, because it does not exist; beyond what floats can hold; or finite at the edge, where
    most of it lies in rewards too rare for the reference.
    """

    off: float
    outcome: str
    text: str = ""


def compare(risk: Any, law: Any, sums: Any) -> Verdict:
    there = room(risk, law)
    try:
        cost = risk.cost(law)
    except PrudentError as error:
        beyond = "too rare for floats" in str(error) or "too large for a float" in str(error)
        return Verdict(0.0, "refused" if there <= 1.0 else "beyond" if beyond else "wrong", str(error))
    if 1.0 < there < 1.25 and math.isfinite(cost):
        return Verdict(0.0, "edge")
    wanted = reference_cost(risk, sums) if there > 1.0 else math.inf
    off = abs(cost - wanted) / scale(risk, law, wanted) if cost != wanted else 0.0
    rough = (isinstance(sums, Blend) and isinstance(risk, Distortion)) or risk.name in {"dual-power", "cpt"}
    outcome = "right" if off <= (COARSE if rough else TOLERANCE) else "wrong"
    return Verdict(off, outcome, f"{risk}: {law} costs {cost!r}, not {wanted!r}")


def scale(risk: Any, law: Any, wanted: float) -> float:
    """What a difference is compared with: the cost plus the spread of rewards, their quartiles' distance."""
    spread = abs(law.quantile(0.75) - law.quantile(0.25)) or math.sqrt(law.variance)
    if risk.name == "mean-variance" and math.isfinite(risk.rho):
        spread += law.variance + risk.rho * abs(law.mean)
    if risk.name == "dual-power" and math.isfinite(reach := law.support[1] - law.support[0]):
        spread += 1e-8 * reach  # written as one would, its weights are rounded to 1e-16
    if risk.name == "evar" and math.isfinite(wanted):
        spread += math.sqrt(law.variance)  # the least over λ, which both sides try up to a largest one
    return abs(wanted) + spread + 1e-100


def sweep(kind: str, number: int, seed: int) -> dict[str, list[Verdict]]:
    """Every measure of `number` random laws of a kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    found: dict[str, list[Verdict]] = {name: [] for name in MEASURES}
    for k in range(number):
        law = random_law(kind, rng, wild=k % 3 > 0)
        sums = sums_of(law)
        for name in MEASURES:
            found[name].append(compare(random_measure(name, rng, wild=k % 2 > 0), law, sums))
    return found
