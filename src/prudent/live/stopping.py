"""Whether to stop: which arms are excluded, how long it may still take, and how probable each arm is to be best."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prudent.base.text import minus, number
from prudent.confidence.anytime import MEAN_SHARE
from prudent.live.beliefs import draw_beliefs, two_values
from prudent.live.differences import adds_up, between, gains_of
from prudent.live.evidence import Evidence
from prudent.live.intervals import bounds, limits, needs_mean
from prudent.live.labels import Label, called, listed

MAX_ROUNDS = 10**12
"""More rounds than this are not foreseen."""

DRAWS = 10_000
"""Draws of a posterior: a probability is off by 0.005 at most (one standard error)."""


class Leader(NamedTuple):
    """Which arm is ahead, and what is certain about it; `str()` says it in words.

    `arm` has the smallest estimated cost, and is None before the first reward. `left` may still be best, `excluded`
    are not; all of that holds at any time with probability `level`. `rounds` is how many more it would likely take
    until one is left: 0 if one is, infinity if the estimates are too close, None if nothing can be said.
    """

    arm: Label | None
    decided: bool
    left: tuple[Label, ...]
    excluded: tuple[Label, ...]
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

    best: dict[Label, float] | None
    model: str

    def __str__(self) -> str:
        if self.best is None:
            return f"No probabilities of being best: {self.model}."
        ranked = sorted(self.best.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{called(arm)} {_percent(probability)}" for arm, probability in ranked)
        warning = "This is no guarantee: if you stop once it is high, you may be wrong more often than it says."
        return f"Probability of being best, if {self.model}: {shares}. {warning}"


def leader(evidence: Evidence, level: float, *, foresee: bool = True) -> Leader:
    """Compares the arms in play. Retired ones share in the failure, because whoever retired them had looked."""
    playing = evidence.playing
    if not playing:
        return Leader(None, False, (), (), level, None, None)
    costs = {i: cost for i in playing if (cost := evidence.estimate(i).cost) is not None}
    out = excluded(evidence.some(playing), len(evidence.arms), 1.0 - level)
    possible = [i for i, beaten in zip(playing, out, strict=True) if not beaten]
    ahead = min((i for i in possible if i in costs), key=lambda i: costs[i], default=None)
    decided = len(possible) == 1
    rounds = None
    if decided:
        ahead, rounds = possible[0], 0.0
    elif foresee and evidence.risk.by_moments and len(costs) == len(playing) and _has_limits(evidence):
        asked = evidence.some(possible), len(evidence.arms), 1.0 - level
        rounds = _rounds(lambda times: sum(excluded(*asked, times)) == len(possible) - 1, evidence.total)
    return Leader(
        None if ahead is None else evidence.label(ahead),
        decided,
        evidence.labels(possible),
        evidence.labels(i for i in playing if i not in possible),
        level,
        rounds,
        None if ahead is None else costs.get(ahead),
    )


def excluded(evidence: Evidence, number: int, failure: float, times: float = 1.0) -> list[bool]:
    """For each arm whether another one surely costs less, of `number` arms in all.

    The best arm is among them, ever, with probability at most `failure`: one of its number − 1 rivals would have to
    have won too much capital with it, or the mean of an arm to leave its interval. So any rival may be asked; it is the
    one with the least upper limit.
    """
    if number == 1:
        return [False]
    spent = failure * MEAN_SHARE if needs_mean(evidence, "cost") else 0.0
    rivals = number - 1 if adds_up(evidence, "cost") else number  # without gains, all limits must hold
    gains = gains_of(evidence, "cost", math.log(rivals / (failure - spent)))
    low, high = limits(evidence, "cost", gains, spent / number, times)
    rival = [int(np.argmin(high[len(gains) // 2]))]
    least, _ = between((low, high), (low[:, rival], high[:, rival]))
    surely: list[bool] = (least > 0.0).tolist()
    return surely


def posterior(evidence: Evidence) -> Posterior:
    """By Monte Carlo, with a stream of its own: the same rewards give the same probabilities."""
    playing, risk = evidence.playing, evidence.risk
    if not risk.by_moments:
        return Posterior(None, f"{risk} depends on more than mean and variance, and no model is at hand for it")
    if not any(evidence.arms[i].pulls for i in playing):
        return Posterior(None, "no arm in play has a reward")
    if two_values(evidence) is None:
        for i in playing:
            if evidence.arms[i].pulls < 3 or evidence.arms[i].variance == 0.0:
                name = called(evidence.label(i))
                return Posterior(None, f"{name} must have at least 3 rewards that are not all the same")
    drawn = draw_beliefs(evidence, DRAWS, np.random.default_rng(0))
    winners = np.argmin(risk.stats_cost(drawn.mean, drawn.variance), axis=1)
    shares = np.bincount(winners, minlength=len(playing)) / DRAWS
    return Posterior(dict(zip(evidence.labels(playing), shares.tolist(), strict=True)), drawn.model)


def _has_limits(evidence: Evidence) -> bool:
    """Whether limits of the cost are known."""
    found = bounds(evidence.some(evidence.playing), "cost", 0.5)
    return all(ends is not None for ends in found)


def _rounds(decided: Callable[[float], bool], so_far: int) -> float:
    """How many more rounds until `decided(times as many rewards)`, to about one in a hundred."""
    few, many = 1.0, 2.0
    while not decided(many):
        few, many = many, 2.0 * many
        if many * so_far > MAX_ROUNDS:
            return math.inf
    while many > 1.01 * few and (many - few) * so_far > 1.0:
        middle = math.sqrt(few * many)
        few, many = (few, middle) if decided(middle) else (middle, many)
    return float(math.ceil((many - 1.0) * so_far))


def _percent(probability: float) -> str:
    whole = round(100.0 * probability)
    return "below 1 %" if whole < 1 else "above 99 %" if whole > 99 else f"{whole} %"
