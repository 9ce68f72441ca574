"""From the fields of the form to what `prudent plan` is asked: options, outcome, ρ, lengths.

A field that cannot be understood is an error that names it as the form does. Everything else is checked by the same
functions as on the command line.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from prudent.base.csv_cells import GROUPED, number_in
from prudent.base.csv_columns import read_header
from prudent.base.errors import PrudentError, shown
from prudent.service.spec import decoded

ROWS = 4
"""Rows for options that an empty form has."""

MOST_SECONDS = 600.0
"""Seconds that may be asked for."""

MOST_OPTIONS, MOST_ROUNDS, MOST_LENGTHS, MOST_TRIALS = 50, 1_000_000, 10, 20_000
MOST_COLUMNS = 1000
"""Limits on what the service computes; the command line has none of them."""

PARTS = ("name", "low", "high", "least", "most")
"""The fields of a row: the option, its average from and to, its standard deviation from and to."""

FIELDS = {"group": "column that names the option", "outcome": "column of outcomes"}
"""How the form calls the arguments of the reader."""


class Question(NamedTuple):
    """What is asked of a plan. `rho` is None as long as it is not chosen; `measure` is another risk in its place."""

    texts: list[str]
    group: str | None
    outcome: str | None
    facts: dict[str, Any]
    rho: float | None
    measure: str
    horizon: list[int] | None
    policies: list[str]
    draws: int
    runs: int
    seed: int
    seconds: float

    @property
    def risk(self) -> Any:
        """How outcomes are judged; None as long as nothing is chosen."""
        from prudent.risk.base import risks
        from prudent.risk.mean_variance import MeanVariance

        if self.measure:
            return risks.parse(self.measure)
        return None if self.rho is None else MeanVariance(self.rho)


class Seen(Struct):
    """What the fields mean so far: what is wrong, the columns of the file, remarks on it, who wins for which ρ."""

    wrong: str = ""
    columns: list[str] = []
    notes: list[str] = []
    winners: list[dict[str, str]] = []
    words: list[str] = []
    rho: float | None = None
    rho_words: str = ""
    judged: bool = False


def rows_of(fields: Mapping[str, str]) -> int:
    """How many rows for options the form has: two more than are filled, at least a few, and as many as it had."""
    filled = [i for i in range(1, MOST_OPTIONS + 1) if any(fields.get(f"{name}-{i}", "") for name in ("name", "low"))]
    more = 2 if fields.get("rows") == "more" else 0
    return min(MOST_OPTIONS, max([ROWS, *filled]) + more)


def asked(fields: Mapping[str, str]) -> Question:
    """The question, or what cannot be understood of it."""
    known = {name: text.strip() for name, text in fields.items()}
    texts = [*_guesses(known), *(line.strip() for line in known.get("laws", "").splitlines() if line.strip())]
    direction = known.get("direction", "larger")
    facts = {"unit": known.get("unit", ""), "larger_is_better": direction != "smaller", "support": _support(known)}
    facts |= {"begin": known.get("begin") != "nothing", "model": known.get("model") or "pilot"}
    for name, called in (("period", "outcomes of a sum"), ("month", "rounds of a month")):
        if known.get(name):
            facts[name] = _whole(called, known[name])
    seconds = number_of("seconds", known.get("seconds") or "30")
    if not 1.0 <= seconds <= MOST_SECONDS:
        raise PrudentError(f"seconds: must be from 1 to {MOST_SECONDS:g}, got {seconds:g}")
    rho, measure = _rho(known), known.get("measure", "")
    if measure and rho is not None:
        raise PrudentError("risk: give ρ or another risk measure, but not both")
    lengths = [_whole(f"people: {shown(word)}", word) for word in re.split(r"[;\s]+", known.get("people", "")) if word]
    if len(lengths) > MOST_LENGTHS or any(not 1 <= n <= MOST_ROUNDS for n in lengths):
        limit = f"at most {MOST_LENGTHS} numbers from 1 to {MOST_ROUNDS:,}"
        raise PrudentError(f"people: must be {limit}; for others use `prudent plan` on the command line")
    draws, runs = (_whole(name, known.get(name) or str(usual)) for name, usual in (("draws", 200), ("runs", 10)))
    if draws < 10 or runs < 2 or draws * runs > MOST_TRIALS:
        limit = f"at least 10 draws and 2 runs, and together at most {MOST_TRIALS:,} trials"
        raise PrudentError(f"draws and runs: must be {limit}, got {draws:,} × {runs:,}")
    return Question(
        texts=texts,
        group=known.get("group") or None,
        outcome=(known.get("outcome") or None) if known.get("group") else None,
        facts=facts,
        rho=rho,
        measure=measure,
        horizon=lengths or None,
        policies=[text.strip() for text in known.get("policies", "").split(";") if text.strip()],
        draws=draws,
        runs=runs,
        seed=_whole("seed", known.get("seed") or "0"),
        seconds=seconds,
    )


def _guesses(known: Mapping[str, str]) -> list[str]:
    """The rows of the table as `prudent plan --option` takes them."""
    found = []
    for i in range(1, MOST_OPTIONS + 1):
        name, low, high, least, most = (
            known.get(f"{part}-{i}", "") for part in ("name", "low", "high", "least", "most")
        )
        if not any((name, low, high, least, most)):
            continue
        label = name or f"option {i}"
        if any(sign in label for sign in ":("):
            raise PrudentError(f"option {i}: its name must be without ( and :, got {shown(label)}")
        if known.get("kind", "share") == "share":
            law = f"bernoulli({_range(label, 'share of successes', low, high)})"
        else:
            spread = _range(label, "standard deviation", least, most, power=2)
            law = f"gaussian({_range(label, 'average outcome', low, high)}, {spread})"
        found.append(f"{label}: {law}")
    return found


def _range(label: str, what: str, low: str, high: str, power: int = 1) -> str:
    """`0.3..0.6`; one number if only one is given. Of a standard deviation the square."""
    if not low and not high:
        raise PrudentError(f"{label}: its {what} is missing; give a number, or the smallest and the largest it may be")
    ends = [number_of(f"{label}, {what}", text) for text in (low or high, high or low)]
    if power == 2 and min(ends) < 0.0:
        raise PrudentError(f"{label}, {what}: must not be negative, got {min(ends):g}")
    first, last = (f"{end**power:.12g}" for end in ends)
    return first if first == last else f"{first}..{last}"


def _support(known: Mapping[str, str]) -> tuple[float, float] | None:
    low, high = known.get("smallest", ""), known.get("largest", "")
    if bool(low) != bool(high):
        raise PrudentError("smallest and largest outcome: give both, or neither if there are no limits")
    return (number_of("smallest outcome", low), number_of("largest outcome", high)) if low else None


def _rho(known: Mapping[str, str]) -> float | None:
    from prudent.plan import tolerance

    trade = [known.get(name, "") for name in ("less", "steadier", "instead")]
    if any(trade) and known.get("rho"):
        raise PrudentError("risk: answer the question, or give ρ, but not both; they say the same")
    if any(trade):
        names = ("what you would give up", "the smaller standard deviation", "the larger standard deviation")
        missing = next((name for name, text in zip(names, trade, strict=True) if not text), None)
        if missing is not None:
            raise PrudentError(f"risk: {missing} is missing; the question has three numbers")
        return tolerance(*(number_of(f"risk, {name}", text) for name, text in zip(names, trade, strict=True)))
    text = known.get("rho", "")
    return (math.inf if text.lower() in ("inf", "∞", "infinity") else number_of("ρ", text)) if text else None


def number_of(name: str, text: str) -> float:
    """A number as people write it; with a decimal comma too, if it can be nothing else."""
    found = number_in(text.replace("−", "-"), comma="," in text)
    if not math.isfinite(found):
        raise PrudentError(f"{name}: {shown(text)} is no number; write it as 1234.5")
    if "," in text and GROUPED.fullmatch(text):
        raise PrudentError(f"{name}: {text} may mean two numbers; write {text.replace(',', '')} or {text}0")
    return found


def _whole(name: str, text: str) -> int:
    found = number_of(name, text)
    if found != int(found) or abs(found) > 2**53:
        raise PrudentError(f"{name}: must be a whole number, got {shown(text)}")
    return int(found)


def options_of(question: Question, file: Path | None, notes: list[str]) -> list[Any]:
    """The options of guesses and of the pilot; `notes` are remarks on the data."""
    from prudent.plan import guesses, pilot

    if file is None and question.group:
        raise PrudentError("column that names the option: this is a column of a file, but there is no file")
    if len(question.texts) > MOST_OPTIONS:
        raise PrudentError(f"options: give from 2 to {MOST_OPTIONS}, got {len(question.texts)} lines")
    found = guesses(question.texts)
    if file is not None:
        columns_of(file)
        try:
            found = [*found, *pilot(file, group=question.group, outcome=question.outcome, remark=notes.append)]
        except PrudentError as error:
            raise PrudentError(error.message(_in_fields)) from None
    if not 2 <= len(found) <= MOST_OPTIONS:
        said = "".join(f"; {note}" for note in notes)
        raise PrudentError(f"options: give from 2 to {MOST_OPTIONS}, as guesses or in a file, got {len(found)}{said}")
    # The service must be able to take their names.
    decoded({"name": "trial", "arms": [each.name for each in found], "policy": "round-robin", "risk": "mean"}).settled()
    return found


def answer(question: bytes) -> bytes:
    """The job of the child process: what the fields mean so far, and the file that lies in its folder."""
    fields, file = msgspec.json.decode(question, type=tuple[dict[str, str], str])
    return msgspec.json.encode(look(fields, Path(file) if file else None))


def look(fields: Mapping[str, str], path: Path | None) -> Seen:
    """What the fields mean so far. What is wrong is said, as the reader of the command line says it."""
    from prudent.plan import tradeoff
    from prudent.plan.cautions import cautions
    from prudent.plan.trial import Trial
    from prudent.risk.mean_variance import MeanVariance

    seen = Seen()
    try:
        if path is not None:
            seen.columns = columns_of(path)
        question = asked(fields)
        options = options_of(question, path, seen.notes)
        risk = MeanVariance(0.0) if question.risk is None else question.risk
        trial = Trial.checked(options, risk, question.horizon, **question.facts)
        seen.rho, seen.judged = question.rho, question.risk is not None
        seen.notes += [text.removesuffix(".") for text in cautions(trial, judged=seen.judged)]
        found = tradeoff.winners(trial.options, larger_is_better=trial.outcome.larger_is_better)
        seen.winners, seen.words = (
            tradeoff.rows(found, trial.outcome),
            tradeoff.in_words(found, trial.outcome, trial.options, trial.period),
        )
        if question.rho is not None:
            deviation = max(option.moments[1] for option in trial.options) ** 0.5
            seen.rho_words = tradeoff.rho_in_words(question.rho, deviation, trial.outcome)
        for text in question.policies:
            _check_policy(text)
    except PrudentError as error:
        seen.wrong = in_words(str(error))
    return seen


def columns_of(path: Path) -> list[str]:
    """The names of the columns of a file, if there are not too many to choose from, and to show."""
    # Counted before the file is read, which takes the square of their number.
    first = next((line for line in re.split(rb"[\r\n]+", path.read_bytes()) if line.strip()), b"")
    many = 1 + max(first.count(separator) for separator in (b",", b";", b"\t"))
    if many > MOST_COLUMNS:
        fix = "leave out those that are not needed, or use `prudent plan` on the command line"
        raise PrudentError(f"{path}: must have at most {MOST_COLUMNS:,} columns, got {many:,}; {fix}")
    return read_header(path)


def _check_policy(text: str) -> None:
    from prudent.policies.contract import policies

    policies.parse(text)


def _in_fields(arguments: Mapping[str, str]) -> str:
    """Arguments of the reader as fields of the form."""
    return ", ".join(f"“{FIELDS[name]}”: {value}" for name, value in arguments.items())


def in_words(text: str) -> str:
    """A message without the name of the command, which the form is not."""
    return text.removeprefix("plan: ")
