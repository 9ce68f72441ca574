"""Where a study is kept: a folder that can be killed, copied, shared and read by anything that reads Parquet.

    manifest.json    made once: the version of prudent and its code, seed, what is kept
    study.json       the study as last asked for
    cells.parquet    one row per cell of that study: its key, names, ranges, content
    parts/           finished cells, one row each, many to a file
    sessions.jsonl   one line per finished call of `run`: when, how long, how many cells, on which versions

A part is named by a digest of its bytes, and written beside and renamed. So a part that reads as finished is finished,
a damaged one gives itself away, and two processes that finish the same cells write the same file.
"""

import hashlib
import io
import json
import os
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

import prudent
from prudent.errors import PrudentError
from prudent.study.cells import Entry, labels
from prudent.study.play import code_version, to_bytes
from prudent.study.spec import Study

FORMAT = 1
LEFT_BEHIND = 3600.0
"""Seconds after which a file that was being written is taken as left by a process that died."""

CELLS_IN_A_PART, VALUES_IN_A_PART = 100_000, 20_000_000
"""The most a compacted part holds."""


class Store:
    """A study's folder. Any number of processes may read it and add to it."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.parts = self.folder / "parts"

    def begin(self, study: Study, entries: Sequence[Entry]) -> None:
        """Make the folder ready for a study, or refuse: another seed, version or `keep` never mix in one folder."""
        wanted = {"format": FORMAT, "prudent": prudent.__version__, "code": code_version()}
        wanted |= {"seed": entries[0].cell.seed, "keep": study.keep}
        strangers = [path.name for path in self.folder.glob("*") if path.name[0] != "."]
        if strangers and not self._manifest().exists():  # asked in this order, since another process may make it now
            raise PrudentError(f"{self.folder} holds {strangers[0]} and no study; choose an empty folder (--out)")
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        facts = {**wanted, "versions": versions(), "created": now()}
        write(self._manifest(), json.dumps(facts, indent=2).encode(), only_new=True)
        self._agree(wanted)
        with writing(self.parts):
            self.parts.mkdir(exist_ok=True)
        write(self.folder / "study.json", json.dumps(study.as_dict(), indent=2, ensure_ascii=False).encode())
        write(self.folder / "cells.parquet", to_bytes(labels(entries), code_version()))
        self._sweep()

    def _manifest(self) -> Path:
        return self.folder / "manifest.json"

    def manifest(self) -> dict[str, Any]:
        """What the folder was made with."""
        try:
            found = json.loads(self._manifest().read_bytes())
            if not isinstance(found, dict) or "format" not in found:
                raise ValueError
        except FileNotFoundError:
            raise PrudentError(f"{self.folder} holds no study; `prudent run STUDY.toml --out {self.folder}`") from None
        except (OSError, ValueError):
            raise PrudentError(f"{self._manifest()} cannot be read; put it back, or choose another folder") from None
        return found

    def _agree(self, wanted: dict[str, Any]) -> None:
        found = self.manifest()
        for name, value in wanted.items():
            if found.get(name) != value:
                kept = "what is there is left as it is; choose another folder (--out)"
                raise PrudentError(f"{self.folder} was made with {name} {found.get(name)}, and this is {value}; {kept}")

    def finished(self, complain: Callable[[str], Any]) -> set[str]:
        """The keys of all cells in good parts. A part that is not is set aside as `*.damaged`, and named."""
        keys: set[str] = set()
        for path in sorted(self.parts.glob("*.parquet")):
            try:
                keys.update(self._checked(path).get_column("cell"))
            except FileNotFoundError:
                continue  # another process set it aside, or compacted it
            except PrudentError as error:
                aside = path.with_name(f"{path.name}.damaged")
                with writing(aside), suppress(FileNotFoundError):
                    path.rename(aside)
                complain(f"{error}; set aside as {aside.name}, its cells are computed again")
        return keys

    def _checked(self, path: Path, without: Collection[str] | None = None) -> pl.DataFrame:
        """A part whose bytes are those that were written, by this version: its keys, or all columns but some."""
        data = path.read_bytes()
        if path.stem != digest(data):
            raise PrudentError(f"{path} is damaged or not of this study: its content does not match its name")
        try:
            if pl.read_parquet_metadata(io.BytesIO(data)).get("prudent.code") != self.manifest()["code"]:
                raise PrudentError(f"{path} was made by another version of prudent")
            columns = [name for name in pl.read_parquet_schema(io.BytesIO(data)) if without and name not in without]
            return pl.read_parquet(io.BytesIO(data), columns=columns or ["cell"])
        except (pl.exceptions.PolarsError, OSError) as error:
            raise PrudentError(f"{path} is not a part of a study: {str(error).splitlines()[0]}") from None

    def add(self, part: bytes) -> None:
        """Keep the results of a task."""
        write(self.parts / f"{digest(part)}.parquet", part)

    def labels(self) -> pl.DataFrame:
        """One row per cell of the study as last asked for."""
        self.manifest()
        try:
            return pl.read_parquet(self.folder / "cells.parquet")
        except (pl.exceptions.PolarsError, OSError):
            message = f"{self.folder / 'cells.parquet'} cannot be read; `prudent run` writes it again"
            raise PrudentError(message) from None

    def table(self, complain: Callable[[str], Any] = lambda _: None) -> pl.DataFrame:
        """The finished cells of the study, in its order: names, ranges and results. Damaged parts are left out."""
        cells, tables = self.labels(), []
        wanted, labelled = cells.get_column("cell").implode(), set(cells.columns) - {"cell"}
        for path in sorted(self.parts.glob("*.parquet")):
            try:
                tables.append(self._checked(path, without=labelled).filter(pl.col("cell").is_in(wanted)))
            except FileNotFoundError:
                continue
            except PrudentError as error:
                complain(f"{error}; left out")
        if not tables:
            return cells.clear()
        return cells.join(pl.concat(tables).unique("cell"), on="cell", how="inner", maintain_order="left")

    def compact(self, complain: Callable[[str], Any] = lambda _: None) -> int:
        """Fewer, larger parts, sorted by key: the same cells always end in the same files. Returns how many."""
        self.finished(complain)
        old = sorted(self.parts.glob("*.parquet"))
        if not old:
            return 0
        try:
            made = self._merged(pl.scan_parquet(old))
        except (pl.exceptions.PolarsError, FileNotFoundError):
            raise PrudentError(f"{self.parts} changed meanwhile; is another process compacting it? Try again") from None
        for path in old:
            if path.stem not in made:
                path.unlink(missing_ok=True)
        return len(made)

    def _merged(self, scan: pl.LazyFrame) -> set[str]:
        """Write all cells as new parts; their names."""
        size = pl.col("runs") * pl.col("pulls").list.len() * 5
        sizes = scan.select("cell", size.alias("size")).unique("cell").sort("cell").collect()
        found, made = self.manifest(), set()
        for first, last in _stretches(sizes, found["keep"]):
            rows = scan.filter(pl.col("cell").is_between(pl.lit(first), pl.lit(last))).unique("cell").sort("cell")
            part = to_bytes(rows.collect(), found["code"])
            self.add(part)
            made.add(digest(part))
        return made

    def log(self, facts: dict[str, Any]) -> None:
        """Add a line on a finished session; one write, so that lines of two processes do not mix."""
        line = json.dumps({**facts, "versions": versions()}) + "\n"
        path = self.folder / "sessions.jsonl"
        with writing(path), path.open("ab", buffering=0) as file:
            file.write(line.encode())

    def _sweep(self) -> None:
        """Remove what processes that died were writing."""
        for path in [*self.folder.glob(".*.part"), *self.parts.glob(".*.part")]:
            try:
                if time.time() - path.stat().st_mtime > LEFT_BEHIND:
                    path.unlink()
            except OSError:
                continue


def _stretches(sizes: pl.DataFrame, keep: str) -> Iterator[tuple[str, str]]:
    """First and last keys of stretches that make a part each."""
    values = pl.col("size") if keep == "runs" else pl.lit(1)
    by_count = pl.int_range(pl.len()) // CELLS_IN_A_PART
    by_size = (values.cum_sum() - values) // VALUES_IN_A_PART
    numbered = sizes.with_columns(by_count.alias("count"), by_size.alias("volume"))
    for _, stretch in numbered.group_by("count", "volume", maintain_order=True):
        yield stretch["cell"][0], stretch["cell"][-1]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says into an error that says what was kept."""
    try:
        yield
    except OSError as error:
        kept = "finished cells are kept: make room or mend the rights, and run again"
        raise PrudentError(f"cannot write {path}: {error.strerror}; {kept}") from error


def write(path: Path, data: bytes, *, only_new: bool = False) -> None:
    """All of `data` under `path` or nothing, whenever the power fails; with `only_new` a file there stays."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    with writing(path):
        try:
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if only_new:
                with suppress(FileExistsError):
                    os.link(beside, path)
            else:
                os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def digest(data: bytes) -> str:
    """The name of a part."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def versions() -> dict[str, str]:
    """What the numbers may depend on."""
    return {name: version(name) for name in ("prudent", "numpy", "numba", "scipy", "polars")}


def now() -> str:
    """The time in a form that sorts."""
    return datetime.now(UTC).isoformat(timespec="seconds")
