"""simulate() as users call it: it finds the road for what is given."""

from collections.abc import Callable, Sequence
from typing import Any

from prudent.bandit import Bandit
from prudent.engine.simulation import simulate as engine_simulate
from prudent.policies.base import Policy
from prudent.policies.units import Scale
from prudent.risk.base import RiskMeasure
from prudent.runs import Runs


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
    snapshots: Sequence[int] = (),
    bound_failure: float = 0.0,
    progress: Callable[[int], Any] | None = None,
) -> Runs:
    """Run a policy on a bandit for `horizon` rounds, `runs` times.

    Parameters
    ----------
    bandit
        The arms.
    policy
        A policy, its spec such as `"mv-lcb(c=1)"`, or a `NamedTuple` of your own (prudent/policies/base.py).
    risk
        The risk measure by which the rewards are judged, or its spec.
    horizon, runs
        Rounds in a run, and independent runs.
    seed
        The random seed. The result depends on it and on the question, not on the number of workers.
    batch
        The policy sees rewards only at the end of each batch of so many rounds, as in a live experiment that is asked
        for a batch at a time (docs/live.md).
    engine
        "leaping" is exact in law and costs hardly more for a longer horizon (docs/leaping.md); "stepping" plays every
        round; "auto" leaps where it can.
    scale
        How large rewards are. By default a policy runs as published, on the rewards as they are; on arms that it was
        not made for, a warning says so. "auto" takes what the policy leaves open (`range`, `sd`, `low`, `high`, …) from
        the arms, and a number has it run as published on rewards divided by that number. See docs/units.md.
    workers
        Threads; all cores by default.
    snapshots
        Earlier rounds at which to write the statistics down too, see `Runs.at`.
    bound_failure
        With a value such as 1e-15 leaping uses tighter bounds on Gaussian blocks. Of a million blocks in a run one may
        then be wrong with that probability.
    progress
        Called with the number of runs just finished.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, simulate
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> runs = simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=10_000, runs=100)
    >>> runs.regret().shape
    (100,)
    """
    return engine_simulate(
        bandit,
        policy,
        risk=risk,
        horizon=horizon,
        runs=runs,
        seed=seed,
        batch=batch,
        engine=engine,
        scale=scale,
        workers=workers,
        snapshots=snapshots,
        bound_failure=bound_failure,
        progress=progress,
    )
