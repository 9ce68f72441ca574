"""Choosing ρ: from an answer that a person can give, or from which option wins for which ρ."""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent import PrudentError
from prudent.base.errors import check_finite, check_positive, shown
from prudent.plan.elicit import Option, Pilot, check_options
from prudent.plan.words import Outcome, percent

EXAMPLE = "'5 less on average for a standard deviation of 25 instead of 30', or 5 25 30"
NUMBER = re.compile(r"(?<![\w.,])[-+−]?\d[\d.,]*(?:[eE][+-]?\d+)?")
INSTEAD = re.compile(r"(#\d)[^#]*(?:instead of|rather than|in place of)[^#]*(#\d)")


def tolerance(less_mean: float, deviation: float, instead_of: float) -> float:
    """ρ of someone who would just accept `less_mean` less on average for a standard deviation of `deviation` instead
    of `instead_of`: ρ = (instead_of² − deviation²)/less_mean, in the unit of the outcome.

    Where smaller is better, `less_mean` is how much more they would accept.
    """
    hint = "the mean you would give up must be above 0"
    mean = check_positive("trade-off", "mean", less_mean, hint=hint)
    small = check_finite("trade-off", "standard deviation", deviation, low=0.0)
    large = check_positive("trade-off", "standard deviation", instead_of)
    if not small < large:
        fix = "say the smaller one first, as in '25 instead of 30'"
        raise PrudentError(f"trade-off: the standard deviation must get smaller, got {small:g} → {large:g}; {fix}")
    rho = float(f"{(large - small) * (large + small) / mean:.12g}")  # 0.4, and not 0.39999999999999997
    if not 0.0 < rho < math.inf:
        raise PrudentError(f"trade-off: ρ must be above 0 and finite, got {rho:g}; give ρ itself")
    return rho


def accepted(answer: str) -> float:
    """ρ from a sentence such as "5 less on average for a standard deviation of 25 instead of 30", or "5 25 30"."""
    if not isinstance(answer, str) or len(answer) > 1_000:
        raise PrudentError(f"trade-off: must be a text such as {EXAMPLE}, got {shown(answer)}")
    if "varianc" in answer.lower() or "%" in answer or "percent" in answer.lower():
        what = "standard deviations, not variances" if "varianc" in answer.lower() else "amounts, not percentages"
        raise PrudentError(f"trade-off: give {what}, such as {EXAMPLE}; got {shown(answer)}")
    found = [_read(text) for text in NUMBER.findall(answer)]
    if len(found) != 3:
        wanted = "three numbers: what you give up on average, and the standard deviations after and before"
        raise PrudentError(f"trade-off: needs {wanted}, such as {EXAMPLE}; got {shown(answer)}")
    marked = re.sub(NUMBER, "{}", answer.replace("{", "").replace("}", "").replace("#", "")).format("#0", "#1", "#2")
    pair = INSTEAD.search(marked.lower())
    after, before = (int(pair[1][1]), int(pair[2][1])) if pair else (1, 2)
    (mean,) = {0, 1, 2} - {after, before}
    return tolerance(found[mean], found[after], found[before])


def _read(text: str) -> float:
    """A number of the sentence; 1,234 may be two."""
    text = text.rstrip(".,").replace("−", "-")
    if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+", text):
        raise PrudentError(f"trade-off: {text} may mean two numbers; write {text.replace(',', '')} or {text}0")
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ValueError:
        raise PrudentError(f"trade-off: {shown(text)} is no number; write it as 1234.5") from None


class Stretch(NamedTuple):
    """From ρ = low to ρ = high this option has the smallest σ² − ρ μ."""

    low: float
    high: float
    option: str
    mean: float
    deviation: float


def winners(options: Sequence[Option], *, larger_is_better: bool = True) -> list[Stretch]:
    """Which option wins for which ρ, from ρ = 0 up, and the exact values where the winner changes.

    The costs σ² − ρ μ are straight lines in ρ, and the winners are those on their lower envelope. Means and standard
    deviations are those of the pilot, and for guesses those in the middle of their ranges.

    Examples
    --------
    >>> from prudent.plan import guesses, winners
    >>> options = guesses(["A: gaussian(40, 900)", "B: gaussian(55, 8100)", "C: gaussian(38, 100)"])
    >>> [(each.option, each.low, each.high) for each in winners(options)]
    [('C', 0.0, 400.0), ('A', 400.0, 480.0), ('B', 480.0, inf)]
    """
    sign = Outcome(larger_is_better=larger_is_better).sign
    known = {option.name: option.moments for option in check_options(options)}
    # The steadiest first, of these the best mean, and then by name: the order of options does not count.
    name = min(known, key=lambda each: (known[each][1], -sign * known[each][0], each))
    found, low = [], 0.0
    while True:
        mean, variance = known[name]
        crossings = [
            ((own[1] - variance) / (sign * (own[0] - mean)), -sign * own[0], each)
            for each, own in known.items()
            if sign * own[0] > sign * mean
        ]
        high, _, following = min(crossings, default=(math.inf, 0.0, ""))
        found.append(Stretch(low, high, name, mean, math.sqrt(variance)))
        if not crossings:
            return found
        name, low = following, high


