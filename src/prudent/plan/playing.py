"""Trials of one policy in many worlds, which begin with what the pilot has shown.

The loops are those of the engine, but for three things: every world has distributions of its own, the policy knows the
pilot's outcomes before the first round, and what is written down is what a plan needs of a trial.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.arms.base import Law, encode
from prudent.arms.sampling import OWN, Laws, draw, include
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError
from prudent.base.memory import check_memory
from prudent.compile.types import helper, kernel
from prudent.engine.forgetting_rounds import Remembered, fade
from prudent.engine.jobs import Job
from prudent.engine.leap.level_search import any_nan
from prudent.engine.phase_rounds import next_phase
from prudent.engine.record import BAD_PHASE, BAD_SCORE, FINE, HALTED, Statistics, no_arms, no_statistics
from prudent.policies.contract import Arm, Policy, spec
from prudent.policies.scoring import (
    best_cost_of,
    compares,
    costs_need_rewards,
    counted,
    insert,
    keep,
    kept_of,
    needs_no_clock,
    reads_rewards,
    score_inputs,
    score_of,
)
from prudent.policies.ties import lowest
from prudent.policies.units import core
from prudent.risk.base import RiskMeasure


class Places(NamedTuple):
    """The distributions of all worlds as numbers: kinds and places in the table, (world, option)."""

    kind: Counts
    start: Counts
    table: Array


class Begin(NamedTuple):
    """What is known of every option before the first round: statistics, all outcomes ascending, and what the policy
    keeps of them."""

    pulls: Counts
    mean: Array
    variance: Array
    rewards: Array
    kept: Array


class Limits(NamedTuple):
    """Trials in each world, rounds of a trial, and how many numbers of an arm the policy keeps, and the plan for the
    cost at the end."""

    runs: int
    horizon: int
    room: int
    size: int


class Trials(NamedTuple):
    """Trials of a policy, (world, trial): how often each option was taken, mean and variance of the outcomes received,
    and the option that looks best at the end."""

    pulls: Counts
    mean: Array
    variance: Array
    choice: Counts

    @property
    def shares(self) -> Array:
        """The share of rounds of every option."""
        found: Array = self.pulls / self.pulls.sum(2, keepdims=True)
        return found


def places_of(worlds: Sequence[Sequence[Law]]) -> Places:
    """All distributions in one table."""
    encoded = [encode(laws) for laws in worlds]
    most = max(len(laws.kind) for laws in encoded)
    kind, start = np.zeros((len(encoded), most), np.int64), np.zeros((len(encoded), most), np.int64)
    tables, at = [], 0
    for row, laws in enumerate(encoded):
        if (laws.kind >= OWN).any():
            raise PrudentError("plan: an option has only a draw of its own; give its values, as empirical([…])")
        kind[row, : len(laws.kind)], start[row, : len(laws.kind)] = laws.kind, laws.start + at
        tables.append(laws.table)
        at += len(laws.table)
    return Places(kind, start, np.concatenate(tables))


def begin_with(ready: Any, outcomes: Sequence[Array]) -> Begin:
    """What a policy, made ready, knows of these outcomes of every option, which ascend."""
    pulls = np.array([len(x) for x in outcomes], np.int64)
    mean = np.array([x.mean() if len(x) else 0.0 for x in outcomes])
    variance = np.array([x.var() if len(x) else 0.0 for x in outcomes])
    rewards = np.zeros((len(outcomes), int(pulls.max(initial=0))))
    for row, x in zip(rewards, outcomes, strict=True):
        row[: len(x)] = x
    kept, ready = rewards, core(ready)
    if hasattr(ready, "score") and "counts" in score_inputs(type(ready)):
        kept = np.array([counted(ready.values, x) if len(x) else np.zeros(len(ready.values)) for x in outcomes])
    return Begin(pulls, mean, variance, rewards, kept)


def play(
    policy: Policy,
    ready: Any,
    risk: RiskMeasure,
    places: Places,
    begin: Begin,
    *,
    horizon: int,
    worlds: int,
    runs: int,
    seed: int,
    workers: int,
    cell: str,
    progress: Callable[[int], Any] | None = None,
) -> Trials:
    """`runs` trials of `horizon` rounds in each of the first `worlds` worlds.

    `cell` says what decides the numbers beside the seed.
    """
    inside: Any = core(ready)
    if inside is not ready and ready.window:
        raise PrudentError(f"plan: {spec(policy)} cannot start from a pilot; take discounted(…, half_life=…) instead")
    options = len(begin.pulls)
    count, most = worlds * runs, begin.rewards.shape[1] + horizon
    moments = risk.by_moments
    room = most if reads_all(inside) else begin.kept.shape[1] if hasattr(inside, "score") and _counts(inside) else 0
    check_memory("plan", float(room + (0 if moments else most)) * options, f"all outcomes of {options:,} options")
    record = Trials(
        np.zeros((count, options), np.int64), np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
    )  # fmt: skip
    measure = risk.compiled()

    def part_of(part: slice, halt: Marks, rng: np.random.Generator) -> int:
        some = Trials._make(array[part] for array in record)
        size = 0 if moments else most
        facts = measure, part.start, Limits(runs, horizon, room, size), places, begin, some, halt, rng
        if inside is not ready:
            return play_discounted(inside, ready.discount, *facts)
        if not hasattr(ready, "score"):
            return play_phases(ready, *facts)
        return play_scores(ready, needs_no_clock(type(ready)) and not compares(type(ready)), *facts)

    Job("plan", count, seed, workers, progress).run(cell, spec(policy), part_of)
    shape = worlds, runs
    mean, variance = record.mean.reshape(shape), record.variance.reshape(shape)
    return Trials(record.pulls.reshape(*shape, options), mean, variance, record.choice.reshape(shape))


def reads_all(ready: Any) -> bool:
    """Whether a policy takes every outcome of an arm."""
    ready = core(ready)
    if not hasattr(ready, "score"):
        return costs_need_rewards(ready)
    return reads_rewards(type(ready)) and not _counts(ready)


def takes_long(ready: Any) -> bool:
    """Whether a round of a policy takes far longer than of others: it reads every outcome, or searches among values."""
    ready = core(ready)
    return reads_all(ready) or (hasattr(ready, "score") and _counts(ready) and compares(type(ready)))


def _counts(ready: Any) -> bool:
    return "counts" in score_inputs(type(ready))


@kernel
def play_scores(
    policy: Any,
    alone: bool,
    measure: Any,
    first: int,
    limits: Limits,
    places: Places,
    begin: Begin,
    record: Trials,
    halt: Marks,
    rng: Any,
) -> int:
    """Trials of a policy that scores arms; `alone` says that a score changes only with the arm's own rewards."""
    n_arms, runs, horizon, room, size = len(begin.pulls), limits.runs, limits.horizon, limits.room, limits.size
    arms, scores = no_statistics(n_arms), np.empty(n_arms)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    kept, rewards = np.zeros((n_arms, room)), np.zeros((n_arms, size))
    elapsed = begin.pulls.sum()
    for run in range(len(record.mean)):
        world = (first + run) // runs
        laws = Laws(places.kind[world], places.start[world], places.table)
        start_with(begin, pulls, mean, variance, kept, rewards)
        for i in range(n_arms):
            scores[i] = -math.inf
        own_mean, own_variance = 0.0, 0.0
        for t in range(1, horizon + 1):
            if halt[0]:
                return HALTED
            if t == 1 or not alone:
                score_each(policy, arms, scores, kept, elapsed + t, rng)
            if any_nan(scores):
                return BAD_SCORE
            pulled = lowest(scores, arms)
            reward = draw(laws, pulled, rng)
            keep(policy, kept, pulled, pulls[pulled], reward)
            if size > 0:
                rewards[pulled, pulls[pulled]] = reward
            pulls[pulled] += 1
            mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
            own_mean, own_variance = include(t, own_mean, own_variance, reward)
            if alone:
                seen = kept_of(policy, kept, pulled, pulls[pulled])
                arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                scores[pulled] = score_of(policy, arm, 0.0, elapsed + t, rng, seen)
        finish(measure, begin, Statistics(pulls, mean, variance), rewards, record, run)
        record.mean[run], record.variance[run] = own_mean, own_variance
    return FINE


