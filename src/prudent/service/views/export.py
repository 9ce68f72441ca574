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
from prudent.service.views.view import View
from prudent.service.work.transaction import seq_of

PAGE = 10_000
"""Decisions that are read at a time."""

MEDIA = {"csv": "text/csv; charset=utf-8", "ndjson": NDJSON, "parquet": "application/vnd.apache.parquet"}
COLUMNS = ("decision", "arm", "state", "at", "due", "reward", "propensity", "floor")
"""Those of a file, before the metrics. `floor` is the smallest probability that an arm in play can have."""


async def exported(service: Any, view: View, kind: str) -> AsyncIterator[bytes]:
    """All decisions up to now, a part of the file at a time. No part is kept longer than it takes to send it."""
    spec = view.state.spec
    metrics, floor = sorted(spec.metrics), spec.least_probability(view.status.arms)
    if kind == "parquet":
        frames = [await asyncio.to_thread(_frame, page, metrics, floor) async for page in _pages(service, view)]
        yield await asyncio.to_thread(_parquet, frames or [_frame([], metrics, floor)])
        return
    if kind == "csv":
        yield _csv([[*COLUMNS, *metrics]])
    async for page in _pages(service, view):
        if kind == "csv":
            yield _csv([_cells(decision, metrics, floor) for decision in page])
        else:
            yield b"".join(msgspec.json.encode(decision) + b"\n" for decision in page)


async def _pages(service: Any, view: View) -> AsyncIterator[list[Decision]]:
    after = 0
    while after < view.state.seq:
        page = await asyncio.to_thread(service.decisions, view.experiment.name, after, PAGE)
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = seq_of(page[-1].decision or "") or after


def _cells(decision: Decision, metrics: list[str], floor: float | None, when: Any = None) -> list[Any]:
    """A row of a file. `when` makes a time of milliseconds since 1970; by default one as text, of ISO 8601."""
    when = when or _iso
    times = [None if at is None else when(at) for at in (decision.at, decision.due)]
    measured = [(decision.metrics or {}).get(name) for name in metrics]
    about = [decision.decision, decision.arm, decision.state, *times]
    return [*about, decision.reward, decision.propensity, floor, *measured]


def _iso(at: int) -> str:
    """2026-11-19T20:43:07.123Z."""
    return f"{datetime.fromtimestamp(at / 1000.0, UTC).isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def _csv(rows: list[list[Any]]) -> bytes:
    """Lines of CSV. Text that a spreadsheet would take for a formula gets an apostrophe, which makes it text."""
    text = io.StringIO()
    safe = [[guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    csv.writer(text, lineterminator="\n").writerows(safe)
    return text.getvalue().encode()


def _frame(decisions: list[Decision], metrics: list[str], floor: float | None) -> Any:
    import polars

    text, time, number = polars.String, polars.Datetime("ms", "UTC"), polars.Float64
    kinds: list[Any] = [text, text, text, time, time, number, number, number, *[number] * len(metrics)]
    schema = dict(zip([*COLUMNS, *metrics], kinds, strict=True))
    plain = {name: polars.Int64 if kind is time else kind for name, kind in schema.items()}
    rows = [_cells(each, metrics, floor, int) for each in decisions]
    return polars.DataFrame(rows, schema=plain, orient="row").with_columns(
        polars.col(name).cast(polars.Datetime("ms")).dt.replace_time_zone("UTC") for name in ("at", "due")
    )


def _parquet(frames: list[Any]) -> bytes:
    import polars

    file = io.BytesIO()
    polars.concat(frames).write_parquet(file)
    return file.getvalue()
