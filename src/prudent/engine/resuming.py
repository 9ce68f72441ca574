"""Runs that go on from given statistics, each on laws of its own: what a forecast of a live experiment is made of.

The engines are those of `simulate`. A policy whose score needs only the arm's own statistics may leap, because the
arms' first passages from here on do not depend on how they came here; the others step.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.arms.sampling import include
from prudent.arrays import Counts, Marks
from prudent.compiled import helper, in_kernels, kernel
from prudent.engine.blocks import Sources
from prudent.engine.levels import any_nan, play_out, raise_level, smallest
from prudent.engine.passage import MOST_ROOM, ROOM, enlarged, make_stacks
from prudent.engine.record import BAD_PHASE, BAD_SCORE, FINE, HALTED, Statistics, no_arms, no_statistics
from prudent.engine.scaffold import Job
from prudent.engine.stepping import next_phase
from prudent.policies.base import Arm
from prudent.policies.scoring import compares, cost_of, needs_no_clock, own_cost, score_of
from prudent.policies.ties import lowest

STRIDE = 2
"""How many times as many pulls a leap goes for at most."""


class Phase(NamedTuple):
    """Where a policy of phases stands: how often each arm is still due, which were chosen, and which it has not struck
    out."""

    due: Counts
    chosen: Marks
    alive: Marks


def can_leap(ready: Any) -> bool:
    """Whether a policy, made ready, can go on in leaps."""
    return hasattr(ready, "score_bound") and needs_no_clock(type(ready)) and not compares(type(ready))


def resume(
    ready: Any,
    owner: str,
    laws: Sources,
    start: Statistics,
    elapsed: int,
    more: Counts,
    *,
    phase: Phase,
    leaping: bool,
    seed: int,
) -> Statistics:
    """Play a policy on, once for every row of `start`: the statistics (run, snapshot, arm) after `more` rounds.

    Parameters
    ----------
    ready
        A policy that needs no more than means and variances, made ready; `owner` is its name for errors.
    laws
        Of every run, as arrays (run, arm) and (run, arm, atom): Gaussian without atoms, else two values at most.
    start
        Of every run, as arrays (run, arm).
    elapsed
        Rounds before the first of these, as the policy counts them; it may know of more than `start` holds.
    more
        The numbers of further rounds at which to write down, ascending.
    phase
        Where a policy of phases stands.
    leaping
        Whether to leap, if the policy can. It pays for very many rounds.
    """
    runs, arms = start.pulls.shape
    record = no_record(runs, len(more), arms)

    def play(part: slice, halt: Marks, rng: np.random.Generator) -> int:
        some = Sources(laws.mean[part], laws.variance[part], laws.n_atoms, laws.value[part], laws.probability[part])
        rest = some, Statistics._make(array[part] for array in start), more
        written = Statistics._make(array[part] for array in record)
        if not hasattr(ready, "score"):
            return phase_on(ready, phase, elapsed, *rest, written, halt, rng)
        if leaping:
            return leap_on(ready, *rest, written, halt, rng)
        alone = needs_no_clock(type(ready)) and not compares(type(ready))
        return step_on(ready, alone, elapsed, *rest, written, halt, rng)

    Job(owner, runs, seed, 1, None).run(f"resumed | {owner}", owner, play)
    return record


def no_record(runs: int, snapshots: int, arms: int) -> Statistics:
    """Room for the statistics of runs."""
    shape = runs, snapshots, arms
    return Statistics(np.empty(shape, np.int64), np.empty(shape), np.empty(shape))


@kernel
def step_on(
    policy: Any,
    clock_free: bool,
    elapsed: int,
    laws: Sources,
    start: Statistics,
    more: Counts,
    record: Statistics,
    halt: Marks,
    rng: Any,
) -> int:
    """Simulate every round. Returns a status; soon after `halt[0]` is set it ends."""
    n_runs, _, n_arms = record.pulls.shape
    arms, scores = no_statistics(n_arms), np.empty(n_arms)
    pulls, mean, variance = arms.pulls, arms.mean, arms.variance
    for run in range(n_runs):
        begin(policy, start, run, arms, scores, elapsed + 1, rng)
        played = 0
        for snapshot in range(len(more)):
            while played < more[snapshot]:
                if halt[0]:
                    return HALTED
                played += 1
                if not clock_free and played > 1:
                    score_all(policy, arms, scores, elapsed + played, rng)
                if any_nan(scores):
                    return BAD_SCORE
                pulled = lowest(scores, arms)
                reward = one_of(laws, run, pulled, rng)
                pulls[pulled] += 1
                mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                if clock_free:
                    arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                    scores[pulled] = score_of(policy, arm, 0.0, elapsed + played, rng, 0)
            note(arms, record, run, snapshot)
    return FINE


@kernel
def phase_on(
    policy: Any,
    phase: Phase,
    elapsed: int,
    laws: Sources,
    start: Statistics,
    more: Counts,
    record: Statistics,
    halt: Marks,
    rng: Any,
) -> int:
    """The same for a policy of phases, from the middle of one: arms go in turn, the one due most often first."""
    n_runs, _, n_arms = record.pulls.shape
    arms, due, chosen = no_arms(n_arms, 0), np.empty(n_arms, np.int64), np.empty(n_arms, np.bool_)
    known = Statistics(arms.pulls, arms.mean, arms.variance)
    for run in range(n_runs):
        for i in range(n_arms):
            arms.pulls[i], arms.mean[i] = start.pulls[run, i], start.mean[run, i]
            arms.variance[i], arms.alive[i] = start.variance[run, i], phase.alive[i]
            due[i], chosen[i] = phase.due[i], phase.chosen[i]
            arms.cost[i] = math.inf
            if arms.pulls[i] > 0:
                arms.cost[i] = cost_of(policy, arms, i)
        played = 0
        for snapshot in range(len(more)):
            while played < more[snapshot]:
                if halt[0]:
                    return HALTED
                if due.max() == 0:
                    repeats = next_phase(policy, arms, elapsed + played + 1, chosen, rng)
                    if repeats < 1:
                        return BAD_PHASE
                    for i in range(n_arms):
                        due[i] = repeats if chosen[i] else 0
                pulled = int(np.argmax(due))
                due[pulled] -= 1
                played += 1
                reward = one_of(laws, run, pulled, rng)
                arms.pulls[pulled] += 1
                arms.mean[pulled], arms.variance[pulled] = include(
                    arms.pulls[pulled], arms.mean[pulled], arms.variance[pulled], reward
                )
            note(known, record, run, snapshot)
    return FINE


@kernel
def leap_on(
    policy: Any, laws: Sources, start: Statistics, more: Counts, record: Statistics, halt: Marks, rng: Any
) -> int:
    """The same in leaps, for a policy whose score does not depend on time and has a `score_bound`."""
    n_runs, _, n_arms = record.pulls.shape
    arms, saved, scores = no_statistics(n_arms), no_statistics(n_arms), np.empty(n_arms)
    stacks = make_stacks(of_run(laws, 0), ROOM)
    for run in range(n_runs):
        src = of_run(laws, run)
        begin(policy, start, run, arms, scores, 0, rng)
        stacks.n_ahead[:] = 0
        stacks.n_behind[:] = 0
        so_far = arms.pulls.sum()
        for snapshot in range(len(more)):
            horizon = so_far + more[snapshot]
            # Arms without a score go first. Then there is a level below all of the run, and the search for the next
            # one never goes back to no pulls.
            while smallest(scores) == -math.inf and arms.pulls.sum() < horizon:
                first = lowest(scores, arms)
                reward, count = one_of(laws, run, first, rng), arms.pulls[first] + 1
                arms.mean[first], arms.variance[first] = include(count, arms.mean[first], arms.variance[first], reward)
                arms.pulls[first] = count
                scores[first] = score_of(policy, Arm(count, arms.mean[first], arms.variance[first]), 0.0, 0, rng, 0)
            if any_nan(scores):
                return BAD_SCORE
            while arms.pulls.sum() < horizon:
                # A level can be aimed well only from nearby.
                near = min(horizon, STRIDE * arms.pulls.sum())
                level, full = smallest(scores), True
                while full:
                    if halt[0]:
                        return HALTED
                    level, full = raise_level(policy, src, 0.0, near, level, arms, scores, saved, stacks, rng)
                    if full and stacks.ahead.shape[1] >= MOST_ROOM:
                        break
                    if full:
                        stacks = enlarged(src, stacks)
                play_out(policy, src, 0.0, near, level, arms, scores, stacks, rng)
                if any_nan(scores):
                    return BAD_SCORE
            note(arms, record, run, snapshot)
    return FINE


@helper
def begin(policy: Any, start: Statistics, run: int, arms: Statistics, scores: Any, t: int, rng: Any) -> None:
    """The arms as they are at the start of a run, with their scores in round t; −∞ without a reward."""
    for i in range(len(scores)):
        arms.pulls[i], arms.mean[i], arms.variance[i] = start.pulls[run, i], start.mean[run, i], start.variance[run, i]
        scores[i] = -math.inf
    score_all(policy, arms, scores, t, rng)


@helper
def score_all(policy: Any, arms: Statistics, scores: Any, t: int, rng: Any) -> None:
    """The scores of all arms that have a reward, in round t."""
    best_cost = smallest_cost(policy, arms)
    for i in range(len(scores)):
        if arms.pulls[i] > 0:
            scores[i] = score_of(policy, Arm(arms.pulls[i], arms.mean[i], arms.variance[i]), best_cost, t, rng, 0)


def smallest_cost(policy: Any, arms: Statistics) -> float:
    """The smallest cost of all arms with a reward, for a score that asks for it."""
    return _smallest_cost(policy, arms) if compares(type(policy)) else 0.0


@in_kernels(smallest_cost)
def _choose_smallest_cost(policy: Any, arms: Any) -> Any:
    if compares(policy.instance_class):
        return _smallest_cost
    return lambda policy, arms: 0.0


@helper
def _smallest_cost(policy: Any, arms: Statistics) -> float:
    smallest_one = math.inf
    for i in range(len(arms.pulls)):
        if arms.pulls[i] > 0:
            cost = own_cost(policy, Arm(arms.pulls[i], arms.mean[i], arms.variance[i]), 0)
            smallest_one = min(smallest_one, cost)
    return smallest_one


@helper
def of_run(laws: Sources, run: int) -> Sources:
    """The laws of a run."""
    return Sources(laws.mean[run], laws.variance[run], laws.n_atoms, laws.value[run], laws.probability[run])


@helper
def one_of(laws: Sources, run: int, i: int, rng: Any) -> float:
    """A reward of an arm in a run."""
    if laws.n_atoms[i] == 0:
        return laws.mean[run, i] + math.sqrt(laws.variance[run, i]) * rng.standard_normal()
    return laws.value[run, i, 0] if rng.random() < laws.probability[run, i, 0] else laws.value[run, i, 1]


@helper
def note(arms: Statistics, record: Statistics, run: int, snapshot: int) -> None:
    """Write the arms' statistics down."""
    for i in range(len(arms.pulls)):
        record.pulls[run, snapshot, i] = arms.pulls[i]
        record.mean[run, snapshot, i] = arms.mean[i]
        record.variance[run, snapshot, i] = arms.variance[i]
