"""How a live experiment may end: laws drawn from what the rewards allow, and the policy played on from here to the end.

A forecast is a Bayesian one, and depends on a model (`beliefs`). As much as ν = 0.1 of a reward tells, arms vary as
the others do: else an arm whose few rewards happen to be the same would never vary again.

Which arm was pulled how often does not matter for the posterior, however the policy chose. So the quantiles are
calibrated if laws come from a wide range, as `benchmarks/forecast.py` measures.
"""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.arms.sampling import merge
from prudent.base.arrays import Array, Counts
from prudent.base.text import count, counted, minus, number, risk_name
from prudent.engine.leap.blocks import Sources
from prudent.engine.python.arm import ArmState
from prudent.engine.python.choosing import Ready, round_of
from prudent.engine.record import Past, Statistics
from prudent.engine.resumed import can_leap, resume
from prudent.live.beliefs import Drawn, draw_beliefs, spread_of, two_values
from prudent.live.evidence import Evidence, statistics_of
from prudent.live.labels import Label, called, listed
from prudent.results.regret import sequence_moments

_merge: Any = inspect.unwrap(merge)  # interpreted, for arrays

LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
"""The quantiles that are given: the median, and the ends of what holds half, 80 % and 95 % of all futures."""

MAX_DRAWS, MIN_DRAWS = 1000, 200
"""Futures, at most and at least; half of the most if they leap, which takes a millisecond or two for each."""

MAX_STEPS = 20_000_000
"""Rounds of all futures together that are simulated one by one, about half a second's work."""

MAX_ROUNDS = 10_000_000
"""Rounds of a future that leaps: beyond, leaps take long too."""

POINTS = 10
"""Points in time between now and the end."""

WEIGHT = 0.1
"""ν: how many rewards the variance of the other arms counts for."""

MIN_REWARDS = 3
"""Rewards of an arm without which its variance is anybody's guess."""


class Chance(NamedTuple):
    """What becomes of an arm in play: its probability to have the smallest cost in truth, that to have the smallest
    estimated cost at the end, and its expected share of the rounds to come."""

    arm: Label
    best: float
    ahead: float
    share: float


class Forecast(NamedTuple):
    """How the experiment may end after `rounds`; `str()` says it in words.

    `regret` and `cost` per round are those of all rewards then, past ones included, at the quantiles of `LEVELS`; the
    regret is measured as in `Summary`. `fan` has the regret at several points in time, the first of which is now.
    `right` is the probability that the arm ahead at the end is the best one. If there is no forecast, `why` says the
    reason and the rest is empty; else `model` says what is assumed.
    """

    why: str
    rewards: int = 0
    rounds: int = 0
    draws: int = 0
    model: str = ""
    regret: tuple[float, ...] = ()
    cost: tuple[float, ...] = ()
    right: float = 0.0
    arms: tuple[Chance, ...] = ()
    fan: tuple[tuple[int, tuple[float, ...]], ...] = ()

    def __str__(self) -> str:
        if self.why:
            return f"No forecast: {self.why}."
        low, middle, high = (minus(number(self.regret[i], 3)) for i in (1, 3, 5))
        then = f"After {counted(self.rounds, 'round')}"
        first = max(self.arms, key=lambda arm: arm.ahead)
        return (
            f"{then} the regret per round will lie between {low} and {high} with probability 80 %, if {self.model};"
            f" the median is {middle}. {called(first.arm)} will then be ahead with probability"
            f" {percent(first.ahead)}. The arm that is ahead then is the best one with probability"
            f" {percent(self.right)}."
        )


class Futures(NamedTuple):
    """Everything that was drawn: arrays over draws, `regret` and `cost` over draws and points in time."""

    rounds: Counts
    regret: Array
    cost: Array
    best: Counts
    ahead: Counts
    shares: Array


