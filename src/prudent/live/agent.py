"""The agent: a policy that runs a live experiment, one ask and one tell at a time.

It runs the engine's policies interpreted, on the same statistics. If it receives the rewards of a simulation, it
chooses the same arms, bit for bit.
"""

import copy
import functools
import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from prudent.base import files
from prudent.base.errors import (
    PrudentError,
    check_flag,
    check_integer,
    check_number,
    check_positive,
    is_flag,
    shown,
)
from prudent.base.parameters import check_parameter, check_support
from prudent.confidence import anytime
from prudent.engine.python.arm import ArmState, copy_of, include_reward
from prudent.engine.python.choosing import Binding, Ready, choose, round_of
from prudent.engine.python.memory import Memory
from prudent.engine.python.propensities import Choice, Share, check_limits, decide, limits_of
from prudent.live import batches
from prudent.live.differences import Difference, differences
from prudent.live.evidence import Estimate, Evidence, are_two_values, rho_of, tail_of
from prudent.live.forecast import Forecast, forecast, obstacle
from prudent.live.intervals import Intervals, intervals
from prudent.live.labels import Labels, names_of
from prudent.live.state import MAX_ROUNDS, State, read, write
from prudent.live.stopping import Leader, Posterior, leader, posterior
from prudent.live.summary import Summary, summary
from prudent.live.values import check_value, ends_of
from prudent.policies.binding import check_rewards, known_risk
from prudent.policies.contract import FOREVER, Policy, policies, spec
from prudent.policies.learners import Learner, fresh, is_learner, started
from prudent.policies.units import (
    PUBLISHED,
    Units,
    core,
    fitted,
    units_of_support,
)
from prudent.risk.base import Interval, RiskMeasure, risks

P = ParamSpec("P")
R = TypeVar("R")


