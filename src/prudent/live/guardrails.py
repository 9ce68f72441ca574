"""Guardrails: limits at which an experiment acts by itself, with one stated error for all of them together.

A rail fires when a confidence sequence lies wholly on the bad side of its limit. If no limit is passed in truth, some
rail fires, ever, with probability at most the error, because every (rail, arm) has its part of it (`shares`). Looking
less often than at every reward is always valid.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prudent.base.errors import PrudentError, check_finite, check_number, near, pretty, shown
from prudent.confidence import anytime, betting
from prudent.confidence.anytime import MEAN_SHARE
from prudent.engine.python.arm import ArmState
from prudent.live.evidence import Evidence
from prudent.live.intervals import Quantity, ledger_of, limits, needs_mean, quantiles
from prudent.risk.base import RiskMeasure

WATCHED = ("mean", "variance", "cost", "quantile")
ACTIONS = ("retire", "freeze", "pause", "stop")


@dataclass(frozen=True)
class Rail:
    """A limit, in the unit and the sign in which outcomes are told, and what to do once it is passed.

    Parameters
    ----------
    watch
        What must not pass the limit: the mean, the variance, the cost by the experiment's risk, or a quantile.
    metric
        Which metric is watched; by default the reward.
    arm
        Which arm is watched; by default each of them, also those that are added later.
    above, below
        The limit, one of the two: the rail fires once it is sure that what is watched lies above, or below.
    q
        Which quantile, between 0 and 1; 0.5 is the median.
    then, to
        "retire" the arm, "freeze" to the arm `to`, "pause" or "stop" the experiment.

    Examples
    --------
    >>> from prudent.live.guardrails import Rail
    >>> Rail("mean", metric="latency", above=300, then="freeze", to="control").limit
    300.0
    """

    watch: str
    metric: str | None = None
    arm: Any = None
    above: float | None = None
    below: float | None = None
    q: float | None = None
    then: str = "retire"
    to: Any = None

    def __post_init__(self) -> None:
        """Refuse a rail that has no meaning."""
        for name, given, known in (("watch", self.watch, WATCHED), ("then", self.then, ACTIONS)):
            if not isinstance(given, str) or given not in known:
                hint = near(given, known) if isinstance(given, str) else "pass its name"
                raise PrudentError(f"rail: {name} must be one of {', '.join(known)}, got {shown(given)}; {hint}")
        if (self.above is None) == (self.below is None):
            got = "neither" if self.above is None else "both"
            raise PrudentError(f"rail: exactly one of above and below must be given, got {got}")
        low = 0.0 if self.watch == "variance" else -math.inf
        for name in ("above", "below"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_finite("rail", name, getattr(self, name), low=low))
        if (self.watch == "quantile") != (self.q is not None):
            fix = "pass q=0.5 for the median" if self.q is None else "leave it out, or watch='quantile'"
            raise PrudentError(f"rail: q must be given for a quantile and for nothing else, got {shown(self.q)}; {fix}")
        if self.q is not None:
            check_number("rail", "q", self.q, low=0.0, high=1.0, open_low=True, open_high=True)
        if self.watch == "cost" and self.metric is not None:
            fix = "watch its mean, variance or a quantile"
            raise PrudentError(
                f"rail: metric must be left out for a cost, which is the reward's, got {shown(self.metric)}; {fix}"
            )
        if (self.then == "freeze") != (self.to is not None):
            fix = "name the arm" if self.to is None else "leave it out"
            raise PrudentError(
                f"rail: to must be given with then='freeze' and with nothing else, got {shown(self.to)}; {fix}"
            )

    @property
    def limit(self) -> float:
        """What must not be passed."""
        limit = self.above if self.above is not None else self.below
        assert limit is not None
        return limit


def check_fits(
    rail: Rail,
    arms: Collection[Any],
    supports: Mapping[str | None, tuple[float, float]],
    risk: RiskMeasure,
    remembered: Collection[str | None] = (),
) -> None:
    """Refuse a rail that could never fire, or would at once, in an experiment with these arms.

    `supports` says where values of each metric lie, that of the reward under None, as they are told; `remembered` are
    the metrics of which every value is kept.
    """
    for name in ("arm", "to"):
        if getattr(rail, name) is not None and getattr(rail, name) not in arms:
            known = ", ".join(map(str, arms))
            raise PrudentError(f"rail: {name} must be one of the arms {known}, got {shown(getattr(rail, name))}")
    if rail.metric not in supports:
        known = ", ".join(name for name in supports if name is not None) or "none"
        raise PrudentError(f"rail: metric must be declared, got {shown(rail.metric)}; known: {known}")
    low, high = supports[rail.metric]
    if rail.watch != "quantile" and not (math.isfinite(low) and math.isfinite(high)):
        raise PrudentError(f"rail: a {rail.watch} can be watched on a bounded support only, got ({low:g}, {high:g})")
    ends = {"mean": (low, high), "quantile": (low, high), "variance": (0.0, (high - low) ** 2 / 4.0)}
    left, right = ends.get(rail.watch, (-math.inf, math.inf))
    if not left < rail.limit < right:
        side, allowed = "above" if rail.below is None else "below", f"({pretty(left)}, {pretty(right)})"
        why = f"where the {rail.watch} can lie by the support"
        raise PrudentError(f"rail: {side} must lie in {allowed}, {why}, got {rail.limit:g}")
    if rail.watch == "quantile" and rail.metric not in remembered:
        raise PrudentError("rail: a quantile needs every value; let the experiment remember them (remember=True)")
    own = type(risk).always_bounds is not RiskMeasure.always_bounds
    if rail.watch == "cost" and not own and getattr(risk, "bounds", None) is None:
        raise PrudentError(f"rail: no confidence interval is known for the cost {risk}; watch the mean or the variance")


def shares(rails: Sequence[Rail], first_arms: int, number: int, label: Any) -> list[float]:
    """The part of the total error that each rail has for the arm `label`, the `number`-th from 0; 0 if not watched.

    Rails share the error evenly. A rail for every arm gives 1/(K+1) of its share to each of the first K, and the rest,
    1/(K+1), to those that are added later: a half, a quarter, an eighth … of it. So whatever comes, all parts sum to
    at most 1.
    """
    part = share_of_arm(first_arms, number) / len(rails) if rails else 0.0
    return [part if rail.arm is None else (rail.arm == label) / len(rails) for rail in rails]


def share_of_arm(first_arms: int, number: int) -> float:
    """The part of an error that the `number`-th arm has, if there were so many at first; all parts sum to at most 1."""
    return 1.0 / ((first_arms + 1) * 2.0 ** max(0, number - first_arms + 1))


def fires(
    rail: Rail,
    arm: ArmState,
    risk: RiskMeasure,
    failure: float,
    support: tuple[float, float],
    larger_is_better: bool = True,
    binary: bool = False,
) -> bool:
    """Whether what is watched has surely passed the limit; wrong at some time with probability at most `failure`.

    `arm` holds the rewards, or the values of the rail's metric, which lie in `support`. With `larger_is_better=False`
    these are the negatives of what is told, as an agent keeps them, and the rail still means what is told. `binary` is
    that of the agent's evidence. A mean takes microseconds, so that it can be watched at every reward; the others need
    a search. All of the failure serves one side, but for the share of the mean's interval, where one is needed.
    """
    if arm.pulls == 0 or failure <= 0.0:
        return False
    above, limit, q = rail.below is None, rail.limit, rail.q
    if not larger_is_better and rail.watch in ("mean", "quantile"):
        above, limit, q = not above, -limit, None if q is None else 1.0 - q
    ledger = ledger_of(arm, support, binary)
    if rail.watch == "mean" and ledger is None:
        lies = anytime.mean_above if above else anytime.mean_below
        return lies(arm.pulls, arm.mean, arm.variance, limit, failure, *support)
    if rail.watch == "mean" and ledger is not None:
        bet = betting.mean_above if above else betting.mean_below
        return bet(ledger, arm.pulls, limit, failure, *support)
    if rail.watch == "quantile" and q is not None:
        if arm.rewards is None:
            raise PrudentError("rail: a quantile needs every value; let the experiment remember them (remember=True)")
        lows, highs = quantiles(arm, np.array([q]), [-math.log(failure)], support)
        return bool(lows[0, 0] > limit if above else highs[0, 0] < limit)
    what: Quantity = "cost" if rail.watch == "cost" else "variance"
    evidence = Evidence([arm], risk, support, binary)
    spent = failure * MEAN_SHARE if needs_mean(evidence, what) else 0.0
    lows, highs = limits(evidence, what, [-math.log(failure - spent)], spent)
    return bool(lows[0, 0] > limit if above else highs[0, 0] < limit)
