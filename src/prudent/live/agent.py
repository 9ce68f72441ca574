"""The agent: a policy that runs a live experiment, one ask and one tell at a time.

It runs the engine's policies interpreted, on the same statistics. If it receives the rewards of a simulation, it
chooses the same arms, bit for bit.
"""

import inspect
import math
import os
from bisect import insort_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent import files
from prudent.arms.sampling import include
from prudent.bandit import MOST_ARMS
from prudent.confidence import always
from prudent.engine.record import BAD_PHASE, COMPLAINTS
from prudent.errors import PrudentError, check_flag, check_integer, check_number, shown
from prudent.live.state import ArmState, State, ordered, read, write
from prudent.parameters import check_parameter, check_support
from prudent.policies.base import FOREVER, Arm, Arms, Policy, Setting, policies, spec
from prudent.policies.binding import bind, check_rewards, served_risk
from prudent.policies.helpers import answer, choose_only
from prudent.policies.scoring import cost_of, costs_need_rewards, score_inputs, score_of
from prudent.policies.ties import below
from prudent.policies.units import fitted, units_of_support
from prudent.risk.base import Interval, RiskMeasure, risks

_include = inspect.unwrap(include)  # interpreted: a service starts without waiting for the compiler


class Estimate(NamedTuple):
    """What is known about an arm. Mean, variance (divided by the pulls) and cost are None before its first reward."""

    arm: int
    pulls: int
    mean: float | None
    variance: float | None
    cost: float | None
    open_asks: int
    retired: bool


class Intervals(NamedTuple):
    """Confidence sequences of an arm, see `Agent.intervals`. None before its first reward and where none is known."""

    arm: int
    pulls: int
    mean: Interval | None
    variance: Interval | None
    cost: Interval | None
    quantile: Interval | None


