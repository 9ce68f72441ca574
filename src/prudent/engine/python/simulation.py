"""Many runs on an environment, or of a learner, interpreted: here, and on other processes where that saves time."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import cloudpickle
import numpy as np
from joblib import Parallel, delayed

from prudent.base.errors import PrudentError
from prudent.engine.jobs import Job
from prudent.engine.python.policies import Acting
from prudent.engine.python.rounds import Episode, Played, play
from prudent.engine.question import INTERPRETED, Question
from prudent.engine.record import Record
from prudent.policies.contract import spec
from prudent.results.runs import Runs, Trajectory
from prudent.risk.base import RiskMeasure

PROCESSES_FROM_SECONDS = 2.0
"""Seconds of work beyond which other processes are started, which takes about as long."""

TASK_SECONDS = 0.5
"""Seconds of work that another process is given at once."""


def simulate_interpreted(question: Question) -> Runs:
    """Simulate a policy or a learner on an environment or a bandit, round by round in Python."""
    beyond, bandit, job = question.beyond, question.bandit, question.job
    policy: Any = question.policy
    assert beyond is not None, "it is interpreted"
    laws, risk, rounds, text = (
        beyond.laws,
        question.risk,
        question.rounds.tolist(),
        f"{beyond.world.text} | {len(bandit)}",
    )
    limits = beyond.limits
    learner = Acting(policy, risk, laws, limits) if hasattr(policy, "_fields") else policy
    cell = f"{text} | {risk} | {spec(policy)} | {rounds[-1:]} | {question.batch} | {beyond.delay_text}"
    cell += "" if limits is None else f" | {limits}"
    asked = Episode(
        environment=beyond.world.environment,
        learner=learner,
        n_arms=len(bandit),
        rounds=rounds,
        batch=question.batch,
        delay=beyond.delay,
        laws=laws,
        twin=laws.best(risk) if laws is not None else None,
        replay=beyond.replay,
        seed=job.seed,
        cell=cell,
        kept=question.kept,
        shared=f"{text} | common" if question.common else None,
    )
    started = time.perf_counter()
    done = played(asked, job)
    record = gathered(done, risk if beyond.replay else None)
    seconds = time.perf_counter() - started
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": policy, "seed": job.seed}
    facts |= {"engine": INTERPRETED, "common": question.common, "kept": trajectories(done) if question.kept else None}
    return Runs.at_snapshots(rounds, record._asdict(), seconds=seconds, **facts)


def played(asked: Episode, job: Job) -> list[Played]:
    """All runs in order. The first ones are played here and timed; the rest where it takes less time."""
    told = job.progress or (lambda count: None)
    done: list[Played] = []
    started = time.perf_counter()
    while len(done) < job.runs:
        done.append(play(asked, len(done)))
        told(1)
        each = (time.perf_counter() - started) / len(done)
        if job.workers > 1 and each * (job.runs - len(done)) > PROCESSES_FROM_SECONDS:
            break
    if len(done) == job.runs:
        return done
    size = max(1, min(int(TASK_SECONDS / each), -(-(job.runs - len(done)) // job.workers)))
    parts = [range(first, min(first + size, job.runs)) for first in range(len(done), job.runs, size)]
    for part in _elsewhere(asked, parts, job.workers):
        done += part
        told(len(part))
    return done


def _elsewhere(asked: Episode, parts: list[range], workers: int) -> Iterator[list[Played]]:
    """The runs of each part, on other processes. What is defined in a notebook travels along."""
    try:
        sent = cloudpickle.dumps(asked)
    except Exception as error:  # pickling may raise anything
        fix = "pass workers=1 to stay in this process"
        raise PrudentError(f"simulate: other processes need a copy of what is simulated, and {error}; {fix}") from error
    pool = Parallel(min(workers, len(parts)), "loky", return_as="generator", batch_size=1)
    yield from pool(delayed(partial(_play_some, sent))(part) for part in parts)


def _play_some(sent: bytes, part: range) -> list[Played]:
    asked = cloudpickle.loads(sent)
    return [play(asked, run) for run in part]


def trajectories(runs: list[Played]) -> Trajectory:
    """Those that were kept."""
    arms, rewards, chances = zip(*(run.trajectory for run in runs if run.trajectory is not None), strict=True)
    propensities = None if chances[0] is None else np.array(chances)
    return Trajectory(np.array(arms, np.int32), np.array(rewards), propensities)


def gathered(runs: list[Played], replayed: RiskMeasure | None) -> Record:
    """The record of all runs. With a risk, twins are those of the best fixed arm of the replays: at each snapshot
    the arm whose cost, averaged over runs, is the smallest."""
    arrays = {name: np.array([getattr(run, name) for run in runs]) for name in Record._fields}
    if replayed is not None:
        means, variances = (
            np.array([getattr(run, f"replayed_{name}") for run in runs]) for name in ("mean", "variance")
        )
        best = replayed.stats_cost(means, variances).mean(0).argmin(-1)
        for name, values in (("twin_mean", means), ("twin_variance", variances)):
            chosen = np.take_along_axis(values, np.broadcast_to(best[None, :, None], (*values.shape[:2], 1)), -1)
            arrays[name] = np.broadcast_to(chosen, values.shape).copy()
    return Record(**arrays)
