"""Cells: what is simulated, under which key, and what can be wrong before."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from prudent.bandit import Bandit
from prudent.errors import PrudentError
from prudent.fingerprints import foreign_code
from prudent.policies.base import Policy, spec
from prudent.risk.base import RiskMeasure
from prudent.study.schema import COLUMNS

Place = tuple[str | int, ...]
"""Where in a study something stands: ("policies", 2)."""


class Cell(NamedTuple):
    """One simulation."""

    bandit: Bandit
    risk: RiskMeasure
    policy: Policy
    horizon: int
    runs: int = 500
    seed: int = 0
    engine: str = "auto"

    def facts(self) -> dict[str, Any]:
        """The cell in words and numbers."""
        arms = "; ".join(map(str, self.bandit.arms))
        numbers = {"horizon": self.horizon, "runs": self.runs, "seed": self.seed, "engine": self.engine}
        return {"arms": arms, "risk": str(self.risk), "policy": spec(self.policy), **numbers}

    def kind(self) -> tuple[Any, ...]:
        """Cells of a kind run the same compiled code on as many arms; they take alike but for horizon and runs."""
        variant = tuple(value for value in self.policy._asdict().values() if isinstance(value, (str, bool)))
        laws = frozenset(type(law) for law in self.bandit.arms)
        return (type(self.policy), variant, type(self.risk), self.engine, len(self.bandit), laws)

    def key(self) -> str:
        """A digest of the content: the same cell has the same key in every study, whatever stands around it.

        The code of policies, risks and laws from outside this package is content too; that of the package is its
        version's.
        """
        facts = json.dumps([*self.facts().values(), foreign_code(self.policy, self.risk, *self.bandit.arms)])
        return hashlib.blake2b(facts.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class Labelled:
    """A cell, and the labels under which its row will be found: columns of their own beside what is measured.

    A `Study` gives every cell the label `bandit`, the name of its bandit, and one label for each range.
    """

    cell: Cell
    labels: dict[str, str | float] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The cell's key; labels are no part of it."""
        return self.cell.key()


class Mistake(NamedTuple):
    """What is wrong, and where."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))}: {self.text}"


class StudyError(PrudentError):
    """Everything that is wrong with a study, at once."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("; ".join(map(str, mistakes)))
        self.mistakes = list(mistakes)


def labels_table(cells: Sequence[Labelled]) -> pl.DataFrame:
    """One row per cell: its key, its labels, its content."""
    names = dict.fromkeys(name for each in cells for name in each.labels)
    if taken := next((name for name in names if name in COLUMNS), None):
        raise PrudentError(f"a label cannot be called {taken!r}; take a word that is no column of the results")
    facts = [each.cell.facts() for each in cells]
    columns: dict[str, list[Any]] = {"cell": [each.key for each in cells]}
    columns |= {name: [each.labels.get(name) for each in cells] for name in names}
    return pl.DataFrame(columns | {name: [row[name] for row in facts] for name in facts[0]})