def alone(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that one thread at a time carries out."""

    @functools.wraps(method)
    def locked(self: Any, /, *args: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **named)

    return locked


class Agent:
    """Runs `policy` on some arms: `ask()` for an arm, then report its reward with `tell(arm, reward)`.

    Rewards may come late and in any order, and several asks may be open; the policy sees only the rewards reported so
    far. Threads may share an agent: each method is carried out as a whole, one after the other.

    Parameters
    ----------
    policy
        A policy, its spec, or a learner, which is an object with `ask(rng)` and `tell(arm, reward)` (docs: worlds).
        Arms of a learner cannot be added or retired, and such an agent is saved by `pickle` alone.
    arms
        The names of the arms, such as `["A", "B"]`, or how many there are at first; these are numbered from 0. Arms
        with names go by their names in every method.
    horizon
        The rounds for which the policy is tuned, though nothing stops there; anytime policies need none.
    seed
        The random seed of a policy that draws.
    risk
        What prices the estimates, and gives its parameters to a policy without them. By default it is the measure that
        the policy serves, with the policy's parameters. A parameter with a unit, such as ρ, must be given here or with
        the policy; the others have defaults (α = 0.05), and `agent.risk` says which.
    support
        Where rewards lie, (low, high). A reward outside is an error. What the policy assumes of the size of rewards and
        was not given is taken from here (docs: units); if that is not enough, an error asks for it.
    values
        The two values that rewards may have, such as (0, 1), in place of the support; any other is an error. An arm's
        variance then depends on its mean alone, and intervals of costs are much narrower (docs: live).
    scale
        In place of the support, a number: the policy runs as published on rewards divided by it.
    larger_is_better
        False for waiting times, costs and losses: they are told, and come back, as they are, and the agent takes their
        negatives for rewards. Costs and variances are those of either.
    remember
        Whether to keep single rewards, even if neither the policy nor the risk needs them.
    floor, cap
        The smallest and the largest probability of an arm, for all arms or by name, as in `floor={"control": 0.1}`. The
        policy's own probabilities are mixed with the floors; what is above a cap goes to the other arms. With either,
        0 too, `decide` says with which probability each arm was taken (docs: live).
    control
        The arm with which `differences` compares the others.

    Examples
    --------
    >>> from prudent import Agent
    >>> agent = Agent("mv-lcb(rho=1)", arms=["A", "B"], horizon=1_000, support=(0, 1))
    >>> arm = agent.ask()
    >>> arm
    'A'
    >>> agent.tell(arm, 0.7)
    >>> agent.estimates()[0].pulls
    1
    """

    def __init__(
        self,
        policy: Policy | Learner | str,
        arms: int | Iterable[str],
        horizon: int | None = None,
        seed: int = 0,
        *,
        risk: RiskMeasure | str | None = None,
        support: Sequence[float] | None = None,
        values: Sequence[float] | None = None,
        scale: float | None = None,
        larger_is_better: bool = True,
        remember: bool = False,
        floor: Share | None = None,
        cap: Share | None = None,
        control: Any = None,
    ) -> None:
        if is_learner(policy) and scale is not None:
            got = f"got {shown(scale)}; it sees rewards as told"
            raise PrudentError(f"Agent: scale must be left out for a learner, {got}")
        chosen: Any = policy if is_learner(policy) else policies.make("Agent", policy)  # type: ignore[arg-type]
        risk = known_risk("Agent", chosen) if risk is None else risk
        keep = check_flag("Agent", "remember", remember)
        made = [ArmState(name, rewards=[] if keep else None) for name in names_of(arms)]
        sequence = np.random.SeedSequence(check_integer("Agent", "seed", seed, low=0))
        ends = ends_of(support, values)
        ends = ends if check_flag("Agent", "larger_is_better", larger_is_better) else (-ends[1], -ends[0])
        chosen = fitted(chosen, _units(ends, scale)) if hasattr(chosen, "_fields") else chosen
        rng = np.random.Generator(np.random.PCG64(sequence))
        kept: tuple[Any, ...] = (values is not None, control, [])
        self._settle(State(chosen, risk, horizon, ends, larger_is_better, made, rng, floor, cap, *kept))

    def _settle(self, state: State) -> None:
        """Become the agent of this state, new or restored."""
        self._lock = threading.RLock()
        self.policy, risk, horizon, support, larger_is_better, self._arms, self._rng, *others = state
        floor, cap, declared, control, latest = others
        self.risk: RiskMeasure = risks.make("Agent", risk)
        self.horizon = None if horizon is None else check_integer("Agent", "horizon", horizon, low=1, high=2**53)
        self._ends = check_support("Agent", support)
        self.larger_is_better = check_flag("Agent", "larger_is_better", larger_is_better)
        self._labels = Labels(self._arms)
        self._limits = limits_of("Agent", floor, cap, [self._labels[i] for i in range(len(self._arms))])
        self.control = None if control is None else self._labels[self._labels.number("Agent", control)]
        self._ready = self._made_ready()
        self._declared = check_flag("Agent", "declared", declared)
        self._implied = bool(policies.facts_of(core(self.policy)).get("binary"))
        self._memory = None
        if self._ready.forgets is None:
            if latest or any(arm.recent is not None for arm in self._arms):
                raise PrudentError("arms and latest must hold nothing to remember, as the policy does not forget")
        else:
            self._memory = Memory(self._ready.forgets, self._ready.unit, latest)
            self._memory.check(self._arms)
        if all(map(math.isfinite, self._ends)) and not self._ready.learns:
            check_rewards(self.policy, self._ends)
        for i, arm in enumerate(self._arms):
            if arm.rewards is None and (self._ready.needs_rewards or not self.risk.by_moments):
                if arm.pulls > 0:
                    raise PrudentError(f"arm {i}: rewards must be there; the policy or the risk needs every one")
                arm.rewards = []

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock, which belongs to this process."""
        return {name: part for name, part in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def __repr__(self) -> str:
        told, waiting = sum(arm.pulls for arm in self._arms), sum(arm.open_asks for arm in self._arms)
        return f"<Agent: {spec(self.policy)}, {len(self.arms)} arms, {told} rewards, {waiting} open asks>"

    @property
    @alone
    def _evidence(self) -> Evidence:
        """What it has seen; later rewards do not change it."""
        return Evidence([copy_of(arm) for arm in self._arms], self.risk, self._ends, self.binary)

    @property
    def binary(self) -> bool:
        """Whether intervals count on rewards that are one of the two ends of the support: if these were declared as
        `values`, or if the policy is one for two values and no reward lies between them so far."""
        return self._declared or (self._implied and are_two_values(self._arms, self._ends))

    @property
    def values(self) -> tuple[float, float] | None:
        """The two values that were declared; no other reward is taken."""
        return self.support if self._declared else None

    @property
    def arms(self) -> list[Any]:
        """The arms in play, those not retired: their names, or their numbers if they have none."""
        return [self._labels[i] for i in self._labels.in_play()]

    @property
    def support(self) -> tuple[float, float]:
        """Where outcomes lie, as they are told."""
        low, high = self._ends
        return (low, high) if self.larger_is_better else (-high, -low)

    def ask(self, among: Iterable[Any] | None = None) -> Any:
        """The arm to pull now, of those in play, or of those in `among`: its name, or its number if it has none."""
        return self.decide(among).arm

    @alone
    def decide(self, among: Iterable[Any] | None = None) -> Choice:
        """The same as `ask`, with the probability with which the arm was taken."""
        available = self._labels.in_play() if among is None else self._labels.among("ask", among)
        known = self._ready, self._arms, available, self._rng
        arm, propensity = (choose(*known), None) if self._limits is None else decide(*known, limits=self._limits)
        self._arms[arm].open_asks += 1
        return Choice(self._labels[arm], propensity)

    @alone
    def split(self, count: int, among: Iterable[Any] | None = None) -> dict[Any, int]:
        """How to divide the next `count` rounds over the arms, if no reward is known before the last of them.

        The same as so many asks: they are open until each reward is told or the ask withdrawn. Up to 256 are the very
        arms that `ask` would have given; a larger batch takes the time of 256 asks, see docs: live. Arms that get
        none are left out. With floors and caps, an arm's part of a larger batch is at least its floor and at most its
        cap, up to one round.
        """
        available = self._labels.in_play() if among is None else self._labels.among("split", among)
        count = check_integer("split", "count", count, low=1, high=self._rounds_left())
        asked = batches.split(self._ready, self._arms, available, self._rng, count, self._limits)
        return {self._labels[i]: asked[i] for i in sorted(asked)}

    @alone
    def tell(self, arm: Any, reward: float, *, asked: bool = True) -> None:
        """The reward of an open ask of `arm`; with `asked=False` a reward from elsewhere, such as old data.

        Either counts as a round. True is the reward 1, False is 0. Late rewards of a retired arm are still recorded.
        """
        known, asked = self._arms[self._labels.number("tell", arm)], check_flag("tell", "asked", asked)
        reward = float(reward) if is_flag(reward) else reward
        least, most = self.support
        hint = "" if least == -math.inf and most == math.inf else "the agent's support is this interval"
        reward = check_number("tell", "reward", reward, low=least, high=most, open_high=most == math.inf, hint=hint)
        check_value("tell", "reward", reward, self.values)
        reward = reward if self.larger_is_better else -reward
        if asked and known.open_asks == 0:
            raise PrudentError(f"tell: arm {arm!r} has no open ask; for a reward from elsewhere pass asked=False")
        include_reward(known, reward, *self._ends, rho_of(self.risk), tail_of(self.risk))
        known.open_asks -= asked
        if self._memory is not None:
            self._memory.tell(self._arms, self._labels.number("tell", arm), reward)
        if self._ready.learns:
            self._ready.policy.tell(self._labels.number("tell", arm), reward)

    @alone
    def merge(self, arm: Any, count: int, mean: float, variance: float, *, asked: bool = True) -> None:
        """The rewards of `count` open asks of `arm`, merged into their mean and variance (divided by `count`).

        The policy learns what it would have learnt from single rewards. The arm's intervals are wider from now on, as
        the sharper ones take every reward (docs: live). If it had rewards one by one before, its intervals of both
        kinds together may miss twice as often as `level` says, so report an arm's rewards in one way. An error if the
        policy or the risk needs every reward, or with `remember=True`.
        """
        known, asked = self._arms[self._labels.number("merge", arm)], check_flag("merge", "asked", asked)
        if known.rewards is not None:
            needing = spec(self.policy) if self._ready.needs_rewards else f"risk={self.risk}"
            needing = "remember=True" if self.risk.by_moments and not self._ready.needs_rewards else needing
            raise PrudentError(f"merge: {needing} needs every reward; report them one by one with tell")
        count = check_integer("merge", "count", count, low=1, high=MAX_ROUNDS if asked else self._rounds_left())
        more = batches.merged("merge", count, mean, variance, self.support)
        if self._declared and not are_two_values([ArmState(None, *more)], self.support):
            got = f"got {shown(variance)} with the mean {shown(mean)}"
            raise PrudentError(f"merge: variance must be that of the values {shown(self.values)}, {got}")
        if asked and count > known.open_asks:
            got = f"arm {arm!r} has {known.open_asks} open asks, got count {count}"
            raise PrudentError(f"merge: {got}; for rewards from elsewhere pass asked=False")
        more = more if self.larger_is_better else more._replace(mean=-more.mean)
        if self._memory is not None:
            self._memory.check_merges()
        batches.include("merge", known, more)
        if self._memory is not None:
            self._memory.merge(self._arms, self._labels.number("merge", arm), more.pulls, more.mean, more.variance)
        known.open_asks -= count * asked

    @alone
    def withdraw(self, arm: Any, count: int = 1) -> None:
        """Take back open asks of `arm`, one or more: it was not pulled so often, and no rewards will come."""
        known = self._arms[self._labels.number("withdraw", arm)]
        if known.open_asks == 0:
            raise PrudentError(f"withdraw: arm {arm!r} has no open ask; there is nothing to take back")
        hint = f"arm {arm!r} has no more open asks"
        count = check_integer("withdraw", "count", count, low=1, high=known.open_asks, hint=hint)
        known.open_asks -= count
        if not self._ready.scores and known.chosen and not known.retired:
            known.due = min(known.due + count, FOREVER)

    def estimates(self) -> list[Estimate]:
        """What is known about every arm, retired ones too, in the order they were given. Uses no random numbers."""
        evidence = self._evidence
        return [self._shown(evidence.estimate(i)) for i in range(len(self._arms))]

    def intervals(self, level: float = 0.95, quantile: float | None = None) -> list[Intervals]:
        """Confidence sequences (`prudent.confidence`) of every arm's mean, variance, cost, and a quantile if asked.

        Each interval contains the truth at all times at once with probability `level`, so you may look as often as you
        like and stop when you like. For m intervals together pass 1 − (1 − level)/m. The cost has an interval if the
        risk measure has `bounds`, or falls as rewards rise. If two `values` were declared, or the policy is one for two
        values (`bernoulli-mvts`) and no other reward was told, cost and variance follow from the mean. Needs a
        bounded support, and for a quantile `remember=True`. Assumes that an arm's rewards, in the order reported, are
        independent draws of one law; so a delay must not depend on the reward.
        """
        level = self._checked_level("intervals", level)
        if quantile is not None and self._arms[0].rewards is None:
            raise PrudentError("intervals: a quantile needs every reward; pass Agent(…, remember=True) from the start")
        if quantile is not None:
            anytime.quantile_ranks(1, quantile, 1.0 - level)  # checks it before the first reward too
        if quantile is not None and not self.larger_is_better:
            quantile = 1.0 - quantile
        return [self._shown(each) for each in intervals(self._evidence, 1.0 - level, quantile)]

    def leader(self, level: float = 0.95, *, foresee: bool = True) -> Leader:
        """Which arm is ahead, which arms are excluded, whether one is left, and how long that would likely take.

        An arm is excluded if its cost is larger than that of another, as a one-sided interval of their difference says
        (`differences`), of which each rival has its share of 1 − level. So whenever you look and stop, with probability
        `level` the best arm has not been excluded. That holds for one set of arms; if you add one, it holds for what is
        said from then on. Needs what `intervals` need.

        `rounds` is a rough forecast. It takes the rewards so far as typical and the present shares of arms as lasting,
        and asks at how many times the rewards the intervals would separate. A policy that learns gives ever fewer
        rounds to the worse arms, so that a decision may take longer. There is none for measures that read every reward,
        nor with `foresee=False`, which takes a quarter of the time.
        """
        level = self._checked_level("leader", level)
        return leader(self._evidence, level, foresee=check_flag("leader", "foresee", foresee))

    def differences(self, control: Any = None, level: float = 0.95) -> list[Difference]:
        """Every arm minus the `control`, by default the agent's: of means, of standard deviations and of costs, as
        intervals.

        Each contains the truth at all times at once with probability `level`, and is narrower than what the `intervals`
        of two arms say together. Needs what `intervals` need. A smaller cost is better, and so is a larger mean, or a
        smaller one with `larger_is_better=False`.
        """
        control = self.control if control is None else control
        if control is None:
            fix = "pass differences(control=…), or Agent(…, control=…) for all"
            raise PrudentError(f"differences: control must name an arm, got None; {fix}")
        number = self._labels.number("differences", control)
        found = differences(self._evidence, number, 1.0 - self._checked_level("differences", level))
        return [self._shown(each) for each in found]

    def posterior(self) -> Posterior:
        """The probability of each arm in play to have the smallest cost, under a model, given the rewards so far.

        If all rewards are 0 or 1, success rates are uniform at first; otherwise rewards of an arm are taken as Gaussian
        with the prior 1/σ². Each arm then needs 3 rewards that are not all the same. Measures that read every reward
        have no model here. Draws from a fixed stream of its own.

        It is no guarantee: it depends on the model, and it is not valid at a time that you choose because of what you
        see. Do not stop because it passes 95 %, as if you then erred in 5 % of cases; `leader` is for that.
        """
        return posterior(self._evidence)

    def summary(self, level: float = 0.95) -> Summary:
        """All rewards as one sequence: mean, variance and how much of it comes from moving between arms, cost; the
        regret per round, and what was saved against an even split, as intervals that hold at any time.

        Regret is the cost of all rewards minus the smallest cost of an arm in play. An interval needs a bounded
        support, a reward of each arm in play, and a risk measure with `bounds`; an even split also mean-variance. If
        you add an arm, the level holds for what is said from then on.
        """
        level = check_parameter("summary", "level", level)
        known: Summary = self._shown(summary(self._evidence, level))
        return known

    def forecast(self, rounds: int | None = None) -> Forecast:
        """How the experiment may end after so many more rounds; by default at its horizon, or once it is twice as long.

        Laws are drawn from what the rewards allow under a model, and the policy is simulated on from here in each of
        them, see docs: live. Needs 3 rewards of each arm in play, a risk measure of mean and variance, and a policy
        that scores arms by these. It changes nothing, and draws from a fixed stream of its own.
        """
        more = (
            self._to_come() if rounds is None else check_integer("forecast", "rounds", rounds, low=1, high=MAX_ROUNDS)
        )
        return forecast(self._ready, self._evidence, more)

    def no_forecast(self) -> str:
        """Why there is no forecast to the horizon; empty if there is one. Takes no time, as nothing is simulated."""
        return obstacle(self._ready, self._evidence, self._to_come())

    @alone
    def add_arm(self, name: str | None = None) -> Any:
        """Add a new arm, with a name if the others have one, and return its name or number.

        A policy with phases starts a new phase.
        """
        self._labels.check_new(name)
        if self._limits is not None:
            check_limits("add_arm", self._limits, [*self.arms, len(self._arms) if name is None else name])
        self._restart([*self._labels.in_play(), len(self._arms)])
        arm = ArmState(name, rewards=None if self._arms[0].rewards is None else [])
        return self._labels.add(arm if self._memory is None else self._memory.begin(arm))

    @alone
    def retire(self, arm: Any) -> None:
        """Never ask for `arm` again. The policy forgets it; `estimates` does not, and late rewards are recorded."""
        number = self._labels.number("retire", arm)
        if self._arms[number].retired:
            raise PrudentError(f"retire: arm {arm!r} is retired already; in play are {self.arms}")
        if self._labels.in_play() == [number]:
            raise PrudentError(f"retire: arm {arm!r} is the last one in play; add another first")
        self._restart([i for i in self._labels.in_play() if i != number])
        self._arms[number].retired = True

    def kept(self, arm: Any) -> ArmState:
        """What is kept of an arm, for reading; of outcomes of which smaller ones are better, the negatives."""
        return self._arms[self._labels.number("kept", arm)]

    @alone
    def copy(self) -> "Agent":
        """The agent as it is now, which goes on by itself."""
        other = copy.copy(self)  # with a lock of its own
        other._arms = [copy_of(arm) for arm in self._arms]
        other._labels, other._rng = Labels(other._arms), copy.deepcopy(self._rng)
        other._limits = None if self._limits is None else self._limits.again()
        other._memory = copy.deepcopy(self._memory)
        if self._ready.learns:
            other._ready = self._ready._replace(policy=fresh(self._ready.policy))
        return other

    @alone
    def to_json(self) -> str:
        """The whole state; `Agent.from_json` goes on from it as this agent would, bit for bit."""
        if self._ready.learns:
            raise PrudentError(f"to_json: {self._ready.owner} has a memory of its own; save the agent with pickle")
        about = self.policy, self.risk, self.horizon, self._ends, self.larger_is_better
        floor, cap = (None, None) if self._limits is None else (self._limits.floor, self._limits.cap)
        latest = [] if self._memory is None else [*self._memory.latest]
        return write(State(*about, self._arms, self._rng, floor, cap, self._declared, self.control, latest))

    @classmethod
    def from_json(cls, text: str | bytes, policy: Policy | None = None) -> "Agent":
        """The agent whose `to_json` this is. A policy that is not registered must be passed again.

        A state that no agent can have, because somebody altered it, is an error.
        """
        agent = cls.__new__(cls)
        try:
            agent._settle(read(text, policy))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise PrudentError(f"agent state: {error}") from error
        return agent

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, which is whole at any time, even after a power failure."""
        files.write(_path("save", path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> "Agent":
        """The agent saved in a file, see `from_json`."""
        try:
            text = _path("load", path).read_bytes()
        except OSError as error:
            said = f"cannot read {shown(path, str)}: {error.strerror or error}"
            raise PrudentError(f"load: {said}; is the path right?") from None
        return cls.from_json(text, policy)

    def _made_ready(self) -> Ready:
        """The policy made ready for all arms in play."""
        if is_learner(self.policy):
            return Ready(started(self.policy, len(self._arms), self.horizon), spec(self.policy), 1.0, {})
        return Binding(self.policy, self.risk, self.horizon, self._ends, {}).ready(self._labels.in_play())

    def _restart(self, numbers: list[int]) -> None:
        """Go on with another set of arms, if the policy can be made ready for it."""
        if self._ready.learns:
            raise PrudentError(f"{self._ready.owner}: arms of a learner cannot be added or retired; make a new Agent")
        self._ready = self._ready.among(numbers)
        for arm in self._arms:
            arm.chosen, arm.alive, arm.due = True, True, 0

    def _to_come(self) -> int:
        """The rounds up to the horizon; without one, as many again."""
        so_far = round_of(self._arms) - 1
        return so_far if self.horizon is None else self.horizon - so_far

    def _rounds_left(self) -> int:
        """How many more rounds an agent can count."""
        return MAX_ROUNDS + 1 - round_of(self._arms)

    def _shown(self, known: Any) -> Any:
        """Means and quantiles in the sign in which outcomes are told."""
        if self.larger_is_better:
            return known
        parts = {name: getattr(known, name, None) for name in ("mean", "quantile")}
        return known._replace(
            **{
                name: Interval(-part.high, -part.low) if isinstance(part, Interval) else 0.0 - part
                for name, part in parts.items()
                if part is not None
            }
        )

    def _checked_level(self, owner: str, level: float) -> float:
        """A level of intervals, which need a bounded support."""
        level = check_parameter(owner, "level", level)
        if not all(map(math.isfinite, self._ends)):
            fix = "pass Agent(…, support=(low, high))"
            raise PrudentError(f"{owner}: the agent's support must be bounded, got {self.support}; {fix}")
        return level


def _path(owner: str, path: Any) -> Path:
    """A path that the system can take."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or "\0" in str(path):
        raise PrudentError(f"{owner}: path must name a file, such as 'agent.json', got {shown(path)}")
    return Path(path)


def _units(support: tuple[float, float], scale: float | None) -> Units:
    """How large rewards are, by what the user says."""
    if scale is None:
        return units_of_support(support)
    return PUBLISHED.times(check_positive("Agent", "scale", scale, hint="rewards are divided by it for the policy"))
