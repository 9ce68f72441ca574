"""Rewards on a tape: what stands for the laws of a bandit where every round of a run is to be kept, and where every
policy is to receive the same rewards.

A kernel takes rewards from whatever laws it is given. A `Tape` is such a thing: it draws from the true laws and notes
the arm and the reward, or it hands out rewards that were drawn before. So no kernel has to know of either, and nobody
else pays for it. A tape serves a single run.

With common random numbers the s-th pull of arm i gives the same reward under every policy. The twins, unobserved
rewards of the best arm, are taken from the end of its rewards. A run of n rounds observes those up to T and needs n − T
twins, so they never meet, and at the horizon every policy is compared with the same n rewards of the best arm.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.base import encode
from prudent.arms.sampling import OWN, Laws, draw, draw_block, draw_many, include, may_tie
from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.base.memory import check_memory
from prudent.compile.types import as_compiled, simpler_for
from prudent.engine.record import FINE, Record, draw_all_twins
from prudent.engine.streams import number_of, stream
from prudent.results.runs import Trajectory

if TYPE_CHECKING:
    from prudent.engine.question import Question


class Tape(NamedTuple):
    """The rewards of one run. Kernels read `kind`, which is none that they could draw by themselves.

    All else stands in few arrays, because references to each are counted in every round.
    """

    kind: Counts
    start: Counts
    """How many rewards of each arm were handed out, the number of twins, that of rounds, and the arms noted."""

    table: Array
    """The rewards noted, and those drawn before, arm by arm; none of the latter if they are drawn when needed."""

    laws: Laws

    def pull(self, arm: int, rng: Generator) -> float:
        """The next reward of the arm, which is noted if there is room."""
        start, table, n_arms = self.start, self.table, len(self.kind)
        room, t = len(start) - n_arms - 2, start[n_arms + 1]
        if len(table) > room:
            horizon = (len(table) - room) // n_arms
            reward = table[room + arm * horizon + start[arm]]
            start[arm] += 1
        else:
            reward = draw(self.laws, arm, rng)
        if t < room:
            start[n_arms + 2 + t], table[t] = arm, reward
        start[n_arms + 1] = t + 1
        return reward

    def twins(self, arm: int, size: int, rng: Generator) -> tuple[float, float]:
        """Mean and variance of unobserved rewards of the best arm."""
        start, table, n_arms = self.start, self.table, len(self.kind)
        room = len(start) - n_arms - 2
        if len(table) == room:
            return draw_block(self.laws, arm, size, rng)
        mean, variance, horizon = 0.0, 0.0, (len(table) - room) // n_arms
        end = room + (arm + 1) * horizon - start[n_arms]
        for count in range(1, size + 1):
            mean, variance = include(count, mean, variance, table[end - count])
        start[n_arms] += size
        return mean, variance

    def ties(self, n_arms: int) -> bool:
        """Whether scores can be equal, by the true laws."""
        return may_tie(self.laws, n_arms)


# The type of a tape tells the code of its methods, so kernels that call them are compiled again after an edit.
simpler_for(draw, Tape)(Tape.pull)
simpler_for(draw_block, Tape)(Tape.twins)
simpler_for(may_tie, Tape)(Tape.ties)


class Taping(NamedTuple):
    """How the runs of a simulation are taped: which are kept, and on which rewards they are played."""

    bandit: Bandit
    laws: Laws
    horizon: int
    unit: float
    seed: int
    common: bool
    kept: Trajectory

    @classmethod
    def of(cls, question: "Question") -> "Taping":
        """For a question that is compiled, if it fits into memory."""
        job, kept, horizon, problem = question.job, question.kept, int(question.rounds[-1]), question.problem
        assert problem is not None, "it is compiled"
        check_memory("simulate", 1.5 * kept * horizon, f"trajectories of {kept:,} runs × {horizon:,} rounds")
        if question.common:
            n_arms = len(question.bandit)
            size, what = float(job.workers) * n_arms * horizon, f"{horizon:,} rewards of {n_arms:,} arms"
            check_memory("simulate", size, f"common random numbers, {what} on {job.workers} threads,")
        path = Trajectory(np.empty((kept, horizon), np.int32), np.empty((kept, horizon)))
        laws = encode(problem.bandit.arms)
        return cls(question.bandit, laws, horizon, problem.unit, job.seed, question.common, path)

    def play(
        self,
        kernel: Callable[..., int],
        best: int,
        rounds: Counts,
        record: Record,
        twins: list[str],
        part: slice,
        halt: Marks,
        rng: Generator,
    ) -> int:
        """Run a kernel a run at a time, each on a tape of its own, then draw the `twins` of each snapshot from streams
        of these names; the status of the last run."""
        n_arms, streams = len(self.bandit), [stream(self.seed, name, number_of(part)) for name in twins]
        for run in range(part.start, part.stop):
            tape, own = self._tape(run), record.part(slice(run, run + 1))
            status = kernel(tape, best, rounds, own, halt, rng)
            if status != FINE:
                return status
            for snapshot, beside in enumerate(streams):
                tape.start[n_arms] = 0  # they are taken from the end again
                draw_all_twins(own, snapshot, tape, best, beside)
            if run < len(self.kept.arms):
                self.kept.arms[run] = tape.start[n_arms + 2 :]
                np.multiply(tape.table[: self.horizon], self.unit, out=self.kept.rewards[run])
        return FINE

    def _tape(self, run: int) -> Any:
        n_arms, room = len(self.bandit), self.horizon if run < len(self.kept.arms) else 0
        table = np.empty(room + (n_arms * self.horizon if self.common else 0))
        if self.common:
            self._draw_before(run, table[room:].reshape(n_arms, self.horizon))
        kind, start = np.full(n_arms, OWN, np.int64), np.zeros(n_arms + 2 + room, np.int64)
        return as_compiled(Tape(kind, start, table, self.laws))

    def _draw_before(self, run: int, rewards: Array) -> None:
        """The rewards of all arms in a run, which depend on the bandit, the horizon and the random seed only."""
        rng = stream(self.seed, f"{self.bandit.unnamed} | {self.horizon} common rewards", run)
        laws = encode(self.bandit.arms)
        for arm, row in enumerate(rewards):
            draw_many(laws, arm, row, rng)
        rewards /= self.unit


def kept_runs(keep: str | int | None, runs: int) -> int:
    """How many runs keep their trajectories: all, the first so many, or none."""
    if keep is None:
        return 0
    if isinstance(keep, str):
        if keep != "trajectory":
            fix = 'pass "trajectory", or a number to keep those of the first so many runs'
            raise PrudentError(f"simulate: keep must be trajectory or a number of runs, got {shown(keep)}; {fix}")
        return runs
    return check_integer("simulate", "keep", keep, low=1, high=runs, hint='"trajectory" keeps all runs')
