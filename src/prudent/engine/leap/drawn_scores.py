"""Scores as functions of the numbers drawn: which numbers take a rival below a leader, and how likely they are.

A score is q₁x + q₂x² + Y: x the first number drawn, and Y ~ N(b, w²) what follows a normal law, with q₁ = q₂ = 0 if
that is all, and w = 0 if nothing does. Let a leader's first part q₁x + q₂x² be a at most. Then a rival can be below it
only if its own first part and the difference of the two normal parts, N(b − b′, w² + w′²), add up to less than a.

With both parts, and x = A/γ, γ ~ Gamma(α): given γ the probability is the normal tail of ζ(γ) = (q₁A/γ + b − b′ − a)/s,
s² = w² + w′². By the tangents at γ₀ of A/γ, which is convex, and of the tail's logarithm, which is concave, it is at
most tail(ζ₀) e^{λ(γ−γ₀)} with λ = hazard(ζ₀) q₁A/(γ₀² s). The moment generating function of γ gives the rate
tail(ζ₀) e^{−λγ₀} (1−λ)^{−α}, and Gamma(α)/(1−λ) proposes. Any γ₀ with λ < 1 will do, γ₀(1−λ) = α is best. Two edges,
one for each number, would fail up to thousands of times as often.

A rate for the largest b′ and w′ holds for smaller ones. Where ζ ≥ 0 the tail only falls. Where ζ < 0 it is at most 1,
and there the tangent is at least tail(ζ₀) e^{ζ₀ hazard(ζ₀)}; where this is below 1, the rate is divided by it.
"""

import math
from typing import Any, NamedTuple

from numpy.random import Generator

from prudent.compile.types import helper, in_kernels
from prudent.policies.contract import ReadyPolicy
from prudent.policies.posteriors import Normal
from prudent.policies.tails import hazard, normal_above, normal_tail

STRAIGHT = 1e-12
"""A second difference below this share of the scores is rounding."""

MAX_STEPS, NEAR_ENOUGH = 12, 0.1
"""In the search for γ₀: steps at most, and how near γ₀(1−λ) must come to α, in units of √α."""


class Surface(NamedTuple):
    """The score of an arm as a function of the numbers drawn."""

    q1: float
    q2: float
    b: float
    w: float


def surface(policy: ReadyPolicy, arm: Any, laws: Any) -> Surface:
    """The score of an arm whose numbers come from these laws."""
    return _form(tuple(type(law) for law in laws))(policy, arm, laws)


@in_kernels(surface)
def _surface(policy: Any, arm: Any, laws: Any) -> Any:
    return _form(tuple(law.instance_class for law in laws))


def _form(laws: tuple[Any, ...]) -> Any:
    if len(laws) == 2:
        return _of_two
    return _of_normal if laws[0] is Normal else _of_one


@helper
def _of_one(policy: ReadyPolicy, arm: Any, laws: Any) -> Surface:
    location, _, deviation = laws[0].place()
    unit = abs(location) + deviation
    none, one, two = policy.score(arm, 0.0), policy.score(arm, unit), policy.score(arm, 2.0 * unit)
    bend = two - 2.0 * one + none
    if abs(bend) <= STRAIGHT * (abs(two) + 2.0 * abs(one) + abs(none)):
        bend = 0.0
    return Surface((one - none - 0.5 * bend) / unit, 0.5 * bend / (unit * unit), none, 0.0)


def _of_normal(policy: ReadyPolicy, arm: Any, laws: Any) -> Surface:
    law, score = laws[0], _of_one(policy, arm, laws)
    return Surface(0.0, 0.0, score.b + score.q1 * law.mean, abs(score.q1) * law.sd) if score.q2 == 0.0 else score


def _of_two(policy: ReadyPolicy, arm: Any, laws: Any) -> Surface:
    none = policy.score(arm, 0.0, 0.0)
    slope = policy.score(arm, 0.0, 1.0) - none
    first = policy.score(arm, 1.0, 0.0) - none
    return Surface(first, 0.0, none + slope * laws[1].mean, abs(slope) * laws[1].sd)


@helper
def height(score: Surface, x: float) -> float:
    """The part of a score that the first number makes."""
    return (score.q1 + score.q2 * x) * x


@helper
def roots(score: Surface, level: float) -> tuple[float, float]:
    """Where a parabola that opens downwards crosses the level, ascending; (∞, −∞) if it does not."""
    square = score.q1 * score.q1 + 4.0 * score.q2 * level
    if square <= 0.0:
        return math.inf, -math.inf
    far = -0.5 * (score.q1 + math.copysign(math.sqrt(square), score.q1))
    return min(far / score.q2, -level / far), max(far / score.q2, -level / far)


