"""simulate(): many runs of a policy on a bandit."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from prudent.arms import encode
from prudent.bandit import Bandit
from prudent.compiled import score_arity
from prudent.engine import stepping
from prudent.engine.record import Record
from prudent.engine.streams import chunks, stream
from prudent.errors import PrudentError, check_integer
from prudent.policies import Policy, bind, spec
from prudent.policies import registry as policy_registry
from prudent.risk import RiskMeasure
from prudent.risk import registry as risk_registry
from prudent.runs import Runs

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
    progress: Callable[[int], Any] | None = None,
) -> Runs:
    """Play `policy` on `bandit` for `horizon` rounds, `runs` times.

    The result is the same for any number of `workers` (threads; all cores by default). `snapshots` are earlier rounds
    at which to write the statistics down too, see `Runs.at`. `progress` is called with the number of runs just
    finished.
    """
    policy = policy_registry.parse(policy) if isinstance(policy, str) else policy
    risk = risk_registry.parse(risk) if isinstance(risk, str) else risk
    horizon = check_integer("simulate", "horizon", horizon, low=1, high=2**53)
    runs = check_integer("simulate", "runs", runs, low=1)
    seed = check_integer("simulate", "seed", seed, low=0)
    if engine not in ("auto", "stepping"):
        raise PrudentError(f"simulate: engine must be auto or stepping, got {engine!r}")
    rounds = _rounds(snapshots, horizon)
    ready = bind(policy, risk, horizon, len(bandit))
    laws, best = encode(bandit.arms), bandit.best(risk)
    cell = f"{bandit!r} | {risk} | {spec(policy)} | {rounds.tolist()}"
    record = Record.empty(runs, len(rounds), len(bandit))

    def play(chunk: int, part: slice) -> int:
        rng = stream(seed, cell, chunk)
        if hasattr(ready, "score"):
            clock_free = score_arity(type(ready)) == 1
            status = stepping.step_scores(ready, clock_free, laws, best, rounds, record.part(part), rng)
        else:
            status = stepping.step_phases(ready, laws, best, rounds, record.part(part), rng)
        if status != stepping.FINE:
            raise PrudentError(f"{spec(policy)}: {COMPLAINTS[status]}")
        return part.stop - part.start

    started = time.perf_counter()
    parallel = joblib.Parallel(
        n_jobs=_workers(workers), backend="threading", return_as="generator_unordered", pre_dispatch="all"
    )
    for finished in parallel(joblib.delayed(play)(i, part) for i, part in enumerate(chunks(runs))):
        if progress is not None:
            progress(finished)
    seconds = time.perf_counter() - started
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": policy, "seed": seed, "engine": "stepping"}
    history = [
        Runs(horizon=int(n), seconds=seconds, **facts, **{k: a[:, i] for k, a in record._asdict().items()})
        for i, n in enumerate(rounds)
    ]
    history[-1].history.extend(history)
    return history[-1]


def _rounds(snapshots: Sequence[int], horizon: int) -> NDArray[np.int64]:
    early = {check_integer("simulate", "snapshots", n, low=1, high=horizon) for n in snapshots}
    return np.array(sorted(early | {horizon}), dtype=np.int64)


def _workers(workers: int | None) -> int:
    return joblib.cpu_count() if workers is None else check_integer("simulate", "workers", workers, low=1)
