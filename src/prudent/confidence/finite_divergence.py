"""How far is a law on known values from looking as good as the best one? As `divergence`, for finitely many values."""

import math

from prudent.arrays import Array
from prudent.compiled import helper

CENTRES = 16
"""Places at which the least divergence is first looked for."""

SECTIONS = 20
"""Golden sections of the best place: the centre is then known to 10⁻⁵ of the values' spread, K to about 10⁻¹⁰."""

NEWTON_STEPS = 60
GOLDEN = 0.6180339887498949


@helper
def finite(values: Array, counts: Array, cost: float, rho: float) -> float:
    """K among all laws on `values`, which ascend, of the law that the counts of each value make.

    A variance is the smallest E(X − a)² over all centres a. So the laws of cost c or less are those for which
    E h(X) ≤ 0 with h(x) = (x − a)² − ρx − c, for some a. For one a, K is the largest E log(1 + λh(X)) over those λ ≥ 0
    that keep 1 + λh ≥ 0 on all values, a concave problem; the smallest over a is looked for on a grid and then by
    golden sections. With ρ = ∞ there is no centre, and h(x) = −x − c.
    """
    if math.isinf(rho):
        return with_centre(values, counts, cost, rho, 0.0)
    total, mean = 0.0, 0.0
    for j in range(len(values)):
        total += counts[j]
        mean += counts[j] * values[j]
    if with_centre(values, counts, cost, rho, mean / total) == 0.0:  # good enough as it is
        return 0.0
    low, high = values[0], values[-1]
    least, place = math.inf, 0
    for j in range(CENTRES + 1):
        found = with_centre(values, counts, cost, rho, low + (high - low) * j / CENTRES)
        if found < least:
            least, place = found, j
    left = low + (high - low) * max(0, place - 1) / CENTRES
    right = low + (high - low) * min(CENTRES, place + 1) / CENTRES
    one, other = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    at_one, at_other = with_centre(values, counts, cost, rho, one), with_centre(values, counts, cost, rho, other)
    for _ in range(SECTIONS):
        least = min(least, at_one, at_other)
        if at_one <= at_other:
            right, other, at_other = other, one, at_one
            one = right - GOLDEN * (right - left)
            at_one = with_centre(values, counts, cost, rho, one)
        else:
            left, one, at_one = one, other, at_other
            other = left + GOLDEN * (right - left)
            at_other = with_centre(values, counts, cost, rho, other)
    return least


@helper
def height(x: float, cost: float, rho: float, centre: float) -> float:
    """h(x), whose mean is to be 0 or less."""
    return -x - cost if math.isinf(rho) else (x - centre) * (x - centre) - rho * x - cost


@helper
def with_centre(values: Array, counts: Array, cost: float, rho: float, centre: float) -> float:
    """The divergence to the nearest law with E h(X) ≤ 0, for one centre."""
    total, mean, depth = 0.0, 0.0, 0.0
    for j in range(len(values)):
        h = height(values[j], cost, rho, centre)
        total += counts[j]
        mean += counts[j] * h
        depth = max(depth, -h)
    if mean <= 0.0:
        return 0.0
    if depth == 0.0:
        return math.inf
    # λ = s / depth with 0 ≤ s ≤ 1. The derivative falls from a positive value at 0; its root is found by Newton's steps
    # within a bracket, unless it is still positive at 1.
    low, high = 0.0, 1.0
    slope, bend = derivatives(values, counts, cost, rho, centre, depth, 1.0)
    s = 1.0
    if slope < 0.0:
        s = 0.5
        for _ in range(NEWTON_STEPS):
            slope, bend = derivatives(values, counts, cost, rho, centre, depth, s)
            low, high = (s, high) if slope > 0.0 else (low, s)
            new = s - slope / bend
            if not low < new < high:
                new = 0.5 * (low + high)
            if abs(new - s) <= 1e-14:
                break
            s = new
    found = 0.0
    for j in range(len(values)):
        if counts[j] > 0.0:
            found += counts[j] * math.log1p(s * (height(values[j], cost, rho, centre) / depth))
    return max(0.0, found / total)


@helper
def derivatives(
    values: Array, counts: Array, cost: float, rho: float, centre: float, depth: float, s: float
) -> tuple[float, float]:
    """The first two derivatives in s; −∞ where a value that was seen makes the logarithm infinite."""
    slope, bend = 0.0, 0.0
    for j in range(len(values)):
        if counts[j] > 0.0:
            u = height(values[j], cost, rho, centre) / depth
            if 1.0 + s * u <= 0.0:
                return -math.inf, -math.inf
            share = u / (1.0 + s * u)
            slope += counts[j] * share
            bend -= counts[j] * share * share
    return slope, bend
