"""A log: in each round an arm, its outcome, and the probability with which the arm was taken, if it is known."""

import inspect
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array, Counts, as_array
from prudent.base.csv_cells import unguarded
from prudent.base.csv_columns import read_header, read_rows
from prudent.base.errors import PrudentError, near, shown

NAMES = {"group": ("arm", "action"), "outcome": ("reward",), "propensity": ("propensity", "pscore"), "time": ()}
"""How columns are called unless they are named; the second ones are those of the package obp."""

STATE, FLOOR, WITHOUT = "state", "floor", "without_chance"
EXPORTED = ("decision", "arm", STATE, "reward")
"""Columns by which one knows the decisions that a service exported."""

FINAL = ("done", "defaulted")
"""States of decisions that have an outcome: a reward that counts, or the default that counts in its place."""

NO_VALUE = "no value"
"""What is said of final decisions without a value of the metric that is asked for."""

OWNER = "evaluate"
ROUNDING = 1e-9


class Log(NamedTuple):
    """Rounds in the order in which they were. `arms` are numbers of the labels; `propensities` may be None.

    `floors` are the smallest probabilities that arms could have in each round, if the log says them, but for those of
    the arms `without` a chance: there is a set for each text, and `kinds` are their numbers. `passed_over` says what
    became of decisions that are left out, and how many there are of each kind.
    """

    labels: tuple[str, ...]
    arms: Counts
    outcomes: Array
    propensities: Array | None
    floors: Array | None = None
    without: tuple[frozenset[str], ...] = (frozenset(),)
    kinds: Counts | None = None
    passed_over: tuple[tuple[str, int], ...] = ()

    @property
    def floor(self) -> float | None:
        """The smallest probability that an arm could have in any round, if the log says it."""
        return None if self.floors is None else float(self.floors.min())

    def with_chances(self, wanted: Iterable[str]) -> "Log":
        """The rounds in which each of these arms had a chance for sure; without such rounds, those in which each of
        them may have had one. There may be none."""
        if self.floors is None or self.kinds is None:
            return self
        able = np.array([not some.intersection(wanted) for some in self.without])[self.kinds]
        sure = able & (self.floors > 0.0)
        rows = np.flatnonzero(sure if sure.any() else able)
        if len(rows) == self.rounds:
            return self
        parts = {name: getattr(self, name)[rows] for name in ("arms", "outcomes", "floors", "kinds")}
        return self._replace(**parts, propensities=None if self.propensities is None else self.propensities[rows])

    @property
    def rounds(self) -> int:
        return self.arms.size

    def pulls(self) -> Counts:
        """Rounds of each arm."""
        return np.bincount(self.arms, minlength=len(self.labels))

    def constant_propensities(self) -> Array | None:
        """The propensity of each arm, if it is the same in all of its rounds, and they may be so at once."""
        if self.propensities is None:
            return None
        least, most = np.full(len(self.labels), np.inf), np.zeros(len(self.labels))
        np.minimum.at(least, self.arms, self.propensities)
        np.maximum.at(most, self.arms, self.propensities)
        same = (most - least <= ROUNDING * most).all() and most.sum() <= 1.0 + ROUNDING
        return most if same and most.all() else None

    @property
    def outcome_ends(self) -> tuple[float, float]:
        """The smallest and the largest outcome."""
        return float(self.outcomes.min()), float(self.outcomes.max())

    @property
    def least_propensity(self) -> float | None:
        """The smallest propensity, if they are known."""
        return None if self.propensities is None else float(self.propensities.min())

    def without_chance(self, arm: int) -> int:
        """In how many rounds another arm was certain, so that this one could not be taken."""
        if self.propensities is None:
            return 0
        return int(((self.propensities >= 1.0) & (self.arms != arm)).sum())


class Source(NamedTuple):
    """Where the columns of a log are read: their names, and a function that reads some of them, texts and numbers."""

    names: list[str]
    read: Callable[[Sequence[str], Sequence[str], bool], tuple[dict[str, Any], dict[str, Any]]]


