"""Which numbers drawn take a score below a level, or not below it, and how likely they are.

A score is q₀ + q₁x + q₂x² + Y: x the first number drawn, and Y ~ N(b, w²) the part of the second one, with w = 0 if
there is none. Where a parabola opens upwards, or a score of two numbers falls with the first, any number may fail, and
runs do not leap.

For scores of two numbers below a level c, with x = A/γ, γ ~ Gamma(α): given γ, P(Y < c − q₀ − q₁A/γ) is the normal tail
of ζ(γ) = (q₀ + q₁A/γ + b − c)/w. By the tangents at γ₀ of A/γ, which is convex, and of the tail's logarithm, which is
concave, it is at most tail(ζ₀) e^{λ(γ−γ₀)} with λ = hazard(ζ₀) q₁A/(γ₀² w). The moment generating function of γ gives
the rate tail(ζ₀) e^{−λγ₀} (1−λ)^{−α}, and Gamma(α)/(1−λ) proposes. Any γ₀ with λ < 1 will do, γ₀(1−λ) = α is best.
Two edges, one for each number, would fail up to thousands of times as often.
"""

import math
from typing import Any, NamedTuple

from prudent.compiled import helper, in_kernels
from prudent.policies.tails import hazard, normal_above, normal_tail

STRAIGHT = 1e-12
"""A second difference below this share of the scores is rounding."""

STEPS, CLOSE = 12, 0.1
"""In the search for γ₀: steps at most, and how near γ₀(1−λ) must come to α, in units of √α."""


class Surface(NamedTuple):
    """The score of an arm as a function of the numbers drawn."""

    q0: float
    q1: float
    q2: float
    b: float
    w: float


def surface(policy: Any, arm: Any, laws: Any) -> Surface:
    """The score of an arm whose numbers come from these laws."""
    return (_of_one if len(laws) == 1 else _of_two)(policy, arm, laws)


@in_kernels(surface)
def _surface(policy: Any, arm: Any, laws: Any) -> Any:
    return _of_one if len(laws) == 1 else _of_two


def _of_one(policy: Any, arm: Any, laws: Any) -> Surface:
    location, _, deviation = laws[0].place()
    unit = abs(location) + deviation
    none, one, two = policy.score(arm, 0.0), policy.score(arm, unit), policy.score(arm, 2.0 * unit)
    bend = two - 2.0 * one + none
    if abs(bend) <= STRAIGHT * (abs(two) + 2.0 * abs(one) + abs(none)):
        bend = 0.0
    return Surface(none, (one - none - 0.5 * bend) / unit, 0.5 * bend / (unit * unit), 0.0, 0.0)


def _of_two(policy: Any, arm: Any, laws: Any) -> Surface:
    none = policy.score(arm, 0.0, 0.0)
    slope = policy.score(arm, 0.0, 1.0) - none
    first = policy.score(arm, 1.0, 0.0) - none
    return Surface(none, first, 0.0, slope * laws[1].mean, abs(slope) * laws[1].sd)


@helper
def height(score: Surface, x: float) -> float:
    """The part of a score that the first number makes."""
    return score.q0 + score.q1 * x + score.q2 * x * x


@helper
def roots(score: Surface, level: float) -> tuple[float, float]:
    """Where a parabola that opens downwards crosses the level, ascending; (∞, −∞) if it does not."""
    q0, q1, q2 = score.q0 - level, score.q1, score.q2
    square = q1 * q1 - 4.0 * q2 * q0
    if square <= 0.0:
        return math.inf, -math.inf
    far = -0.5 * (q1 + math.copysign(math.sqrt(square), q1))
    return min(far / q2, q0 / far), max(far / q2, q0 / far)


@helper
def weak_point(score: Surface, location: float, share: float) -> tuple[float, bool]:
    """An edge, and whether the numbers above it fail, or those below: all others keep the first part below `share`."""
    if score.q2 < 0.0:
        low, high = roots(score, share)
        if low > high or location < low:
            return low, True
        return (high, False) if location > high else (-math.inf, True)
    if score.q2 > 0.0:
        return -math.inf, True
    if score.q1 != 0.0:
        return (share - score.q0) / score.q1, score.q1 > 0.0
    return (math.inf if score.q0 < share else -math.inf), True


@helper
def rival_rate(law: Any, score: Surface, level: float) -> tuple[float, float, float]:
    """A bound on the probability of a score below the level, and two numbers for `propose`."""
    if score.w > 0.0:
        return _rate_of_two(law, score, level)
    low, high = -math.inf, math.inf
    if score.q2 < 0.0:
        low, high = roots(score, level)
    elif score.q2 > 0.0 or (score.q1 == 0.0 and score.q0 < level):
        low = math.inf
    elif score.q1 > 0.0:
        low = (level - score.q0) / score.q1
    elif score.q1 < 0.0:
        high = (level - score.q0) / score.q1
    if low == math.inf:
        return 1.0, low, high
    return min(1.0, tail_of(law, low, False) + tail_of(law, high, True)), low, high


@helper
def tail_of(law: Any, edge: float, upper: bool) -> float:
    """`tight`, 0 for an edge that no number passes."""
    return 0.0 if math.isinf(edge) else law.tight(edge, upper)


@helper
def _rate_of_two(law: Any, score: Surface, level: float) -> tuple[float, float, float]:
    location, alpha, _ = law.place()
    centre, gap = score.q1 * location, score.q0 + score.b - level
    beta, w = centre * alpha, score.w
    if centre < 0.0 or centre + gap <= 0.0:
        return 1.0, 0.0, 0.0
    # A guess from normal laws, then halving the error, by bisection where that leaves the bracket.
    spread, least, most = centre * centre / alpha, alpha, math.inf
    at = alpha
    if centre > 0.0:
        at = beta / max(centre - (centre + gap) * spread / (spread + w * w), 0.05 * centre)
    for _ in range(STEPS):
        zeta = (beta / at + gap) / w
        tilt = hazard(zeta) * beta / (at * at * w)
        miss = at * (1.0 - tilt) - alpha
        if abs(miss) <= CLOSE * math.sqrt(alpha):
            break
        if miss < 0.0:
            least = at
        else:
            most = at
        following = 0.5 * (at + alpha / (1.0 - min(tilt, 0.95)))
        if not least < following < most:
            following = math.sqrt(least * most) if most < math.inf else 2.0 * least
        at = following
    zeta = (beta / at + gap) / w
    tilt = hazard(zeta) * beta / (at * at * w)
    if not tilt < 1.0:
        return 1.0, 0.0, 0.0
    return min(1.0, normal_tail(zeta) * math.exp(-alpha * math.log1p(-tilt) - tilt * at)), at, tilt


@helper
def propose(law: Any, score: Surface, level: float, first: float, second: float, rng: Any) -> tuple[bool, float]:
    """Whether a candidate of that rate has a score below the level, and the score."""
    if score.w > 0.0:
        location, alpha, _ = law.place()
        beta, gap, w = score.q1 * location * alpha, score.q0 + score.b - level, score.w
        gamma = rng.standard_gamma(alpha) / (1.0 - second)
        zeta, there = (beta / gamma + gap) / w, (beta / first + gap) / w
        if rng.random() * normal_tail(there) * math.exp(second * (gamma - first)) >= normal_tail(zeta):
            return False, 0.0
        return True, beta / gamma + gap + level - w * normal_above(zeta, rng)
    below, above = tail_of(law, first, False), tail_of(law, second, True)
    upper = rng.random() * (below + above) >= below
    accepted, x = law.beyond(second if upper else first, upper, rng)
    return accepted, height(score, x) + score.b
