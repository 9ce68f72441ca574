"""What a plan must say before it recommends anything: odd outcomes, changes within the file, a ρ that prefers less."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from prudent.base.text import number
from prudent.plan.elicit import Option, Pilot
from prudent.plan.trial import Trial
from prudent.plan.words import percent

ODD = 4.0
"""How many times smaller the variance must be without an outcome for that to be odd."""

FEWEST = 10
"""Outcomes of an option without which nothing is odd."""

CHANGED = 0.001
"""The p-value below which the two halves of a file differ."""

FEW = 30
"""Outcomes of an option below which a plan says that they are few."""


def cautions(trial: Trial) -> list[str]:
    """All of them, in sentences; empty if there are none."""
    pilots = [option for option in trial.options if isinstance(option, Pilot)]
    found = [*prefers_less(trial), *(text for option in pilots for text in _odd(trial, option))]
    found += [text for option in pilots for text in _changed(trial, option, len(pilots))]
    if few := [option.name for option in pilots if len(option.outcomes) < FEW]:
        found.append(
            f"Fewer than {FEW} outcomes are known of {', '.join(few)}, so what larger outcomes may come is a guess."
        )
    return found


def prefers_less(trial: Trial) -> list[str]:
    """Where a worse mean is preferred because outcomes other than 0 are rarer.

    An option pays X with probability p, and else nothing. Its cost p E[X²] − p² E[X]² − ρ p E[X] rises with p where
    ρ < E[X²]/E[X] − 2 p E[X]: for outcomes of 0 and 1 where p < (1 − ρ)/2.
    """
    if trial.rho is None or math.isinf(trial.rho) or not trial.outcome.larger_is_better:
        return []
    moments = {option.name: option.moments for option in trial.options}
    costs = {name: variance - trial.rho * mean for name, (mean, variance) in moments.items()}
    preferred = min(costs, key=lambda name: (costs[name], name))
    better = max(moments, key=lambda name: (moments[name][0], name))
    rising = {option.name: _pays(option) for option in trial.options}
    shares = [rising[name] for name in (preferred, better)]
    if preferred == better or shares[0] is None or shares[1] is None or not shares[0][0] < shares[1][0]:
        return []
    share, mean, square = shares[1]
    limit = square / mean - 2.0 * share * mean
    if not trial.rho < limit:
        return []
    outcome = trial.outcome
    known = [outcome.amount(moments[name][0]) for name in (preferred, better)]
    return [
        f"At ρ = {outcome.amount(trial.rho)} you prefer {preferred} to {better} because fewer outcomes of {preferred}"
        f" are above 0 ({percent(shares[0][0])} instead of {percent(share)}): an option that never pays has no spread."
        f" The mean outcome of {preferred} is {known[0]}, that of {better} {known[1]}. If you did not mean that, take a"
        f" ρ above {outcome.amount(limit, digits=3)}, or --rho inf for the mean alone. What bears the risk may be a sum"
        " of many outcomes, such as a day's: see --period."
    ]


def _pays(option: Option) -> tuple[float, float, float] | None:
    """How often an option pays, and the mean and the mean square of what it pays then; None if it may pay below 0."""
    if isinstance(option, Pilot):
        x = np.sort(option.outcomes)
        paid = x[x > 0.0]
        if x[0] < 0.0 or not len(paid) or len(paid) == len(x):
            return None
        return len(paid) / len(x), float(paid.mean()), float((paid**2).mean())
    mean, variance = option.moments
    law = str(getattr(option, "law", ""))
    return (mean, 1.0, 1.0) if law.startswith("bernoulli") and variance > 0.0 else None


def _odd(trial: Trial, option: Pilot) -> list[str]:
    """One outcome far from all others, with what it decides."""
    x = np.sort(option.outcomes)
    if len(x) < FEWEST or option.binary:
        return []
    middle = float(np.median(x))
    end = -1 if x[-1] - middle >= middle - x[0] else 0
    odd, rest = float(x[end]), np.delete(x, end)
    if not x.var() > ODD * rest.var() or abs(odd - middle) < 2.0 * np.abs(rest - middle).max():
        return []
    whole, without = _winner(trial, trial.options), _winner(trial, _without(trial, option, rest))
    times = f"{number(odd / middle, 2)} times its median" if middle > 0.0 < odd else "far from all others"
    mean = _changes(trial, float(x.mean()), float(rest.mean()))
    deviation = _changes(trial, float(x.std()), float(rest.std()))
    said = f"One outcome of {option.name} is {times}: {trial.outcome.amount(odd)}. Without it: mean {mean}, standard"
    said += f" deviation {deviation}"
    said += (
        f", and {without} looks best instead of {whole}." if without != whole else f"; {whole} looks best either way."
    )
    return [f"{said} If it is a mistake, correct the file."]


def _changes(trial: Trial, whole: float, without: float) -> str:
    return f"{trial.outcome.amount(without)} instead of {trial.outcome.amount(whole)}"


def _without(trial: Trial, option: Pilot, rest: Any) -> list[Option]:
    return [Pilot(one.name, tuple(rest.tolist())) if one is option else one for one in trial.options]


def _winner(trial: Trial, options: Sequence[Option]) -> str:
    """The option of smallest cost by mean and variance."""
    sign, rho = trial.outcome.sign, 1.0 if trial.rho is None else trial.rho
    moments = {option.name: option.moments for option in options}
    weight, worth = (0.0, 1.0) if math.isinf(rho) else (1.0, rho)
    costs = {name: weight * variance - worth * sign * mean for name, (mean, variance) in moments.items()}
    return min(costs, key=lambda name: (costs[name], name))


def _changed(trial: Trial, option: Pilot, count: int) -> list[str]:
    """Whether outcomes changed from the first half of the file to the second."""
    x = np.array(option.outcomes)
    half = len(x) // 2
    if half < FEWEST or len(set(option.outcomes)) < 2:
        return []
    p = stats.mannwhitneyu(x[:half], x[half:]).pvalue
    if not p * count < CHANGED:
        return []
    before, after = (trial.outcome.amount(float(part.mean()), digits=3) for part in (x[:half], x[half:]))
    return [
        f"Outcomes of {option.name} changed within the file: their mean is {before} in its first half and {after} in"
        " its second. A plan assumes that they do not change; if rows are in the order of time, plan from later ones."
    ]
