"""simulate(): many runs of a policy on a bandit."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from prudent.arms.base import encode
from prudent.arms.sampling import Laws
from prudent.arrays import Counts, Marks
from prudent.bandit import Bandit
from prudent.engine import batching, comparing, falling, leaping, stepping, thinning
from prudent.engine.blocks import MAX_ATOMS, sources
from prudent.engine.record import FINE, Record, draw_all_twins
from prudent.engine.scaffold import LONGEST, Job, check_memory, rounds_of
from prudent.engine.streams import number_of, stream
from prudent.engine.tapes import Taping, kept_runs
from prudent.errors import PrudentError, check_choice, check_flag, check_integer, check_number, shown
from prudent.policies.base import Arm, Policy, Setting, policies, spec
from prudent.policies.binding import bind, check_rewards
from prudent.policies.posteriors import InverseGamma, Normal
from prudent.policies.scoring import (
    compares,
    costs_need_rewards,
    declares_draws,
    needs_no_clock,
    reads_rewards,
    room_for,
    score_inputs,
)
from prudent.policies.units import InUnit, Scale, check_scale, fitted, in_its_unit, units_of, warn_of_size
from prudent.risk.base import RiskMeasure, risks
from prudent.runs import Runs

ENGINES = ("auto", "stepping", "leaping", "gpu")
BLOCKS_IN_A_RUN = 1e6
LEADING = 20_000
"""Rounds from which on leaping behind a leader is never slower by a tenth (benchmarks/leaders.py)."""

EVERY_ROUND = "trajectories (keep) and common random numbers (common) need every round"


def simulate(
    bandit: Bandit,
    policy: Policy | str,
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
    bound_failure: float = 0.0,
    progress: Callable[[int], Any] | None = None,
) -> Runs:
    """Run a policy on a bandit, compiled, for `horizon` rounds, `runs` times; see `prudent.simulate`."""
    if not isinstance(bandit, Bandit):
        raise PrudentError(f"simulate: bandit must be a Bandit, got {shown(bandit)}; pass Bandit([…])")
    policy, risk = policies.make("simulate", policy), risks.make("simulate", risk)
    job = Job.checked("simulate", runs, seed, workers, progress)
    rounds = rounds_of("simulate", horizon, snapshots)
    scale = check_scale("simulate", scale)
    units = units_of(scale, bandit)
    ready = bind(policy, Setting.of(bandit, risk, int(rounds[-1]), units))
    check_rewards(made := fitted(policy, units), bandit.support)
    batch = check_integer("simulate", "batch", batch, low=1, high=LONGEST, hint="1 shows every reward at once")
    kept, common = kept_runs(keep, job.runs), check_flag("simulate", "common", common)
    engine = choose_engine(engine, bandit, policy, ready, int(rounds[-1]), batch, every_round=kept > 0 or common)
    if scale is None:
        played = InUnit(1.0, bandit, risk, policy)
        warn_of_size(spec(policy), made, bandit)
    else:
        policy, played = made, in_its_unit(bandit, risk, made, units.sd or units.range or 1.0)
        ready = bind(played.policy, Setting.of(played.bandit, played.risk, int(rounds[-1])))
    failure = check_number("simulate", "bound_failure", bound_failure, low=0.0, high=1e-3, hint="1e-15 is plenty")
    taping = Taping.of(bandit, played, int(rounds[-1]), job, kept, common=common) if kept or common else None
    best = bandit.best(risk)
    size = len(Record._fields) * job.runs * len(rounds) * len(bandit)
    check_memory("simulate", size, f"{job.runs:,} runs × {len(rounds):,} snapshots × {len(bandit):,} arms")
    record = Record.empty(job.runs, len(rounds), len(bandit))
    cell = f"{played.bandit.unnamed} | {played.risk} | {spec(played.policy)} | [{rounds[-1]}] | {engine} {failure:g}"
    cell += (f" | {batch} late" if batch > 1 else "") + (" | common" if common else "")
    if engine == "gpu":
        from prudent.engine.gpu.playing import play as play_there  # nothing of it is imported by others

        seconds = play_there(job, cell, spec(policy), ready, encode(played.bandit.arms), best, rounds, record)
    else:
        kernel = _kernel(engine, played.bandit, ready, int(rounds[-1]), batch, failure)
        twins = [f"{cell} | twins at {n}" for n in rounds[:-1].tolist()]
        if taping is None:
            play = partial(_play_chunk, kernel, encode(played.bandit.arms), best, rounds, record, job.seed, twins)
        else:
            play = partial(taping.play, kernel, best, rounds, record, twins)
        seconds = job.run(cell, spec(policy), play)
    record.multiply(played.unit)
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": policy, "seed": job.seed, "engine": engine}
    facts |= {"common": common, "kept": taping.kept if taping and kept else None}
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
    rng: Any,
) -> int:
    """Run a kernel on a chunk of the runs, then draw the `twins` of each snapshot from streams of these names."""
    chunk = record.part(part)
    status = kernel(laws, best, rounds, chunk, halt, rng)
    for snapshot, name in enumerate(twins if status == FINE else ()):
        draw_all_twins(chunk, snapshot, laws, best, stream(seed, name, number_of(part)))
    return status


def choose_engine(
    asked: str, bandit: Bandit, policy: Policy, ready: Any, horizon: int, batch: int = 1, *, every_round: bool = False
) -> str:
    """The engine to use; asking for what cannot be done is an error that says why."""
    check_choice("simulate", "engine", asked, ENGINES)
    if asked == "stepping":
        return asked
    if asked == "gpu":
        from prudent.engine.gpu.playing import obstacle

        if reason := EVERY_ROUND if every_round else obstacle(ready, len(bandit), batch):
            raise PrudentError(f"simulate: {spec(policy)} cannot run on a GPU here: {reason}; use engine='auto'")
        return asked
    reason = EVERY_ROUND if every_round else _obstacle(bandit, ready, batch)
    if reason and asked == "leaping":
        raise PrudentError(f"simulate: {spec(policy)} cannot leap here: {reason}; use engine='auto' or 'stepping'")
    behind_leader = hasattr(ready, "score") and score_inputs(type(ready)) != ("arm",)
    return "stepping" if reason or (asked == "auto" and behind_leader and horizon < LEADING) else "leaping"


def _obstacle(bandit: Bandit, ready: Any, batch: int) -> str:
    """Why a policy cannot leap on a bandit; empty if it can."""
    if batch > 1:
        return "rewards are seen a batch at a time, and leaping is for those seen at once (batch=1)"
    if costs_need_rewards(ready) or (hasattr(ready, "score") and reads_rewards(type(ready))):
        return "it reads every reward, not only their mean and variance"
    if hasattr(ready, "score") and (reason := _obstacle_of_score(ready)):
        return reason
    if sources(bandit.arms) is None:
        return f"rewards come in blocks only for Gaussian arms and for arms with at most {MAX_ATOMS} different values"
    return ""


def _obstacle_of_score(ready: Any) -> str:
    """Why a score does not let runs leap; empty if it does."""
    inputs = score_inputs(type(ready))
    if "rng" in inputs:
        return "its score draws at random by itself (see draws in prudent.policies.base)"
    if "draws" in inputs:
        kinds = tuple(type(law) for law in ready.draws(Arm(4, 0.5, 0.25)))
        two = "it draws from two laws, which must be an inverse gamma and then a normal law"
        return "" if len(kinds) == 1 or kinds == (InverseGamma, Normal) else two
    if not hasattr(ready, "score_bound"):
        return "it has no score_bound (see prudent.policies.base)"
    other = compares(type(ready)) and hasattr(ready, "risk")
    return "it compares arms by a risk of its own, and leaping is for the mean-variance" if other else ""


def _kernel(engine: str, bandit: Bandit, ready: Any, horizon: int, batch: int, failure: float) -> Callable[..., int]:
    """The compiled loop, waiting for (laws, best, rounds, record, halt, rng)."""
    blocks, scores, room = sources(bandit.arms), hasattr(ready, "score"), room_for(ready, horizon)
    check_memory("simulate", float(room) * len(bandit), f"all rewards of {len(bandit):,} arms in {horizon:,} rounds")
    if batch > 1:
        inputs = (batch, room)
        if scores:
            return partial(batching.batch_scores, ready, needs_no_clock(type(ready)), *inputs)
        return partial(batching.batch_phases, ready, *inputs)
    if not scores and engine == "leaping":
        return partial(leaping.leap_phases, ready)
    if engine == "leaping" and blocks is not None and score_inputs(type(ready)) != ("arm",):
        return partial(thinning.lead_drawn if declares_draws(type(ready)) else falling.lead_falling, ready, blocks)
    if engine == "leaping" and blocks is not None:
        log_failure = math.log(BLOCKS_IN_A_RUN / failure) if failure > 0.0 else 0.0
        return partial(leaping.leap_scores, ready, blocks, log_failure)
    return stepper(ready, horizon)


def stepper(ready: Any, horizon: int, interpreted: bool = False) -> Callable[..., int]:
    """The loop that simulates every round of a policy, waiting for (laws, best, rounds, record, halt, rng)."""
    loop: Any = stepping.step_phases
    kind: tuple[bool, ...] = ()
    if hasattr(ready, "score") and compares(type(ready)):
        loop = comparing.step_compared
    elif hasattr(ready, "score"):
        loop, kind = stepping.step_scores, (needs_no_clock(type(ready)),)
    return partial(loop.py_func if interpreted else loop, ready, *kind, room_for(ready, horizon))
