"""simulate() as users call it: it finds the road for what is given."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Required, TypedDict, Unpack, overload

from prudent.bandit import Bandit
from prudent.comparison import Comparison, are_several, compare
from prudent.engine.simulation import simulate as engine_simulate
from prudent.policies.base import Policy, policies
from prudent.policies.units import Scale
from prudent.risk.base import RiskMeasure
from prudent.runs import Runs


class Settings(TypedDict, total=False):
    """What `simulate` takes by name."""

    risk: Required[RiskMeasure | str]
    horizon: Required[int]
    runs: Required[int]
    seed: int
    batch: int
    engine: str
    scale: Scale
    workers: int | None
    snapshots: Sequence[int] | str
    keep: str | int | None
    common: bool
    bound_failure: float
    progress: Callable[[int], Any] | None


Several = list[Any] | Mapping[str, Any]
"""Several policies or bandits, or the same by their labels."""


@overload
def simulate(bandit: Bandit, policy: Policy | str, **settings: Unpack[Settings]) -> Runs: ...
@overload
def simulate(bandit: Bandit, policy: Several, **settings: Unpack[Settings]) -> Comparison: ...
@overload
def simulate(bandit: Several, policy: Policy | str | Several, **settings: Unpack[Settings]) -> Comparison: ...
def simulate(
    bandit: Bandit | Several,
    policy: Policy | str | Several,
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
) -> Runs | Comparison:
    """Run a policy on a bandit for `horizon` rounds, `runs` times. Several of them give a `Comparison`.

    Parameters
    ----------
    bandit
        The arms. A list of bandits, or a mapping from labels to bandits, compares.
    policy
        A policy, its spec such as `"mv-lcb(c=1)"`, or a `NamedTuple` of your own (prudent/policies/base.py). A list
        of policies, or a mapping from labels to policies, compares them.
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
        Earlier rounds at which to write the statistics down too, see `Runs.at` and `Runs.curve`; "log" takes ten to a
        decade, from round 10 on.
    keep
        "trajectory" keeps the arm and the reward of every round (`Runs.trajectory`), with which `Runs.cost` knows what
        the rewards received cost under any risk measure; a number does so for the first so many runs. This is stepping.
    common
        With True the s-th pull of an arm gives the same reward under every policy, so that differences of policies have
        smaller standard errors (docs/results.md). This is stepping too, and it draws as many rewards of every arm as
        there are rounds.
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
    settings = Settings(
        risk=risk,
        horizon=horizon,
        runs=runs,
        seed=seed,
        batch=batch,
        engine=engine,
        scale=scale,
        workers=workers,
        snapshots=snapshots,
        keep=keep,
        common=common,
        bound_failure=bound_failure,
        progress=progress,
    )
    if are_several(bandit) or are_several(policy):
        return compare(partial(engine_simulate, **settings), bandit, policy, partial(policies.make, "simulate"))
    one: Any = bandit, policy
    return engine_simulate(*one, **settings)
