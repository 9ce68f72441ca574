"""The smallest divergence from a law to one that is cheap enough, in a model that says which laws there may be.

A cost that is a minimum of expectations, min_a E g_a(X), is at most c if one of these expectations is. For each a the
least KL(ν, ν′) with E g_a ≤ c under ν′ has a dual of one variable [Honda10],

    max E_ν log(1 + λ(g_a(X) − c))  over λ ≥ 0 such that the logarithm exists at every reward the model allows,

and K is the smallest of these maxima. The mean-variance has g_a(x) = (x − a)² − ρx, the mean g(x) = −x, and the CVaR
g_b(x) = (b − x)₊/α − b [Rockafellar00]. It is derived in docs: lower-bounds.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from prudent.arms import quadrature
from prudent.arms.base import Law, arms
from prudent.arms.continuous import Gaussian
from prudent.arms.discrete import Bernoulli, Deterministic
from prudent.arms.mixture import Mixture
from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, check_finite, shown
from prudent.base.parameters import check_support
from prudent.confidence import divergence
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.tails import CVaR

_GRID_STEPS, _MAX_GRID_STEPS = 16, 400
"""Steps of a for each value that a stretch of them belongs to, and at most; a search goes on from the lowest."""

_MAX_STARTS = 4
"""Local minima on this grid from which a search goes on."""

_MAX_NUMBERS = 1_000_000
"""Numbers in one array at most."""

_ROUGH_HALVINGS, _FINE_HALVINGS = 20, 45
"""How often the interval of the multiplier is halved on the grid, and in the search."""


def least_divergence(
    law: Law | str,
    cost: float,
    risk: RiskMeasure | str,
    support: Sequence[float] | None = None,
    values: ArrayLike | None = None,
) -> float:
    """K = inf KL(ν, ν′) over the laws ν′ of the model whose cost is at most `cost`; 0 if that of the law is.

    The model is the law's own family, if neither `support` nor `values` is given: all Gaussian laws for a Gaussian one,
    all Bernoulli laws for a Bernoulli one, all constants for a constant. With `support` it is all laws on that
    interval, with `values` all laws on these values. The risk is a mean-variance (or the mean or the variance), or a
    CVaR. Laws that are neither finite nor Gaussian are integrated numerically, to about six digits.

    Examples
    --------
    >>> from prudent import theory
    >>> round(theory.least_divergence("bernoulli(0.5)", -0.75, "mean"), 4)
    0.1438
    >>> round(theory.least_divergence("beta(2, 2)", -0.75, "mean", support=(0, 1)), 4)
    0.5085
    """
    made, measure = arms.make("least_divergence", law), check_risk(risk)
    return Model(support, values).divergence(made, check_finite("least_divergence", "cost", cost), measure)


def check_risk(risk: RiskMeasure | str) -> MeanVariance | CVaR:
    """A measure that is a minimum of expectations, or an error."""
    made = risks.make("least_divergence", risk)
    if not isinstance(made, (MeanVariance, CVaR)):
        hint = "the mean and the variance are mean-variances too"
        raise PrudentError(f"least_divergence: risk must be a mean-variance or a cvar, got {made}; {hint}")
    return made


class Model:
    """Which laws there may be: all on the `values` (ascending), all on the `support`, or an arm's own family."""

    def __init__(self, support: Sequence[float] | None = None, values: ArrayLike | None = None) -> None:
        owner, self.values, self.support = "least_divergence", None, None
        if support is not None and values is not None:
            raise PrudentError(f"{owner}: support and values are two models, got both; pass one of them")
        if support is not None:
            self.support = check_support(owner, support)
            if not all(map(math.isfinite, self.support)):
                hint = "no bound of this kind is known without"
                raise PrudentError(f"{owner}: support must have finite ends, got {self.support}; {hint}")
        if values is not None:
            found = np.unique(as_array(owner, "values", values))
            if found.size == 0 or not np.isfinite(found).all():
                raise PrudentError(f"{owner}: values must be one or more finite numbers, got {shown(values)}")
            self.values, self.support = found, (float(found[0]), float(found[-1]))

    def __str__(self) -> str:
        if self.support is None:
            return "all laws of each arm's own family"
        low, high = self.support
        return f"all laws on [{low:g}, {high:g}]" if self.values is None else f"all laws on {self.values.size} values"

    def divergence(self, law: Law, cost: float, risk: MeanVariance | CVaR) -> float:
        """K of a law."""
        if self.support is None:
            return _in_family(law, cost, risk)
        points, weights = self._points(law)
        if risk.cost(law) <= cost:
            return 0.0
        if isinstance(risk, CVaR):
            return _least(points, weights, _CVaRForm(self, risk, cost, law))
        return _least(points, weights, _MeanVarianceForm(self, risk, cost))

    def nearest(self, rewards: Array) -> Array:
        """The rewards that the model allows, nearest to given ones."""
        if self.values is None:
            return np.clip(rewards, *self.support)  # type: ignore[misc]
        above = np.clip(np.searchsorted(self.values, rewards), 1, max(self.values.size - 1, 1))
        low, high = self.values[above - 1], self.values[np.minimum(above, self.values.size - 1)]
        return np.where(rewards - low <= high - rewards, low, high)

    def _points(self, law: Law) -> tuple[Array, Array]:
        """Points and weights of a law, which must belong to the model."""
        low, high = self.support or (-math.inf, math.inf)
        points, weights = _as_points(law)
        points, weights = points[weights > 0.0], weights[weights > 0.0]
        if not low <= law.support[0] <= law.support[1] <= high:
            given = f"support must hold all rewards of {law}, got ({low:g}, {high:g})"
            raise PrudentError(f"least_divergence: {given}; widen it, or leave it out for an arm of a known family")
        if self.values is not None and not np.isin(points, self.values).all():
            given = f"values must hold all rewards of {law}, got {shown(self.values.tolist())}"
            raise PrudentError(f"least_divergence: {given}; add those that are missing, or pass support=(low, high)")
        return points, weights


