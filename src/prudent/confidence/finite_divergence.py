"""How far is a law on known values from looking as good as the best one? As `divergence`, for finitely many values."""

import math

from prudent.base.arrays import Array
from prudent.compile.types import helper

_MAX_STEPS = 60
"""Of Newton's method, and of a search for the best centre; both end after some ten."""

_CLOSE = 1e-13
"""The share of K by which a better centre may still lower it."""


@helper
def finite(values: Array, counts: Array, cost: float, rho: float) -> float:
    """K among all laws on `values`, which ascend, of the law that the counts of each value make.

    A variance is the smallest E(X − a)² over all centres a. So the laws of cost c or less are those for which
    E h(X) ≤ 0 with h(x) = (x − a)² − ρx − c, for some a. For one a, K is the largest E log(1 + λh(X)) over those λ ≥ 0
    that keep 1 + λh ≥ 0 on all values, a concave problem. Over a it has several valleys: where h is below 0 at few
    values, or where another value x becomes the one of smallest h, which is that nearest to a + ρ/2. So the search
    starts from the mean, from every value x, and from every x − ρ/2. With ρ = ∞ there is no centre, and h(x) = −x − c.
    """
    if math.isinf(rho):
        return _with_centre(values, counts, cost, rho, 0.0)[0]
    total, mean = 0.0, 0.0
    for j in range(len(values)):
        total += counts[j]
        mean += counts[j] * values[j]
    mean /= total
    if _with_centre(values, counts, cost, rho, mean)[0] == 0.0:  # good enough as it is
        return 0.0
    least = _descend(values, counts, cost, rho, mean)
    for j in range(len(values)):
        if cost + rho * values[j] > 0.0:
            least = min(least, _descend(values, counts, cost, rho, values[j]))
        if rho > 0.0 and values[j] - 0.5 * rho > values[0]:
            least = min(least, _descend(values, counts, cost, rho, values[j] - 0.5 * rho))
    return least


@helper
def _height(x: float, cost: float, rho: float, centre: float) -> float:
    """h(x), whose mean is to be 0 or less."""
    return -x - cost if math.isinf(rho) else (x - centre) * (x - centre) - rho * x - cost


@helper
def _descend(values: Array, counts: Array, cost: float, rho: float, start: float) -> float:
    """The least divergence in the valley of a centre.

    The slope in a is 2λ(a − m), m the mean of the nearest law; and m is a better centre than a. So the first step goes
    to m and no farther, because another valley may begin there. Further ones go to where the secant of m − a has its
    root, but at most twice as far as the one before, until a centre lies beyond the lowest one. The root of m − a
    between the two is found by false position, with the end that stays halved (the Illinois method).
    """
    near = start
    least, near_gap, _ = _with_centre(values, counts, cost, rho, near)
    if least == math.inf or near_gap == 0.0:
        return least
    upwards, step = near_gap > 0.0, near_gap
    far, far_gap = near, near_gap
    for _ in range(_MAX_STEPS):
        far = min(values[-1], max(values[0], near + step))
        found, far_gap, slope = _with_centre(values, counts, cost, rho, far)
        if found == math.inf:  # too far; m is not
            step = 0.5 * step if abs(step) > 2.0 * abs(near_gap) else near_gap
            continue
        least = min(least, found)
        if (far_gap > 0.0) != upwards:
            break
        if far == values[0] or far == values[-1] or slope * far_gap * far_gap <= _CLOSE * least:
            return least
        reached = far - near
        secant = far_gap * reached / (near_gap - far_gap) if abs(far_gap) < abs(near_gap) else 2.0 * reached
        near, near_gap = far, far_gap
        step = secant if abs(secant) < 2.0 * abs(reached) else 2.0 * reached
        step = step if abs(step) > abs(far_gap) else far_gap
    if far_gap == near_gap or (far_gap > 0.0) == upwards:
        return least
    stayed = 0
    for _ in range(_MAX_STEPS):
        centre = far - far_gap * (far - near) / (far_gap - near_gap)
        if not min(near, far) < centre < max(near, far):
            break
        found, gap, slope = _with_centre(values, counts, cost, rho, centre)
        least = min(least, found)
        if slope * gap * gap <= _CLOSE * least:
            break
        if (gap > 0.0) == upwards:
            near, near_gap = centre, gap
            far_gap *= 0.5 if stayed == 1 else 1.0
            stayed = 1
        else:
            far, far_gap = centre, gap
            near_gap *= 0.5 if stayed == -1 else 1.0
            stayed = -1
    return least


@helper
def _with_centre(values: Array, counts: Array, cost: float, rho: float, centre: float) -> tuple[float, float, float]:
    """The divergence to the nearest law with E h(X) ≤ 0 for one centre, its mean less the centre, and λ."""
    total, mean, depth, deepest = 0.0, 0.0, 0.0, 0
    for j in range(len(values)):
        h = _height(values[j], cost, rho, centre)
        total += counts[j]
        mean += counts[j] * h
        if -h > depth:
            depth, deepest = -h, j
    if mean <= 0.0:
        return 0.0, 0.0, 0.0
    if depth == 0.0:
        return math.inf, 0.0, 0.0
    # λ = s / depth with 0 ≤ s ≤ 1. The derivative falls from a positive value at 0; its root is found by Newton's steps
    # within a bracket, unless it is still positive at 1.
    low, high, s = 0.0, 1.0, 1.0
    slope, bend = _derivatives(values, counts, cost, rho, centre, depth, s)
    if slope < 0.0:
        s = 0.5
        for _ in range(_MAX_STEPS):
            slope, bend = _derivatives(values, counts, cost, rho, centre, depth, s)
            low, high = (s, high) if slope > 0.0 else (low, s)
            new = s - slope / bend
            if not low < new < high:
                new = 0.5 * (low + high)
            if abs(new - s) <= 1e-15:
                break
            s = new
    found, mass, gap = 0.0, 0.0, 0.0
    for j in range(len(values)):
        if counts[j] > 0.0:
            u = s * (_height(values[j], cost, rho, centre) / depth)
            found += counts[j] * math.log1p(u)
            mass += counts[j] / (1.0 + u)
            gap += counts[j] / (1.0 + u) * (values[j] - centre)
    # At s = 1 the nearest law has the rest of its mass where h is smallest.
    gap += max(0.0, total - mass) * (values[deepest] - centre) if s == 1.0 else 0.0
    return max(0.0, found / total), gap / max(mass, total), s / depth


@helper
def _derivatives(
    values: Array, counts: Array, cost: float, rho: float, centre: float, depth: float, s: float
) -> tuple[float, float]:
    """The first two derivatives in s; −∞ where a value that was seen makes the logarithm infinite."""
    slope, bend = 0.0, 0.0
    for j in range(len(values)):
        if counts[j] > 0.0:
            u = _height(values[j], cost, rho, centre) / depth
            if 1.0 + s * u <= 0.0:
                return -math.inf, -math.inf
            share = u / (1.0 + s * u)
            slope += counts[j] * share
            bend -= counts[j] * share * share
    return slope, bend
