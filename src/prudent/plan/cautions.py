"""What a plan must say before it recommends anything: odd outcomes, changes within the file, a ρ that prefers less."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.base.text import number
from prudent.plan.elicit import Guess, Option, Pilot
from prudent.plan.odd import FEWEST, odd_ones
from prudent.plan.trial import Trial, mirrored
from prudent.plan.words import percent

CHANGED = 0.001
"""The p-value below which the two halves of a file differ."""

FEW, FEW_SKEWED = 30, 100
"""Outcomes of an option below which a plan says that they are few; and of a skewed one, those that are not equal."""

SKEWED = 2.0
"""The skewness of an exponential distribution. Beyond it an interval from fewer than `FEW_SKEWED` outcomes is too short
(tests/statistical/test_plan_coverage.py)."""


def cautions(trial: Trial, *, judged: bool = True) -> list[str]:
    """All of them, in sentences; empty if there are none. Where ρ is not chosen yet, options are not `judged`."""
    pilots = [option for option in trial.options if isinstance(option, Pilot)]
    found = []
    if trial.model == "normal" and any(not option.binary for option in pilots):
        found.append(
            "Outcomes are simulated as normal, because a normal model was asked for; of those of your file only the"
            " means and variances are used."
        )
    found += [trial.sums] if trial.sums else []
    found += prefers_less(trial) if judged else []
    found += _odd(trial, pilots, judged)
    found += [text for option in pilots for text in _changed(trial, option, len(pilots))]
    if few := [option.name for option in pilots if len(option.outcomes) < FEW]:
        found.append(
            f"Fewer than {FEW} outcomes are known of {', '.join(few)}, so what larger outcomes may come is a guess."
        )
    if skewed := [option.name for option in pilots if option.name not in few and _few_and_skewed(option)]:
        found.append(
            f"The outcomes of {', '.join(skewed)} are skewed, and fewer than {FEW_SKEWED} are other than the most"
            " frequent one. Nobody can see a tail that is not in the file, so the intervals of this plan are too short."
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
    preferred = best_of(trial, trial.options)
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
        f" are other than 0 ({percent(shares[0][0])} instead of {percent(share)}): an option that never pays has no"
        f" spread. The mean outcome of {preferred} is {known[0]}, that of {better} {known[1]}. If you did not mean"
        f" that, take a ρ above {outcome.amount(limit, digits=3)}, or ρ = ∞ for the mean alone. What bears the risk may"
        " be a sum of many outcomes, such as a day's; then compare sums."
    ]


def _pays(option: Option) -> tuple[float, float, float] | None:
    """How often an option's outcome is not 0, and the mean and the mean square then; None if it always or never is, or
    does not pay on average."""
    if isinstance(option, Pilot):
        x = np.sort(option.outcomes)
        never, mean, square = float((x == 0.0).mean()), float(x.mean()), float((x**2).mean())
    else:
        law = law_of(option)
        below = law.cdf(-1e-9 * max(math.sqrt(law.variance), 1e-300))
        never, mean, square = law.cdf(0.0) - below, law.mean, law.variance + law.mean**2
    share = 1.0 - never
    if not (1e-6 < never < 1.0 and mean > 0.0):
        return None
    return share, mean / share, square / share


def law_of(option: Option) -> Law:
    """The distribution of an option that is not a pilot; of a guess that in the middle of its ranges."""
    return arms.parse(option.middle if isinstance(option, Guess) else option.draw(np.random.default_rng(0)))


def _odd(trial: Trial, pilots: Sequence[Pilot], judged: bool) -> list[str]:
    """Outcomes far from all others, with what they decide together."""
    parts = {option.name: odd_ones(np.sort(option.outcomes)) for option in pilots if not option.binary}
    parts = {name: (odd, rest) for name, (odd, rest) in parts.items() if len(odd)}
    said = [_odd_ones_of(trial, name, odd, rest) for name, (odd, rest) in parts.items()]
    if not said:
        return []
    fix = "If they are mistakes, correct the file."
    if judged:
        left = {name: Pilot(name, tuple(rest.tolist())) for name, (_, rest) in parts.items()}
        whole = best_of(trial, trial.options)
        without = best_of(trial, [left.get(option.name, option) for option in trial.options])
        them = "all of these outcomes" if len(said) > 1 else "them"
        looks = f"{whole} looks best either way" if without == whole else f"{without} looks best instead of {whole}"
        fix = f"Without {them} {looks}. {fix}"
    return [*said[:-1], f"{said[-1]} {fix}"]


def _odd_ones_of(trial: Trial, name: str, odd: Array, rest: Array) -> str:
    outcome, whole = trial.outcome, np.append(odd, rest)
    middle, one = float(np.median(whole)), len(odd) == 1
    ends = outcome.amount(float(odd[0]))
    ends += f" to {outcome.amount(float(odd[-1]))}" if odd[0] < odd[-1] else ""
    times = "far from all others"
    if middle > 0.0 < odd[0]:
        times = f"{number(float(odd[0]) / middle, 2)} times {'its' if one else 'the'} median{'' if one else ' or more'}"
    many = f"One outcome of {name} is" if one else f"{len(odd):,} outcomes of {name} are"
    said = f"{many} {times}: {ends}."
    if not one and odd[0] == odd[-1]:
        said += " All are the same, as time-outs are."
    mean = f"{outcome.amount(float(rest.mean()))} instead of {outcome.amount(float(whole.mean()))}"
    deviation = f"{outcome.amount(float(rest.std()))} instead of {outcome.amount(float(whole.std()))}"
    return f"{said} Without {'it' if one else 'them'}: mean {mean}, standard deviation {deviation}."


def best_of(trial: Trial, options: Sequence[Option]) -> str:
    """The option that the trial's own risk likes best, by its outcomes or its guess."""
    costs = {option.name: _cost(trial, option) for option in options}
    return min(costs, key=lambda name: (costs[name], name))


def _cost(trial: Trial, option: Option) -> float:
    sign, risk = trial.outcome.sign, trial.risk
    if risk.by_moments:
        mean, variance = option.moments
        return float(risk.stats_cost(sign * mean, variance))
    if isinstance(option, Pilot):
        return risk.sample_cost(sign * np.array(option.outcomes))
    law = law_of(option)
    return risk.cost(law if sign > 0.0 else mirrored(option.name, law))


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


def _few_and_skewed(option: Pilot) -> bool:
    """Whether an option has few outcomes for how skewed they are."""
    if option.binary:
        return False
    _, x = odd_ones(np.sort(option.outcomes))
    _, counts = np.unique(x, return_counts=True)
    often = int(counts.max()) if counts.max() > 1 else 0
    return len(x) - often < FEW_SKEWED and abs(float(stats.skew(x))) > SKEWED