def read_log(
    given: Any,
    *,
    group: str | None = None,
    outcome: str | None = None,
    propensity: str | None = None,
    time: str | None = None,
) -> Log:
    """The log in a CSV file, in one file or many of Parquet, in a data frame, or in a mapping from names to columns.

    `group`, `outcome`, `propensity` and `time` are the names of columns: of the arm (by default `arm` or `action`), of
    what it gave (`reward`), of the probability with which it was taken (`propensity` or `pscore`, or none), and of what
    puts the rounds in order, if they are not. Other columns are left alone, but for the decisions that a service
    exported: those without an outcome are passed over.
    """
    if isinstance(given, Log):
        return given
    source = source_of(given)
    names = named(source.names, {"group": group, "outcome": outcome, "propensity": propensity, "time": time})
    exported = is_exported(source.names, names)
    texts = [names["group"], *([STATE] if exported else []), *filter(None, [names["time"]])]
    counted = [names["outcome"], *filter(None, [names["propensity"]])]
    counted += [FLOOR] if exported and FLOOR in source.names else []
    texts += [WITHOUT] if exported and {FLOOR, WITHOUT} <= set(source.names) else []
    words, numbers = source.read(texts, counted, exported)
    if not exported:
        return _checked(names, words, numbers)
    states, outcomes = np.asarray(words[STATE]), as_array(OWNER, names["outcome"], numbers[names["outcome"]])
    final = np.isin(states, FINAL) & ~np.isnan(outcomes)
    if not final.any():
        raise PrudentError(f"{OWNER}: no decision of the log has an outcome yet; wait until rewards are reported")
    if names["propensity"] and np.isnan(as_array(OWNER, "propensity", numbers[names["propensity"]])[final]).any():
        names = {**names, "propensity": ""}  # of an experiment older than probabilities
    words = {name: np.asarray(cells)[final] for name, cells in words.items()}
    numbers = {name: as_array(OWNER, name, cells)[final] for name, cells in numbers.items()}
    kinds, counts = np.unique(np.where(np.isin(states, FINAL), NO_VALUE, states)[~final], return_counts=True)
    passed = tuple(zip(kinds.tolist(), counts.tolist(), strict=True))
    beside = _chances(words, numbers) if names["propensity"] else {}
    return _checked(names, words, numbers, beside)._replace(passed_over=passed)


