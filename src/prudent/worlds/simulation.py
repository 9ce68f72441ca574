"""Many runs on an environment, or of a learner, interpreted: here, and on other processes where that saves time."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import cloudpickle
import numpy as np
from joblib import Parallel, delayed

from prudent.bandit import Bandit, Unknown
from prudent.engine.record import Record
from prudent.engine.scaffold import LONGEST, Job, check_memory, rounds_of
from prudent.engine.tapes import kept_runs
from prudent.errors import PrudentError, check_choice, check_flag, check_integer, shown
from prudent.learners import Learner, is_learner
from prudent.policies.base import Policy, policies, spec
from prudent.policies.binding import check_rewards
from prudent.policies.units import AUTO, Scale, check_scale, fitted, units_of, warn_of_size
from prudent.risk.base import RiskMeasure, risks
from prudent.runs import Runs, Trajectory
from prudent.worlds.acting import Acting
from prudent.worlds.delays import delay_of
from prudent.worlds.environment import world_of
from prudent.worlds.playing import Played, Question, play

INTERPRETED = "interpreted"

PATIENCE = 2.0
"""Seconds of work beyond which other processes are started, which takes about as long."""

TASK = 0.5
"""Seconds of work that another process is given at once."""


def simulate_world(
    environment: Any,
    policy: Policy | Learner | str,
    *,
    risk: RiskMeasure | str,
    horizon: int,
    runs: int,
    seed: int = 0,
    batch: int = 1,
    engine: str = "auto",
    scale: Scale = None,
    workers: int | None = None,
    snapshots: Sequence[int] | str = (),
    keep: str | int | None = None,
    common: bool = False,
    progress: Callable[[int], Any] | None = None,
    arms: int | Sequence[str] | None = None,
    laws: Bandit | None = None,
    replay: bool = False,
    delay: Any = None,
) -> Runs:
    """Run a policy or a learner on an environment or a bandit, round by round in Python; see `prudent.simulate`."""
    why = "environments, learners and delays are interpreted"
    check_choice("simulate", "engine", engine, ("auto", INTERPRETED), hint=why)
    laws = environment if laws is None and isinstance(environment, Bandit) else laws
    world = world_of("simulate", environment, arms, laws)
    measure = risks.make("simulate", risk)
    job = Job.checked("simulate", runs, seed, workers, progress)
    rounds = rounds_of("simulate", horizon, snapshots).tolist()
    batch = check_integer("simulate", "batch", batch, low=1, high=LONGEST, hint="1 shows every reward at once")
    late, late_text = delay_of("simulate", delay)
    if check_flag("simulate", "replay", replay) and not measure.by_moments:
        raise PrudentError(f"simulate: replay compares by mean and variance, which do not determine {measure}")
    kept, common = kept_runs(keep, job.runs), check_flag("simulate", "common", common)
    made = _policy(policy, check_scale("simulate", scale), laws)
    known = Unknown(world.names) if laws is None else Bandit(laws.arms, world.names)
    twin = laws.best(measure) if laws is not None else None
    size = (len(Record._fields) + 2) * job.runs * len(rounds) * len(known) + 2.0 * (kept + 1) * rounds[-1]
    check_memory("simulate", size, f"{job.runs:,} runs × {len(rounds):,} snapshots × {len(known):,} arms")
    cell = f"{world.text} | {len(known)} | {measure} | {spec(made)} | {rounds[-1:]} | {batch} | {late_text}"
    learner = Acting(made, measure, laws) if isinstance(made, tuple) else made  # type: ignore[arg-type]
    asked = Question(
        world.environment, learner, len(known), rounds, batch, late, laws, twin, replay, job.seed, cell
    )  # fmt: skip
    asked = asked._replace(kept=kept, shared=f"{world.text} | {len(known)} | common" if common else None)
    started = time.perf_counter()
    done = played(asked, job)
    record = gathered(done, measure if replay else None)
    seconds = time.perf_counter() - started
    facts: dict[str, Any] = {"bandit": known, "risk": measure, "policy": made, "seed": job.seed, "engine": INTERPRETED}
    facts |= {"common": common, "kept": trajectories(done) if kept else None}
    return Runs.at_snapshots(rounds, record._asdict(), seconds=seconds, **facts)


def _policy(given: Any, scale: Scale, laws: Bandit | None) -> Any:
    """The learner as it is, or the policy with what it assumes of rewards filled in."""
    if is_learner(given):
        if scale is not None:
            raise PrudentError(
                f"simulate: scale must be left out for a learner, got {shown(scale)}; it sees rewards as they are"
            )
        return given
    if scale == AUTO and laws is None:
        raise PrudentError('simulate: scale="auto" needs the laws of the arms; pass laws=Bandit([…]), or a number')
    policy = policies.make("simulate", given)
    if not hasattr(policy, "_fields"):
        return policy
    made = fitted(policy, units_of(scale, laws))  # type: ignore[arg-type]
    if laws is not None:
        check_rewards(made, laws.support)
        if scale is None:
            warn_of_size(spec(policy), made, laws)
    return policy if scale is None else made


def played(asked: Question, job: Job) -> list[Played]:
    """All runs in order. The first ones are played here and timed; the rest where it takes less time."""
    told = job.progress or (lambda count: None)
    done: list[Played] = []
    started = time.perf_counter()
    while len(done) < job.runs:
        done.append(play(asked, len(done)))
        told(1)
        each = (time.perf_counter() - started) / len(done)
        if job.workers > 1 and each * (job.runs - len(done)) > PATIENCE:
            break
    if len(done) == job.runs:
        return done
    size = max(1, min(int(TASK / each), -(-(job.runs - len(done)) // job.workers)))
    parts = [range(first, min(first + size, job.runs)) for first in range(len(done), job.runs, size)]
    for part in _elsewhere(asked, parts, job.workers):
        done += part
        told(len(part))
    return done


def _elsewhere(asked: Question, parts: list[range], workers: int) -> Iterator[list[Played]]:
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
    arms, rewards = zip(*(run.trajectory for run in runs if run.trajectory is not None), strict=True)
    return Trajectory(np.array(arms, np.int32), np.array(rewards))


def gathered(runs: list[Played], replayed: RiskMeasure | None) -> Record:
    """The record of all runs. With a measure, twins are those of the best fixed arm of the replays: at each snapshot
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
