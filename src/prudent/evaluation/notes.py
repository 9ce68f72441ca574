"""What to be careful about: decisions that are left out, arms without a chance, weights that cannot be right."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from prudent.base.arrays import Array
from prudent.base.text import count, counted, number, risk_name
from prudent.evaluation.target import ARMS
from prudent.risk.base import RiskMeasure
from prudent.risk.distortion import Spectral
from prudent.risk.entropic import Entropic, EVaR
from prudent.risk.mean_variance import MeanVariance

DOUBT = 5.0
"""Standard errors by which the mean of the weights may differ from 1 before the propensities are doubted."""

FEW = 100
"""Rounds of the policy itself below which an estimate says little."""

CONCAVE = (MeanVariance, Spectral, Entropic, EVaR)
"""Measures that are the least of expectations, or a concave function of one: by Jensen's inequality their estimates are
too low on average."""

ANSWERED = "A default counts as an outcome. So this is about decisions that were answered or have a default."


def left_out(log: Any) -> Iterator[str]:
    """Which decisions of the log have no part in what is said."""
    if log.passed_over:
        parts = ", ".join(f"{count(many)} {state}" for state, many in log.passed_over)
        yield f"Decisions without an outcome were passed over: {parts}. {ANSWERED}"


def all_of(labels: Sequence[str]) -> str:
    """`A`, or `all of A, B and C`, of which those after the fifth are not named."""
    if len(labels) == 1:
        return labels[0]
    named = ", ".join(labels[:-1]) + f" and {labels[-1]}" if len(labels) < 6 else f"{len(labels)} arms"
    return f"all of {named}"


def passed_rounds(labels: Sequence[str], log: Any, some: Any) -> tuple[str, ...]:
    """That rounds were left out, if any were, because an arm in question had no chance in them."""
    if some.rounds == log.rounds:
        return ()
    left = f"{count(log.rounds - some.rounds)} of {counted(log.rounds, 'round')}"
    why = "as when an arm is added later, retired, or not among those asked for"
    return (f"Left out were {left} in which it was not certain that {all_of(labels)} had a chance, {why}.",)


def without_rounds(labels: Sequence[str], log: Any) -> tuple[str, ...]:
    """That propensities were not used, because no round had chances for all arms in question."""
    return (f"In no round {all_of(labels)} could be taken, so propensities were not used.",)


def chances(log: Any, shares: Array, method: str) -> Iterator[str]:
    """Where an arm of the policy could not be taken, so that weights know nothing of it."""
    if log.least_propensity is None:
        return
    for arm in np.flatnonzero(shares).tolist():
        label, rounds = log.labels[arm], log.without_chance(arm)
        if rounds:
            share = f"{count(rounds)} of {counted(log.rounds, 'round')}"
            why = f"In {share} another arm was certain, and {label} had no chance"
            then = "so propensities were not used" if method == ARMS else "so weights are wrong"
            yield f"{why}, {then}. A floor of probabilities in the experiment gives every arm a chance."


def lacks_chances(log: Any, shares: Array) -> bool:
    """Whether an arm that the policy takes could not be taken in some rounds of the log, as far as that is known."""
    return log.floor == 0.0 or any(map(log.without_chance, np.flatnonzero(shares).tolist()))


def doubts(mean: float, error: float) -> Iterator[str]:
    """Whether weights of this mean, with its standard error, can be right."""
    if abs(mean - 1.0) > DOUBT * error + 1e-9:
        why = "the propensities are wrong, or rounds with large weights are too rare to be in the log"
        yield f"The weights have the mean {number(mean, 3)} and not 1: {why}."


def few_rounds(effective: float) -> Iterator[str]:
    """That a log is worth little, if it is."""
    if effective < FEW:
        yield f"All this rests on about {count(round(effective))} rounds of the policy itself; take it as a first hint."


def too_low(measures: Sequence[RiskMeasure], effective: float) -> Iterator[str]:
    """Which costs are estimated too low, because outcomes are few."""
    low = [risk for risk in measures if isinstance(risk, CONCAVE) and not math.isinf(getattr(risk, "rho", 0.0))]
    if few := [risk_name(risk) for risk in low if effective * getattr(risk, "alpha", 1.0) < FEW]:
        why = "the worst outcomes are rarely among so few"
        yield f"Estimated too low on average, because {why}: {', '.join(few)}. Read the column “at worst” first."
