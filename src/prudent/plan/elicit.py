"""From what people know to a prior: guesses in plain ranges, pilot data, and a trade-off instead of a ρ."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from prudent import PrudentError
from prudent.arms.base import arms
from prudent.errors import check_positive
from prudent.files import read_columns

NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:\.\.\.?|…)\s*({NUMBER})")
GUESS = re.compile(r"\s*(?:(?P<name>[^:(]+?)\s*:)?\s*(?:(?P<count>\d+)\s*[*×x]\s*)?(?P<law>.+?)\s*")


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


class Pilot(NamedTuple):
    """Outcomes seen before. Outcomes of 0 and 1 are Bernoulli, with a uniform prior; others Gaussian, with the prior
    1/σ² of mean and variance, so σ² ~ (m − 1) s² / χ²_{m−1} and μ ~ N(x̄, σ²/m)."""

    name: str
    outcomes: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.outcomes)} outcomes"

    def draw(self, rng: np.random.Generator) -> str:
        x = np.array(self.outcomes)
        if set(self.outcomes) <= {0.0, 1.0}:
            return f"bernoulli({rng.beta(1.0 + x.sum(), 1.0 + (1.0 - x).sum()):.6g})"
        variance = (len(x) - 1) * x.var(ddof=1) / rng.chisquare(len(x) - 1)
        return f"gaussian({rng.normal(x.mean(), np.sqrt(variance / len(x))):.6g}, {variance:.6g})"


def tolerance(less_mean: float, less_variance: float) -> float:
    """ρ of someone who would just give up `less_mean` for `less_variance`: less_variance − ρ · less_mean = 0."""
    hint = "say how much mean you give up for how much variance"
    variance = check_positive("trade-off", "variance", less_variance, hint=hint)
    return variance / check_positive("trade-off", "mean", less_mean, hint=hint)


def guesses(texts: Sequence[str]) -> list[Option]:
    """`placebo: gaussian(0.3..0.6, 0.1)`, or several alike: `4 * bernoulli(0.2..0.5)`; names are optional."""
    found: list[Option] = []
    for text in texts:
        match = GUESS.fullmatch(text)
        if match is None:
            raise PrudentError(f"option {text!r}: write e.g. 'drug: gaussian(0.3..0.6, 0.1..0.4)'")
        for low, high in RANGE.findall(match["law"]):
            if float(low) > float(high):
                raise PrudentError(f"option {text!r}: {low}..{high} must go from the smaller to the larger number")
        for ends in (r"\1", r"\2"):
            arms.parse(RANGE.sub(ends, match["law"]))
        for i in range(int(match["count"] or 1)):
            name = match["name"] or f"option {len(found) + 1}"
            found.append(Guess(f"{name} {i + 1}" if match["name"] and match["count"] else name, match["law"]))
    return found


def pilot(path: Path | str) -> list[Option]:
    """Options from a CSV file with a column of outcomes for each; columns may differ in length."""
    found: list[Option] = []
    for name, outcomes in read_columns(path, gaps=True, text=False).items():
        if len(outcomes) < 3 or (len(set(outcomes)) == 1 and not set(outcomes) <= {0.0, 1.0}):
            raise PrudentError(f"{path}: column {name!r} must hold at least 3 outcomes that are not all the same")
        found.append(Pilot(name, tuple(outcomes)))
    return found