@kernel
def play_discounted(
    policy: Any,
    discount: float,
    measure: Any,
    first: int,
    limits: Limits,
    places: Places,
    begin: Begin,
    record: Trials,
    halt: Marks,
    rng: Any,
) -> int:
    """The same for a policy that discounts what it knows in every round; the pilot counts in full at the start."""
    n_arms, runs, horizon, room, size = len(begin.pulls), limits.runs, limits.horizon, limits.room, limits.size
    arms, scores = no_statistics(n_arms), np.empty(n_arms)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    seen = Remembered(np.empty(n_arms), np.empty(n_arms), np.empty(n_arms))
    weight, near, spread = seen.pulls, seen.mean, seen.variance
    kept, rewards = np.zeros((n_arms, room)), np.zeros((n_arms, size))
    for run in range(len(record.mean)):
        world = (first + run) // runs
        laws = Laws(places.kind[world], places.start[world], places.table)
        start_with(begin, pulls, mean, variance, kept, rewards)
        clock, own_mean, own_variance = 0.0, 0.0, 0.0
        for i in range(n_arms):
            scores[i], weight[i], near[i], spread[i] = -math.inf, pulls[i], mean[i], variance[i]
            clock += weight[i]
        for t in range(1, horizon + 1):
            if halt[0]:
                return HALTED
            score_each(policy, seen, scores, kept, clock, rng)
            if any_nan(scores):
                return BAD_SCORE
            pulled = lowest(scores, seen)
            reward = draw(laws, pulled, rng)
            fade(weight, kept, discount)
            keep(policy, kept, pulled, 0, reward)
            if size > 0:
                rewards[pulled, pulls[pulled]] = reward
            pulls[pulled] += 1
            mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
            own_mean, own_variance = include(t, own_mean, own_variance, reward)
            weight[pulled] += 1.0
            near[pulled], spread[pulled] = include(weight[pulled], near[pulled], spread[pulled], reward)
            clock = weight.sum()
        finish(measure, begin, arms, rewards, record, run)
        record.mean[run], record.variance[run] = own_mean, own_variance
    return FINE


