"""Runs that go on from given statistics, each on laws of its own: what a forecast of a live experiment is made of.

The loops are those of `simulate`. A policy whose score needs only the arm's own statistics may leap, because the arms'
first passages from here on do not depend on how they came here; the others step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from prudent.arms.sampling import DETERMINISTIC, GAUSSIAN, MIXTURE, GaussianLaws, Laws, PairLaws
from prudent.base.arrays import Counts, Marks
from prudent.engine.jobs import Job
from prudent.engine.leap.blocks import Sources
from prudent.engine.leap.scores import leap_scores
from prudent.engine.phase_rounds import play_phases
from prudent.engine.record import Past, RecordOfArms, Statistics
from prudent.engine.score_rounds import kind_of, play_scores
from prudent.policies.contract import ReadyPolicy
from prudent.policies.scoring import compares, needs_no_clock

NO_BEST = 0
"""For a record without twins it does not matter which arm is best."""


def can_leap(ready: ReadyPolicy) -> bool:
    """Whether a policy, made ready, can go on in leaps."""
    return hasattr(ready, "score_bound") and needs_no_clock(type(ready)) and not compares(type(ready))


def resume(
    ready: ReadyPolicy, owner: str, laws: Sources, past: Past, more: Counts, *, leaping: bool, seed: int
) -> Statistics:
    """Play a policy on from a past: the statistics (run, snapshot, arm) after `more` rounds.

    Parameters
    ----------
    ready
        A policy that needs no more than means and variances, made ready; `owner` is its name for errors.
    laws
        Of every run, as arrays (run, arm) and (run, arm, atom): Gaussian without atoms, else two values.
    past
        Where every run stands. More rounds may have been counted than there are rewards.
    more
        The numbers of further rounds at which to write down, ascending.
    leaping
        Whether to leap, if the policy can. It pays for very many rounds.
    """
    runs, arms = past.pulls.shape
    record = RecordOfArms.empty(runs, len(more), arms)

    drawn = laws_of_runs(laws)
    table = drawn.table.reshape(runs, -1)

    def play(part: slice, halt: Marks, rng: np.random.Generator) -> int:
        blocks = Sources(laws.mean[part], laws.variance[part], laws.n_atoms, laws.value[part], laws.probability[part])
        begun = Past(past.pulls[part], past.mean[part], past.variance[part], *past[3:])
        kernel = resumed_kernel(ready, blocks, begun, leaping=leaping)
        own = type(drawn)(drawn.kind, drawn.start.copy(), table[part].ravel())
        return kernel(own, NO_BEST, more, record.part(part), halt, rng)

    Job(owner, runs, seed, 1, None).run(f"resumed | {owner}", owner, play)
    return Statistics(record.pulls, record.mean, record.variance)


def resumed_kernel(
    ready: ReadyPolicy, blocks: Sources, past: Past, *, leaping: bool, interpreted: bool = False
) -> Callable[..., int]:
    """The loop that goes on from a past, waiting for (laws, best, rounds, record, halt, rng)."""
    loop: Any
    given: tuple[Any, ...]
    if not hasattr(ready, "score"):
        loop, given = play_phases, (0, None, None, past)
    elif leaping:
        loop, given = leap_scores, (blocks, 0.0, past)
    else:
        loop, given = play_scores, kind_of(ready, 0, past=past)
    return partial(loop.py_func if interpreted else loop, ready, *given)


def laws_of_runs(blocks: Sources) -> Laws:
    """The same laws as numbers from which single rewards are drawn, the table of one run after that of another."""
    runs, arms = blocks.mean.shape
    deviation = np.sqrt(blocks.variance)
    if blocks.value.shape[2] == 0:
        table = np.stack([blocks.mean, deviation], -1)
        return GaussianLaws(np.full(arms, GAUSSIAN), 2 * np.arange(arms), table.ravel())
    # A mixture of two constants, whose place in the table comes after the arm's own.
    width = 6
    table = np.empty((runs, arms, width))
    table[:, :, 0], table[:, :, 1] = 2.0, arms + 2.0 * np.arange(arms)
    table[:, :, 2], table[:, :, 3] = blocks.probability[:, :, 0], 1.0
    table[:, :, 4:] = blocks.value
    own = width * np.arange(arms)
    kind = np.concatenate([np.full(arms, MIXTURE), np.full(2 * arms, DETERMINISTIC)])
    return PairLaws(kind, np.concatenate([own, np.stack([own + 4, own + 5], -1).ravel()]), table.ravel())
