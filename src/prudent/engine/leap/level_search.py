"""The search for the level at which all arms together have made as many pulls as there are rounds."""

import math

import numpy as np
from numpy.random import Generator

from prudent.base.arrays import Array, Counts
from prudent.compile.types import helper, kernel
from prudent.engine.leap.blocks import Sources
from prudent.engine.leap.first_passage import Stacks, advance, give_back
from prudent.engine.record import Statistics, clear, copy_statistics
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import score_of
from prudent.policies.ties import arm_of, below, rounding

COARSE, CLOSE = 32, 256
"""How near the two first levels are approached: until only one reward for so many pulls fits in below."""

SMALLEST_FLOAT = 5e-324
"""The smallest number there is: what a score of 0 must fall short of another of 0 to lose."""

MOST_LEVELS = 60
MOST_OVERSHOOTS = 4
"""After so many levels, or levels too high, the remaining rounds are simulated in their order, because the number of
pulls jumps over the horizon at one level, and then no other level fits."""


@kernel
def raise_level(
    policy: ReadyPolicy,
    src: Sources,
    log_failure: float,
    horizon: int,
    level: float,
    arms: Statistics,
    scores: Array,
    saved: Statistics,
    stacks: Stacks,
    rng: Generator,
) -> tuple[float, bool]:
    """Bring all arms to their first passage above ever higher levels, as long as the horizon is well ahead.

    Returns the last level that held. Where a level makes too many pulls, all arms go back to where they were, and a
    lower one is tried. Where it makes more blocks than there is room for, they go back too, and it returns True.

    First passages cost most, and a level can be aimed well only from nearby. So at the start of a run the arms are
    first brought near two levels, without their first passages. Whether those levels hold is known when a higher one
    does; if none does, the run starts again.
    """
    n_arms = len(scores)
    ceiling, overshoots, near, sure, target = math.inf, 0, level, True, float(horizon)
    coarse = COARSE if level == -math.inf else 0
    saved_scores, marks = scores.copy(), np.zeros(n_arms, np.int64)
    for _ in range(MOST_LEVELS):
        left = int(horizon - arms.pulls.sum())
        if sure and (left <= 32 * n_arms or overshoots >= MOST_OVERSHOOTS):
            break
        blind = left == horizon
        caution = 4.0 if coarse > 0 else 1.5 + 2.0 * overshoots
        guess = guess_level(policy, src, target, arms, scores, blind, caution)
        floor = max(near, smallest(scores))
        if not floor < guess < ceiling:
            guess = 0.5 * (floor + ceiling)
        if not floor < guess < ceiling or (overshoots >= MOST_OVERSHOOTS and not sure):
            if sure:
                break
            if coarse > 0:
                coarse = 0
                continue
            start_over(arms, scores, stacks)
            ceiling, overshoots, near, sure, target = math.inf, 0, level, True, 0.5 * target
            continue
        copy_statistics(arms, saved)
        for i in range(n_arms):
            saved_scores[i], marks[i] = scores[i], stacks.n_behind[i]
        taken, full = 0, False
        for i in range(n_arms):
            if scores[i] <= guess and taken <= left and not full:
                budget = left - taken + 1
                taken += advance(policy, src, log_failure, i, guess, budget, coarse, arms, scores, stacks, True, rng)
                full = coarse == 0 and scores[i] <= guess and taken <= left
        if taken <= left and not full:
            near, sure = guess, coarse == 0
            if sure:
                level, target = guess, float(horizon)
                stacks.n_behind[:] = 0
            coarse = CLOSE if coarse == COARSE else 0
            continue
        ceiling = guess
        overshoots += 1
        copy_statistics(saved, arms)
        for i in range(n_arms):
            scores[i] = saved_scores[i]
            give_back(stacks, i, marks[i])
        if full:
            if not sure:
                start_over(arms, scores, stacks)
            return level, True
    return level, False


@kernel
def start_over(arms: Statistics, scores: Array, stacks: Stacks) -> None:
    """Back to where no arm was pulled, with all blocks ahead."""
    clear(arms)
    scores[:] = -math.inf
    for i in range(len(scores)):
        give_back(stacks, i, 0)


@kernel
def play_out(
    policy: ReadyPolicy,
    src: Sources,
    log_failure: float,
    horizon: int,
    level: float,
    arms: Statistics,
    scores: Array,
    stacks: Stacks,
    rng: Generator,
) -> float:
    """Simulate the remaining rounds in order: the arm with the smallest score, until its score exceeds the next.

    Returns the highest score at which an arm was pulled, the level the run has reached. A score that is NaN
    ends it.
    """
    left = int(horizon - arms.pulls.sum())
    lost = any_nan(scores)
    while left > 0 and not lost:
        first, second = two_smallest(arms, scores)
        bar = scores[second] if second >= 0 else math.inf
        if not math.isinf(bar):
            # Of two equal scores the lower number is pulled, so it may rise above the other by what is mere rounding.
            own = scores[first] if scores[first] > -math.inf else bar
            tie = rounding(own, arm_of(arms, first)) + rounding(bar, arm_of(arms, second)) + SMALLEST_FLOAT
            bar += tie if first < second else -tie
        level = max(level, scores[first])
        left -= advance(policy, src, log_failure, first, bar, left, 0, arms, scores, stacks, False, rng)
        lost = math.isnan(scores[first])
        if scores[first] < bar or left == 0:
            level = max(level, min(bar, scores[first]))
    return level


