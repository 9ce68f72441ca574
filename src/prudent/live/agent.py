"""The agent: a policy that plays a live experiment, one ask and one tell at a time.

It runs the engine's policies interpreted, on the same statistics: driven with the rewards of a simulation it chooses
the same arms, bit for bit.
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
from prudent.compiled import score_inputs, score_of
from prudent.confidence import always
from prudent.errors import PrudentError, check_integer, check_number, check_support
from prudent.live.state import ArmState, State, ordered, read, write
from prudent.policies import UNSET, Arm, Arms, Policy, bind, check_rewards, registry, spec
from prudent.risk import Interval, MeanVariance, RiskMeasure
from prudent.risk import registry as risk_registry

_include = inspect.unwrap(include)  # interpreted: a service starts without waiting for the compiler


class Estimate(NamedTuple):
    """What is known of an arm. Mean, variance (divided by the pulls) and cost are None before its first reward."""

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
    """Plays `policy` on arms numbered from 0: `ask()` for an arm, `tell(arm, reward)` what it paid.

    Rewards may come late and in any order, and several asks may be open; the policy sees only what was told. `risk`
    prices the estimates and lends its parameters to a policy without them; by default it is the policy's own, or the
    mean-variance with the policy's ρ, or 1. `support=(low, high)` states the range of rewards, and others are refused,
    as is a policy left with a shorter `range`. The policy is tuned for `horizon` rounds, though nothing stops there;
    anytime policies need none. Single rewards are kept if the policy or the risk needs them, or to `remember` them.

    Not thread-safe: keep an agent to one thread, or hold a lock around it.
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
        policy = registry.parse(policy) if isinstance(policy, str) else policy
        if risk is None:
            rho, own = getattr(policy, "rho", UNSET), getattr(policy, "risk", UNSET)
            risk = own if isinstance(own, RiskMeasure) else MeanVariance() if rho is UNSET else MeanVariance(rho)
        arms = [
            ArmState(rewards=[] if remember else None) for _ in range(check_integer("Agent", "n_arms", n_arms, low=1))
        ]
        sequence = np.random.SeedSequence(check_integer("Agent", "seed", seed, low=0))
        ends = (-math.inf, math.inf) if support is None else check_support("Agent", support)
        self._settle(State(policy, risk, horizon, ends, arms, np.random.Generator(np.random.PCG64(sequence))))

    def _settle(self, state: State) -> None:
        """Become the agent of this state, new or restored."""
        policy, risk, horizon, support, self._arms, self._rng = state
        self.policy = policy
        self.risk: RiskMeasure = risk_registry.parse(risk) if isinstance(risk, str) else risk
        self.horizon = None if horizon is None else check_integer("Agent", "horizon", horizon, low=1, high=2**53)
        self.support = check_support("Agent", support)
        self._ready = self._bound(self.arms)
        _check_range(policy, self.support)
        if all(map(math.isfinite, self.support)):
            check_rewards(policy, *self.support)
        for i, arm in enumerate(self._arms):
            if arm.rewards is None and (self._scores_rewards or not self.risk.by_moments):
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

        Either is a round played. A retired arm still takes its late rewards in.
        """
        known = self._arms[self._number("tell", arm)]
        low, high = self.support
        hint = "" if low == -math.inf and high == math.inf else "the agent's support says so"
        reward = check_number("tell", "reward", reward, low=low, high=high, open_high=high == math.inf, hint=hint)
        if asked and known.open_asks == 0:
            raise PrudentError(f"tell: arm {arm} has no open ask; for a reward from elsewhere pass asked=False")
        mean, variance = _include(known.pulls + 1, known.mean, known.variance, reward)
        if not math.isfinite(variance):
            raise PrudentError(f"tell: reward {reward} is too large for a variance; rescale the rewards")
        known.pulls, known.mean, known.variance = known.pulls + 1, mean, variance
        if known.rewards is not None:
            insort_left(known.rewards, reward)
        known.open_asks -= bool(asked)

    def withdraw(self, arm: int) -> None:
        """Take back an open ask of `arm`: it was not pulled, and no reward will come."""
        known = self._arms[self._number("withdraw", arm)]
        if known.open_asks == 0:
            raise PrudentError(f"withdraw: arm {arm} has no open ask; there is nothing to take back")
        known.open_asks -= 1
        if hasattr(self._ready, "phase") and known.chosen and not known.retired:
            known.due += 1

    def estimates(self) -> list[Estimate]:
        """What is known of every arm, retired ones too, in the order of their numbers. Draws nothing."""
        return [
            Estimate(i, arm.pulls, arm.mean, arm.variance, self._cost(arm), arm.open_asks, arm.retired)
            if arm.pulls > 0
            else Estimate(i, 0, None, None, None, arm.open_asks, arm.retired)
            for i, arm in enumerate(self._arms)
        ]

    def intervals(self, level: float = 0.95, quantile: float | None = None) -> list[Intervals]:
        """Confidence sequences (`confidence.always`) of every arm's mean, variance, cost, and a quantile if asked.

        Each interval, by itself, holds the truth at all times at once with probability `level`: look as often as you
        like, and stop when you like. For m intervals together pass 1 − (1 − level)/m. The cost has one if the risk
        knows `bounds`. Needs a bounded support, and for a quantile an agent that remembers.
        Assumes that an arm's rewards, in the order told, are independent draws of one law; so a delay must not depend
        on the reward.
        """
        hint = "for 95 % confidence pass 0.95"
        level = check_number("intervals", "level", level, low=0.0, high=1.0, open_low=True, open_high=True, hint=hint)
        if not all(map(math.isfinite, self.support)):
            fix = "pass Agent(…, support=(low, high))"
            raise PrudentError(f"intervals: the agent's support must be bounded, got {self.support}; {fix}")
        if quantile is not None and self._arms[0].rewards is None:
            raise PrudentError("intervals: a quantile needs every reward; pass Agent(…, remember=True) from the start")
        if quantile is not None:
            always.check_quantile(quantile)  # before the first reward too
        return [self._intervals(i, arm, quantile, 1.0 - level) for i, arm in enumerate(self._arms)]

    def add_arm(self) -> int:
        """Put a new arm into play; returns its number. A policy that plays in phases starts afresh."""
        new = len(self._arms)
        ready = self._bound([*self.arms, new])
        self._arms.append(ArmState(rewards=None if self._arms[0].rewards is None else []))
        self._restart(ready)
        return new

    def retire(self, arm: int) -> None:
        """Never ask for `arm` again. The policy forgets it; `estimates` does not, and takes late rewards in."""
        arm = self._number("retire", arm)
        if self._arms[arm].retired:
            raise PrudentError(f"retire: arm {arm} is retired already; in play are {self.arms}")
        if self.arms == [arm]:
            raise PrudentError(f"retire: arm {arm} is the last one in play; add another first")
        ready = self._bound([i for i in self.arms if i != arm])
        self._arms[arm].retired = True
        self._restart(ready)

    def to_json(self) -> str:
        """The whole state; `Agent.from_json` goes on from it as this agent would, bit for bit."""
        return write(State(self.policy, self.risk, self.horizon, self.support, self._arms, self._rng))

    @classmethod
    def from_json(cls, text: str | bytes, policy: Policy | None = None) -> "Agent":
        """The agent whose `to_json` this is. A policy that is not registered must be passed again."""
        agent = cls.__new__(cls)
        try:
            agent._settle(read(text, policy))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise PrudentError(f"agent state: {error}") from error
        return agent

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, which is whole at any time, even after a power failure."""
        files.write(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> "Agent":
        """The agent saved in a file, see `from_json`."""
        return cls.from_json(Path(path).read_bytes(), policy)

    @property
    def _round(self) -> int:
        """The round about to be played, from 1."""
        return 1 + sum(arm.pulls + arm.open_asks for arm in self._arms)

    @property
    def _scores_rewards(self) -> bool:
        """Whether the policy asks for every reward of an arm."""
        owner: Any = type(self._ready)
        return hasattr(owner, "score") and "rewards" in score_inputs(owner)

    def _by_score(self, available: list[int]) -> int:
        """The arm of smallest score; one without a reward goes first. Ties go to the fewest open asks, so that new
        arms share several open asks, then to the lowest number."""
        t = self._round
        order: list[tuple[float, int, int]] = []
        for i in available:
            arm = self._arms[i]
            seen = Arm(arm.pulls, arm.mean, arm.variance)
            rewards = ordered(arm) if self._scores_rewards else None
            score = score_of(self._ready, seen, t, self._rng, rewards) if arm.pulls > 0 else -math.inf
            if math.isnan(score):
                raise PrudentError(f"{spec(self.policy)}: its score of arm {i}, {seen}, is not a number (NaN)")
            order.append((score, arm.open_asks, i))
        return min(order)[-1]

    def _by_phase(self, available: list[int]) -> int:
        """The arms due in the phase, in turn: the one due most often, ties to the lowest number. An arm that was away
        keeps what it is due."""
        if not any(arm.due for arm in self._arms):
            numbers = self.arms
            chosen = np.array([self._arms[i].chosen for i in numbers])
            repeats = self._phase(self._ready, numbers, chosen)
            for i, mark in zip(numbers, chosen.tolist(), strict=True):
                self._arms[i].chosen, self._arms[i].due = mark, repeats if mark else 0
        due = [i for i in available if self._arms[i].due > 0]
        if due:
            arm = max(due, key=lambda i: self._arms[i].due)
            self._arms[arm].due -= 1
            return arm
        # The phase waits for its arms. Meanwhile the policy chooses as if there were no others.
        chosen = np.ones(len(available), np.bool_)
        self._phase(self._bound(available), available, chosen)
        marked = [i for i, mark in zip(available, chosen, strict=True) if mark]
        return min(marked, key=lambda i: self._arms[i].pulls + self._arms[i].open_asks)

    def _phase(self, ready: Any, numbers: list[int], chosen: NDArray[np.bool_]) -> int:
        """Ask the policy, ready for these arms, for a phase: it marks those chosen, and the repetitions return."""
        arms = [self._arms[i] for i in numbers]
        pulls = np.array([arm.pulls for arm in arms], np.int64)
        seen = Arms(pulls, np.array([arm.mean for arm in arms]), np.array([arm.variance for arm in arms]))
        repeats = int(ready.phase(seen, self._round, chosen, self._rng))
        if repeats < 1 or not chosen.any():
            raise PrudentError(f"{spec(self.policy)}: its phase chose no arm or returned fewer than 1 repetition")
        return repeats

    def _bound(self, numbers: list[int]) -> Any:
        """The policy made ready for some of the arms, which it sees numbered from 0."""
        policy: Any = self.policy
        if "arm" in getattr(policy, "_fields", ()):  # a parameter that names an arm, as fixed-arm's
            if policy.arm not in numbers:
                raise PrudentError(f"{spec(policy)}: arm {policy.arm} must be there to be pulled; there are {numbers}")
            policy = policy._replace(arm=numbers.index(policy.arm))
        return bind(policy, self.risk, self.horizon, len(numbers))

    def _restart(self, ready: Any) -> None:
        """Go on with another set of arms."""
        self._ready = ready
        for arm in self._arms:
            arm.chosen, arm.due = True, 0

    def _cost(self, arm: ArmState) -> float:
        return float(self.risk.estimate(arm.mean, arm.variance, ordered(arm)))

    def _intervals(self, number: int, arm: ArmState, quantile: float | None, failure: float) -> Intervals:
        """Each may miss, ever, with probability `failure`."""
        if arm.pulls == 0:
            return Intervals(number, 0, None, None, None, None)
        known, within = (arm.pulls, arm.mean, arm.variance), (failure, *self.support)
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
        if not isinstance(among, Iterable):
            raise PrudentError(f"ask: among must be a list of arms, got {among!r}; for a single arm pass a list of one")
        numbers = sorted({self._number("ask", arm) for arm in among})
        if not numbers:
            raise PrudentError("ask: among must hold at least one arm, got none; leave it out to choose from all")
        if not set(numbers) <= set(self.arms):
            raise PrudentError(f"ask: among must hold no retired arm, got {numbers}; in play are {self.arms}")
        return numbers


def _check_range(policy: Any, support: tuple[float, float]) -> None:
    """Widths of a policy that nobody told the range of rewards would be too narrow, and nothing would show it.

    The policy is not widened in silence: it would no longer be the one that was simulated. A range the user gave
    stands, and without a bounded support there is nothing to compare.
    """
    length = support[1] - support[0]
    default = getattr(policy, "_field_defaults", {}).get("range", UNSET)
    if default is not UNSET and policy.range == default and (1.0 + 1e-9) * default < length < math.inf:
        raise PrudentError(
            f"{spec(policy)}: range is {default:g}, its default, shorter than the agent's support {support};"
            f" pass range={length:g}"
        )
