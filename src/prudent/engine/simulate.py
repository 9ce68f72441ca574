"""simulate() as users call it: it finds the road for what is given."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np

from prudent.bandit import Bandit
from prudent.base.errors import PrudentError
from prudent.engine.compiled import simulate_compiled
from prudent.engine.own_errors import own_error
from prudent.engine.python.environments import Environment
from prudent.engine.python.propensities import Share
from prudent.engine.question import Delay, Question, Settings
from prudent.policies.contract import Policy, policies
from prudent.policies.learners import Learner, is_learner
from prudent.policies.units import Scale
from prudent.results.comparison import Comparison, are_several, compare
from prudent.results.runs import Runs
from prudent.risk.base import RiskMeasure

if TYPE_CHECKING:
    from prudent.engine.exact.results import ExactResults


Several = list[Any] | Mapping[str, Any]
"""Several policies or bandits, or the same by their labels."""

World = Bandit | Environment | Callable[[int, np.random.Generator], float]


@overload
def simulate(  # type: ignore[overload-overlap]
    bandit: Bandit,
    policy: Policy | str,
    *,
    risk: RiskMeasure | str,
    horizon: int,
    engine: Literal["exact"],
    scale: Scale = None,
) -> "ExactResults": ...
@overload
def simulate(bandit: World, policy: Policy | Learner | str, **settings: Unpack[Settings]) -> Runs: ...
@overload
def simulate(bandit: World, policy: Several, **settings: Unpack[Settings]) -> Comparison: ...
@overload
def simulate(bandit: Several, policy: Policy | Learner | str | Several, **settings: Unpack[Settings]) -> Comparison: ...
def simulate(
    bandit: World | Several,
    policy: Policy | Learner | str | Several,
    *,
    risk: RiskMeasure | str,
    horizon: int,
    runs: int | None = None,
    seed: int = 0,
    batch: int = 1,
    engine: str = "auto",
    scale: Scale = None,
    workers: int | None = None,
    snapshots: Sequence[int] | str = (),
    keep: str | int | None = None,
    common: bool = False,
    bound_failure: float = 0.0,
    progress: Callable[[int], object] | None = None,
    arms: int | Sequence[str] | None = None,
    laws: Bandit | None = None,
    replay: bool = False,
    delay: Delay = None,
    floor: Share | None = None,
    cap: Share | None = None,
) -> "Runs | Comparison | ExactResults":
    """Run a policy on a bandit for `horizon` rounds, `runs` times. Several of them give a `Comparison`.

    Parameters
    ----------
    bandit
        The arms: a `Bandit`, or an environment of your own, which is a function `(arm, rng) -> reward`, an object with
        `reset(rng)` and `pull(arm)`, or a Gymnasium environment with discrete actions (docs: worlds). A list of
        them, or a mapping from labels to them, compares.
    policy
        A policy, its spec such as `"mv-lcb(c=1)"`, a `NamedTuple` of your own (prudent/policies/contract.py), or a
        learner, which is an object with `ask(rng)` and `tell(arm, reward)`. A list of them, or a mapping from labels to
        them, compares.
    risk
        The risk measure by which the rewards are judged, or its spec.
    horizon, runs
        Rounds in a run, and independent runs, which only `engine="exact"` does without.
    seed
        The random seed. The result depends on it and on the question, not on the number of workers.
    batch
        The policy sees rewards only at the end of each batch of so many rounds, as in a live experiment that is asked
        for a batch at a time (docs: live).
    engine
        "leaping" is exact in law and costs hardly more for a longer horizon (docs: leaping); "stepping" plays every
        round; "gpu" does so on an NVIDIA GPU (docs: gpu); "interpreted" does so in Python, which environments, learners
        and delays need; "exact" runs nothing, and returns the distributions themselves, as `exact.ExactResults`, for
        arms with few values and up to some hundred rounds (docs: exact); "auto" chooses, but never the GPU, which draws
        other random numbers, nor "exact".
    scale
        How large rewards are. By default a policy runs as published, on the rewards as they are; on arms that it was
        not made for, a warning says so. "auto" takes what the policy leaves open (`range`, `sd`, `low`, `high`, …) from
        the arms, and a number has it run as published on rewards divided by that number. See docs: units.
    workers
        Threads, or processes where the simulation is interpreted; all cores by default.
    snapshots
        Earlier rounds at which to write the statistics down too, see `Runs.at` and `Runs.curve`; "log" takes ten to a
        decade, from round 10 on.
    keep
        "trajectory" keeps the arm and the reward of every round (`Runs.trajectory`), with which `Runs.cost` knows what
        the rewards received cost under any risk measure; a number does so for the first so many runs. This is stepping.
    common
        With True the s-th pull of an arm gives the same reward under every policy, so that differences of policies have
        smaller standard errors (docs: results). This is stepping too, and it draws as many rewards of every arm as
        there are rounds. An environment of your own draws from the same stream under every policy.
    bound_failure
        With a value such as 1e-15 leaping uses tighter bounds on Gaussian blocks. Of a million blocks in a run one may
        then be wrong with that probability.
    progress
        Called with the number of runs just finished.
    arms
        How many arms an environment has, or their names; not needed if it has an attribute `n_arms` or `names`.
    laws
        The true laws of an environment's arms, if you know them: regret and gaps are computed from them.
    replay
        Compare with the best fixed arm in hindsight instead. Every arm of the environment is also pulled in all rounds,
        on the same random numbers, which takes as long again for each arm.
    delay
        How many rounds late a reward is seen: a number, a law such as `"poisson(3)"`, or a function
        `(reward, rng) -> rounds`.
    floor, cap
        The smallest and the largest probability of an arm, for all arms or by name, as an `Agent` takes them. This is
        interpreted, and trajectories then have the probability of every arm that was taken.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, simulate
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> runs = simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=10_000, runs=100)
    >>> runs.regret().shape
    (100,)
    """
    own: dict[str, Any] = {"arms": arms, "laws": laws, "delay": delay, "replay": replay, "floor": floor, "cap": cap}
    if isinstance(engine, str) and engine == "exact":
        from prudent.engine.exact.simulation import simulate_exactly  # not needed by others

        others = own | {"batch": batch > 1, "snapshots": len(snapshots) > 0, "keep": keep, "common": common}
        return simulate_exactly(bandit, policy, risk=risk, horizon=horizon, scale=scale, others=others)
    if runs is None:
        raise PrudentError('simulate: runs must be a whole number at least 1, got none; only engine="exact" needs none')
    asked: Settings = {
        "risk": risk,
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "batch": batch,
        "engine": engine,
        "scale": scale,
        "workers": workers,
        "snapshots": snapshots,
        "keep": keep,
        "common": common,
        "bound_failure": bound_failure,
        "progress": progress,
        "arms": arms,
        "laws": laws,
        "replay": replay,
        "delay": delay,
        "floor": floor,
        "cap": cap,
    }
    if are_several(bandit) or are_several(policy):
        each: Any = partial(simulate, **asked)
        return compare(each, bandit, policy, read_policy)
    question = Question.checked(bandit, read_policy(policy), asked)
    if question.beyond is None:
        try:
            return simulate_compiled(question)
        except Exception as error:
            raise own_error(question, asked, error) from error
    from prudent.engine.python.simulation import simulate_interpreted  # only these need joblib

    return simulate_interpreted(question)


def read_policy(given: Any) -> Any:
    """A policy from its spec, or an error; a learner as it is."""
    return given if is_learner(given) else policies.make("simulate", given)
