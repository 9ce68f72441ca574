"""Every round of a policy that scores arms, one after the other.

There is one loop. Its parameters `compared`, `batch` and `past` are None where there is nothing of the kind: then the
compiler leaves out what only others need, and nobody pays for it. It runs compiled, and interpreted through `.py_func`
with the same numbers, because Numba draws bit for bit as NumPy does.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from prudent.arms.sampling import BERNOULLI, GAUSSIAN, TABLED, Laws, draw, include, may_tie, tabled
from prudent.base.arrays import Counts, Marks
from prudent.compile.types import helper, kernel
from prudent.engine.floors import FIRST_STEP, Floors, clearly_below, compare
from prudent.engine.late import least_busy, show_scorer
from prudent.engine.record import BAD_SCORE, FINE, HALTED, Past, Record, Statistics, clear, no_statistics, write_down
from prudent.policies.contract import Arm, ReadyPolicy
from prudent.policies.scoring import best_cost_of, compares, keep, kept_of, needs_no_clock, own_cost, room_for, score_of
from prudent.policies.ties import lowest


def kind_of(
    ready: ReadyPolicy, horizon: int, batch: int | None = None, past: Past | None = None
) -> tuple[bool, int, bool | None, int | None, Past | None]:
    """The arguments of `play_scores` that follow the policy.

    Floors are for a run from its beginning: from a past, where scores may be equal, they would save nothing.
    """
    kind = type(ready)
    lazy = compares(kind) and batch is None and past is None
    clock_free = needs_no_clock(kind) and not (compares(kind) and past is not None)
    return clock_free, room_for(ready, horizon), True if lazy else None, batch, past


@kernel
def play_scores(
    policy: ReadyPolicy,
    clock_free: bool,
    room: int,
    compared: bool | None,
    batch: int | None,
    past: Past | None,
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a policy; `rounds` are the snapshots, the last one the horizon. Returns a status.

    `room` is how many numbers of an arm there may be to keep (`room_for`), 0 for a policy that asks for none. With
    `compared`, few scores are computed (prudent.engine.floors). With a `batch` rewards are seen at the end of so many
    rounds, as an agent sees them that is asked for as many arms before it is told a reward. With a `past` each run
    goes on from statistics of its own, on laws of its own, which stand one run after another in their table. Soon
    after `halt[0]` is set it ends.
    """
    n_runs, _, n_arms = record.pulls.shape
    # In the loop, arrays go by name and the commonest draws stand in line: passing the tuples on would count
    # references in every round.
    kind, start, table = laws.kind, laws.start, laws.table
    pulls, mean, variance = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    arms = Statistics(pulls, mean, variance)
    seen = arms if batch is None else no_statistics(n_arms)
    seen_pulls, seen_mean, seen_variance = seen.pulls, seen.mean, seen.variance
    scores, kept, ties = np.empty(n_arms), np.zeros((n_arms, room)), may_tie(laws, n_arms)
    if compared is not None:
        cost, at, step = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
        floors = Floors(cost, scores, at, step)
    if batch is not None:
        late = np.empty((min(batch, rounds[-1]) if room > 0 else 0, 2))
    if past is not None:
        ties = True  # at the start, where rewards are known
    elapsed = 0 if past is None else past.elapsed
    for run in range(n_runs):
        clear(arms)
        if batch is not None:
            clear(seen)
        if past is not None:
            begin(past, run, n_runs, arms, laws)
        kept[:] = 0.0
        scores[:] = -math.inf
        t, pulled, best_cost, score = 0, 0, math.inf, -math.inf
        # Of the arms other than the one pulled: the smallest floor, the best cost up to which all floors hold, and the
        # smallest cost. None of these changes while one arm is pulled again and again.
        rival, ceiling, other_cost = -math.inf, math.inf, math.inf
        if compared is not None:
            cost[:] = math.inf
            at[:] = math.inf
            step[:] = FIRST_STEP
        for snapshot in range(len(rounds)):
            while t < rounds[snapshot]:
                if halt[0]:
                    return HALTED
                t += 1
                if compared is not None:
                    if ties or best_cost > ceiling or not clearly_below(score, rival):
                        scores[pulled], at[pulled] = score, best_cost
                        pulled = compare(policy, arms, floors, kept, best_cost, ties)
                        if pulled < 0:
                            return BAD_SCORE
                        rival, ceiling, other_cost = math.inf, math.inf, math.inf
                        for i in range(n_arms):
                            if i != pulled:
                                rival, ceiling = min(rival, scores[i]), min(ceiling, at[i])
                                other_cost = min(other_cost, cost[i])
                else:
                    scored = not clock_free
                    if batch is not None:
                        scored = scored or (t - 1) % batch == 0
                    if past is not None:
                        scored = scored or t == 1
                    if scored:
                        best_cost = best_cost_of(policy, seen, kept)
                        for i in range(n_arms):
                            if seen_pulls[i] > 0:
                                known = kept_of(policy, kept, i, seen_pulls[i])
                                arm = Arm(seen_pulls[i], seen_mean[i], seen_variance[i])
                                scores[i] = score_of(policy, arm, best_cost, elapsed + t, rng, known)
                                if math.isnan(scores[i]):
                                    return BAD_SCORE
                    pulled = 0
                    if batch is not None:
                        pulled = least_busy(scores, seen, arms)
                    elif ties:
                        pulled = lowest(scores, arms)
                    else:
                        for i in range(1, n_arms):
                            if scores[i] < scores[pulled]:
                                pulled = i
                if kind[pulled] == GAUSSIAN:
                    reward = table[start[pulled]] + table[start[pulled] + 1] * rng.standard_normal()
                elif kind[pulled] == BERNOULLI:
                    reward = 1.0 if rng.random() < table[start[pulled]] else 0.0
                elif kind[pulled] == TABLED:
                    reward = tabled(table, start[pulled], rng)
                elif past is not None:  # `PairLaws`
                    pair = start[pulled]
                    reward = table[pair + 4] if rng.random() < table[pair + 2] else table[pair + 5]
                else:
                    reward = draw(laws, pulled, rng)
                if batch is None:
                    keep(policy, kept, pulled, pulls[pulled], reward)
                elif len(late) > 0:
                    late[(t - 1) % len(late), 0], late[(t - 1) % len(late), 1] = pulled, reward
                pulls[pulled] += 1
                mean[pulled], variance[pulled] = include(pulls[pulled], mean[pulled], variance[pulled], reward)
                if compared is not None:
                    arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                    known = kept_of(policy, kept, pulled, pulls[pulled])
                    cost[pulled] = own_cost(policy, arm, known)
                    best_cost = min(cost[pulled], other_cost)
                    score = score_of(policy, arm, best_cost, t, rng, known)
                    if math.isnan(score):
                        return BAD_SCORE
                elif batch is None:
                    if clock_free:
                        arm = Arm(pulls[pulled], mean[pulled], variance[pulled])
                        known = kept_of(policy, kept, pulled, pulls[pulled])
                        scores[pulled] = score_of(policy, arm, 0.0, t, rng, known)
                    if math.isnan(scores[pulled]):
                        return BAD_SCORE
                elif t % batch == 0:
                    show_scorer(policy, arms, late, seen, kept)
            write_down(record, run, snapshot, arms, laws, best, rng)
    return FINE


@helper
def begin(past: Any, run: int, n_runs: int, arms: Any, laws: Laws) -> None:
    """The arms as they are at the start of a resumed run, and its laws in the table, after those of the run before."""
    for i in range(len(arms.pulls)):
        arms.pulls[i], arms.mean[i], arms.variance[i] = past.pulls[run, i], past.mean[run, i], past.variance[run, i]
    if run > 0:
        for i in range(len(laws.start)):
            laws.start[i] += len(laws.table) // n_runs