@helper
def weak_point(score: Surface, location: float, share: float) -> tuple[float, bool]:
    """An edge, and whether the numbers above it fail, or those below: all others keep the first part at `share` or
    below."""
    if score.q2 < 0.0:
        low, high = roots(score, share)
        if low > high or location < low:
            return low, True
        return (high, False) if location > high else (-math.inf, True)
    if score.q2 > 0.0:
        return -math.inf, True
    if score.q1 != 0.0:
        return share / score.q1, score.q1 > 0.0
    return (math.inf if share >= 0.0 else -math.inf), True


@helper
def rival_rate(law: Any, score: Surface, b: float, w: float, share: float) -> tuple[float, float, float]:
    """A bound on the probability that a rival is below a leader whose first part is `share` at most, and whose normal
    part is N(b, w²), or has a smaller mean or standard deviation; and two numbers for `propose`."""
    gap, deviation = score.b - b - share, math.sqrt(score.w * score.w + w * w)
    if deviation == 0.0:
        return _rate_of_one(law, score, -gap)
    if score.w == 0.0:  # a parabola beside a straight line, which only rounding can make
        return 1.0, 0.0, 0.0
    if score.q1 == 0.0:
        return (normal_tail(gap / deviation) if gap > 0.0 else 1.0), 0.0, 0.0
    return _rate_of_two(law, score.q1, gap, deviation)


@helper
def _rate_of_one(law: Any, score: Surface, level: float) -> tuple[float, float, float]:
    low, high = -math.inf, math.inf
    if score.q2 < 0.0:
        low, high = roots(score, level)
    elif score.q2 > 0.0 or (score.q1 == 0.0 and level > 0.0):
        low = math.inf
    elif score.q1 > 0.0:
        low = level / score.q1
    elif score.q1 < 0.0:
        high = level / score.q1
    if low == math.inf:
        return 1.0, low, high
    return min(1.0, tail_of(law, low, False) + tail_of(law, high, True)), low, high


@helper
def tail_of(law: Any, edge: float, upper: bool) -> float:
    """`tight`, 0 for an edge that no number passes."""
    return 0.0 if math.isinf(edge) else law.tight(edge, upper)


@helper
def _rate_of_two(law: Any, q1: float, gap: float, w: float) -> tuple[float, float, float]:
    location, alpha, _ = law.place()
    centre = q1 * location
    beta = centre * alpha
    if centre <= 0.0 or centre + gap <= 0.0:
        return 1.0, 0.0, 0.0
    # A guess from normal laws, then halving the error, by bisection where that leaves the bracket.
    spread, least, most = centre * centre / alpha, alpha, math.inf
    at = beta / max(centre - (centre + gap) * spread / (spread + w * w), 0.05 * centre)
    for _ in range(MAX_STEPS):
        tilt = hazard((beta / at + gap) / w) * beta / (at * at * w)
        miss = at * (1.0 - tilt) - alpha
        if abs(miss) <= NEAR_ENOUGH * math.sqrt(alpha):
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
    rise = hazard(zeta)
    tilt = rise * beta / (at * at * w)
    if not tilt < 1.0:
        return 1.0, 0.0, 0.0
    rate = normal_tail(zeta) * math.exp(-alpha * math.log1p(-tilt) - tilt * at)
    if zeta < 1.5:  # else it is above 1
        rate /= min(1.0, normal_tail(zeta) * math.exp(rise * zeta))
    return min(1.0, rate), at, tilt


@helper
def propose(
    law: Any, score: Surface, b: float, w: float, share: float, proposal: tuple[float, float, float], rng: Generator
) -> tuple[bool, float, float]:
    """Whether a candidate is below a leader of which the first part is `share`, the normal part N(b, w²); its own first
    part, and by how much its normal part exceeds the leader's. The proposal is what `rival_rate` found."""
    rate, first, second = proposal
    gap, deviation = score.b - b - share, math.sqrt(score.w * score.w + w * w)
    if deviation == 0.0:
        below, above = tail_of(law, first, False), tail_of(law, second, True)
        upper = rng.random() * (below + above) >= below
        accepted, x = law.beyond(second if upper else first, upper, rng)
        return accepted, height(score, x), score.b - b
    own, bound = 0.0, rate
    if score.q1 != 0.0:
        location, alpha, _ = law.place()
        gamma = rng.standard_gamma(alpha) / (1.0 - second)
        own, bound = score.q1 * location * alpha / gamma, rate * math.exp(alpha * math.log1p(-second) + second * gamma)
    zeta = (own + gap) / deviation
    if rng.random() * bound >= normal_tail(zeta):
        return False, 0.0, 0.0
    return True, own, gap + share - deviation * normal_above(zeta, rng)
