"""What an experiment is: its arms, policy and risk, how rewards are counted, and what must not happen."""

import math
import re
import secrets
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from prudent.base.errors import PrudentError, check_number, check_positive, near, shown
from prudent.base.own_classes import marked
from prudent.base.parameters import check_support
from prudent.engine.python.propensities import Limits, least_chances, uses_chance
from prudent.live.agent import Agent
from prudent.live.guardrails import Rail, check_fits
from prudent.live.values import check_value
from prudent.policies.contract import spec as spec_of
from prudent.service.messages import Label, Name

LARGEST = 1e150
"""Rewards are no larger in size, so that their variance is a number."""

LEVEL = 0.95
"""The confidence of pages and reports."""

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|h|d)")
LONGEST = 10 * 366 * 86400
"""Ten years: no window is longer."""

Support = tuple[float, float]
Share = Annotated[float, Meta(ge=0, le=1)] | Annotated[dict[Label, float], Meta(max_length=10_000)]
"""A probability for every arm, or for each of those that are named."""


class Rewards(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How long a reward is waited for, and what counts if none comes.

    `window` is in seconds, or text such as "30 min", "1 h", "2 d". After it the `default` is counted; without one the
    decision expires and is taken back. A reward is counted when its window has closed, in the order of decisions. With
    `count="at-once"` it is counted when it comes; intervals are then wrong if a delay depends on the outcome. `event`
    is the tracking event of OpenFeature that is the reward; by default it has the name of the experiment.
    """

    window: float | str | None = None
    default: float | None = None
    count: Literal["closed", "at-once"] = "closed"
    event: Label | None = None


class Metric(Struct, frozen=True, forbid_unknown_fields=True):
    """Another number that is measured with the reward, and where it lies."""

    support: Support


class Guardrail(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A limit, and what to do when it is certain that an arm is beyond it.

    `watch` is the arm's mean, variance, cost, or its quantile `q`; of the reward, or of a `metric`. Without `arm` every
    arm is watched. Then the arm is retired, everybody is given the arm `to`, or the experiment is paused or stopped.
    """

    watch: Literal["mean", "variance", "cost", "quantile"]
    then: Literal["retire", "freeze", "pause", "stop"]
    above: float | None = None
    below: float | None = None
    metric: Label | None = None
    arm: Label | None = None
    q: float | None = None
    to: Label | None = None

    def rail(self) -> Rail:
        """The same for the functions that watch it."""
        return Rail(**msgspec.structs.asdict(self))


class Spec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An experiment. What is not said here is as in `prudent.Agent`.

    `floor` and `cap` are the smallest and the largest probability of an arm, for all arms or by name; every decision
    says with which probability its arm was taken. `sticky` experiments give a unit the same decision for good.
    `fallback` is the arm to use when the experiment is paused or stopped, or the service is away; `control` that
    with which others are compared. `error` is the probability that any guardrail ever acts without cause. `values`
    are the two that rewards may have, if there are no others. `unit` is that of rewards, for text only.
    """

    name: Name
    arms: Annotated[list[Label], Meta(min_length=1, max_length=10_000)]
    policy: Annotated[str, Meta(min_length=1, max_length=500)]
    risk: Annotated[str, Meta(max_length=500)] | None = None
    horizon: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    support: Support | None = None
    values: Support | None = None
    scale: float | None = None
    larger_is_better: bool = True
    remember: bool = False
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    floor: Share | None = None
    cap: Share | None = None
    sticky: bool = False
    fallback: Label | None = None
    control: Label | None = None
    rewards: Rewards = Rewards()
    metrics: Annotated[dict[Label, Metric], Meta(max_length=50)] = {}
    guardrails: Annotated[list[Guardrail], Meta(max_length=100)] = []
    error: float = 0.01
    unit: Annotated[str, Meta(max_length=100)] = ""
    note: Annotated[str, Meta(max_length=10_000)] = ""

    def settled(self) -> "Spec":
        """The same, checked, with everything written out that the service chose: the seed, the risk, the window, and a
        floor, without which agents compute no probabilities."""
        for name, text in (("policy", self.policy), ("risk", self.risk)):
            if (
                text and marked(text) != text
            ):  # every service that reads the log later must know it, whatever files it has
                fix = "take one that is registered, or register it in a package that the service has too"
                raise PrudentError(f"experiment: {name} {shown(text)} is a class in a file; {fix}")
        seed = secrets.randbits(63) if self.seed is None else self.seed
        floor = 0.0 if self.floor is None else self.floor
        rewards = msgspec.structs.replace(self.rewards, window=window_of(self.rewards))
        whole = msgspec.structs.replace(self, seed=seed, rewards=rewards, floor=floor)
        agent = whole.agent()
        whole._check(agent)
        return msgspec.structs.replace(whole, policy=spec_of(agent.policy), risk=str(agent.risk))

    def same_as(self, settled: "Spec") -> bool:
        """Whether this, as somebody gave it, is an experiment that exists; a seed not given is any."""
        known = (self if self.seed is not None else msgspec.structs.replace(self, seed=settled.seed)).settled()
        if self.floor is None and settled.floor is None:  # it is older than floors
            known = msgspec.structs.replace(known, floor=None)
        return known == settled

    def agent(self) -> Agent:
        """The agent before its first reward."""
        return Agent(
            self.policy,
            self.arms,
            self.horizon,
            self.seed or 0,
            risk=self.risk,
            support=self.support,
            values=self.values,
            scale=self.scale,
            larger_is_better=self.larger_is_better,
            remember=self.remember,
            floor=self.floor,
            cap=self.cap,
            control=self.control,
        )

    def least_chances(self, arms: list[str], ready: type) -> list[float] | None:
        """The smallest probability that each of these arms can have, if the policy, of the class that is `ready` for
        them, is to choose among them; none in an experiment older than probabilities."""
        if self.floor is None:
            return None
        limits = Limits(self.floor, 1.0 if self.cap is None else self.cap)
        return least_chances(limits, arms, certain=not uses_chance(ready))

    @property
    def window(self) -> int | None:
        """Milliseconds that a reward is waited for."""
        seconds = self.rewards.window
        return None if seconds is None else round(1000.0 * float(seconds))

    @property
    def takes_batches(self) -> bool:
        """Whether rewards may come merged: nothing is waited for, or measured, or kept of single units."""
        return not self.sticky and self.rewards.window is None and not self.metrics

    @property
    def waits(self) -> bool:
        """Whether rewards are counted only when their window has closed."""
        return self.rewards.window is not None and self.rewards.count == "closed"

    def _check(self, agent: Agent) -> None:
        for label in (*self.arms, *self.metrics):
            check_text("experiment", "arms and metrics", label)
        for parameter in ("note", "unit"):
            check_text("experiment", parameter, getattr(self, parameter), lines=parameter == "note")
        check_text("experiment", "rewards.event", self.rewards.event or "")
        check_known("fallback", self.fallback, self.arms)
        check_known("control", self.control, self.arms)
        if self.support is not None and not all(map(math.isfinite, self.support)):
            fix = "leave it out if rewards have no bounds"  # JSON has no infinity
            raise PrudentError(f"experiment: support must be finite, got {self.support}; {fix}")
        if self.rewards.window is None and self.rewards.default is not None:
            raise PrudentError(
                "experiment: rewards.default needs rewards.window, which says after how long it counts; for instance"
                ' {"window": "1 h", "default": 0}'
            )
        if self.rewards.default is not None:
            check_reward("experiment", "rewards.default", self.rewards.default, agent.support, agent.values)
        for name, metric in self.metrics.items():
            low, high = check_support("experiment", metric.support)
            if not (math.isfinite(low) and math.isfinite(high)):
                raise PrudentError(f"experiment: the support of metric {shown(name)} must be finite, got {low}, {high}")
        check_number("experiment", "error", self.error, low=0.0, high=1.0, open_low=True, open_high=True)
        supports: dict[str | None, Support] = {name: metric.support for name, metric in self.metrics.items()}
        supports[None] = agent.support
        for guardrail in self.guardrails:
            check_fits(guardrail.rail(), self.arms, supports, agent.risk, {None} if self.remember else ())


def decoded(given: Any) -> Spec:
    """The spec of a JSON text or of a dictionary."""
    try:
        if isinstance(given, (str, bytes)):
            return msgspec.json.decode(given, type=Spec)
        return msgspec.convert(given, Spec)
    except msgspec.DecodeError as error:
        raise PrudentError(f"experiment: {error}") from None


def window_of(rewards: Rewards) -> float | None:
    """The window in seconds."""
    window = rewards.window
    if isinstance(window, str):
        found = DURATION.fullmatch(window.strip())
        if not found:
            raise PrudentError(
                f"experiment: rewards.window must be seconds, or text such as '30 min', '1 h' or '2 d', got {window!r}"
            )
        window = float(found[1]) * SECONDS[found[2]]
    if window is not None:
        check_positive("experiment", "rewards.window", window)
        check_number("experiment", "rewards.window", window, low=0.001, high=LONGEST, hint="it is in seconds")
    return window


def check_reward(owner: str, name: str, reward: Any, support: Support, values: Support | None = None) -> float:
    """A reward that an agent with this support will take, whenever it is told. Minus zero becomes zero, since
    databases do not keep its sign."""
    low, high = max(support[0], -LARGEST), min(support[1], LARGEST)
    hint = "" if support == (-math.inf, math.inf) else "the experiment's support is this interval"
    reward = float(reward) if isinstance(reward, bool) else reward
    checked = check_number(owner, name, reward, low=low, high=high, hint=hint) + 0.0
    check_value(owner, name, checked, values)
    return checked


def check_text(owner: str, parameter: str, text: str, *, lines: bool = False) -> None:
    """Refuse control characters and halves of characters, which not every database and terminal can hold."""
    if any(
        (ord(c) < 32 and not (lines and c in "\n\t")) or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000
        for c in text
    ):
        raise PrudentError(f"{owner}: {parameter} must be text without control characters, got {shown(text)}")


def check_known(parameter: str, name: str | None, known: Any) -> None:
    """Refuse a name that is not there."""
    if name is not None and name not in known:
        raise PrudentError(f"experiment: {parameter} {shown(name)} is unknown; {near(name, known)}")