class Agent:
    """Runs `policy` on arms numbered from 0: `ask()` for an arm, then report its reward with `tell(arm, reward)`.

    Rewards may come late and in any order, and several asks may be open; the policy sees only the rewards reported so
    far. Not thread-safe: keep an agent to one thread, or hold a lock around it.

    Parameters
    ----------
    policy
        A policy, or its spec.
    n_arms
        How many arms there are at first.
    horizon
        The rounds for which the policy is tuned, though nothing stops there; anytime policies need none.
    seed
        The random seed of a policy that draws.
    risk
        What prices the estimates, and gives its parameters to a policy without them. By default it is the measure that
        the policy serves, with the policy's parameters and for the others the measure's own defaults (ρ = 1, α = 0.05,
        λ = 1); `agent.risk` says which.
    support
        Where rewards lie, (low, high). A reward outside is an error, and so is a policy left with a shorter `range`.
    remember
        Whether to keep single rewards, even if neither the policy nor the risk needs them.

    Examples
    --------
    >>> from prudent import Agent
    >>> agent = Agent("mv-lcb(rho=1)", n_arms=2, horizon=1_000, support=(0, 1))
    >>> arm = agent.ask()
    >>> agent.tell(arm, 0.7)
    >>> agent.estimates()[arm].pulls
    1
    """

    def __init__(
        self,
        policy: Policy | str,
        n_arms: int,
        horizon: int | None = None,
        seed: int = 0,
        *,
        risk: RiskMeasure | str | None = None,
        support: Sequence[float] | None = None,
        remember: bool = False,
    ) -> None:
        policy = policies.make("Agent", policy)
        risk = served_risk(policy) if risk is None else risk
        count = check_integer("Agent", "n_arms", n_arms, low=1, high=MOST_ARMS)
        keep = check_flag("Agent", "remember", remember)
        arms = [ArmState(rewards=[] if keep else None) for _ in range(count)]
        sequence = np.random.SeedSequence(check_integer("Agent", "seed", seed, low=0))
        ends = (-math.inf, math.inf) if support is None else check_support("Agent", support)
        self._settle(State(policy, risk, horizon, ends, arms, np.random.Generator(np.random.PCG64(sequence))))

    def _settle(self, state: State) -> None:
        """Become the agent of this state, new or restored."""
        self.policy, risk, horizon, support, self._arms, self._rng = state
        self.risk: RiskMeasure = risks.make("Agent", risk)
        self.horizon = None if horizon is None else check_integer("Agent", "horizon", horizon, low=1, high=2**53)
        self.support = check_support("Agent", support)
        self._units = units_of_support(self.support)
        self.policy = fitted(self.policy, self._units)
        self._ready = self._bound(self.arms)
        if all(map(math.isfinite, self.support)):
            check_rewards(self.policy, self.support)
        for i, arm in enumerate(self._arms):
            if arm.rewards is None and (self._needs_rewards or not self.risk.by_moments):
                if arm.pulls > 0:
                    raise PrudentError(f"arm {i}: rewards must be there; the policy or the risk needs every one")
                arm.rewards = []

    def __repr__(self) -> str:
        told, waiting = sum(arm.pulls for arm in self._arms), sum(arm.open_asks for arm in self._arms)
        return f"<Agent: {spec(self.policy)}, {len(self.arms)} arms, {told} rewards, {waiting} open asks>"

    @property
    def arms(self) -> list[int]:
        """The numbers of the arms in play, those not retired."""
        return [i for i, arm in enumerate(self._arms) if not arm.retired]

    def ask(self, among: Iterable[int] | None = None) -> int:
        """The arm to pull now, of those in play, or of those in `among`."""
        available = self.arms if among is None else self._available(among)
        arm = self._by_score(available) if hasattr(self._ready, "score") else self._by_phase(available)
        self._arms[arm].open_asks += 1
        return arm

    def tell(self, arm: int, reward: float, *, asked: bool = True) -> None:
        """The reward of an open ask of `arm`; with `asked=False` a reward from elsewhere, such as old data.

        Either counts as a round. Late rewards of a retired arm are still recorded.
        """
        known, asked = self._arms[self._number("tell", arm)], check_flag("tell", "asked", asked)
        low, high = self.support
        hint = "" if low == -math.inf and high == math.inf else "the agent's support is this interval"
        reward = check_number("tell", "reward", reward, low=low, high=high, open_high=high == math.inf, hint=hint)
        if asked and known.open_asks == 0:
            raise PrudentError(f"tell: arm {arm} has no open ask; for a reward from elsewhere pass asked=False")
        mean, variance = _include(known.pulls + 1, known.mean, known.variance, reward)
        if not math.isfinite(variance):
            raise PrudentError(f"tell: reward {reward} is too large for a variance; rescale the rewards")
        known.pulls, known.mean, known.variance = known.pulls + 1, mean, variance
        if known.rewards is not None:
            insort_left(known.rewards, reward)
        known.open_asks -= asked

    def withdraw(self, arm: int) -> None:
        """Take back an open ask of `arm`: it was not pulled, and no reward will come."""
        known = self._arms[self._number("withdraw", arm)]
        if known.open_asks == 0:
            raise PrudentError(f"withdraw: arm {arm} has no open ask; there is nothing to take back")
        known.open_asks -= 1
        if hasattr(self._ready, "phase") and known.chosen and not known.retired:
            known.due += 1

    def estimates(self) -> list[Estimate]:
        """What is known about every arm, retired ones too, in the order of their numbers. Uses no random numbers."""
        arms = enumerate(self._arms)
        return [Estimate(i, arm.pulls, *self._moments(arm), arm.open_asks, arm.retired) for i, arm in arms]

    def intervals(self, level: float = 0.95, quantile: float | None = None) -> list[Intervals]:
        """Confidence sequences (`confidence.always`) of every arm's mean, variance, cost, and a quantile if asked.

        Each interval contains the truth at all times at once with probability `level`, so you may look as often as you
        like and stop when you like. For m intervals together pass 1 − (1 − level)/m. The cost has an interval if the
        risk measure has `bounds`. Needs a bounded support, and for a quantile `remember=True`. Assumes
        that an arm's rewards, in the order reported, are independent draws of one law; so a delay must not depend on
        the reward.
        """
        level = check_parameter("intervals", "level", level)
        if not all(map(math.isfinite, self.support)):
            fix = "pass Agent(…, support=(low, high))"
            raise PrudentError(f"intervals: the agent's support must be bounded, got {self.support}; {fix}")
        if quantile is not None and self._arms[0].rewards is None:
            raise PrudentError("intervals: a quantile needs every reward; pass Agent(…, remember=True) from the start")
        if quantile is not None:
            always.quantile_ranks(1, quantile, 1.0 - level)  # checks it before the first reward too
        return [self._intervals(i, arm, quantile, 1.0 - level) for i, arm in enumerate(self._arms)]

    def add_arm(self) -> int:
        """Add a new arm and return its number. A policy with phases starts a new phase."""
        new = len(self._arms)
        self._restart([*self.arms, new])
        self._arms.append(ArmState(rewards=None if self._arms[0].rewards is None else []))
        return new

    def retire(self, arm: int) -> None:
        """Never ask for `arm` again. The policy forgets it; `estimates` does not, and late rewards are recorded."""
        arm = self._number("retire", arm)
        if self._arms[arm].retired:
            raise PrudentError(f"retire: arm {arm} is retired already; in play are {self.arms}")
        if self.arms == [arm]:
            raise PrudentError(f"retire: arm {arm} is the last one in play; add another first")
        self._restart([i for i in self.arms if i != arm])
        self._arms[arm].retired = True

    def to_json(self) -> str:
        """The whole state; `Agent.from_json` goes on from it as this agent would, bit for bit."""
        return write(State(self.policy, self.risk, self.horizon, self.support, self._arms, self._rng))

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
            raise PrudentError(f"load: cannot read {path}: {error.strerror or error}; is the path right?") from None
        return cls.from_json(text, policy)

    @property
    def _round(self) -> int:
        """The number of the coming round, from 1."""
        return 1 + sum(arm.pulls + arm.open_asks for arm in self._arms)

    @property
    def _needs_rewards(self) -> bool:
        """Whether the policy asks for every reward of an arm."""
        scores = hasattr(self._ready, "score")
        return "rewards" in score_inputs(type(self._ready)) if scores else costs_need_rewards(self._ready)

    def _by_score(self, available: list[int]) -> int:
        """The arm with the smallest score; one without a reward comes first. Among equals the arm with the fewest
        open asks is chosen, so that a first batch tries all new arms, and then the lowest number."""
        t = self._round
        best, best_score, best_seen = -1, math.inf, Arm(0, 0.0, 0.0)
        for i in available:
            arm = self._arms[i]
            seen = Arm(arm.pulls, arm.mean, arm.variance)
            rewards = ordered(arm) if self._needs_rewards else None
            try:
                score = score_of(self._ready, seen, t, self._rng, rewards) if arm.pulls > 0 else -math.inf
            except ArithmeticError:  # where a kernel goes on with infinity, Python stops
                score = math.nan
            if math.isnan(score):
                raise PrudentError(f"{spec(self.policy)}: its score of arm {i}, {seen}, is not a number (NaN)")
            less_busy = best < 0 or arm.open_asks < self._arms[best].open_asks
            if below(score, seen, best_score, best_seen) or (
                less_busy and not below(best_score, best_seen, score, seen)
            ):
                best, best_score, best_seen = i, score, seen
        return best

    def _by_phase(self, available: list[int]) -> int:
        """The arms due in the phase, in turn: the one due most often, ties to the lowest number. An arm that was not
        available keeps what it is due."""
        if not any(arm.due for arm in self._arms):
            numbers = self.arms
            chosen, alive = (np.array([getattr(self._arms[i], name) for i in numbers]) for name in ("chosen", "alive"))
            repeats = self._phase(self._ready, numbers, chosen, alive)
            for i, mark, living in zip(numbers, chosen.tolist(), alive.tolist(), strict=True):
                self._arms[i].chosen, self._arms[i].alive, self._arms[i].due = mark, living, repeats if mark else 0
        if due := [i for i in available if self._arms[i].due > 0]:
            arm = max(due, key=lambda i: self._arms[i].due)
            self._arms[arm].due -= 1
            return arm
        # The phase waits for its arms. Meanwhile the policy chooses as if there were no others.
        chosen, alive = np.ones((2, len(available)), np.bool_)
        self._phase(self._bound(available), available, chosen, alive)
        marked = [i for i, mark in zip(available, chosen, strict=True) if mark]
        return min(marked, key=lambda i: self._arms[i].pulls + self._arms[i].open_asks)

    def _phase(self, ready: Any, numbers: list[int], chosen: NDArray[np.bool_], alive: NDArray[np.bool_]) -> int:
        """Ask the policy, ready for these arms, for a phase: it marks those chosen, and the repetitions return."""
        arms = [self._arms[i] for i in numbers]
        rewards = np.full((len(arms), max(len(arm.rewards or ()) for arm in arms)), math.nan)
        for row, arm in zip(rewards, arms, strict=True):
            row[: len(arm.rewards or ())] = arm.rewards or ()
        pulls, costs = np.array([arm.pulls for arm in arms], np.int64), np.full(len(arms), math.inf)
        means, variances = np.array([(arm.mean, arm.variance) for arm in arms]).T
        seen = Arms(pulls, means, variances, costs, alive, rewards)
        for i in np.flatnonzero(seen.pulls).tolist():
            seen.cost[i] = cost_of(ready, seen, i)
        repeats = int(ready.phase(seen, self._round, chosen, self._rng))
        if repeats == 0 and (best := answer(seen)) >= 0:
            choose_only(chosen, best)
            return FOREVER
        if repeats < 1 or not chosen.any():
            raise PrudentError(f"{spec(self.policy)}: {COMPLAINTS[BAD_PHASE]}")
        return repeats

    def _bound(self, numbers: list[int]) -> Any:
        """The policy made ready for some of the arms, which it sees numbered from 0."""
        policy = self.policy
        arm = getattr(policy, "arm", None)  # a parameter that names an arm, as fixed-arm's
        if arm is not None:
            if arm not in numbers:
                raise PrudentError(f"{spec(policy)}: arm {arm} must be there to be pulled; there are {numbers}")
            policy = policy._replace(arm=numbers.index(arm))
        return bind(policy, Setting(len(numbers), self.risk, self.horizon, self.support, units=self._units))

    def _restart(self, numbers: list[int]) -> None:
        """Go on with another set of arms, if the policy can be made ready for it."""
        self._ready = self._bound(numbers)
        for arm in self._arms:
            arm.chosen, arm.alive, arm.due = True, True, 0

    def _moments(self, arm: ArmState) -> tuple[float | None, float | None, float | None]:
        """Mean, variance and cost, as far as they are known."""
        if arm.pulls == 0:
            return None, None, None
        with np.errstate(over="ignore"):  # a cost too large for a float is infinite
            cost = float(self.risk.estimate(arm.mean, arm.variance, ordered(arm)))
        return arm.mean, arm.variance, cost

    def _intervals(self, number: int, arm: ArmState, quantile: float | None, failure: float) -> Intervals:
        """Each may miss, ever, with probability `failure`."""
        if arm.pulls == 0:
            return Intervals(number, 0, None, None, None, None)
        known, within = (arm.pulls, arm.mean, arm.variance), (failure, *self.support)
        with np.errstate(over="ignore"):
            found = (
                always.mean_bounds(*known, *within),
                always.variance_bounds(*known, *within),
                self.risk.always_bounds(*known, ordered(arm), *within),
                None if quantile is None else always.quantile_bounds(ordered(arm), quantile, *within),
            )
        return Intervals(number, arm.pulls, *(bounds and Interval(*map(float, bounds)) for bounds in found))

    def _number(self, owner: str, arm: int) -> int:
        return check_integer(owner, "arm", arm, low=0, high=len(self._arms) - 1, hint="arms are numbered from 0")

    def _available(self, among: Iterable[int]) -> list[int]:
        """The arms of `among`, in order and each once."""
        if not np.iterable(among) or isinstance(among, (str, bytes)):
            raise PrudentError(
                f"ask: among must be a list of arms, got {shown(among)}; for a single arm pass a list of one"
            )
        numbers = sorted({self._number("ask", arm) for arm in among})
        if not numbers:
            raise PrudentError("ask: among must hold at least one arm, got none; leave it out to choose from all")
        if not set(numbers) <= set(self.arms):
            raise PrudentError(f"ask: among must hold no retired arm, got {numbers}; in play are {self.arms}")
        return numbers


def _path(owner: str, path: Any) -> Path:
    """A path that the system can take."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or "\0" in str(path):
        raise PrudentError(f"{owner}: path must name a file, such as 'agent.json', got {shown(path)}")
    return Path(path)
