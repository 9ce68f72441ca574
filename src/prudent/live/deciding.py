"""Whether to stop: which arms are excluded, how long it may still take, and how probable each arm is to be best."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.live.arm import ArmState
from prudent.live.knowing import cost_bounds
from prudent.live.naming import called, listed
from prudent.risk.base import RiskMeasure
from prudent.text import minus, number

LONGEST = 10**12
"""More rounds than this are not foreseen."""

DRAWS = 10_000
"""Draws of a posterior: a probability is off by 0.005 at most (one standard error)."""

SAME = 1e-9
"""By what share the variance of rewards 0 and 1 may differ from mean (1 − mean)."""


class Leader(NamedTuple):
    """Which arm is ahead, and what is certain about it; `str()` says it in words.

    `arm` has the smallest estimated cost, and is None before the first reward. `left` may still be best, `excluded`
    are not; all of that holds at any time with probability `level`. `rounds` is how many more it would likely take
    until one is left: 0 if one is, infinity if the estimates are too close, None if nothing can be said.
    """

    arm: Any
    decided: bool
    left: tuple[Any, ...]
    excluded: tuple[Any, ...]
    level: float
    rounds: float | None
    cost: float | None

    def __str__(self) -> str:
        if self.arm is None:
            return "Nothing can be said yet, because no arm in play has a reward."
        sure = f"{100.0 * self.level:g} % confidence"
        name = called(self.arm)
        if self.decided and not self.excluded:
            return f"{name} is the only arm in play."
        if self.decided:
            return f"{name} is best: every other arm in play is excluded with {sure}. You may stop."
        ahead = f"{name} is ahead with an estimated cost of {minus(number(self.cost, 3))}, but nothing is decided."
        out = f"No arm is excluded with {sure}."
        if self.excluded:
            out = f"Excluded with {sure}: {listed(self.excluded)}. Still possible: {listed(self.left)}."
        return f"{ahead} {out} {self._forecast()}"

    def _forecast(self) -> str:
        if self.rounds is None:
            return "How long a decision will take cannot be said."
        if self.rounds == math.inf:
            return "The estimates are so close that no decision is in sight."
        rough = float(f"{self.rounds:.2g}")
        return f"If rewards and shares of arms stay as they are, a decision takes about {rough:,.0f} more rounds."


class Posterior(NamedTuple):
    """Probabilities of being the best arm under a model, given the rewards; `str()` says it in words.

    `best` has one for each arm in play, and is None, with the reason in `model`, if there is no such model.
    """

    best: dict[Any, float] | None
    model: str

    def __str__(self) -> str:
        if self.best is None:
            return f"No probabilities of being best: {self.model}."
        ranked = sorted(self.best.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{called(arm)} {_percent(probability)}" for arm, probability in ranked)
        warning = "This is no guarantee: if you stop once it is high, you may be wrong more often than it says."
        return f"Probability of being best, if {self.model}: {shares}. {warning}"


def leader(
    labels: Sequence[Any],
    arms: Sequence[ArmState],
    costs: Sequence[float | None],
    risk: RiskMeasure,
    level: float,
    support: tuple[float, float],
    *,
    foresee: bool = True,
) -> Leader:
    """Compares the arms in play. Retired ones share in the failure, because whoever retired them had looked."""
    share = (1.0 - level) / len(arms)
    playing = [i for i, arm in enumerate(arms) if not arm.retired]

    if not playing:
        return Leader(None, False, (), (), level, None, None)

    def bounds(numbers: list[int], times: float = 1.0) -> dict[int, tuple[float, float]]:
        found = cost_bounds([arms[i] for i in numbers], risk, share, support, times)
        return {i: ends or (-math.inf, math.inf) for i, ends in zip(numbers, found, strict=True)}

    known = bounds(playing)
    possible = _left(known)
    priced = {i: cost for i in playing if (cost := costs[i]) is not None}
    ahead = min((i for i in possible if i in priced), key=lambda i: priced[i], default=None)
    decided = len(possible) == 1
    rounds = None
    if decided:
        ahead, rounds = possible[0], 0.0
    elif foresee and risk.by_moments and all(math.isfinite(end) for ends in known.values() for end in ends):
        so_far = sum(arm.pulls for arm in arms)
        rounds = _rounds(lambda times: len(_left(bounds(possible, times))) == 1, so_far)
    excluded = tuple(labels[i] for i in playing if i not in possible)
    return Leader(
        None if ahead is None else labels[ahead],
        decided,
        tuple(labels[i] for i in possible),
        excluded,
        level,
        rounds,
        None if ahead is None else priced.get(ahead),
    )


def posterior(labels: Sequence[Any], arms: Sequence[ArmState], risk: RiskMeasure) -> Posterior:
    """By Monte Carlo, with a stream of its own: the same rewards give the same probabilities."""
    playing = [(label, arm) for label, arm in zip(labels, arms, strict=True) if not arm.retired]
    if not risk.by_moments:
        return Posterior(None, f"{risk} depends on more than mean and variance, and no model is at hand for it")
    if not any(arm.pulls for _, arm in playing):
        return Posterior(None, "no arm in play has a reward")
    rng = np.random.default_rng(0)
    if all(_zeros_and_ones(arm) for _, arm in playing):
        model = "rewards are 0 or 1 and every success rate was equally likely at first"
        rates = [rng.beta(1.0 + arm.pulls * arm.mean, 1.0 + arm.pulls * (1.0 - arm.mean), DRAWS) for _, arm in playing]
        means, variances = np.array(rates), np.array(rates) * (1.0 - np.array(rates))
    else:
        for label, arm in playing:
            if arm.pulls < 3 or arm.variance == 0.0:
                return Posterior(None, f"{called(label)} must have at least 3 rewards that are not all the same")
        model = "the rewards of an arm are Gaussian and nothing was known of mean and variance at first"
        pulls, mean, variance = np.array([(arm.pulls, arm.mean, arm.variance) for _, arm in playing]).T[..., None]
        # With the prior 1/σ²: σ² is (m−1)s²/χ² with m − 1 degrees of freedom, and μ ~ N(x̄, σ²/m) given σ².
        variances = pulls * variance / rng.chisquare(np.broadcast_to(pulls - 1.0, (len(playing), DRAWS)))
        means = mean + np.sqrt(variances / pulls) * rng.standard_normal(variances.shape)
    winners = np.argmin(risk.stats_cost(means, variances), axis=0)
    shares = np.bincount(winners, minlength=len(playing)) / DRAWS
    return Posterior({label: float(share) for (label, _), share in zip(playing, shares, strict=True)}, model)


def _left(bounds: dict[int, tuple[float, float]]) -> list[int]:
    """The arms that may have the smallest cost."""
    smallest = min(high for _, high in bounds.values())
    return [i for i, (low, _) in bounds.items() if low <= smallest]


def _rounds(decided: Callable[[float], bool], so_far: int) -> float:
    """How many more rounds until `decided(times as many rewards)`, to about one in a hundred."""
    few, many = 1.0, 2.0
    while not decided(many):
        few, many = many, 2.0 * many
        if many * so_far > LONGEST:
            return math.inf
    while many > 1.01 * few and (many - few) * so_far > 1.0:
        middle = math.sqrt(few * many)
        few, many = (few, middle) if decided(middle) else (middle, many)
    return float(math.ceil((many - 1.0) * so_far))


def _zeros_and_ones(arm: ArmState) -> bool:
    """Whether all rewards are 0 or 1; so it is if their squares have the same mean as they."""
    spread = arm.mean * (1.0 - arm.mean)
    return 0.0 <= arm.mean <= 1.0 and abs(arm.variance - spread) <= SAME * spread


def _percent(probability: float) -> str:
    whole = round(100.0 * probability)
    return "below 1 %" if whole < 1 else "above 99 %" if whole > 99 else f"{whole} %"
