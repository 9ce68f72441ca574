"""Compiled simulations: which loop plays a question, and the streams of its runs."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.random import Generator

from prudent.arms.base import encode
from prudent.arms.sampling import Laws
from prudent.base.arrays import Counts, Marks
from prudent.base.memory import check_memory
from prudent.engine.forgetting_rounds import forgetting, play_forgetting
from prudent.engine.leap import clocked, drawn
from prudent.engine.leap.blocks import sources
from prudent.engine.leap.scores import leap_scores
from prudent.engine.phase_rounds import play_phases
from prudent.engine.question import Problem, Question
from prudent.engine.record import FINE, Record, draw_all_twins
from prudent.engine.recorded_rewards import Taping
from prudent.engine.score_rounds import kind_of, play_scores
from prudent.engine.streams import number_of, stream
from prudent.policies.contract import ReadyPolicy, spec
from prudent.policies.scoring import declares_draws, room_for, score_inputs
from prudent.policies.units import core
from prudent.results.runs import Runs

BLOCKS_IN_A_RUN = 1e6


def simulate_compiled(question: Question) -> Runs:
    """Simulate a policy on a bandit, on threads or on a GPU."""
    bandit, risk, problem, job, rounds = question.bandit, question.risk, question.problem, question.job, question.rounds
    assert problem is not None, "it is compiled"
    engine, batch, common, subject = question.engine, question.batch, question.common, spec(question.policy)
    record = Record.empty(job.runs, len(rounds), len(bandit))
    cell = f"{problem.text} | [{rounds[-1]}] | {engine}"
    cell += f" {question.failure:g}" + (f" | {batch} late" if batch > 1 else "") + (" | common" if common else "")
    laws, best, taping = encode(problem.bandit.arms), bandit.best(risk), None
    if engine == "gpu":
        from prudent.engine.gpu.playing import play as play_there  # nothing of it is imported by others

        seconds = play_there(job, cell, subject, problem.ready, laws, best, rounds, record)
    else:
        taping = Taping.of(question) if question.kept or common else None
        kernel = _kernel(question, problem)
        twins = [f"{cell} | twins at {n}" for n in rounds[:-1].tolist()]
        if taping is None:
            play = partial(_play_chunk, kernel, laws, best, rounds, record, job.seed, twins)
        else:
            play = partial(taping.play, kernel, best, rounds, record, twins)
        seconds = job.run(cell, subject, play)
    record.multiply(problem.unit)
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": question.policy, "seed": job.seed}
    facts |= {"engine": engine, "common": common, "kept": taping.kept if taping and question.kept else None}
    return Runs.at_snapshots(rounds.tolist(), record._asdict(), seconds=seconds, **facts)


def _play_chunk(
    kernel: Callable[..., int],
    laws: Laws,
    best: int,
    rounds: Counts,
    record: Record,
    seed: int,
    twins: list[str],
    part: slice,
    halt: Marks,
    rng: Generator,
) -> int:
    """Run a kernel on a chunk of the runs, then draw the `twins` of each snapshot from streams of these names."""
    chunk = record.part(part)
    status = kernel(laws, best, rounds, chunk, halt, rng)
    for snapshot, name in enumerate(twins if status == FINE else ()):
        draw_all_twins(chunk, snapshot, laws, best, stream(seed, name, number_of(part)))
    return status


def _kernel(question: Question, problem: Problem) -> Callable[..., int]:
    """The compiled loop, waiting for (laws, best, rounds, record, halt, rng)."""
    ready, bandit, horizon, leaping = (
        problem.ready,
        problem.bandit,
        int(question.rounds[-1]),
        question.engine == "leaping",
    )
    blocks, room = sources(bandit.arms), room_for(core(ready), horizon)
    check_memory("simulate", float(room) * len(bandit), f"all rewards of {len(bandit):,} arms in {horizon:,} rounds")
    if hasattr(ready, "score") and leaping and blocks is not None:
        if score_inputs(type(ready)) != ("arm",):
            return partial(drawn.lead_drawn if declares_draws(type(ready)) else clocked.lead_falling, ready, blocks)
        log_failure = math.log(BLOCKS_IN_A_RUN / question.failure) if question.failure > 0.0 else 0.0
        return partial(leap_scores, ready, blocks, log_failure, None)
    return stepper(ready, horizon, batch=question.batch if question.batch > 1 else None, blocks=leaping)


def stepper(
    ready: ReadyPolicy, horizon: int, *, batch: int | None = None, blocks: bool = False, interpreted: bool = False
) -> Callable[..., int]:
    """The loop over the rounds or phases of a policy, waiting for (laws, best, rounds, record, halt, rng)."""
    loop: Any = play_scores if hasattr(ready, "score") else play_phases
    given: tuple[Any, ...]
    policy: Any = core(ready)
    if policy is not ready:
        loop, ready, given = play_forgetting, policy, forgetting(ready)
    elif hasattr(ready, "score"):
        given = kind_of(ready, horizon, batch)
    else:
        given = (room_for(ready, horizon), True if blocks else None, batch, None)
    return partial(loop.py_func if interpreted else loop, ready, *given)
