"""From what people know to a prior: guesses in plain ranges, and pilot data."""

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from prudent import PrudentError
from prudent.arms.base import arms
from prudent.base.arrays import Array
from prudent.base.csv_columns import read_columns, read_groups
from prudent.base.errors import shown

MOST_OPTIONS = 10_000
"""Options of one trial."""

FEWEST = 3
"""Outcomes of an option of a pilot."""

LONGEST = 10_000
"""Characters of one guess."""

NUMBER = r"-?(?<![\d.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:\.\.\.?|…)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
SEVERAL = re.compile(r"(\d+)\s*[*×x]\s*(.+)", re.DOTALL)


class Option(Protocol):
    """Something that can be chosen in the trial, whose rewards are not known yet."""

    @property
    def name(self) -> str: ...

    @property
    def moments(self) -> tuple[float, float]:
        """The mean and the variance that it has as far as is known."""

    def draw(self, rng: np.random.Generator) -> str:
        """One arm it may turn out to be, in full precision: outcomes twice as large make arms twice as large."""


class Guess(NamedTuple):
    """A law with ranges for its numbers, `gaussian(0.3..0.6, 0.1..0.4)`; every value in a range is as likely."""

    name: str
    law: str

    def __str__(self) -> str:
        return f"{self.name}: {self.law}"

    @property
    def middle(self) -> str:
        """The distribution in the middle of all ranges."""
        return RANGE.sub(lambda ends: repr(0.5 * float(ends[1]) + 0.5 * float(ends[2])), self.law)

    @property
    def moments(self) -> tuple[float, float]:
        """Those in the middle of all ranges."""
        law = arms.parse(self.middle)
        return law.mean, law.variance

    def draw(self, rng: np.random.Generator) -> str:
        return RANGE.sub(lambda ends: repr(float(rng.uniform(float(ends[1]), float(ends[2])))), self.law)


@dataclass(frozen=True)
class Pilot:
    """Outcomes seen before, in the order of the file. Outcomes of 0 and 1 are Bernoulli, with a uniform prior. Worlds
    give others random weights (`prudent.plan.worlds`); only if a normal model is asked for they are drawn here, with
    the prior 1/σ² of mean and variance, so σ² ~ (m − 1) s² / χ²_{m−1} and μ ~ N(x̄, σ²/m)."""

    name: str
    outcomes: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.outcomes)} outcomes"

    @cached_property
    def binary(self) -> bool:
        """Whether all outcomes are 0 or 1."""
        return set(self.outcomes) <= {0.0, 1.0}

    @cached_property
    def _counts(self) -> tuple[float, float] | None:
        """How many outcomes are 1 and how many 0, if there are no others."""
        x = np.sort(self.outcomes)
        return (x.sum(), (1.0 - x).sum()) if self.binary else None

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Those of the outcomes; the variance is the unbiased one."""
        x: Array = np.sort(self.outcomes)  # sorted, so that the order of rows changes no digit
        with np.errstate(over="ignore", invalid="ignore"):
            return float(x.mean()), float(x.var(ddof=1))

    def draw(self, rng: np.random.Generator) -> str:
        if self._counts is not None:
            ones, zeros = self._counts
            return f"bernoulli({float(rng.beta(1.0 + ones, 1.0 + zeros))!r})"
        size, (mean, spread) = len(self.outcomes), self.moments
        variance = float((size - 1) * spread / rng.chisquare(size - 1))
        return f"gaussian({float(rng.normal(mean, math.sqrt(variance / size)))!r}, {variance!r})"


def check_options(options: Any) -> list[Option]:
    """The options by name, so that their order does not count, if they can be chosen from."""
    fix = "pass a list of what guesses() and pilot() make"
    if isinstance(options, str | bytes | Mapping) or not hasattr(options, "__len__"):
        raise PrudentError(f"plan: options must be two or more to choose from, got {shown(options)}; {fix}")
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise PrudentError(
            f"plan: options must be two or more to choose from, and at most {MOST_OPTIONS:,}, got {len(options):,}"
        )
    for option in options:
        if not isinstance(getattr(option, "name", None), str) or not callable(getattr(option, "draw", None)):
            raise PrudentError(f"plan: an option must have a name and a draw, got {shown(option)}; {fix}")
    twice = next((name for name, count in Counter(option.name for option in options).items() if count > 1), None)
    if twice is not None:
        raise PrudentError(f"plan: two options are called {twice!r}; give each a name of its own")
    for option in options:
        try:
            _, variance = map(float, option.moments)
        except (TypeError, ValueError, AttributeError) as error:
            raise PrudentError(f"plan: option {option.name!r} has no mean and variance: {error}") from None
        if not 0.0 <= variance < math.inf:
            raise PrudentError(f"plan: option {option.name!r} must have a finite variance, got {variance:g}")
    return sorted(options, key=lambda option: option.name)


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


def pilot(
    path: Path | str,
    *,
    group: str | None = None,
    outcome: str | None = None,
    remark: Callable[[str], Any] = lambda text: warnings.warn(text, stacklevel=3),
) -> list[Option]:
    """Options from a CSV file of outcomes.

    Without `group` the file has a column for each option, and columns may differ in length; dates and ids are passed
    over. With `group` it has a row for each outcome: the column `group` says to which option it belongs, the column
    `outcome` holds it. `remark` is called with a sentence on what was passed over and what is missing.
    """
    if group is None and outcome is not None:
        raise PrudentError(f"{path}: outcome={outcome!r} needs group=…, the column that says which option a row is of")
    said: list[str] = []
    read = (
        read_columns(path, gaps=True, text=False, remark=said.append)
        if group is None
        else read_groups(path, group, outcome, remark=said.append)
    )
    for text in said:
        remark(f"{path}: {text}")
    found: list[Option] = []
    wrong: list[str] = []
    column = "column" if group is None else group
    for name, outcomes in read.items():
        own = Pilot(name, tuple(outcomes))
        if len(outcomes) < FEWEST and len(read) > 2:
            guess = f"to have it as an option, guess it with --option '{name}: …'"
            remark(f"{path}: {column} {name!r} was set aside, because {len(outcomes)} outcomes are too few; {guess}")
        elif len(outcomes) < FEWEST:
            need = f"must hold at least {FEWEST} outcomes, got {len(outcomes)}"
            wrong.append(f"{column} {name!r} {need}; guess it with --option")
        elif len(set(outcomes)) == 1 and not own.binary:
            wrong.append(f"{column} {name!r} must hold outcomes that are not all the same; all are {outcomes[0]:g}")
        elif not math.isfinite(own.moments[1]):
            wrong.append(f"{column} {name!r} has no finite variance; give its outcomes in a larger unit")
        else:
            found.append(own)
    if wrong:
        raise PrudentError(f"{path}: {'; '.join(wrong)}")
    return found