def forecast(ready: Ready, evidence: Evidence, rounds: int) -> Forecast:
    """Of so many more rounds, with a stream of its own: the same rewards give the same forecast."""
    if why := obstacle(ready, evidence, rounds):
        return Forecast(why)
    leaping, draws, rounds = effort(ready, rounds)
    laws = draw_beliefs(evidence, draws, np.random.default_rng(0), WEIGHT)
    with np.errstate(over="ignore", invalid="ignore"):
        found = futures(ready, evidence, rounds, laws, leaping=leaping, seed=1)
    if not np.isfinite(found.regret).all():
        return Forecast("the rewards are so large that their squares are no numbers; measure them in larger units")
    playing = evidence.labels(evidence.playing)
    best, ahead = (np.bincount(who, minlength=len(playing)) / draws for who in (found.best, found.ahead))
    chances = zip(playing, best.tolist(), ahead.tolist(), found.shares.mean(0).tolist(), strict=True)
    regrets, costs = (np.quantile(part, LEVELS, axis=0).T.tolist() for part in (found.regret, found.cost))
    return Forecast(
        "",
        evidence.total,
        int(found.rounds[-1]),
        draws,
        laws.model,
        tuple(regrets[-1]),
        tuple(costs[-1]),
        float((found.best == found.ahead).mean()),
        tuple(Chance(*chance) for chance in chances),
        tuple((int(at), tuple(regret)) for at, regret in zip(found.rounds, regrets, strict=True)),
    )


def obstacle(ready: Ready, evidence: Evidence, rounds: int) -> str:
    """Why there is no forecast; empty if there is one."""
    if not hasattr(ready.policy, "_fields"):
        return f"{ready.owner} has a memory of its own, and cannot be played on from here"
    if ready.forgets is not None:
        return f"{ready.owner} is made for rewards that change, and a forecast takes those so far for typical"
    if ready.needs_rewards:
        return f"{ready.owner} reads every reward, and only their mean and variance are simulated"
    if not evidence.risk.by_moments:
        return f"{risk_name(evidence.risk)} depends on more than mean and variance, and no model is at hand for it"
    return _missing(evidence, rounds)


def _missing(evidence: Evidence, rounds: int) -> str:
    """What is not known yet; empty if all is."""
    arms = evidence.arms
    if few := evidence.labels(i for i in evidence.playing if arms[i].pulls < MIN_REWARDS):
        has = "has" if len(few) == 1 else "have"
        return f"{listed(few)} {has} fewer than {MIN_REWARDS} rewards, so that too little is known"
    if rounds < 1:
        return "the planned rounds are over"
    if not spread_of(arms) > 0.0 and not two_values(evidence):
        return "the rewards of each arm are all the same so far"
    return ""


