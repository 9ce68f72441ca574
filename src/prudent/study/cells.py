"""Cells: what is simulated, under which key, and what can be wrong before."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import polars as pl

from prudent.arms.base import Law
from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, as_float, check_integer, shown
from prudent.compile.cache import code_digest, fingerprint, foreign_code
from prudent.policies.contract import Policy, spec
from prudent.policies.learners import Learner, is_learner
from prudent.policies.units import Scale
from prudent.risk.base import RiskMeasure
from prudent.study.schema import COLUMNS, FACTS, MAX_WHOLE

Place = tuple[str | int, ...]
"""Where in a study something stands: ("policies", 2)."""


def text_of(thing: Bandit | Law | RiskMeasure | Policy | Learner) -> str:
    """The arms of a bandit, an arm, a risk or a policy as a cell is known by them."""
    if isinstance(thing, Bandit):
        return "; ".join(map(str, thing.arms))
    return str(thing) if isinstance(thing, (Law, RiskMeasure)) else spec(thing)


def remembered(function: Callable[[Any], str]) -> Callable[[Any], str]:
    """A function of things, with what it gave for the last few thousand; for many cells that share them.

    Found by identity, since things that are equal may read differently, as c=1 and c=1.0 do.
    """
    known: dict[int, tuple[Any, str]] = {}

    def of(thing: Any) -> str:
        found = known.get(id(thing))
        if found is None:
            if len(known) > 5000:
                known.clear()
            found = known[id(thing)] = (thing, function(thing))  # which keeps the thing, and so its id
        return found[1]

    return of


def remembered_text() -> Callable[[Any], str]:
    """As `text_of`, remembered, also for the arms of bandits."""
    text = remembered(lambda each: "; ".join(map(text, each.arms)) if isinstance(each, Bandit) else text_of(each))
    return text


def code_of(thing: Any) -> str:
    """Fingerprints of the code of others in policies, risks and laws; of a learner also what it was made with."""
    if is_learner(thing):
        return fingerprint(type(thing)) + code_digest(*sorted(vars(thing).items()))
    return foreign_code(thing)


def scale_text(scale: Scale) -> str:
    """Empty for policies as published."""
    return "" if scale is None else str(scale)


class Cell(NamedTuple):
    """One simulation."""

    bandit: Bandit
    risk: RiskMeasure
    policy: Any  # a Policy, or a Learner
    horizon: int
    runs: int = 500
    seed: int = 0
    engine: str = "auto"
    scale: Scale = None

    def facts(self, text: Callable[[Any], str] = text_of) -> dict[str, Any]:
        """The cell in words and numbers."""
        return {
            "arms": text(self.bandit),
            "risk": text(self.risk),
            "policy": text(self.policy),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "engine": self.engine,
            "scale": scale_text(self.scale),
        }

    def kind(self) -> tuple[Any, ...]:
        """Cells of a kind run the same compiled code on as many arms; they take alike but for horizon and runs."""
        fields: Any = {} if is_learner(self.policy) else self.policy._asdict()
        variant = tuple(value for value in fields.values() if isinstance(value, (str, bool)))
        laws = frozenset(type(law) for law in self.bandit.arms)
        return (type(self.policy), variant, type(self.risk), self.engine, len(self.bandit), laws)

    def key(self, text: Callable[[Any], str] = text_of, code: Callable[[Any], str] = code_of) -> str:
        """A digest of the content: the same cell has the same key in every study, whatever stands around it.

        The code of policies, risks and laws from outside this package is content too; that of the package is its
        version's.
        """
        codes = code(self.policy), code(self.risk), code(self.bandit.arms)
        *facts, scale = self.facts(text).values()
        content = json.dumps([*facts, "".join(codes), *([scale] if scale else [])])
        return hashlib.blake2b(content.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class Labelled:
    """A cell, and the labels under which its row will be found: columns of their own beside what is measured.

    A `Study` gives every cell the label `bandit`, the name of its bandit, and one label for each range.
    """

    cell: Cell
    labels: dict[str, str | float] = field(default_factory=dict)

    @classmethod
    def known(
        cls, cell: Cell, labels: dict[str, str | float], text: Callable[[Any], str], code: Callable[[Any], str]
    ) -> "Labelled":
        """One whose key is made now, with texts and codes that are remembered."""
        made = cls(cell, labels)
        vars(made).update(key=cell.key(text, code), arms=text(cell.bandit))
        return made

    @cached_property
    def key(self) -> str:
        """The cell's key; labels are no part of it."""
        return self.cell.key()

    @cached_property
    def arms(self) -> str:
        """The arms as text, the one fact that many cells do not share."""
        return text_of(self.cell.bandit)


def check_count(owner: str, name: str, value: Any, low: int) -> int:
    """A whole number that a column of the results can hold."""
    whole = check_integer(owner, name, value, low=low)
    if whole > MAX_WHOLE:
        raise PrudentError(f"{owner}: {name} must be below 2^63, got {shown(whole)}; take a smaller one")
    return whole


def in_words(place: Place) -> str:
    """A place as people count: policies.3 is the third."""
    return ".".join(part if isinstance(part, str) else str(part + 1) for part in place)


class Mistake(NamedTuple):
    """What is wrong, and where."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{in_words(self.place)}: {self.text}"


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
    columns: dict[str, list[Any]] = {"cell": [each.key for each in cells]}
    columns |= {name: _alike(name, [each.labels.get(name) for each in cells]) for name in names}
    text = remembered_text()
    facts: dict[str, list[Any]] = {"arms": [each.arms for each in cells]}
    for name in ("risk", "policy"):
        facts[name] = [text(getattr(each.cell, name)) for each in cells]
    for name in ("horizon", "runs", "seed", "engine"):
        facts[name] = [getattr(each.cell, name) for each in cells]
    facts["scale"] = [scale_text(each.cell.scale) for each in cells]
    return pl.DataFrame(columns | facts, schema_overrides=FACTS)


def _alike(name: str, values: list[Any]) -> list[Any]:
    """The values of a label: all texts, or all numbers, as polars needs them."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {str} or kinds <= {float} or (kinds == {int} and max(abs(value or 0) for value in values) <= MAX_WHOLE):
        return values
    if any(issubclass(kind, bool) or not issubclass(kind, (str, Real)) for kind in kinds):
        raise PrudentError(f"the label {name!r} must hold texts or numbers, got {shown(next(iter(kinds)))}")
    if str in kinds:
        raise PrudentError(f"the label {name!r} must hold texts or numbers, got both; write the numbers as texts")
    return [None if value is None else as_float("labels", name, value) for value in values]
