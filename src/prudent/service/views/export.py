"""The decisions of an experiment as a file: CSV, lines of JSON, or Parquet."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from prudent.base.csv_cells import guarded
from prudent.service.http.routes import NDJSON
from prudent.service.messages import Decision
from prudent.service.verbs import EVENT_OF
from prudent.service.views.view import View
from prudent.service.work.transaction import seq_of

PAGE = 10_000
"""Decisions that are read at a time."""

MEDIA = {"csv": "text/csv; charset=utf-8", "ndjson": NDJSON, "parquet": "application/vnd.apache.parquet"}
COLUMNS = ("decision", "arm", "state", "at", "due", "reward", "propensity", "floor", "without_chance")
"""Those of a file, before the metrics. `floor` is the smallest probability that an arm could have in that round, 0 if
none is certain of any; `without_chance` are the arms, as JSON, that could not be taken then, or for which no floor and
no cap left a probability. Such an arm was added later, retired before, or not among those asked for."""

Chance = tuple[float | None, str]


async def exported(service: Any, view: View, kind: str) -> AsyncIterator[bytes]:
    """All decisions up to now, a part of the file at a time, of which no part is kept longer than it takes to send it.

    A file of Parquet is written as a whole, so that all decisions are held meanwhile, in columns.
    """
    metrics, chances = sorted(view.state.spec.metrics), Chances(service, view)
    if kind == "parquet":
        pages = _pages(service, view, chances)
        frames = [await asyncio.to_thread(_frame, page, metrics) async for page in pages]
        yield await asyncio.to_thread(_parquet, frames or [_frame([], metrics)])
        return
    if kind == "csv":
        yield _csv([[*COLUMNS, *metrics]])
    async for page in _pages(service, view, chances):
        if kind == "csv":
            yield _csv([_cells(*row, metrics) for row in page])
        else:
            yield b"".join(map(_line, page))


class Chances:
    """Which arms could be taken in each round of an experiment, and with which probability at least."""

    def __init__(self, service: Any, view: View) -> None:
        self._service, self._name, self._spec = service, view.experiment.name, view.state.spec
        self._labels, self._retired = view.state.labels, {}
        self._added = dict.fromkeys(range(len(self._spec.arms)), 0)
        for event in service.store.notable(view.experiment.id):
            if event.kind == EVENT_OF["add"]:
                self._added[len(self._added)] = event.seq
            elif event.kind == "arm-retired":
                self._retired[event.arm] = event.seq
        self._ready = type(view.state.agent._ready.policy)
        self._known: dict[tuple[int, ...], Chance] = {}

    def beside(self, page: list[Decision]) -> list[tuple[Decision, Chance]]:
        """Decisions with the chances of their rounds."""
        numbers = [seq_of(decision.decision or "") or 0 for decision in page]
        among = self._service.among(self._name, numbers[0] - 1, numbers[-1]) if page else {}
        return [(each, self._at(seq, among.get(seq))) for each, seq in zip(page, numbers, strict=True)]

    def _at(self, seq: int, among: tuple[int, ...] | None) -> Chance:
        arms = among
        if arms is None:
            added, retired = self._added, self._retired
            arms = tuple(i for i in added if added[i] <= seq <= retired.get(i, seq))
        if arms not in self._known:
            self._known[arms] = self._of(arms)
        return self._known[arms]

    def _of(self, arms: tuple[int, ...]) -> Chance:
        labels = [self._labels[i] for i in arms]
        found = self._spec.least_chances(labels, self._ready)
        sure = dict(zip(labels, found or [0.0] * len(labels), strict=True))
        least = min((part for part in sure.values() if part > 0.0), default=0.0)
        without = [label for label in self._labels if sure.get(label, -1.0) < least]
        return None if found is None else least, msgspec.json.encode(without).decode()


async def _pages(service: Any, view: View, chances: Chances) -> AsyncIterator[list[tuple[Decision, Chance]]]:
    after = 0
    while after < view.state.seq:
        page = await asyncio.to_thread(service.decisions, view.experiment.name, after, PAGE)
        if page:
            yield await asyncio.to_thread(chances.beside, page)
        if len(page) < PAGE:
            return
        after = seq_of(page[-1].decision or "") or after


def _cells(decision: Decision, chance: Chance, metrics: list[str], when: Any = None) -> list[Any]:
    """A row of a file. `when` makes a time of milliseconds since 1970; by default one as text, of ISO 8601."""
    when = when or _iso
    times = [None if at is None else when(at) for at in (decision.at, decision.due)]
    measured = [(decision.metrics or {}).get(name) for name in metrics]
    about = [decision.decision, decision.arm, decision.state, *times]
    return [*about, decision.reward, decision.propensity, *chance, *measured]


def _line(row: tuple[Decision, Chance]) -> bytes:
    """A row as a line of JSON."""
    floor, without = row[1]
    beside = {"floor": floor, "without_chance": msgspec.Raw(without.encode())}
    return msgspec.json.encode({**msgspec.to_builtins(row[0]), **beside}) + b"\n"


def _iso(at: int) -> str:
    """2026-11-19T20:43:07.123Z."""
    return f"{datetime.fromtimestamp(at / 1000.0, UTC).isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def _csv(rows: list[list[Any]]) -> bytes:
    """Lines of CSV. Text that a spreadsheet would take for a formula gets an apostrophe, which makes it text."""
    text = io.StringIO()
    safe = [[guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    csv.writer(text, lineterminator="\n").writerows(safe)
    return text.getvalue().encode()


def _frame(page: list[tuple[Decision, Chance]], metrics: list[str]) -> Any:
    import polars

    text, time, number = polars.String, polars.Datetime("ms", "UTC"), polars.Float64
    kinds: list[Any] = [text, text, text, time, time, number, number, number, text, *[number] * len(metrics)]
    schema = dict(zip([*COLUMNS, *metrics], kinds, strict=True))
    plain = {name: polars.Int64 if kind is time else kind for name, kind in schema.items()}
    rows = [_cells(*row, metrics, int) for row in page]
    return polars.DataFrame(rows, schema=plain, orient="row").with_columns(
        polars.col(name).cast(polars.Datetime("ms")).dt.replace_time_zone("UTC") for name in ("at", "due")
    )


def _parquet(frames: list[Any]) -> bytes:
    import polars

    file = io.BytesIO()
    polars.concat(frames).write_parquet(file)
    return file.getvalue()