def _in_family(law: Law, cost: float, risk: MeanVariance | CVaR) -> float:
    """K in the family of the law itself."""
    if isinstance(law, Deterministic):
        return 0.0 if risk.cost(law) <= cost else math.inf
    if isinstance(law, Bernoulli):
        if isinstance(risk, MeanVariance):
            return divergence.bernoulli(law.success, cost, risk.rho)
        return Model(values=(0.0, 1.0)).divergence(law, cost, risk)
    if isinstance(law, Gaussian) and isinstance(risk, MeanVariance):
        return divergence.gaussian(law.mean, law.variance, cost, risk.rho)
    raise PrudentError(
        f"least_divergence: no K is known for the family of {law} under {risk}; pass support=(low, high) for all laws"
        " on an interval, or values=[…] for all laws on these"
    )


class _MeanVarianceForm:
    """g_a(x) = (x − a)² − ρx, where a is the mean of the cheap law; g(x) = −x for ρ = ∞."""

    def __init__(self, model: Model, risk: MeanVariance, cost: float) -> None:
        self.model, self.rho, self.cost = model, risk.rho, cost

    def split(self, points: Array, weights: Array, a: float) -> tuple[Array, Array]:
        """Points and weights that integrate g_a, which is smooth."""
        return points, weights

    def __call__(self, rewards: Array, a: Array) -> Array:
        return -rewards + 0.0 * a if math.isinf(self.rho) else (rewards - a) ** 2 - self.rho * rewards

    def cheapest(self, a: Array) -> Array:
        """The reward that the model allows with the smallest g_a; the parabola's vertex is at a + ρ/2."""
        return self.model.nearest(a + 0.5 * self.rho)

    def grids(self, points: Array) -> Iterator[Array]:
        """The means a with g_a(x) < c, which is (x − a)² < c + ρx, for a reward x that the model allows."""
        low, high = self.model.support  # type: ignore[misc]
        if math.isinf(self.rho):
            yield np.zeros(1)
        elif self.model.values is not None:
            cheap = self.model.values[self.cost + self.rho * self.model.values > 0.0]
            radius = np.sqrt(self.cost + self.rho * cheap)
            for start, end, count in _merged(np.maximum(cheap - radius, low), np.minimum(cheap + radius, high)):
                yield np.linspace(start, end, min(_GRID_STEPS * count, _MAX_GRID_STEPS) + 1)
        elif self.cost + self.rho * high > 0.0:
            # All up to the right end, from where x − √(c + ρx) is smallest.
            least = low if self.rho == 0.0 else min(max(0.25 * self.rho - self.cost / self.rho, low), high)
            yield np.linspace(max(low, least - math.sqrt(self.cost + self.rho * least)), high, _MAX_GRID_STEPS + 1)


class _CVaRForm:
    """g_b(x) = (b − x)₊/α − b, where b is the α-quantile of the cheap law."""

    def __init__(self, model: Model, risk: CVaR, cost: float, law: Law) -> None:
        self.model, self.alpha, self.cost, self.law = model, risk.alpha, cost, law

    def split(self, points: Array, weights: Array, a: float) -> tuple[Array, Array]:
        """Points and weights with an edge of a panel at the kink of g_a, so that the rule is exact on both sides."""
        return (points, weights) if self.law.atoms() is not None else _as_points(self.law, a)

    def __call__(self, rewards: Array, a: Array) -> Array:
        return np.maximum(a - rewards, 0.0) / self.alpha - a

    def cheapest(self, a: Array) -> Array:
        """The largest reward, whatever b."""
        return self.model.nearest(np.full_like(a, math.inf))

    def grids(self, points: Array) -> Iterator[Array]:
        """The quantiles b > −c: one of the values, if there are finitely many; else g_b has kinks at the points."""
        low, high = max(self.model.support[0], -self.cost), self.model.support[1]  # type: ignore[index]
        if self.model.values is not None:
            yield from self.model.values[self.model.values > -self.cost, None]
        elif low < high:
            kinks = points[(points > low) & (points < high)] if points.size <= _MAX_GRID_STEPS else points[:0]
            yield np.unique(np.append(np.linspace(low, high, _MAX_GRID_STEPS + 1), kinks))