@kernel
def play_phases(
    policy: Any,
    measure: Any,
    first: int,
    limits: Limits,
    places: Places,
    begin: Begin,
    record: Trials,
    halt: Marks,
    rng: Any,
) -> int:
    """The same for a policy of phases, in which the arms that are due go in turn."""
    n_arms, runs, horizon, room, size = len(begin.pulls), limits.runs, limits.horizon, limits.room, limits.size
    arms, due, chosen = no_arms(n_arms, room), np.zeros(n_arms, np.int64), np.ones(n_arms, np.bool_)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    rewards = np.zeros((n_arms, size))
    elapsed = begin.pulls.sum()
    for run in range(len(record.mean)):
        world = (first + run) // runs
        laws = Laws(places.kind[world], places.start[world], places.table)
        start_with(begin, pulls, mean, variance, arms.rewards, rewards)
        for i in range(n_arms):
            arms.cost[i], arms.alive[i], due[i], chosen[i] = math.inf, True, 0, True
        own_mean, own_variance = 0.0, 0.0
        for t in range(1, horizon + 1):
            if halt[0]:
                return HALTED
            if due.max() == 0:
                repeats = next_phase(policy, arms, elapsed + t, chosen, rng)
                if repeats < 1:
                    return BAD_PHASE
                for i in range(n_arms):
                    due[i] = repeats if chosen[i] else 0
            pulled = int(np.argmax(due))
            due[pulled] -= 1
            reward = draw(laws, pulled, rng)
            if room > 0:
                insert(arms.rewards, pulled, pulls[pulled], reward)
            if size > 0:
                rewards[pulled, pulls[pulled]] = reward
            pulls[pulled] += 1
            mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
            own_mean, own_variance = include(t, own_mean, own_variance, reward)
        finish(measure, begin, Statistics(pulls, mean, variance), rewards, record, run)
        record.mean[run], record.variance[run] = own_mean, own_variance
    return FINE


@helper
def start_with(begin: Begin, pulls: Any, mean: Any, variance: Any, kept: Any, rewards: Any) -> None:
    """The arms as the pilot left them."""
    for i in range(len(pulls)):
        pulls[i], mean[i], variance[i] = begin.pulls[i], begin.mean[i], begin.variance[i]
        for j in range(min(kept.shape[1], begin.kept.shape[1])):
            kept[i, j] = begin.kept[i, j]
        for j in range(min(rewards.shape[1], begin.rewards.shape[1])):
            rewards[i, j] = begin.rewards[i, j]


@helper
def score_each(policy: Any, arms: Any, scores: Any, kept: Any, t: float, rng: Any) -> None:
    """The scores of all arms that have a reward, in round t."""
    best_cost = best_cost_of(policy, arms, kept)
    for i in range(len(scores)):
        if arms.pulls[i] > 0:
            seen = kept_of(policy, kept, i, arms.pulls[i])
            arm = Arm(arms.pulls[i], arms.mean[i], arms.variance[i])
            scores[i] = score_of(policy, arm, best_cost, t, rng, seen)


@helper
def finish(measure: Any, begin: Begin, arms: Statistics, rewards: Any, record: Trials, run: int) -> None:
    """Write down how often each arm was pulled in the trial, and which looks best: the smallest estimated cost, by the
    unbiased variance. An arm seen less than twice shows no variance, and would look best by that alone."""
    best, smallest = 0, math.inf
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    for i in range(len(pulls)):
        record.pulls[run, i] = pulls[i] - begin.pulls[i]
        if pulls[i] >= 2:
            unbiased = variance[i] * pulls[i] / (pulls[i] - 1.0)
            seen = np.sort(rewards[i, : min(pulls[i], rewards.shape[1])])
            cost = measure.estimate(mean[i], unbiased, seen)
            if cost < smallest:
                best, smallest = i, cost
    record.choice[run] = best