@helper
def smallest(scores: Array) -> float:
    """The smallest score; NumPy's own takes longer to compile."""
    least = math.inf
    for score in scores:
        least = min(least, score)
    return least


@helper
def any_nan(scores: Array) -> bool:
    """Whether some score is NaN."""
    found = False
    for score in scores:
        found = found or math.isnan(score)
    return found


@helper
def two_smallest(arms: Statistics, scores: Array) -> tuple[int, int]:
    """The arms of smallest and second smallest score, ties to the lowest number; the second is −1 if there is none."""
    first, second = 0, -1
    for i in range(1, len(scores)):
        if below(scores[i], arm_of(arms, i), scores[first], arm_of(arms, first)):
            first, second = i, first
        elif second < 0 or below(scores[i], arm_of(arms, i), scores[second], arm_of(arms, second)):
            second = i
    return first, second


@kernel
def guess_level(
    policy: ReadyPolicy, src: Sources, target: float, arms: Statistics, scores: Array, blind: bool, caution: float
) -> float:
    """A level that makes a little less than `target` pulls, most likely.

    Each arm's score is taken as a − b/√s with its mean and variance as they stand (the true ones while `blind`); then
    it passes λ at s = (b/(a − λ))². The margin is `caution` standard deviations of the pulls, from the noise of
    the statistics to come. The answer affects only the time.
    """
    n_arms = len(scores)
    a, b, noise = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    guess = math.inf
    for i in range(n_arms):
        s = max(arms.pulls[i], 16)
        mean, variance = arms.mean[i], arms.variance[i]
        if blind:
            s, mean, variance = max(16, int(target) // n_arms), src.mean[i], src.variance[i]
        here = score_of(policy, Arm(s, mean, variance), 0, 0, 0, 0)
        there = score_of(policy, Arm(4 * s, mean, variance), 0, 0, 0, 0)
        b[i] = 2.0 * (there - here) * math.sqrt(s)
        a[i] = here + b[i] / math.sqrt(s)
        if not b[i] > 0.0:
            return -math.inf
        deviation = math.sqrt(variance)
        by_mean = score_of(policy, Arm(s, mean + 0.01 * deviation, variance), 0, 0, 0, 0) - here
        by_variance = score_of(policy, Arm(s, mean, variance * 1.01), 0, 0, 0, 0) - here
        noise[i] = 100.0 * math.hypot(by_mean, math.sqrt(2.0) * by_variance)
        guess = min(guess, a[i] - b[i] / math.sqrt(target))
    for i in range(n_arms):
        if not guess < a[i]:  # b is lost in the rounding of a
            return -math.inf
    floor = smallest(scores)
    left = target - arms.pulls.sum()
    guess = solve_level(a, b, arms.pulls, target, 0.01 * left, floor, guess)
    spread = 0.0
    for i in range(n_arms):
        after = (b[i] / (a[i] - guess)) ** 2
        if after > arms.pulls[i]:
            spread += (2.0 * noise[i] / b[i]) ** 2 * (after - arms.pulls[i]) * after
    margin = min(caution * math.sqrt(spread) + n_arms, 0.2 * left)
    return solve_level(a, b, arms.pulls, target - margin, min(0.01 * left, 0.2 * margin), floor, guess)


@kernel
def solve_level(
    a: Array,
    b: Array,
    pulls: Counts,
    target: float,
    tolerance: float,
    low: float,
    high: float,
) -> float:
    """λ in [low, high] with Σ max(pulls, (b/(a − λ))²) = target, to tolerance + ½: Newton on the sum of those that
    move, to the power −½ (for one arm that is a line), with bisection where Newton leaves the bracket."""
    level = high
    for _ in range(30):
        moving, slope, fixed = 0.0, 0.0, 0.0
        for i in range(len(a)):
            s = (b[i] / (a[i] - level)) ** 2
            if s > pulls[i]:
                moving += s
                slope += 2.0 * s / (a[i] - level)
            else:
                fixed += pulls[i]
        if abs(moving + fixed - target) < 0.5 + tolerance:
            break
        if moving + fixed > target:
            high = level
        else:
            low = level
        if target > fixed and slope > 0.0:
            level += 2.0 * moving / slope * (1.0 - math.sqrt(moving / (target - fixed)))
        if not low < level < high:
            level = 0.5 * (low + high)
    return level
