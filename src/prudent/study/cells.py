"""Cells: what is simulated, under which key, what can be wrong before, and the columns that their results have."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from prudent.bandit import Bandit
from prudent.compiled import fingerprint
from prudent.errors import PrudentError
from prudent.policies.base import Policy, spec
from prudent.risk.base import RiskMeasure
from prudent.runs import MEASURES

Place = tuple[str | int, ...]
"""Where in a study something stands: ("policies", 2)."""

KEEP = ("summary", "runs")
"""What is stored of each cell: means and standard errors, or the statistics of every run as well."""

FACTS: dict[str, Any] = {"cell": pl.String, "arms": pl.String, "risk": pl.String, "policy": pl.String}
FACTS |= {"horizon": pl.Int64, "runs": pl.Int64, "seed": pl.Int64, "engine": pl.String}

SUMMARY: dict[str, Any] = {name: pl.Float64 for measure in MEASURES for name in (measure, f"{measure}_se")}
SUMMARY |= {"across_variance": pl.Float64, "pulls": pl.List(pl.Float64), "pulls_se": pl.List(pl.Float64)}
"""`Runs.summary()`; null where the risk measure defines no such measure."""

STATISTICS = ("pulls", "mean", "variance", "twin_mean", "twin_variance")
"""What a run leaves of every arm, the arrays of `Runs`; stored as lists over runs of lists over arms."""

BY_RUN: dict[str, Any] = {"regret_by_run": pl.List(pl.Float64), "pulls_by_run": pl.List(pl.List(pl.Int64))}
BY_RUN |= {f"{name}_by_run": pl.List(pl.List(pl.Float64)) for name in STATISTICS[1:]}

COLUMNS = (*FACTS, *SUMMARY, *BY_RUN)


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

        The code of a policy from outside this package is content too; that of the package is its version's.
        """
        cls = type(self.policy)
        code = "" if cls.__module__.startswith("prudent.") else fingerprint(cls)
        facts = json.dumps([*self.facts().values(), code])
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


def columns(keep: str) -> dict[str, Any]:
    """The columns of a part; every part of a study has the same."""
    return {**FACTS, **SUMMARY, **(BY_RUN if keep == "runs" else {})}


def labels_table(cells: Sequence[Labelled]) -> pl.DataFrame:
    """One row per cell: its key, its labels, its content."""
    names = dict.fromkeys(name for each in cells for name in each.labels)
    if taken := next((name for name in names if name in COLUMNS), None):
        raise PrudentError(f"a label cannot be called {taken!r}; take a word that is no column of the results")
    facts = [each.cell.facts() for each in cells]
    columns: dict[str, list[Any]] = {"cell": [each.key for each in cells]}
    columns |= {name: [each.labels.get(name) for each in cells] for name in names}
    return pl.DataFrame(columns | {name: [row[name] for row in facts] for name in facts[0]})
