"""A log: in each round an arm, its outcome, and the probability with which the arm was taken, if it is known."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Array, Counts, as_array
from prudent.errors import PrudentError, near, shown
from prudent.files import read_header, read_rows

NAMES = {"group": ("arm", "action"), "outcome": ("reward",), "propensity": ("propensity", "pscore"), "time": ()}
"""How columns are called unless they are named; the second ones are those of the package obp."""

OWNER = "evaluate"
ROUNDING = 1e-9


class Log(NamedTuple):
    """Rounds in the order in which they were. `arms` are numbers of the labels; `propensities` may be None."""

    labels: tuple[str, ...]
    arms: Counts
    outcomes: Array
    propensities: Array | None

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
        return most if (most - least <= ROUNDING * most).all() and most.sum() <= 1.0 + ROUNDING else None


def read_log(
    given: Any,
    *,
    group: str | None = None,
    outcome: str | None = None,
    propensity: str | None = None,
    time: str | None = None,
) -> Log:
    """The log in a CSV file, a data frame or a mapping from names to columns.

    `group`, `outcome`, `propensity` and `time` are the names of columns: of the arm (by default `arm` or `action`), of
    what it gave (`reward`), of the probability with which it was taken (`propensity` or `pscore`, or none), and of what
    puts the rounds in order, if they are not. Other columns are left alone.
    """
    if isinstance(given, Log):
        return given
    is_file, is_lazy = isinstance(given, (str, os.PathLike)), hasattr(given, "collect")
    known = read_header(given) if is_file else _collected(given)[0] if is_lazy else _columns(given)
    names = _named(known, {"group": group, "outcome": outcome, "propensity": propensity, "time": time})
    if is_lazy:  # of many columns only those that are needed are read
        given = _collected(given, sorted({name for name in names.values() if name}))[1]
    numbers = [names[name] for name in ("outcome", "propensity") if names[name]]
    if is_file:
        texts, counted = read_rows(given, [names[name] for name in ("group", "time") if names[name]], numbers)
    else:
        texts = {names[name]: list(given[names[name]]) for name in ("group", "time") if names[name]}
        counted = {name: given[name] for name in numbers}
    return _checked(names, texts, counted)


def _collected(lazy: Any, names: Sequence[str] | None = None) -> tuple[list[str], Any]:
    """The names of the columns of a frame of polars that is not computed yet, and those that are named."""
    try:
        return lazy.collect_schema().names(), None if names is None else lazy.select(names).collect()
    except Exception as error:  # polars has many kinds, and OSError of a file that is not there is one
        said = str(error).strip().partition("\n")[0]
        raise PrudentError(f"{OWNER}: log cannot be collected: {said}; does log.collect() work?") from None


def _columns(given: Any) -> list[str]:
    """The names of the columns of a data frame or a mapping."""
    columns = getattr(given, "columns", given)
    if isinstance(given, Mapping) or (hasattr(given, "columns") and hasattr(given, "__getitem__")):
        return [name for name in columns if isinstance(name, str)]
    raise PrudentError(f"{OWNER}: log must be a CSV file, a data frame or columns by name, got {shown(given)}")


def _named(known: Sequence[str], given: Mapping[str, str | None]) -> dict[str, str]:
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


def _checked(names: Mapping[str, str], texts: Mapping[str, Sequence[Any]], numbers: Mapping[str, Any]) -> Log:
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
    labels = _sorted(set(cells))
    number = {label: i for i, label in enumerate(labels)}
    log = Log(tuple(labels), np.array([number[cell] for cell in cells]), outcomes, propensities)
    if names["time"]:
        order = np.argsort(_times(texts[names["time"]]), kind="stable")
        log = log._replace(
            arms=log.arms[order],
            outcomes=outcomes[order],
            propensities=None if propensities is None else propensities[order],
        )
    return log


def _sorted(labels: set[str]) -> list[str]:
    """By number where all are whole numbers, so that 10 comes after 9."""
    whole = all(label.isdecimal() for label in labels)
    return sorted(labels, key=int) if whole else sorted(labels)


def _times(cells: Sequence[Any]) -> Any:
    """Numbers where all are; dates as they are written, which puts 2024-01-31 before 2024-02-01."""
    try:
        return np.array([float(cell) for cell in cells])
    except (TypeError, ValueError):
        return np.array([str(cell) for cell in cells])
