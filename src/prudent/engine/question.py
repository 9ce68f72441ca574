"""What `simulate` is asked, checked once: everything that decides the numbers of a simulation.

A policy has two forms here. `policy` is the one that results carry: as users write it, with what it assumes of rewards
filled in if there is a scale. `ready` is the one that kernels take: bound to the problem, in the unit in which it runs.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict

import numpy as np

from prudent.arms.base import Law
from prudent.bandit import Bandit, Unknown
from prudent.base.arrays import Counts
from prudent.base.errors import PrudentError, check_choice, check_flag, check_integer, check_number, shown
from prudent.base.memory import check_memory
from prudent.engine.jobs import MAX_ROUNDS, Job, rounds_of
from prudent.engine.leap.blocks import MAX_ATOMS, sources
from prudent.engine.record import Record
from prudent.engine.recorded_rewards import kept_runs
from prudent.policies.binding import bind, check_arms
from prudent.policies.contract import Arm, Policy, ReadyPolicy, Setting, policies, spec
from prudent.policies.learners import Learner, is_learner
from prudent.policies.posteriors import InverseGamma, Normal
from prudent.policies.scoring import compares, costs_need_rewards, reads_rewards, score_inputs
from prudent.policies.units import AUTO, InUnit, Scale, check_scale, core, fitted, in_its_unit, units_of, warn_of_size
from prudent.risk.base import RiskMeasure, risks

if TYPE_CHECKING:
    from prudent.engine.python.environments import World
    from prudent.engine.python.propensities import Limits, Share

INTERPRETED = "interpreted"
ENGINES = ("auto", "stepping", "leaping", "gpu")
"""Those that compile, and the one that does not."""

LEADING = 20_000
"""Rounds from which on leaping behind a leader is never slower by a tenth (benchmarks/leaders.py)."""

EVERY_ROUND = "trajectories (keep) and common random numbers (common) need every round"

Delay = int | Law | str | Callable[[float, np.random.Generator], float] | None


class Settings(TypedDict, total=False):
    """What `simulate` takes by name."""

    risk: Required[RiskMeasure | str]
    horizon: Required[int]
    runs: int
    seed: int
    batch: int
    engine: str
    scale: Scale
    workers: int | None
    snapshots: Sequence[int] | str
    keep: str | int | None
    common: bool
    bound_failure: float
    progress: Callable[[int], object] | None
    arms: int | Sequence[str] | None
    laws: Bandit | None
    replay: bool
    delay: Delay
    floor: "Share | None"
    cap: "Share | None"


class Problem(NamedTuple):
    """What kernels play: arms, risk measure and policy in a unit of rewards of their own. Random streams are made from
    the text."""

    unit: float
    bandit: Bandit
    ready: ReadyPolicy
    text: str

    @classmethod
    def of(cls, policy: Policy, ready: ReadyPolicy, setting: Setting, scale: Scale) -> "Problem":
        """As published on the rewards as they are; with a scale in a unit next to their size."""
        bandit, risk, units = setting.bandit, setting.risk, setting.units
        assert bandit is not None, "it is simulated"
        played = InUnit(1.0, bandit, risk, policy)
        if scale is not None:
            played = in_its_unit(bandit, risk, policy, units.sd or units.range or 1.0)
            ready = bind(played.policy, Setting.of(played.bandit, played.risk, setting.horizon))
        return cls(
            played.unit, played.bandit, ready, f"{played.bandit.unnamed} | {played.risk} | {spec(played.policy)}"
        )


class Beyond(NamedTuple):
    """What only an interpreted simulation has: a world, whose laws may be known, delays, a replay of every arm, and
    floors and caps of probabilities."""

    world: "World"
    laws: Bandit | None
    delay: Callable[[float, np.random.Generator], float] | None
    delay_text: str
    replay: bool
    limits: "Limits | None"


class Question(NamedTuple):
    """A policy on a bandit, and how it is simulated. Compiled it has a `problem`, interpreted what is `beyond`."""

    bandit: Bandit  # or `Unknown`, of an environment without laws
    policy: Policy | Learner
    risk: RiskMeasure
    rounds: Counts
    job: Job
    batch: int
    engine: str
    kept: int
    common: bool
    failure: float
    problem: Problem | None
    beyond: Beyond | None

    @classmethod
    def checked(cls, bandit: Any, policy: Any, asked: Settings) -> "Question":
        """What users ask, or an error that says what is wrong with it."""
        interpreted, why = needs_python(bandit, policy, asked), "environments, learners and delays are interpreted"
        engines, why = (("auto", INTERPRETED), why) if interpreted else (ENGINES, "")
        check_choice("simulate", "engine", asked["engine"], engines, hint=why)
        policy = policy if is_learner(policy) else policies.make("simulate", policy)
        risk = risks.make("simulate", asked["risk"])
        job = Job.checked("simulate", asked["runs"], asked["seed"], asked["workers"], asked["progress"])
        rounds = rounds_of("simulate", asked["horizon"], asked["snapshots"])
        scale = check_scale("simulate", asked["scale"])
        hint = "1 shows every reward at once"
        batch = check_integer("simulate", "batch", asked["batch"], low=1, high=MAX_ROUNDS, hint=hint)
        kept, common = kept_runs(asked["keep"], job.runs), check_flag("simulate", "common", asked["common"])
        hint = "1e-15 is plenty"
        failure = check_number("simulate", "bound_failure", asked["bound_failure"], low=0.0, high=1e-3, hint=hint)
        engine, problem, beyond, size = INTERPRETED, None, None, 0.0
        if interpreted:
            beyond = _beyond(bandit, risk, asked)
            names, laws = beyond.world.names, beyond.laws
            if beyond.limits is not None and is_learner(policy):
                raise PrudentError("simulate: floor and cap must be left out for a learner, which chooses by itself")
            bandit, policy = (
                Unknown(names) if laws is None else Bandit(laws.arms, names),
                _as_played(policy, scale, laws),
            )
            size = 2 * job.runs * len(rounds) * len(bandit) + 2.0 * (kept + 1) * rounds[-1]
        else:
            setting = Setting.of(bandit, risk, int(rounds[-1]), units_of(scale, bandit))
            ready, every_round = bind(policy, setting), kept > 0 or common
            asking = bandit, policy, ready, int(rounds[-1]), batch
            policy = _as_played(policy, scale, bandit)
            engine = choose_engine(asked["engine"], *asking, every_round=every_round)
            problem = Problem.of(policy, ready, setting, scale)
        size += len(Record._fields) * job.runs * len(rounds) * len(bandit)
        check_memory("simulate", size, f"{job.runs:,} runs × {len(rounds):,} snapshots × {len(bandit):,} arms")
        return cls(bandit, policy, risk, rounds, job, batch, engine, kept, common, failure, problem, beyond)


def needs_python(bandit: object, policy: object, asked: Settings) -> bool:
    """Whether there is something that only Python can run: an environment, a learner, or what no kernel knows of."""
    own = (asked[name] for name in ("arms", "laws", "delay", "replay", "floor", "cap"))
    more = any(value is not None and value is not False for value in own)
    wish = isinstance(asked["engine"], str) and asked["engine"] == INTERPRETED
    return more or wish or not isinstance(bandit, Bandit) or is_learner(policy)


def _beyond(environment: object, risk: RiskMeasure, asked: Settings) -> Beyond:
    from prudent.engine.python.delays import delay_of  # only these need joblib
    from prudent.engine.python.environments import world_of
    from prudent.engine.python.propensities import limits_of

    laws = environment if asked["laws"] is None and isinstance(environment, Bandit) else asked["laws"]
    world = world_of("simulate", environment, asked["arms"], laws)
    late, text = delay_of("simulate", asked["delay"])
    if check_flag("simulate", "replay", asked["replay"]) and not risk.by_moments:
        raise PrudentError(f"simulate: replay compares by mean and variance, which do not determine {risk}")
    limits = limits_of("simulate", asked["floor"], asked["cap"], list(world.names))
    return Beyond(world, laws, late, text, asked["replay"], None if limits is None else limits.numbered(world.names))


def _as_played(given: Any, scale: Scale, laws: Bandit | None) -> Any:
    """The learner as it is, or the policy with what it assumes of rewards filled in if there is a scale."""
    if is_learner(given):
        if scale is not None:
            raise PrudentError(
                f"simulate: scale must be left out for a learner, got {shown(scale)}; it sees rewards as they are"
            )
        return given
    if scale == AUTO and laws is None:
        raise PrudentError('simulate: scale="auto" needs the laws of the arms; pass laws=Bandit([…]), or a number')
    if not hasattr(given, "_fields"):
        return given
    made = fitted(given, units_of(scale, laws))  # type: ignore[arg-type]
    if laws is not None:
        check_arms(made, laws)
        if scale is None:
            warn_of_size(spec(given), made, laws)
    return given if scale is None else made


def choose_engine(
    asked: str,
    bandit: Bandit,
    policy: Policy,
    ready: ReadyPolicy,
    horizon: int,
    batch: int = 1,
    *,
    every_round: bool = False,
) -> str:
    """The engine to use; asking for what cannot be done is an error that says why."""
    check_choice("simulate", "engine", asked, ENGINES)
    if core(ready) is not ready and batch > 1:
        why = f"{spec(policy)} forgets, and its compiled rounds see every reward at once"
        raise PrudentError(f"simulate: batch must be 1, got {batch}: {why}; pass engine='interpreted' with this batch")
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


def _obstacle(bandit: Bandit, ready: ReadyPolicy, batch: int) -> str:
    """Why a policy cannot leap on a bandit; empty if it can."""
    if core(ready) is not ready:
        return "it forgets, so that what is known of every arm changes in every round"
    if batch > 1:
        return "rewards are seen a batch at a time, and leaping is for those seen at once (batch=1)"
    if costs_need_rewards(ready) or (hasattr(ready, "score") and reads_rewards(type(ready))):
        return "it reads every reward, not only their mean and variance"
    if hasattr(ready, "score") and (reason := _obstacle_of_score(ready)):
        return reason
    if sources(bandit.arms) is None:
        return f"rewards come in blocks only for Gaussian arms and for arms with at most {MAX_ATOMS} different values"
    return ""


def _obstacle_of_score(ready: ReadyPolicy) -> str:
    """Why a score does not let runs leap; empty if it does."""
    inputs = score_inputs(type(ready))
    if "rng" in inputs:
        return "its score draws at random by itself (see draws in prudent.policies.contract)"
    if "draws" in inputs:
        kinds = tuple(type(law) for law in ready.draws(Arm(4, 0.5, 0.25)))
        two = "it draws from two laws, which must be an inverse gamma and then a normal law"
        return "" if len(kinds) == 1 or kinds == (InverseGamma, Normal) else two
    if not hasattr(ready, "score_bound"):
        return "it has no score_bound (see prudent.policies.contract)"
    other = compares(type(ready)) and hasattr(ready, "risk")
    return "it compares arms by a risk of its own, and leaping is for the mean-variance" if other else ""
