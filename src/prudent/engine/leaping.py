"""The leaping engine: exact runs whose cost hardly grows with the horizon (docs/leaping.md).

If a score needs only the arm's own statistics, the policy pulls in increasing order of each arm's running maximum of
its score. So after n rounds there is a level such that every arm stands at its first passage above it: arms advance
one at a time, by whole blocks as long as no prefix of a block can pass the level.

A run raises the level towards the one that makes n pulls. A level that turns out too high is taken back: the blocks
consumed on the way return to the queue, with everything that was revealed of them. The last pulls are played in their
order, an arm at a time, each up to the score of the next.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent.arms.sampling import Laws, draw_block, merge
from prudent.compiled import kernel, score_of
from prudent.engine.blocks import (
    MEAN,
    RESIDUAL,
    SIZE,
    Sources,
    fresh,
    gaussian_block,
    gaussian_split,
    prefix_box,
    split,
)
from prudent.engine.record import Record, write_down
from prudent.engine.stepping import BAD_PHASE, BAD_SCORE, FINE, clear
from prudent.policies import Arm, Arms

CAPACITY = 2048
"""Blocks kept per arm, ahead of the present and behind it."""

MOST_LEVELS = 60
"""Levels tried per snapshot before the rest is played in its order."""


class Stacks(NamedTuple):
    """Per arm, blocks already drawn: those ahead (the next on top), and those consumed since the last sure level."""

    ahead: NDArray[np.float64]
    n_ahead: NDArray[np.int64]
    behind: NDArray[np.float64]
    n_behind: NDArray[np.int64]


@kernel
def leap_scores(
    policy: Any, src: Sources, laws: Laws, best: int, rounds: NDArray[np.int64], record: Record, rng: Any
) -> int:
    """Play a clock-free policy with a `score_bound`; arguments as for `step_scores`."""
    n_runs, _, n_arms = record.pulls.shape
    arms = Arms(np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms))
    saved = Arms(np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms))
    scores, saved_scores = np.empty(n_arms), np.empty(n_arms)
    shape = (n_arms, CAPACITY + 64, 3 + src.value.shape[1])
    stacks = Stacks(np.empty(shape), np.zeros(n_arms, np.int64), np.empty(shape), np.zeros(n_arms, np.int64))
    for run in range(n_runs):
        clear(arms)
        stacks.n_ahead[:] = 0
        stacks.n_behind[:] = 0
        scores[:] = -math.inf
        level = -math.inf
        for snapshot in range(len(rounds)):
            horizon = rounds[snapshot]
            level = raise_level(policy, src, horizon, level, arms, scores, saved, saved_scores, stacks, rng)
            level = play_out(policy, src, horizon, level, arms, scores, stacks, rng)
            if math.isnan(scores.sum()) and not math.isinf(scores.min()):
                return BAD_SCORE
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@kernel
def leap_phases(policy: Any, laws: Laws, best: int, rounds: NDArray[np.int64], record: Record, rng: Any) -> int:
    """Play a policy that plays in phases, a block per arm and phase; arguments as for `step_phases`."""
    n_runs, _, n_arms = record.pulls.shape
    arms = Arms(np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms))
    chosen = np.empty(n_arms, np.bool_)
    for run in range(n_runs):
        clear(arms)
        chosen[:] = True
        t, snapshot = 0, 0
        while snapshot < len(rounds):
            repeats = policy.phase(arms, t + 1, chosen, rng)
            in_turn = chosen.sum()
            if repeats < 1 or in_turn == 0:
                return BAD_PHASE
            played = 0
            length = repeats * in_turn if repeats <= rounds[-1] else rounds[-1]
            while played < length and snapshot < len(rounds):
                stretch = min(length - played, rounds[snapshot] - t)
                take_turns(arms, chosen, in_turn, played, played + stretch, laws, rng)
                played += stretch
                t += stretch
                if t == rounds[snapshot]:
                    write_down(record, run, snapshot, arms, laws, best, rng)
                    snapshot += 1
    return FINE


@kernel
def take_turns(
    arms: Arms, chosen: NDArray[np.bool_], in_turn: int, start: int, stop: int, laws: Laws, rng: Any
) -> None:
    """Pulls start…stop of a phase whose chosen arms go in turn, as one block per arm."""
    place = 0
    for i in range(len(chosen)):
        if chosen[i]:
            size = (stop - place + in_turn - 1) // in_turn - (start - place + in_turn - 1) // in_turn
            place += 1
            mean, variance = draw_block(laws, i, size, rng)
            arms.mean[i], arms.variance[i] = merge(arms.pulls[i], arms.mean[i], arms.variance[i], size, mean, variance)
            arms.pulls[i] += size


@kernel
def raise_level(
    policy: Any,
    src: Sources,
    horizon: int,
    level: float,
    arms: Arms,
    scores: NDArray[np.float64],
    saved: Arms,
    saved_scores: NDArray[np.float64],
    stacks: Stacks,
    rng: Any,
) -> float:
    """Bring all arms to their first passage above ever higher levels, as long as the horizon is well ahead.

    Returns the last level that held. Where a level makes too many pulls, or more blocks than there is room for, all
    arms go back to where they stood.
    """
    n_arms = len(scores)
    ceiling, overshoots = math.inf, 0
    for _ in range(MOST_LEVELS):
        left = horizon - arms.pulls.sum()
        if left <= 32 * n_arms or overshoots >= 4:
            break
        guess = guess_level(policy, src, horizon, arms, scores, level == -math.inf, 1.5 + 2.0 * overshoots)
        floor = max(level, scores.min())
        if not floor < guess < ceiling:
            if ceiling == math.inf or not floor < 0.5 * (floor + ceiling) < ceiling:
                break
            guess = 0.5 * (floor + ceiling)
        saved.pulls[:] = arms.pulls
        saved.mean[:] = arms.mean
        saved.variance[:] = arms.variance
        saved_scores[:] = scores
        taken = 0
        for i in range(n_arms):
            if scores[i] <= guess:
                taken += advance(policy, src, i, guess, True, left - taken + 1, arms, scores, stacks, True, rng)
            if taken > left or stacks.n_behind[i] >= CAPACITY:
                taken = left + 1
                break
        if taken <= left:
            level = guess
            stacks.n_behind[:] = 0
            continue
        ceiling = guess
        overshoots += 1
        arms.pulls[:] = saved.pulls
        arms.mean[:] = saved.mean
        arms.variance[:] = saved.variance
        scores[:] = saved_scores
        for i in range(n_arms):
            give_back(stacks, i)
    return level


@kernel
def give_back(stacks: Stacks, i: int) -> None:
    """Return the blocks behind arm i to those ahead, in their order."""
    while stacks.n_behind[i] > 0:
        stacks.n_behind[i] -= 1
        stacks.ahead[i, stacks.n_ahead[i]] = stacks.behind[i, stacks.n_behind[i]]
        stacks.n_ahead[i] += 1


@kernel
def play_out(
    policy: Any,
    src: Sources,
    horizon: int,
    level: float,
    arms: Arms,
    scores: NDArray[np.float64],
    stacks: Stacks,
    rng: Any,
) -> float:
    """Play the rounds left in their order: the arm of smallest score, until its score passes the next one's.

    Returns the highest score at which an arm was pulled, the level the run has reached.
    """
    left = horizon - arms.pulls.sum()
    n_arms = len(scores)
    while left > 0:
        first, second = 0, -1
        for i in range(1, n_arms):
            if scores[i] < scores[first]:
                first, second = i, first
            elif second < 0 or scores[i] < scores[second]:
                second = i
        bar = scores[second] if second >= 0 else math.inf
        level = max(level, scores[first])
        wins_ties = second < 0 or first < second
        left -= advance(policy, src, first, bar, wins_ties, left, arms, scores, stacks, False, rng)
        if scores[first] < bar or left == 0:
            level = max(level, min(bar, scores[first]))
    return level


@kernel
def advance(
    policy: Any,
    src: Sources,
    i: int,
    level: float,
    wins_ties: bool,
    budget: int,
    arms: Arms,
    scores: NDArray[np.float64],
    stacks: Stacks,
    remember: bool,
    rng: Any,
) -> int:
    """Pull arm i until its score passes the level, at most `budget` times; returns the number of pulls.

    At least one pull is made. With `remember` the blocks consumed are kept behind, and it stops when they are full.
    """
    # Numbers go by value and Gaussian blocks stand in line: handing arrays on would count references at every block.
    ahead, behind = stacks.ahead[i], stacks.behind[i]
    top, trail = stacks.n_ahead[i], stacks.n_behind[i]
    pulls, mean, variance, score = arms.pulls[i], arms.mean[i], arms.variance[i], scores[i]
    true_mean, true_variance, gaussian = src.mean[i], src.variance[i], src.n_atoms[i] == 0
    width = ahead.shape[1]
    taken, crawl = 0, 0
    while True:
        if top == 0:
            if crawl == 0:
                size = block_size(policy, true_mean, true_variance, level, pulls, mean, variance, score, budget - taken)
                crawl = 3 if size == 1 else 0
            else:
                size = 1
                crawl -= 1
            if gaussian:
                ahead[0, SIZE] = size
                ahead[0, MEAN], ahead[0, RESIDUAL] = gaussian_block(true_mean, true_variance, size, rng)
            else:
                fresh(src, i, size, ahead, 0, rng)
            top = 1
        at = top - 1
        size = int(ahead[at, SIZE])
        block_mean, residual = ahead[at, MEAN], ahead[at, RESIDUAL]
        if size > 1:
            cut = 0
            if size > budget - taken:
                cut = budget - taken
            elif pulls == 0:
                cut = 1
            else:
                box = prefix_box(pulls, mean, variance, size, block_mean, residual)
                low, high = Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3])
                if not policy.score_bound(low, high) < level:
                    cut = block_size(policy, true_mean, true_variance, level, pulls, mean, variance, score, size // 2)
            if cut > 0:
                if gaussian:
                    parts = gaussian_split(size, block_mean, residual, cut, rng)
                    ahead[top, SIZE], ahead[top, MEAN], ahead[top, RESIDUAL] = cut, parts[0], parts[1]
                    ahead[at, SIZE], ahead[at, MEAN], ahead[at, RESIDUAL] = size - cut, parts[2], parts[3]
                else:
                    split(src, i, cut, ahead, at, rng)
                top += 1
                continue
        mean, variance = merge(pulls, mean, variance, size, block_mean, residual / size)
        pulls += size
        taken += size
        top -= 1
        if remember:
            for j in range(width):
                behind[trail, j] = ahead[at, j]
            trail += 1
        score = score_of(policy, Arm(pulls, mean, variance), 0, 0)
        passed = score > level or (score == level and not wins_ties)
        if passed or taken >= budget or math.isnan(score) or trail >= CAPACITY:
            break
    arms.pulls[i], arms.mean[i], arms.variance[i], scores[i] = pulls, mean, variance, score
    stacks.n_ahead[i], stacks.n_behind[i] = top, trail
    return taken


@kernel
def block_size(
    policy: Any,
    true_mean: float,
    true_variance: float,
    level: float,
    pulls: int,
    mean: float,
    variance: float,
    score: float,
    most: int,
) -> int:
    """How many rewards to take at once, at most `most`: as many as an ordinary block could hold and still stay below
    the level. Only the cost depends on the answer."""
    if pulls == 0 or most < 2 or math.isinf(score):
        return 1
    if math.isinf(level):
        return most
    size = min(most, pulls)
    for _ in range(4):
        box = prefix_box(pulls, mean, variance, size, true_mean, true_variance * size)
        bound = policy.score_bound(Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3]))
        if bound < level:
            return size
        # The bound's excess over the score is nearly linear in the size.
        size = int(0.7 * size * (level - score) / (bound - score))
        if size < 3:
            return 1
    return size


@kernel
def guess_level(
    policy: Any, src: Sources, horizon: int, arms: Arms, scores: NDArray[np.float64], blind: bool, caution: float
) -> float:
    """A level that makes a little less than `horizon` pulls, most likely.

    Each arm's score is taken as a − b/√s with its mean and variance as they stand (the true ones while `blind`); then
    it passes λ at s = (b/(a − λ))². The margin is `caution` standard deviations of the pulls, from the noise of
    the statistics to come. Only the cost depends on the answer.
    """
    n_arms = len(scores)
    a, b, noise = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    guess = math.inf
    for i in range(n_arms):
        s = max(arms.pulls[i], 16)
        mean, variance = arms.mean[i], arms.variance[i]
        if blind:
            s, mean, variance = max(16, horizon // n_arms), src.mean[i], src.variance[i]
        here = score_of(policy, Arm(s, mean, variance), 0, 0)
        there = score_of(policy, Arm(4 * s, mean, variance), 0, 0)
        b[i] = 2.0 * (there - here) * math.sqrt(s)
        a[i] = here + b[i] / math.sqrt(s)
        if not b[i] > 0.0:
            return -math.inf
        deviation = math.sqrt(variance)
        by_mean = score_of(policy, Arm(s, mean + 0.01 * deviation, variance), 0, 0) - here
        by_variance = score_of(policy, Arm(s, mean, variance * 1.01), 0, 0) - here
        noise[i] = 100.0 * math.hypot(by_mean, math.sqrt(2.0) * by_variance)
        guess = min(guess, a[i] - b[i] / math.sqrt(horizon))
    floor = scores.min()
    guess = solve_level(a, b, arms.pulls, float(horizon), floor, guess)
    spread = 0.0
    for i in range(n_arms):
        after = (b[i] / (a[i] - guess)) ** 2
        if after > arms.pulls[i]:
            spread += (2.0 * noise[i] / b[i]) ** 2 * (after - arms.pulls[i]) * after
    left = horizon - arms.pulls.sum()
    margin = min(caution * math.sqrt(spread) + n_arms, 0.5 * left)
    return solve_level(a, b, arms.pulls, horizon - margin, floor, guess)


@kernel
def solve_level(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    pulls: NDArray[np.int64],
    target: float,
    low: float,
    high: float,
) -> float:
    """λ in [low, high] with Σ max(pulls, (b/(a − λ))²) = target: Newton on the sum of those that move, to the power −½
    (for one arm that is a line), with bisection where Newton leaves the bracket."""
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
        if abs(moving + fixed - target) < 0.5 + 0.01 * abs(target - pulls.sum()):
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
