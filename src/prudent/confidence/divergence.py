"""How far is a law from looking as good as the best one? The smallest divergence to a law of cost c or less.

K(ν; c) = inf {KL(ν, ν′) : ν′ in the same family, cost of ν′ ≤ c}, with the mean-variance σ² − ρμ as the cost and −μ for
ρ = ∞. No learning policy pulls an arm less than log n/K times, with c the cost of the best arm (docs: lower-bounds).
K is 0 for a law whose own cost is c or less, and infinite where no law of the family is so good. It has no unit:
rewards and ρ times a, with c times a² (times a for ρ = ∞), leave it as it is. These functions run inside kernels too.
"""

import math

from prudent.compile.types import helper


@helper
def gaussian(mean: float, variance: float, cost: float, rho: float) -> float:
    """K among all Gaussian laws, mean and variance unknown.

    In units of the law's own standard deviation (r = ρ/σ) let g be the gap to c, and a = 1 − g the variance that a law
    of the same mean would need. On the boundary m′ = (v′ − a)/r, the derivative of KL vanishes where
    v′²/r² + v′ = 1 + a²/r², and then K = ½ [log v′ + (1 + m′²)/v′ − 1]. It is solved for v′ and for v′ − 1, which keeps
    its digits when the gap is small.
    """
    only_mean = math.isinf(rho)
    gap = -mean - cost if only_mean else variance - rho * mean - cost
    if gap <= 0.0:
        return 0.0
    if variance <= 0.0 or gap / variance == math.inf:
        return math.inf
    deviation = math.sqrt(variance)
    if rho > 1e150 * deviation:  # only the mean counts, or nearly so; r² is too large for floats
        shift = gap / deviation if only_mean else gap / rho / deviation
        return 0.5 * math.log1p(shift * shift)
    g, r = gap / variance, rho / deviation
    if rho == 0.0:
        return 0.5 * _excess(-g, cost / variance) if cost / variance > 0.0 else math.inf
    a = 1.0 - g
    root = math.hypot(math.hypot(r * r, 2.0 * r), 2.0 * a)
    wider = 2.0 * (r / (r * r + root) * r + a / (r * r + root) * a)
    more = 2.0 * (g / (2.0 + r * r + root)) * (g - 2.0)
    # The two are equal, but for a small r the first would be the difference of nearly equal numbers.
    shift = (more + g) / r if r >= 1.0 or a <= 0.0 else -r * more / (wider + a)
    return max(0.0, 0.5 * (_excess(more, wider) + shift * (shift / wider)))


@helper
def bernoulli(p: float, cost: float, rho: float) -> float:
    """K among all Bernoulli laws.

    The cost q(1 − q) − ρq is c or less at both ends of [0, 1], outside the roots p + d of d² − ed − g = 0, with
    e = 1 − ρ − 2p and g the gap. K is the smaller divergence of the two roots that lie in [0, 1].
    """
    if math.isinf(rho):
        return _between(p, -cost - p) if -cost > p else 0.0
    gap = p * (1.0 - p) - rho * p - cost
    if gap <= 0.0:
        return 0.0
    e = 1.0 - rho - 2.0 * p
    root = math.hypot(e, 2.0 * math.sqrt(gap))
    up = 0.5 * (e + root) if e >= 0.0 else 2.0 * gap / (root - e)
    return min(_between(p, up), _between(p, -gap / up))


@helper
def _excess(more: float, wider: float) -> float:
    """Twice the divergence of Gaussian laws of one mean, with variances 1 and `wider`, which is 1 + `more`."""
    if more > 0.0:
        return math.log1p(more) - more / wider
    return -more / wider - math.log1p(-more / wider)


@helper
def _between(p: float, d: float) -> float:
    """kl(p, p + d) of Bernoulli laws; infinite where p + d is no probability, or one that rules out what p allows."""
    q = 1.0 - p
    if p + d < 0.0 or q - d < 0.0 or (p > 0.0 and p + d == 0.0) or (q > 0.0 and q - d == 0.0):
        return math.inf
    ones = -p * math.log1p(d / p) if p > 0.0 else 0.0
    zeros = -q * math.log1p(-d / q) if q > 0.0 else 0.0
    return max(0.0, ones + zeros)
