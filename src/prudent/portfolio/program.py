"""The best mix for known means and covariance: min xᵀCx − ρ xᵀμ over Σx = 1, x ≥ 0 unless short selling is allowed.

An active-set method solves it to rounding error. Every solution carries its KKT residual.

Of many arms few have weight unless they may be sold short. Then the problem is solved for some arms only, which are
joined by those that would improve the mix, until there are none: the gradient of all arms tells. That takes the same
method on small problems, and K × K numbers are read but never factorised.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, check_flag, shown
from prudent.base.parameters import check_parameter
from prudent.portfolio import active_set

INDEFINITE = 1e-8
"""An eigenvalue below minus this share of the largest is no rounding error: the matrix is rejected."""

NULL = 1e-12
"""An eigenvalue below this share of the largest counts as zero."""

LARGE = np.finfo(float).max / 4.0
"""Numbers from here on count as infinite, since twice their sum is."""

MANY_ARMS = 200
"""From here on arms are many."""

RESIDUAL = 1e-8
"""The largest KKT residual of a solution; what cannot be solved to this is rejected."""


class Mix(NamedTuple):
    """A mix and what is known about it.

    The KKT residual is relative to the largest entry of 2C and ρ·(max μ − min μ). `projected` is the smallest
    eigenvalue of the covariance if it was negative by rounding and set to zero, else 0.
    """

    weights: Array
    cost: float
    mean: float
    variance: float
    kkt_residual: float
    projected: float = 0.0

    @property
    def held(self) -> tuple[int, ...]:
        """The arms with weight."""
        return tuple(np.flatnonzero(self.weights).tolist())


def solve(
    covariance: ArrayLike, mean: ArrayLike, rho: float, *, upper: ArrayLike | None = None, short: bool = False
) -> Mix:
    """The mix x of smallest xᵀCx − ρ xᵀμ with Σx = 1 and 0 ≤ x ≤ `upper`; `short` lets weights be negative.

    `upper` is one limit for all weights or one for each. With ρ = ∞ only the mean counts, and the cost is −xᵀμ. A
    singular C is fine: one of the best mixes is returned. Short selling without limits is rejected where the cost has
    no minimum, and where the weights would be so large (some 1e7) that rounding keeps the KKT residual above 1e-8.
    """
    m, c = map(np.ascontiguousarray, moments("solve", mean, "covariance", covariance))
    return best_mix(c, m, rho, upper=upper, short=short, checked=False)


def best_mix(c: Array, m: Array, rho: float, *, upper: ArrayLike | None, short: bool, checked: bool = True) -> Mix:
    """What `solve` returns; `checked` if c is known to be a covariance but for rounding, which saves much work."""
    if type(rho) is not float or not rho >= 0.0:
        rho = check_parameter("solve", "rho", rho)
    low, high = limits(m.size, upper, short)
    endless, projected = short and upper is None, 0.0
    if math.isinf(rho) or (m.size > MANY_ARMS and not short):
        if not checked:
            c, projected = check_moments("solve", m, "covariance", c)
        mean_only = math.isinf(rho)
        x, residual = (_best_mean(m, low, high, endless=endless), 0.0) if mean_only else _of_many(c, m, rho, high)
    else:
        quadratic, linear, x = np.empty_like(c), np.empty_like(m), np.empty_like(m)
        if not active_set.prepare(c, m, rho, quadratic, linear):
            c, projected = check_moments("solve", m, "covariance", c)
            active_set.prepare(c, m, rho, quadratic, linear)
            if endless:
                _check_minimum(quadratic, linear)
        residual = _minimise(quadratic, linear, low, high, x)
    if not residual <= RESIDUAL:
        got = f"{residual:.1e} with weights up to {np.abs(x).max():.1e}"
        fix = "covariance is nearly singular for these rho and means; give upper limits"
        raise PrudentError(f"solve: no mix with a KKT residual of at most {RESIDUAL:g}, got {got}; {fix}")
    mean_of, variance = float(x @ m), max(variance_of(x, c), 0.0)
    cost = -mean_of if math.isinf(rho) else variance - rho * mean_of
    return Mix(x, cost, mean_of, variance, residual, projected)


def _of_many(c: Array, m: Array, rho: float, high: Array) -> tuple[Array, float]:
    """The mix of many arms and its KKT residual, without short selling."""
    scale = max(2.0 * float(np.abs(c).max()), rho * float(np.ptp(m))) or 1.0
    linear, x, low = rho * (m.max() - m) / scale, np.zeros_like(m), np.zeros_like(m)
    # First those that are best alone, and enough of them to reach 1.
    order = np.argsort(linear + np.diag(c) / scale, kind="stable")
    taken = np.zeros(m.size, dtype=bool)
    taken[order[: max(MANY_ARMS // 4, 2 * (1 + int(np.searchsorted(np.cumsum(high[order]), 1.0))))]] = True
    while True:
        place = np.flatnonzero(taken)
        block = c[np.ix_(place, place)]
        some = np.empty(place.size)
        _minimise((block + block.T) / scale, linear[place], low[place], high[place], some)
        x[place] = some
        held = np.flatnonzero(x)
        gradient = linear + (x[held] @ c[held] + c[:, held] @ x[held]) / scale
        _, shrink, excess = active_set.pair(gradient, low, high, x)
        wanted = np.flatnonzero(~taken & (gradient < gradient[shrink] - active_set.PRECISION))
        if wanted.size == 0:
            return x, max(excess, 0.0) / 2.0 + abs(float(x.sum()) - 1.0)
        taken[wanted[np.argsort(gradient[wanted], kind="stable")[: place.size]]] = True


def _minimise(quadratic: Array, linear: Array, low: Array, high: Array, x: Array) -> float:
    method = active_set.minimise if x.size <= MANY_ARMS else active_set.minimise_in_steps
    return float(method(quadratic, linear, low, high, x))


def variance_of(weights: Array, covariance: Array) -> float:
    """xᵀCx; of many arms only those with weight are looked at."""
    held = arms_held(weights)
    return float(weights[held] @ covariance[held][:, held] @ weights[held])


def arms_held(*mixes: Array) -> Any:
    """Where one of the mixes has weight; everywhere unless arms are many and few of them have."""
    if mixes[0].size <= MANY_ARMS:
        return slice(None)
    held = np.flatnonzero(np.any(mixes, axis=0))
    return held if held.size < mixes[0].size // 2 else slice(None)


def limits(arms: int, upper: ArrayLike | None, short: bool) -> tuple[Array, Array]:
    """The smallest and largest weight of each arm."""
    short = check_flag("solve", "short", short)
    low, high = np.full(arms, -np.inf if short else 0.0), np.full(arms, np.inf if short else 1.0)
    if upper is None:
        return low, high
    given = as_array("solve", "upper", upper)
    if given.shape not in ((), (arms,)):
        raise PrudentError(f"solve: upper must be one number or {arms}, one per arm, got shape {given.shape}")
    high[:] = given
    if not (np.isfinite(high).all() and (high >= 0.0).all()):
        raise PrudentError(
            f"solve: upper must be finite and at least 0, got {shown(upper)}; leave it out for no limits"
        )
    if np.minimum(high, 1.0).sum() < 1.0 - 1e-12:
        raise PrudentError(f"solve: upper must sum to at least 1, got {high.sum():g}; the weights could not reach 1")
    return low, high if short else np.minimum(high, 1.0)


def positive_part(covariance: ArrayLike) -> tuple[Array, Array]:
    """The nearest positive semi-definite matrix (negative eigenvalues set to zero), and the eigenvalues, ascending."""
    c = as_array("positive_part", "covariance", covariance)
    if c.ndim != 2 or c.size == 0 or c.shape[0] != c.shape[1] or not (np.abs(c) < LARGE).all():
        raise PrudentError(f"positive_part: covariance must be K × K finite numbers, got {shown(covariance)}")
    values, vectors = np.linalg.eigh((c + c.T) / 2.0)
    if values[0] >= 0.0:
        return c, values
    return (vectors * np.maximum(values, 0.0)) @ vectors.T, values


def moments(owner: str, mean: ArrayLike, called: str, spread: ArrayLike) -> tuple[Array, Array]:
    """The K means and the K × K matrix `called` covariance or scale, as arrays."""
    m, c = as_array(owner, "mean", mean), as_array(owner, called, spread)
    if m.ndim != 1 or m.size == 0 or c.shape != (m.size, m.size):
        raise PrudentError(f"{owner}: mean must hold K numbers and {called} K × K, got shapes {m.shape} and {c.shape}")
    return m, c


def check_moments(owner: str, mean: Array, called: str, covariance: Array) -> tuple[Array, float]:
    """The covariance with eigenvalues negative by rounding set to zero, and the smallest of those (0 if there is none).

    Rejected if something is not finite, or the covariance not symmetric or clearly not positive semi-definite.
    """
    for name, values in (("mean", mean), (called, covariance)):
        if not (np.abs(values) < LARGE).all():
            raise PrudentError(f"{owner}: {name} must be finite numbers, got NaN or infinity; drop incomplete rows")
    widest = np.abs(covariance - covariance.T)
    if widest.max() > active_set.ASYMMETRY * np.abs(covariance).max():
        i, j = (int(k) for k in np.unravel_index(widest.argmax(), widest.shape))
        pair = f"[{i}, {j}] = {covariance[i, j]:g} and [{j}, {i}] = {covariance[j, i]:g}"
        fix = "pass (C + C.T) / 2 if they should agree"
        raise PrudentError(f"{owner}: covariance must be symmetric, got {pair}; {fix}")
    if len(mean) > MANY_ARMS and _is_nearly_positive(covariance):
        return covariance, 0.0
    projected, values = positive_part(covariance)
    smallest, largest = float(values[0]), float(np.abs(values).max())
    if smallest < -INDEFINITE * largest:
        got = f"smallest eigenvalue {smallest:g} (largest {largest:g})"
        fix = "estimate it from complete rows, or project it with prudent.portfolio.positive_part"
        raise PrudentError(f"{owner}: covariance must be positive semi-definite, got {got}; {fix}")
    return projected, min(smallest, 0.0)


def _is_nearly_positive(covariance: Array) -> bool:
    """Whether no eigenvalue is negative by more than rounding, told by a factorisation: eigenvalues take far longer."""
    rounding = 10.0 * float(np.finfo(float).eps * np.trace(covariance))
    return rounding > 0.0 and bool(active_set.is_positive(np.ascontiguousarray(covariance), rounding))


def nearest_covariance(estimate: Array, positive: bool) -> Array:
    """The positive part of an estimate; of many arms the estimate itself, if that is `positive` but for rounding."""
    if len(estimate) > MANY_ARMS and (positive or _is_nearly_positive(estimate)):
        return estimate
    return positive_part(estimate)[0]


def _check_minimum(quadratic: Array, linear: Array) -> None:
    """Reject a position that costs nothing, has no variance and earns: it could be taken without end."""
    values, vectors = np.linalg.eigh(quadratic)
    riskless = vectors[:, values <= NULL * max(values[-1], 0.0)]
    price, gain = riskless.sum(0), riskless.T @ linear
    if price @ price > NULL:
        gain = gain - price * (price @ gain) / (price @ price)
    if np.abs(gain).max(initial=0.0) > 1e-9:
        why = "covariance is singular and a position of no variance and no price earns"
        fix = "give upper limits, or drop the arms that others replicate"
        raise PrudentError(f"solve: with short selling the cost has no minimum: {why}; {fix}")


def _best_mean(mean: Array, low: Array, high: Array, *, endless: bool) -> Array:
    """Fill the arms up to their limits, best mean first; a tie goes to the lowest number."""
    if endless and np.ptp(mean) > 0.0:
        raise PrudentError("solve: with short selling and rho = inf the mean has no maximum; give upper limits")
    order = np.argsort(-mean, kind="stable")
    x, rest = np.zeros(mean.size), 1.0
    for i in order[:-1]:
        x[i] = min(rest, high[i]) if low[i] == 0.0 or endless else high[i]
        rest -= x[i]
    x[order[-1]] = min(rest, high[order[-1]])  # limits that sum to 1 leave it a rounding error too much
    return x