def in_words(found: Sequence[Stretch], outcome: Outcome, options: Sequence[Option] = (), period: int = 1) -> list[str]:
    """Who wins, a sentence each, and between which two outcomes one chooses with ρ.

    `options` tell which outcomes are usual; with a `period` sums of so many are compared.
    """
    if len(found) == 1:
        return [f"{found[0].option} wins whatever ρ is: it has the best mean and the smallest spread."]
    first, last = found[0], found[-1]
    lines = [f"Below ρ = {outcome.amount(first.high)} the steadiest option wins: {first.option}."]
    lines += [
        f"From {outcome.amount(each.low)} to {outcome.amount(each.high)} {each.option} wins." for each in found[1:-1]
    ]
    lines.append(f"Above ρ = {outcome.amount(last.low)} the option with the best mean wins: {last.option}.")
    known = {option.name: option for option in options}
    for steady, bold in itertools.pairwise(found):
        pictures = [_picture(one, known.get(one.option), outcome, period) for one in (steady, bold)]
        lines.append(
            f"Would you rather have {pictures[0]}, or {pictures[1]}?"
            f" If you prefer {steady.option}, your ρ is below {outcome.amount(bold.low)}."
        )
    if period == 1:
        lines.append(
            "Ask what bears the risk. If it is a single outcome, such as a patient or a waiting time, compare outcomes."
            " If it is a sum, such as a shop's day, compare sums: give the number of outcomes as the period."
        )
    return lines


SUMS = 2_000
"""Sums of a period that are drawn to say which are usual."""


def _picture(one: Stretch, option: Option | None, outcome: Outcome, period: int) -> str:
    """An option by its mean and by the outcomes, or sums of a period, that are usual."""
    mean = f"{outcome.amount(one.mean * period)} on average"
    return f"{one.option} ({mean}, {usual(option, one, outcome, period)})"


def usual(option: Option | None, one: Stretch, outcome: Outcome, period: int = 1) -> str:
    """`most between 0 EUR and 38 EUR; 95 % are 0 EUR`: what nine of ten outcomes are, by the pilot itself."""
    if not isinstance(option, Pilot):
        if period == 1 and str(getattr(option, "law", "")).startswith("bernoulli"):
            return f"{percent(one.mean)} are 1 and the others 0"
        return f"standard deviation {outcome.amount(one.deviation * math.sqrt(period))}"
    x = np.sort(option.outcomes)
    if period > 1:
        rng = np.random.default_rng(0)
        x = np.array([rng.choice(x, period).sum() for _ in range(SUMS if period <= 2_000 else 200)])
        return _range_of(x, outcome)
    if option.binary:
        return f"{percent(one.mean)} are 1 and the others 0"
    return _range_and_mode(x, outcome)


def _range_and_mode(x: Any, outcome: Outcome) -> str:
    values, counts = np.unique(x, return_counts=True)
    often = int(counts.argmax())
    share, value = float(counts[often] / len(x)), float(values[often])
    if share < 0.2 or len(values) <= 2:
        return _range_of(x, outcome)
    many = f"{percent(share)} are {outcome.amount(value)}"
    if share > 0.9:  # nine of ten are the same, which says nothing of the others
        return f"{many}, and {_range_of(x[x != value], outcome).replace('ten', 'ten others')}"
    return f"{_range_of(x, outcome)}; {many}"


def _range_of(x: Any, outcome: Outcome) -> str:
    low, high = (float(end) for end in np.quantile(x, [0.05, 0.95], method="inverted_cdf"))
    return f"nine of ten between {outcome.amount(low, digits=3)} and {outcome.amount(high, digits=3)}"


def rho_in_words(rho: float, deviation: float, outcome: Outcome) -> str:
    """What a ρ means, at a standard deviation of the size that the options have."""
    if math.isinf(rho):
        return "Only the mean counts; how much outcomes vary does not."
    if rho == 0.0:
        return "Only the spread counts: a better mean is worth nothing."
    worse, small = "less" if outcome.larger_is_better else "more", 0.9 * deviation
    price = (deviation - small) * (deviation + small) / rho
    return (
        f"You would just accept {outcome.amount(price)} {worse} on average for a standard deviation of"
        f" {outcome.amount(small)} instead of {outcome.amount(deviation)}."
    )


def rows(found: Sequence[Stretch], outcome: Outcome) -> list[dict[str, str]]:
    """Which option wins for which ρ, a row of text for each stretch."""
    return [
        {
            "ρ from": outcome.amount(each.low),
            "to": "∞" if math.isinf(each.high) else outcome.amount(each.high),
            "wins": each.option,
            "its mean": outcome.amount(each.mean),
            "its standard deviation": outcome.amount(each.deviation),
        }
        for each in found
    ]