def effort(ready: Ready, rounds: int) -> tuple[bool, int, int]:
    """Whether to leap, how many futures, and how many rounds.

    The more rounds, the fewer futures. Where they would be too few, the policy leaps if it can; else it is followed for
    fewer rounds.
    """
    draws = min(MAX_DRAWS, max(MIN_DRAWS, MAX_STEPS // rounds))
    if draws * rounds > MAX_STEPS and can_leap(ready.policy):
        return True, MAX_DRAWS // 2, min(rounds, MAX_ROUNDS)
    return False, draws, min(rounds, MAX_STEPS // draws)


def futures(ready: Ready, evidence: Evidence, rounds: int, laws: Drawn, *, leaping: bool, seed: int) -> Futures:
    """The policy played on from the present statistics, under each of the laws, as if rewards came at once. Before that
    the open asks of arms in play are answered."""
    arms, risk = evidence[:2]
    playing, retired = [arm for arm in arms if not arm.retired], [arm for arm in arms if arm.retired and arm.pulls]
    rng = np.random.default_rng(seed)
    elapsed, unit = round_of(arms) - 1, ready.unit
    more = np.unique(np.linspace(rounds / POINTS, rounds, POINTS).round().astype(np.int64).clip(1))
    begun = answered(playing, laws, rng)
    past = past_of(playing, Statistics(begun.pulls, begun.mean / unit, begun.variance / unit / unit), elapsed)
    ended = resume(ready.policy, ready.owner, sources(laws, unit), past, more, leaping=leaping, seed=seed)
    ended = Statistics(ended.pulls, ended.mean * unit, ended.variance * unit * unit)
    cost = risk.stats_cost(*sequence_moments(*over_time(statistics_of(playing), ended, statistics_of(retired))))
    true = risk.stats_cost(laws.mean, laws.variance)
    return Futures(
        elapsed + np.append(0, more),
        cost - true.min(1)[:, None],
        cost,
        true.argmin(1),
        risk.stats_cost(ended.mean[:, -1], ended.variance[:, -1]).argmin(1),
        (ended.pulls[:, -1] - begun.pulls) / rounds,
    )


def past_of(arms: Sequence[ArmState], start: Statistics, elapsed: int) -> Past:
    """Where a policy stands that has counted so many rounds, with the statistics (draw, arm) in its unit."""
    due = np.array([arm.due for arm in arms], np.int64)
    chosen, alive = (np.array([getattr(arm, name) for arm in arms], np.bool_) for name in ("chosen", "alive"))
    return Past(*start, elapsed, due, chosen, alive)


def over_time(now: Statistics, ended: Statistics, retired: Statistics) -> Statistics:
    """Arrays (draw, time, arm): now, then each point in time; arms in play, then the retired ones, which do not change
    but whose rewards count for the cost of all."""
    draws, points, _ = ended.pulls.shape
    return Statistics._make(
        np.concatenate(
            [
                np.concatenate([np.broadcast_to(present, (draws, 1, len(present))), then], 1),
                np.broadcast_to(old, (draws, points + 1, len(old))),
            ],
            2,
        )
        for present, then, old in zip(now, ended, retired, strict=True)
    )


def answered(arms: Sequence[ArmState], laws: Drawn, rng: np.random.Generator) -> Statistics:
    """The arms' statistics (draw, arm) after the open asks have got their rewards."""
    draws = len(laws.mean)
    known = statistics_of(arms)
    pulls = np.repeat(known.pulls[None], draws, 0)
    means, variances = (np.repeat(part[None], draws, 0) for part in known[1:])
    for i, arm in enumerate(arms):
        if (more := arm.open_asks) == 0:
            continue
        if laws.values is None:
            new_means = laws.mean[:, i] + np.sqrt(laws.variance[:, i] / more) * rng.standard_normal(draws)
            new_variances = laws.variance[:, i] * (rng.chisquare(more - 1.0, draws) if more > 1 else 0.0) / more
        else:
            low, high = laws.values
            share = rng.binomial(more, (laws.mean[:, i] - low) / (high - low)) / more
            new_means, new_variances = low + (high - low) * share, (high - low) ** 2 * share * (1.0 - share)
        means[:, i], variances[:, i] = _merge(arm.pulls, arm.mean, arm.variance, more, new_means, new_variances)
        pulls[:, i] += more
    return Statistics(pulls, means, variances)


def sources(laws: Drawn, unit: float) -> Sources:
    """The laws as the engine takes them, in the unit in which the policy sees rewards."""
    draws, arms = laws.mean.shape
    mean, variance = laws.mean / unit, laws.variance / unit / unit
    if laws.values is None:
        none = np.empty((draws, arms, 0))
        return Sources(mean, variance, np.zeros(arms, np.int64), none, none)
    low, high = laws.values
    rate = (laws.mean - low) / (high - low)
    value = np.broadcast_to(np.array([low / unit, high / unit]), (draws, arms, 2)).copy()
    return Sources(mean, variance, np.full(arms, 2), value, np.stack([1.0 - rate, rate], 2))


def percent(probability: float) -> str:
    """A probability that a thousand draws can tell."""
    whole = round(100.0 * probability)
    return "below 1 %" if whole < 1 else "above 99 %" if whole > 99 else f"{count(whole)} %"
