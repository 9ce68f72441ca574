"""evaluate(): what another policy would have received, from a log."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_choice, check_flag, check_integer, check_list, check_number, shown
from prudent.base.parameters import check_parameter, check_support
from prudent.base.text import count, counted, number, risk_name
from prudent.evaluation import estimates
from prudent.evaluation.bands import Band, Steps
from prudent.evaluation.betting import Sample
from prudent.evaluation.limits import Samples, risk_limits
from prudent.evaluation.log import OWNER, Log, read_log
from prudent.evaluation.notes import (
    all_of,
    chances,
    doubts,
    few_rounds,
    lacks_chances,
    left_out,
    passed_rounds,
    too_low,
    without_rounds,
)
from prudent.evaluation.replay import least_propensity, replayed
from prudent.evaluation.result import Evaluation, Row, power_of
from prudent.evaluation.streaming import LargeLog, large_log, no_replay, of_large
from prudent.evaluation.target import ARMS, METHODS, ROBUST, WEIGHTS, shares_of, written
from prudent.policies.contract import spec
from prudent.policies.learners import is_learner
from prudent.risk.base import RiskMeasure, risks

REPLAY = "replay"
RISKS = ("cvar(alpha=0.05)",)
"""Judged by unless others are given: a tolerance ρ has the unit of outcomes, which nobody but the user knows."""

QUANTILES = (0.05, 0.5, 0.95)
LEVELS = "a list of levels such as [0.05, 0.5]"
ALIKE = "Rounds are alike but for the arm: nothing drifts, and no outcome depends on earlier arms."
ASSUMED = {
    WEIGHTS: f"Propensities are the true probabilities of arms, given all that the log's policy knew. {ALIKE}",
    ARMS: "The outcomes of an arm are draws of one law, whenever it is chosen: the log's policy knew nothing of the"
    f" coming outcome when it chose. {ALIKE}",
}
ASSUMED[ROBUST] = ASSUMED[WEIGHTS]
ASSUMED[REPLAY] = ASSUMED[WEIGHTS]


class Question(NamedTuple):
    """What is asked of a `Log`, or of a `LargeLog`. `ends` are infinite where the support is not known; so is the
    largest weight without a `floor` of propensities."""

    log: Any
    measures: list[RiskMeasure]
    levels: list[float]
    failure: float
    ends: tuple[float, float]
    larger: bool
    floor: float | None


def evaluate(
    log: Any,
    policy: Any,
    *,
    risk: RiskMeasure | str | Sequence[RiskMeasure | str] | None = None,
    quantiles: Sequence[float] = QUANTILES,
    level: float = 0.95,
    support: Sequence[float] | None = None,
    method: str | None = None,
    floor: float | None = None,
    unit: str = "",
    larger_is_better: bool = True,
    seed: int = 0,
    group: str | None = None,
    outcome: str | None = None,
    propensity: str | None = None,
    time: str | None = None,
) -> Evaluation:
    """What a policy would have received in the rounds of a log: its mean, variance, risks and quantiles.

    Each interval holds with probability `level`, for every number of rounds, and also if the log's policy learned from
    the outcomes. What each method assumes: docs, evaluation.

    Parameters
    ----------
    log
        A CSV file, a data frame, or a mapping from names to columns, with a row for each round.
    policy
        An arm of the log; probabilities of arms, as in `{"A": 0.9, "B": 0.1}`; or a policy or learner, which is
        replayed on the log.
    risk
        The risk measure by which outcomes are judged, or several; CVaR at 5 % by default. A policy that learns serves
        the first of them, or without any the one that it is made for.
    quantiles
        Levels of quantiles of the outcome.
    level
        The confidence of each interval.
    support
        The smallest and the largest outcome possible. Without it only quantiles have intervals.
    method
        "weights", the default if the log has propensities, weighs rounds by how much likelier the policy takes their
        arms. "doubly-robust" has the same intervals and another estimate. "arms", the default otherwise, puts the
        outcomes of each arm together, which needs no propensities but assumes more.
    floor
        The smallest probability that the log's policy could give an arm. It makes intervals narrower, and a replay
        needs it. Where the propensity of each arm is the same in all rounds, it is taken to be so by design, and no
        floor is needed; pass it all the same if that policy learned.
    unit
        The unit of outcomes, such as "EUR"; only for text.
    larger_is_better
        False for waiting times, costs and losses; risks are then those of minus the outcome.
    seed
        The random seed of a replay.
    group, outcome, propensity, time
        The names of the columns of the arm, of the outcome, of the propensity, and of what puts the rows in order, if
        they are not. By default "arm" or "action", "reward", and "propensity" or "pscore".

    Examples
    --------
    >>> from prudent import evaluate
    >>> log = {"arm": ["A", "B"] * 200, "reward": [0.7, 0.2, 0.5, 1.0] * 100, "propensity": [0.5] * 400}
    >>> found = evaluate(log, {"A": 0.5, "B": 0.5}, support=(0, 1))
    >>> [row.name for row in found.rows]
    ['mean', 'variance', 'cvar(alpha=0.05)', 'quantile 0.05', 'quantile 0.5', 'quantile 0.95']
    >>> round(found["mean"].estimate, 6)
    0.6
    """
    columns = {"group": group, "outcome": outcome, "propensity": propensity, "time": time}
    known = large_log(log, columns) or read_log(log, **columns)
    level = check_parameter(OWNER, "level", level)
    if not isinstance(unit, str):
        raise PrudentError(f"{OWNER}: unit must be a word such as 'EUR', got {shown(unit)}")
    wanted = "a risk measure such as 'cvar(0.05)', or a list of several"
    given = (
        [risk]
        if isinstance(risk, (str, RiskMeasure))
        else check_list(OWNER, "risk", () if risk is None else risk, wanted)
    )
    asked = Question(
        known,
        [risks.make(OWNER, each) for each in given or RISKS],
        [check_parameter(OWNER, "level", each) for each in check_list(OWNER, "quantiles", quantiles, LEVELS)],
        1.0 - level,
        _ends(known, support),
        check_flag(OWNER, "larger_is_better", larger_is_better),
        None,
    )
    shares = shares_of(policy, known.labels)
    method, some, notes = rounds_for(known, shares, method)
    asked = asked._replace(log=some, floor=_checked_floor(some, some.floor or None if floor is None else floor))
    facts: dict[str, Any] = {"rounds": some.rounds, "level": level, "unit": unit}
    if shares is not None and method is not None:
        found = of_large(asked, shares, method) if isinstance(some, LargeLog) else of_shares(asked, shares, method)
    elif isinstance(known, LargeLog):
        raise no_replay()
    else:
        seed = check_integer(OWNER, "seed", seed, low=0)
        served = asked.measures[0] if given or is_learner(policy) else None
        found = of_replay(asked, policy, served, seed)
    found["notes"] = (ASSUMED[found["method"]], *left_out(known), *notes, *found["notes"])
    return Evaluation(**facts, **found)


def rounds_for(known: Any, shares: Array | None, method: str | None) -> tuple[str | None, Any, tuple[str, ...]]:
    """The method, the rounds in which every arm of the policy had a chance, and a note if there are others; of a policy
    that learns no method, and the rounds in which every arm had one.

    Whether an arm has a chance is decided before one is taken, so that leaving the other rounds out favours no outcome.
    """
    labels = known.labels if shares is None else [known.labels[i] for i in np.flatnonzero(shares)]
    some = known.with_chances(labels)
    if shares is not None:
        method = _checked_method(known, some, method, shares)
        if method == ARMS:
            return method, known, without_rounds(labels, known) if some.rounds == 0 else ()
    elif method is not None:
        raise PrudentError(f"{OWNER}: method must be left out for a policy that learns, got {shown(method)}")
    if some.rounds == 0:
        fix = "a replay needs such rounds; evaluate fixed arms" if shares is None else f'pass method="{ARMS}"'
        raise PrudentError(f"{OWNER}: the log has no round in which {all_of(labels)} could be taken; {fix}")
    return method, some, passed_rounds(labels, known, some)


def of_shares(asked: Question, shares: Array, method: str) -> dict[str, Any]:
    """Of a policy that takes each arm with a probability of its own, always."""
    log = asked.log
    weights = None if log.propensities is None else shares[log.arms] / log.propensities
    samples, law = samples_of(asked, shares, weights, method), law_of(log, shares, weights, method)
    band = samples.band(asked.failure)
    effective = 1.0 / float((law.weights**2).sum())
    return {
        "policy": written(shares, log.labels),
        "method": method,
        "effective": effective,
        "rows": tuple(rows_of(asked, samples, law, band)),
        "law": law,
        "band": band,
        "notes": (
            *chances(log, shares, method),
            *notes_of(asked, samples, weights if method != ARMS else None, effective),
        ),
    }


def of_replay(asked: Question, policy: Any, served: RiskMeasure | None, seed: int) -> dict[str, Any]:
    """Of a policy that learns: one run of it. What its rewards cost is known; what those of other runs do is not."""
    log, floor = asked.log, least_propensity(asked.log, asked.floor)
    support = asked.ends if math.isfinite(asked.ends[0]) else None
    settings = {"risk": served, "support": support, "larger_is_better": asked.larger}
    received, agent = replayed(log, policy, floor, seed, settings)
    kept = len(received)
    samples = Samples((Sample(received, np.ones(kept), 1.0, *asked.ends),), np.ones(1), (np.arange(kept),))
    law = Steps.of(received, np.full(kept, 1.0 / kept))
    rows = [row if row.name == "mean" else row._replace(interval=None) for row in rows_of(asked, samples, law, None)]
    said = (
        f"{count(kept)} of {counted(log.rounds, 'round')} were kept, in which the log had the arm that was asked for."
    )
    one = "This is one run. The interval is that of the average of the means of the arms chosen in it."
    return {
        "policy": spec(agent.policy),
        "method": REPLAY,
        "effective": float(kept),
        "rows": tuple(rows),
        "law": law,
        "band": None,
        "notes": (said, one, *notes_of(asked, samples, None, kept)),
    }


def samples_of(asked: Question, shares: Array, weights: Array | None, method: str) -> Samples:
    """The log as one weighted sample, or as one of each arm in question."""
    log = asked.log
    if weights is None or method == ARMS:
        some = np.flatnonzero(shares)
        rounds = tuple(np.flatnonzero(log.arms == arm) for arm in some)
        own = tuple(Sample(log.outcomes[each], np.ones(len(each)), 1.0, *asked.ends) for each in rounds)
        return Samples(own, shares[some], rounds)
    constant, most = log.constant_propensities(), math.inf
    if asked.floor is not None:
        most = float(shares.max()) / asked.floor
    elif constant is not None:  # they are taken to be so by design
        most = float((shares / constant).max())
    return Samples((Sample(log.outcomes, weights, most, *asked.ends),), np.ones(1), (np.arange(log.rounds),))


def law_of(log: Log, shares: Array, weights: Array | None, method: str) -> Steps:
    """The estimated law of outcomes, on those of the log that have a part in it."""
    if weights is None or method == ARMS:
        found = estimates.by_arms(log.arms, shares)
    elif method == WEIGHTS:
        found = estimates.self_normalised(weights)
    else:
        found = estimates.doubly_robust(log.arms, shares, weights)
    some = found != 0.0
    return estimates.as_law(log.outcomes[some], found[some])


def rows_of(asked: Question, samples: Samples, law: Steps, band: Band | None) -> Iterator[Row]:
    """All quantities, with an interval where enough is known."""
    failure, bounded = asked.failure, samples.bounded
    mean = float(law.weights @ law.values)
    yield Row("mean", mean, samples.mean(failure) if bounded else None, larger_is_worse=not asked.larger)
    spread = float(law.weights @ (law.values - mean) ** 2)
    yield Row("variance", spread, samples.cost(0.0, failure) if bounded else None, power=2)
    gains = (samples, law) if asked.larger else (samples.reversed(), law.reversed())
    for measure in asked.measures:
        cost, limits = measure.sample_cost(gains[1].values, gains[1].weights), None
        if bounded and band is not None:
            limits = risk_limits(gains[0], measure, band if asked.larger else band.reversed(), failure)
        yield Row(risk_name(measure), cost, limits, power_of(measure))
    for level in asked.levels:
        interval = samples.quantile(level, band, failure) if band is not None else None
        yield Row(f"quantile {level:g}", law.quantile(level), interval, larger_is_worse=not asked.larger)


def notes_of(asked: Question, samples: Samples, weights: Array | None, effective: float) -> Iterator[str]:
    """What to be careful about."""
    if weights is not None:
        yield from doubts(float(weights.mean()), float(weights.std()) / math.sqrt(len(weights)))
        if math.isinf(samples.samples[0].most):
            why = "Propensities vary and have no known floor, so intervals are wide"
            yield f"{why}; pass floor=… (--floor), the smallest probability that the log's policy could give an arm."
    yield from few_rounds(effective)
    yield from too_low(asked.measures, effective)
    if not samples.bounded:
        what = "support=… (--support), the smallest and largest outcome possible"
        yield f"For intervals of more than quantiles pass {what}."


def _ends(log: Log | LargeLog, support: Sequence[float] | None) -> tuple[float, float]:
    if support is None:
        return -math.inf, math.inf
    low, high = check_support(OWNER, support)
    least, most = log.outcome_ends
    if not (math.isfinite(low) and math.isfinite(high)):
        raise PrudentError(f"{OWNER}: support must be finite, got ({low:g}, {high:g}); leave it out if it is not known")
    if least < low or most > high:
        got = f"the log has outcomes from {number(least)} to {number(most)}"
        raise PrudentError(f"{OWNER}: support must hold all outcomes, got ({low:g}, {high:g}) and {got}; widen it")
    return low, high


def _checked_floor(log: Log | LargeLog, floor: Any) -> float | None:
    if floor is None:
        return None
    hint = "it is the smallest probability that the log's policy could give an arm"
    least = check_number(OWNER, "floor", floor, low=0.0, high=1.0, open_low=True, hint=hint)
    if log.least_propensity is not None and log.least_propensity < least * (1.0 - 1e-9):
        got = f"got {least:g}, and the log has a propensity of {log.least_propensity:g}"
        raise PrudentError(f"{OWNER}: floor must be at most the smallest propensity, {got}; {hint}")
    return least


def _checked_method(log: Log | LargeLog, some: Log | LargeLog, method: str | None, shares: Array) -> str:
    """By default weights, if the arms had chances for sure in `some` rounds of the log."""
    if method is None:
        weighs = log.least_propensity is not None and some.rounds > 0 and not lacks_chances(some, shares)
        return WEIGHTS if weighs else ARMS
    check_choice(OWNER, "method", method, METHODS)
    if method != ARMS and log.least_propensity is None:
        fix = f'name their column with propensity=…, or pass method="{ARMS}"'
        raise PrudentError(f"{OWNER}: method {method} needs the propensities of the log; {fix}")
    return method
