"""Cells: what is simulated, under which key, and what can be wrong before."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from prudent.bandit import Bandit
from prudent.compiled import fingerprint
from prudent.errors import PrudentError
from prudent.policies.base import Policy, spec
from prudent.risk.base import RiskMeasure

Path = tuple[str | int, ...]
"""Where in a study something stands: ("policies", 2)."""


class Cell(NamedTuple):
    """One simulation."""

    bandit: Bandit
    risk: RiskMeasure
    policy: Policy
    horizon: int
    runs: int
    seed: int
    engine: str

    def facts(self) -> dict[str, Any]:
        """The cell in words and numbers."""
        arms = "; ".join(map(str, self.bandit.arms))
        numbers = {"horizon": self.horizon, "runs": self.runs, "seed": self.seed, "engine": self.engine}
        return {"arms": arms, "risk": str(self.risk), "policy": spec(self.policy), **numbers}

    def kind(self) -> tuple[Any, ...]:
        """Cells of a kind run the same compiled code on as many arms; they cost alike but for horizon and runs."""
        variant = tuple(value for value in self.policy if isinstance(value, (str, bool)))
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


class Entry(NamedTuple):
    """A cell under the name its study gives it: a bandit's name and the values of ranges."""

    key: str
    cell: Cell
    bandit: str
    values: dict[str, float]


class Problem(NamedTuple):
    """What is wrong, and where."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.text}"


class StudyError(PrudentError):
    """Everything that is wrong with a study, at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = list(problems)


def labels(entries: Sequence[Entry]) -> pl.DataFrame:
    """One row per cell: its key, name and content; a column for every range."""
    names = dict.fromkeys(name for entry in entries for name in entry.values)
    columns: dict[str, list[Any]] = {"cell": [e.key for e in entries], "bandit": [e.bandit for e in entries]}
    columns |= {name: [e.values.get(name) for e in entries] for name in names}
    facts = [e.cell.facts() for e in entries]
    columns |= {name: [row[name] for row in facts] for name in facts[0]}
    return pl.DataFrame(columns, schema_overrides=dict.fromkeys(names, pl.Float64))
