"""simulate(): many runs of a policy on a bandit."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.arms import encode
from prudent.bandit import Bandit
from prudent.compiled import needs_no_clock, score_inputs
from prudent.engine import leaping, stepping
from prudent.engine.blocks import MAX_ATOMS, sources
from prudent.engine.record import Record
from prudent.engine.streams import stream
from prudent.engine.threads import count_workers, play_all
from prudent.errors import PrudentError, check_integer, check_number
from prudent.policies import Policy, bind, check_rewards, spec
from prudent.policies import registry as policy_registry
from prudent.risk import RiskMeasure
from prudent.risk import registry as risk_registry
from prudent.runs import Runs

BLOCKS_IN_A_RUN = 1e6

COMPLAINTS = {
    stepping.BAD_SCORE: "its score is not a number (NaN); does it divide by zero or take the root of a negative?",
    stepping.BAD_PHASE: "its phase chose no arm or returned fewer than 1 repetition",
}


def simulate(
    bandit: Bandit,
    policy: Policy | str,
    *,
    risk: RiskMeasure | str,
    horizon: int,
    runs: int,
    seed: int = 0,
    engine: str = "auto",
    workers: int | None = None,
    snapshots: Sequence[int] = (),
    bound_failure: float = 0.0,
    progress: Callable[[int], Any] | None = None,
) -> Runs:
    """Simulate `policy` on `bandit` for `horizon` rounds, `runs` times.

    The engine "leaping" is exact in law and takes hardly more time for a longer horizon (docs/leaping.md); "auto" takes
    it where it applies, else "stepping". The result is the same for any number of `workers` (threads; all cores by
    default). `snapshots` are earlier rounds whose statistics are kept too, see `Runs.at`. A `bound_failure` such as
    1e-15 lets leaping use tighter bounds on Gaussian blocks; with that probability one of the bounds in a run (of up to
    a million blocks) is wrong. `progress` is called with the number of runs just finished.
    """
    policy = policy_registry.parse(policy) if isinstance(policy, str) else policy
    risk = risk_registry.parse(risk) if isinstance(risk, str) else risk
    if not isinstance(bandit, Bandit):
        raise PrudentError(f"simulate: bandit must be a Bandit, got {bandit!r}; pass Bandit([…])")
    if not isinstance(risk, RiskMeasure):
        raise PrudentError(f"simulate: risk must be a risk measure such as MeanVariance(1.0), got {risk!r}")
    horizon = check_integer("simulate", "horizon", horizon, low=1, high=2**53)
    runs = check_integer("simulate", "runs", runs, low=1)
    seed = check_integer("simulate", "seed", seed, low=0)
    rounds = _rounds(snapshots, horizon)
    check_rewards(policy, *bandit.support)
    ready = bind(policy, risk, horizon, len(bandit))
    engine = choose_engine(engine, bandit, policy, ready)
    failure = check_number("simulate", "bound_failure", bound_failure, low=0.0, high=1e-3, hint="1e-15 is plenty")
    kernel = _kernel(engine, bandit, ready, horizon, failure)
    best = bandit.best(risk)
    cell = f"{bandit!r} | {risk} | {spec(policy)} | {rounds.tolist()} | {engine} {failure:g}"
    record = Record.empty(runs, len(rounds), len(bandit))

    def play(chunk: int, part: slice) -> None:
        status = kernel(best, rounds, record.part(part), stream(seed, cell, chunk))
        if status != stepping.FINE:
            raise PrudentError(f"{spec(policy)}: {COMPLAINTS[status]}")

    started = time.perf_counter()
    play_all(play, runs, count_workers("simulate", workers), progress)
    seconds = time.perf_counter() - started
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": policy, "seed": seed, "engine": engine}
    history = [
        Runs(horizon=int(n), seconds=seconds, **facts, **{k: a[:, i] for k, a in record._asdict().items()})
        for i, n in enumerate(rounds)
    ]
    history[-1].history.extend(history)
    return history[-1]


def choose_engine(asked: str, bandit: Bandit, policy: Policy, ready: Policy) -> str:
    """The engine to use; an engine that cannot run this is an error that says why."""
    if asked not in ("auto", "stepping", "leaping"):
        raise PrudentError(f"simulate: engine must be auto, stepping or leaping, got {asked!r}")
    if asked == "stepping":
        return asked
    reason = _obstacle(bandit, ready)
    if reason and asked == "leaping":
        raise PrudentError(f"simulate: {spec(policy)} cannot leap here: {reason}; use engine='auto' or 'stepping'")
    return "stepping" if reason else "leaping"


def _obstacle(bandit: Bandit, ready: Policy) -> str:
    """Why a policy cannot leap on a bandit; empty if it can."""
    cls: Any = type(ready)
    if hasattr(ready, "score") and not needs_no_clock(cls):
        return "its score depends on the round or draws at random"
    if hasattr(ready, "score") and "rewards" in score_inputs(cls):
        return "its score reads every reward, not only their mean and variance"
    if hasattr(ready, "score") and not hasattr(ready, "score_bound"):
        return "it has no score_bound (see prudent.policies.corner_bound)"
    if sources(bandit.arms) is None:
        kinds = f"Gaussian, Bernoulli, deterministic and empirical arms, these of at most {MAX_ATOMS} different values"
        return f"samples come in blocks only for {kinds}"
    return ""


def _kernel(engine: str, bandit: Bandit, ready: Policy, horizon: int, failure: float) -> Callable[..., int]:
    """The compiled loop, waiting for (best, rounds, record, rng)."""
    cls: Any = type(ready)
    laws, blocks = encode(bandit.arms), sources(bandit.arms)
    if not hasattr(ready, "score"):
        return partial(leaping.leap_phases if engine == "leaping" else stepping.step_phases, ready, laws)
    if engine == "leaping" and blocks is not None:
        log_failure = math.log(BLOCKS_IN_A_RUN / failure) if failure > 0.0 else 0.0
        return partial(leaping.leap_scores, ready, blocks, log_failure, laws)
    room = horizon if "rewards" in score_inputs(cls) else 0
    return partial(stepping.step_scores, ready, needs_no_clock(cls), room, laws)


def _rounds(snapshots: Sequence[int], horizon: int) -> NDArray[np.int64]:
    early = {check_integer("simulate", "snapshots", n, low=1, high=horizon) for n in snapshots}
    return np.array(sorted(early | {horizon}), dtype=np.int64)
