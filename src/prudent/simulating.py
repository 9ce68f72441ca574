"""simulate() as users call it: it finds the road for what is given."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from prudent.arms.base import Law
from prudent.bandit import Bandit
from prudent.engine.simulation import simulate as engine_simulate
from prudent.learners import Learner, is_learner
from prudent.policies.base import Policy
from prudent.policies.units import Scale
from prudent.risk.base import RiskMeasure
from prudent.runs import Runs
from prudent.worlds.environment import Environment


def simulate(
    bandit: Bandit | Environment | Callable[[int, np.random.Generator], float],
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
    snapshots: Sequence[int] = (),
    bound_failure: float = 0.0,
    progress: Callable[[int], Any] | None = None,
    arms: int | Sequence[str] | None = None,
    laws: Bandit | None = None,
    replay: bool = False,
    delay: int | Law | str | Callable[[float, np.random.Generator], float] | None = None,
) -> Runs:
    """Run a policy on a bandit for `horizon` rounds, `runs` times.

    Parameters
    ----------
    bandit
        The arms: a `Bandit`, or an environment of your own, which is a function `(arm, rng) -> reward`, an object with
        `reset(rng)` and `pull(arm)`, or a Gymnasium environment with discrete actions (docs/worlds.md).
    policy
        A policy, its spec such as `"mv-lcb(c=1)"`, a `NamedTuple` of your own (prudent/policies/base.py), or a learner,
        which is an object with `ask(rng)` and `tell(arm, reward)`.
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
        round; "interpreted" does so in Python, which environments, learners and delays need; "auto" chooses.
    scale
        How large rewards are. By default a policy runs as published, on the rewards as they are; on arms that it was
        not made for, a warning says so. "auto" takes what the policy leaves open (`range`, `sd`, `low`, `high`, …) from
        the arms, and a number has it run as published on rewards divided by that number. See docs/units.md.
    workers
        Threads, or processes where the simulation is interpreted; all cores by default.
    snapshots
        Earlier rounds at which to write the statistics down too, see `Runs.at`.
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

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, simulate
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> runs = simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=10_000, runs=100)
    >>> runs.regret().shape
    (100,)
    """
    given: dict[str, Any] = {
        "risk": risk,
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "batch": batch,
        "engine": engine,
        "scale": scale,
        "workers": workers,
        "snapshots": snapshots,
        "progress": progress,
    }
    own: dict[str, Any] = {"arms": arms, "laws": laws, "delay": delay}
    if needs_python(bandit, policy, engine) or replay or any(value is not None for value in own.values()):
        from prudent.worlds.simulation import simulate_world  # only these need joblib

        return simulate_world(bandit, policy, **given, **own, replay=replay)
    compiled: Any = bandit, policy
    return engine_simulate(*compiled, **given, bound_failure=bound_failure)


def needs_python(bandit: Any, policy: Any, engine: Any) -> bool:
    """Whether there is something that only Python can run: an environment, a learner, or by the user's wish."""
    return not isinstance(bandit, Bandit) or engine == "interpreted" or is_learner(policy)