def _chances(words: Mapping[str, Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """What the log says of the chances of arms in each round."""
    if FLOOR not in numbers or np.isnan(numbers[FLOOR]).any():
        return {}
    texts = words.get(WITHOUT, np.full(len(numbers[FLOOR]), ""))
    found, kinds = np.unique(["" if text is None else str(text) for text in texts], return_inverse=True)
    return {"floors": numbers[FLOOR], "kinds": kinds, "without": tuple(map(arms_in, found.tolist()))}


def arms_in(text: str) -> frozenset[str]:
    """The arms of a list in JSON; of no text none."""
    try:
        return frozenset(map(str, json.loads(text))) if text else frozenset()
    except (TypeError, ValueError):
        wanted = 'must hold arms as JSON, such as ["A"], or nothing'
        raise PrudentError(
            f"{OWNER}: {WITHOUT} {wanted}, got {shown(text)}; pass the file as it was exported"
        ) from None


def is_exported(known: Sequence[str], names: Mapping[str, str]) -> bool:
    """Whether these are decisions that a service exported."""
    return set(EXPORTED) <= set(known) and names["group"] == "arm"


def source_of(given: Any) -> Source:
    """Where a log is read from."""
    if (frame := lazy_frame(given)) is not None:

        def lazily(texts: Sequence[str], numbers: Sequence[str], gaps: bool) -> Any:
            wanted = sorted({*texts, *numbers})  # of many columns only those that are needed
            return _cells(collected(frame.select(wanted)), texts, numbers, gaps)

        return Source(collected(frame, names_only=True), lazily)
    if isinstance(given, (str, os.PathLike)):

        def rows(texts: Sequence[str], numbers: Sequence[str], gaps: bool) -> Any:
            found, counted = read_rows(given, texts, numbers, gaps=gaps)
            return {name: list(map(unguarded, cells)) if gaps else cells for name, cells in found.items()}, counted

        return Source(read_header(given), rows)
    return Source(_columns(given), lambda *wanted: _cells(given, *wanted))


def lazy_frame(given: Any) -> Any:
    """Files of Parquet, a query of DuckDB or a lazy frame as a lazy frame of polars; none of anything else."""
    several = isinstance(given, (list, tuple)) and given and all(isinstance(each, (str, os.PathLike)) for each in given)
    if several or (isinstance(given, (str, os.PathLike)) and is_parquet(given)):
        return scanned(given)
    if callable(getattr(given, "pl", None)):
        return given.pl(lazy=True) if _takes_lazy(given.pl) else given.pl().lazy()
    return given if hasattr(given, "collect") else None


def _takes_lazy(method: Any) -> bool:
    """Whether a query can be read in parts; those of older versions of DuckDB cannot."""
    try:
        return "lazy" in inspect.signature(method).parameters
    except (TypeError, ValueError):  # it is written in C++, and only its text says it
        return "lazy" in (method.__doc__ or "")


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether this names files of Parquet: one, those of a pattern, or those of a folder."""
    return os.fspath(path).endswith(".parquet") or os.path.isdir(path)


def scanned(given: Any) -> Any:
    """A frame of polars on files of Parquet, which is read when it is collected."""
    import polars as pl  # slow to import, and not needed for other logs

    paths = [os.fspath(each) for each in (given if isinstance(given, (list, tuple)) else [given])]
    for path in paths:
        if not path.endswith(".parquet") and not os.path.isdir(path):
            raise PrudentError(f"{OWNER}: several files must be of Parquet, got {shown(path, str)}")
    return pl.scan_parquet([os.path.join(path, "**/*.parquet") if os.path.isdir(path) else path for path in paths])


def _cells(
    frame: Any, texts: Sequence[str], numbers: Sequence[str], gaps: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of a data frame or a mapping; with `gaps` NaN for numbers that are missing."""
    counted = {name: frame[name] for name in numbers}
    if gaps:
        counted = {name: [math.nan if cell is None else cell for cell in cells] for name, cells in counted.items()}
    return {name: list(frame[name]) for name in texts}, counted


def collected(lazy: Any, *, names_only: bool = False) -> Any:
    """A frame of polars that was not computed yet, or the names of its columns."""
    try:
        return lazy.collect_schema().names() if names_only else lazy.collect(engine="streaming")
    except Exception as error:  # polars has many kinds, and OSError of a file that is not there is one
        said = str(error).strip().partition("\n")[0]
        if isinstance(error, FileNotFoundError):
            raise PrudentError(f"{OWNER}: log cannot be read: {said}; is the path right?") from None
        raise PrudentError(f"{OWNER}: log cannot be collected: {said}; does log.collect() work?") from None


def _columns(given: Any) -> list[str]:
    """The names of the columns of a data frame or a mapping."""
    columns = getattr(given, "columns", given)
    if isinstance(given, Mapping) or (hasattr(given, "columns") and hasattr(given, "__getitem__")):
        return [name for name in columns if isinstance(name, str)]
    raise PrudentError(f"{OWNER}: log must be a CSV file, a data frame or columns by name, got {shown(given)}")


def named(known: Sequence[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """The column for each purpose; empty where there is none and none is needed."""
    found = {}
    for purpose, name in given.items():
        usual = NAMES[purpose]
        if name is not None and (not isinstance(name, str) or name not in known):
            hint = near(shown(name, str), known)
            raise PrudentError(f"{OWNER}: {purpose} must be a column of the log, got {shown(name)}; {hint}")
        found[purpose] = next((each for each in usual if each in known), "") if name is None else name
        if not found[purpose] and purpose in ("group", "outcome"):
            fix = f"name it with {purpose}=… (--{purpose}); it has {shown(', '.join(known), str)}"
            raise PrudentError(f"{OWNER}: the log has no column {' or '.join(map(repr, usual))}; {fix}")
    return found


def _checked(
    names: Mapping[str, str],
    texts: Mapping[str, Sequence[Any]],
    numbers: Mapping[str, Any],
    chances: Mapping[str, Any] = MappingProxyType({}),
) -> Log:
    """The log, or an error that says which row is wrong."""
    cells = [str(cell) for cell in texts[names["group"]]]
    outcomes = as_array(OWNER, names["outcome"], numbers[names["outcome"]]).ravel()
    propensities = None
    if names["propensity"]:
        propensities = as_array(OWNER, names["propensity"], numbers[names["propensity"]]).ravel()
    if not cells or len(cells) != len(outcomes) or (propensities is not None and len(propensities) != len(cells)):
        raise PrudentError(f"{OWNER}: the columns of the log must be of one length, one row or more, got {len(cells)}")
    if not np.isfinite(outcomes).all():
        row = int(np.argmin(np.isfinite(outcomes)))
        raise PrudentError(f"{OWNER}: outcomes must be finite numbers, got {outcomes[row]} in row {row + 1}")
    if propensities is not None and not ((propensities > 0.0) & (propensities <= 1.0)).all():
        row = int(np.argmin((propensities > 0.0) & (propensities <= 1.0)))
        what = "the probability with which the arm was taken"
        got = f"got {propensities[row]:g} in row {row + 1}"
        raise PrudentError(f"{OWNER}: {names['propensity']} must lie in (0, 1], {got}; it is {what}")
    labels = sorted_labels(set(cells))
    number = {label: i for i, label in enumerate(labels)}
    log = Log(tuple(labels), np.array([number[cell] for cell in cells]), outcomes, propensities, **chances)
    if names["time"]:
        order = np.argsort(_times(texts[names["time"]]), kind="stable")
        by_round = {name: getattr(log, name) for name in ("arms", "outcomes", "propensities", "floors", "kinds")}
        log = log._replace(**{name: part[order] for name, part in by_round.items() if part is not None})
    return log


def sorted_labels(labels: set[str]) -> list[str]:
    """By number where all are whole numbers, so that 10 comes after 9."""
    whole = all(label.isdecimal() for label in labels)
    return sorted(labels, key=int) if whole else sorted(labels)


def _times(cells: Sequence[Any]) -> Any:
    """Numbers where all are; dates as they are written, which puts 2024-01-31 before 2024-02-01."""
    try:
        return np.array([float(cell) for cell in cells])
    except (TypeError, ValueError):
        return np.array([str(cell) for cell in cells])