def _least(points: Array, weights: Array, form: "_MeanVarianceForm | _CVaRForm") -> float:
    """The smallest dual over all a: on a grid, then by a search around its lowest local minima."""
    least, valleys = math.inf, []
    for grid in form.grids(points):
        if grid.size == 1:
            least = min(least, float(_duals(points, weights, form, grid, _FINE_HALVINGS)[0]))
            continue
        found = _duals(points, weights, form, grid, _ROUGH_HALVINGS)
        around = np.concatenate([[math.inf], found, [math.inf]])
        local = np.flatnonzero((found <= around[:-2]) & (found <= around[2:]) & (found < math.inf))
        ends = np.concatenate([grid[:1], grid, grid[-1:]])
        valleys += [(float(found[i]), *map(float, ends[i : i + 3])) for i in local]
    for _, start, place, end in sorted(valleys)[:_MAX_STARTS]:

        def dual(a: float) -> float:
            return float(_duals(*form.split(points, weights, a), form, np.array([a]), _FINE_HALVINGS)[0])

        options = {"xatol": 1e-6 * (end - start)}
        searched = minimize_scalar(dual, bounds=(start, end), method="bounded", options=options)
        least = min(least, dual(place), float(searched.fun))
    return max(0.0, least)


def _duals(points: Array, weights: Array, form: "_MeanVarianceForm | _CVaRForm", grid: Array, halvings: int) -> Array:
    """max_λ E log(1 + λ(g_a(X) − c)) for each a of a grid; infinite where no reward has g_a < c."""
    step = max(1, _MAX_NUMBERS // points.size)
    if grid.size > step:
        parts = [grid[i : i + step] for i in range(0, grid.size, step)]
        return np.concatenate([_duals(points, weights, form, part, halvings) for part in parts])
    room = form.cost - form(form.cheapest(grid), grid)
    there = room > 0.0
    # In units of the largest λ; nothing is below −1 then, but for rounding.
    excess = np.maximum((form(points, grid[there, None]) - form.cost) / room[there, None], -1.0)
    share, above = np.zeros(len(excess)), np.ones(len(excess))
    with np.errstate(divide="ignore"):
        for _ in range(halvings):
            middle = 0.5 * (share + above)
            rising = (excess / (1.0 + middle[:, None] * excess)) @ weights > 0.0
            share, above = np.where(rising, middle, share), np.where(rising, above, middle)
    duals = np.full(grid.size, math.inf)
    duals[there] = np.log1p(share[:, None] * excess) @ weights
    return duals


def _merged(starts: Array, ends: Array) -> Iterator[tuple[float, float, int]]:
    """Overlapping intervals as one, with how many they were."""
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    first = np.flatnonzero(np.append(True, starts[1:] > reach[:-1])) if starts.size else np.empty(0, dtype=int)
    for i, j in itertools.pairwise([*first.tolist(), starts.size]):
        yield float(starts[i]), float(reach[j - 1]), j - i


def _as_points(law: Law, kink: float | None = None) -> tuple[Array, Array]:
    """The atoms of a law; of a continuous one the points and weights of Gauss's rule on each panel of its levels, with
    an edge at a kink of what is integrated."""
    if (atoms := law.atoms()) is not None:
        return atoms
    if isinstance(law, Mixture):  # part by part, because its own quantiles may jump
        parts = [(share, *_as_points(part, kink)) for share, part in law.live()]
        return np.concatenate([x for _, x, _ in parts]), np.concatenate([share * w for share, _, w in parts])
    found = []
    for upper in (False, True):
        edges = law.panels(upper=upper)
        if kink is not None and (mass := float(law.masses(np.array([kink]))[upper][0])) > 0.0:
            edges = np.unique(np.clip(np.append(edges, -math.log(mass)), edges[0], edges[-1]))
        half = 0.5 * np.diff(edges)[:, None]
        s = (edges[:-1, None] + half * (1.0 + quadrature.RULES[0][0])).ravel()
        found.append((law.tail(np.exp(-s), upper=upper), (half * quadrature.RULES[0][1]).ravel() * np.exp(-s)))
    points, weights = (np.concatenate(pair) for pair in zip(*found, strict=True))
    return points, weights / weights.sum()
