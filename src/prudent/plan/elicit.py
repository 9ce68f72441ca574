"""From what people know to a prior: guesses in plain ranges, pilot data, and a trade-off instead of a ρ."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from prudent import PrudentError
from prudent.arms.base import arms
from prudent.arrays import Array
from prudent.errors import check_positive, shown
from prudent.files import read_columns

MOST_OPTIONS = 10_000
"""Options of one trial."""

LONGEST = 10_000
"""Characters of one guess."""

NUMBER = r"-?(?<![\d.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:\.\.\.?|…)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
SEVERAL = re.compile(r"(\d+)\s*[*×x]\s*(.+)", re.DOTALL)


class Option(Protocol):
    """Something that can be chosen in the trial, whose rewards are not known yet."""

    @property
    def name(self) -> str: ...

    def draw(self, rng: np.random.Generator) -> str:
        """One arm it may turn out to be."""


class Guess(NamedTuple):
    """A law with ranges for its numbers, `gaussian(0.3..0.6, 0.1..0.4)`; every value in a range is as likely."""

    name: str
    law: str

    def __str__(self) -> str:
        return f"{self.name}: {self.law}"

    def draw(self, rng: np.random.Generator) -> str:
        return RANGE.sub(lambda ends: f"{rng.uniform(float(ends[1]), float(ends[2])):.6g}", self.law)


@dataclass(frozen=True)
class Pilot:
    """Outcomes seen before. Outcomes of 0 and 1 are Bernoulli, with a uniform prior; others Gaussian, with the prior
    1/σ² of mean and variance, so σ² ~ (m − 1) s² / χ²_{m−1} and μ ~ N(x̄, σ²/m)."""

    name: str
    outcomes: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.outcomes)} outcomes"

    @cached_property
    def _counts(self) -> tuple[float, float] | None:
        """How many outcomes are 1 and how many 0, if there are no others."""
        x = np.array(self.outcomes)
        return (x.sum(), (1.0 - x).sum()) if set(self.outcomes) <= {0.0, 1.0} else None

    @cached_property
    def _moments(self) -> tuple[float, float]:
        x: Array = np.array(self.outcomes)
        with np.errstate(over="ignore", invalid="ignore"):
            return x.mean(), x.var(ddof=1)

    def draw(self, rng: np.random.Generator) -> str:
        if self._counts is not None:
            ones, zeros = self._counts
            return f"bernoulli({rng.beta(1.0 + ones, 1.0 + zeros):.6g})"
        size, (mean, spread) = len(self.outcomes), self._moments
        variance = (size - 1) * spread / rng.chisquare(size - 1)
        return f"gaussian({rng.normal(mean, np.sqrt(variance / size)):.6g}, {variance:.6g})"


def tolerance(less_mean: float, less_variance: float) -> float:
    """ρ of someone who would just give up `less_mean` for `less_variance`: less_variance − ρ · less_mean = 0."""
    hint = "say how much mean you give up for how much variance"
    variance = check_positive("trade-off", "variance", less_variance, hint=hint)
    mean = check_positive("trade-off", "mean", less_mean, hint=hint)
    if not 0.0 < variance / mean < math.inf:
        got = f"{variance:g}/{mean:g} = {variance / mean:g}"
        raise PrudentError(f"trade-off: variance/mean must be above 0 and finite, got {got}; give ρ itself")
    return variance / mean


def guesses(texts: Sequence[str]) -> list[Option]:
    """`placebo: gaussian(0.3..0.6, 0.1)`, or several alike: `4 * bernoulli(0.2..0.5)`; names are optional."""
    if isinstance(texts, str) or not hasattr(texts, "__iter__"):
        raise PrudentError(f"guesses: texts must be a list such as ['drug: gaussian(0.3..0.6, 1)'], got {shown(texts)}")
    found: list[Option] = []
    for text in texts:
        name, count, law = _parts(text)
        times, room = 1 if count is None else count, MOST_OPTIONS - len(found)
        if not 1 <= times <= room:
            limit = f"from 1 to {MOST_OPTIONS:,} options in all"
            raise PrudentError(f"option {shown(text)}: a trial must have {limit}; take another number of them")
        for i in range(times):
            own = name or f"option {len(found) + 1}"
            found.append(Guess(f"{own} {i + 1}" if name and count is not None else own, law))
    return found


def _parts(text: str) -> tuple[str, int | None, str]:
    """The name, the count and the law of a guess; "" and None where it has none."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise PrudentError(f"option {shown(text)}: must be a text of at most {LONGEST:,} characters")
    name, colon, rest = text.partition(":")
    if not colon or "(" in name:
        name, rest = "", text
    elif not name.strip():
        rest = ""
    several = SEVERAL.fullmatch(rest.strip())
    # A number of more digits is too large all the same, and Python would not read thousands of them.
    count = None if several is None else int(several[1].lstrip("0")[:10] or "0")
    law = rest.strip() if several is None else several[2]
    if not law:
        raise PrudentError(f"option {text!r}: write e.g. 'drug: gaussian(0.3..0.6, 0.1..0.4)'")
    for low, high in RANGE.findall(law):
        if not 0.0 <= float(high) - float(low) < math.inf:
            raise PrudentError(f"option {text!r}: {low}..{high} must go from the smaller to the larger number")
    for ends in (r"\1", r"\2"):
        arms.parse(RANGE.sub(ends, law))
    return name.strip(), count, law


def pilot(path: Path | str) -> list[Option]:
    """Options from a CSV file with a column of outcomes for each; columns may differ in length."""
    found: list[Option] = []
    for name, outcomes in read_columns(path, gaps=True, text=False).items():
        own = Pilot(name, tuple(outcomes))
        if len(outcomes) < 3 or (len(set(outcomes)) == 1 and not set(outcomes) <= {0.0, 1.0}):
            raise PrudentError(f"{path}: column {name!r} must hold at least 3 outcomes that are not all the same")
        if not math.isfinite(own._moments[1]):
            raise PrudentError(f"{path}: column {name!r} has no finite variance; give its outcomes in a larger unit")
        found.append(own)
    return found
