"""Where a study is kept: a folder that can be killed, copied, shared and read by anything that reads Parquet.

    manifest.json    made once: the version of prudent and its code, seed, what is kept
    study.json       the study as last asked for, if the cells are those of a study
    cells.parquet    one row per cell as last asked for: its key, labels, content
    parts/           finished cells, one row each, many to a file
    sessions.jsonl   one line per finished call of `run`: when, how long, how many cells, on which versions

A part is named by a digest of its bytes, and written whole or not at all. So a part that reads as finished is finished,
a damaged one gives itself away, and two processes that finish the same cells write the same file. `cells.parquet` keeps
its name, so it carries the digest of its bytes in its metadata; a damaged one is refused, and `run` writes it again.
"""

import hashlib
import io
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

import prudent
from prudent.base import files
from prudent.base.errors import PrudentError, shown
from prudent.policies.learners import is_learner
from prudent.policies.units import fitted, units_of
from prudent.results.runs import Runs, as_pandas
from prudent.study.cells import Cell, Labelled, labels_table
from prudent.study.expand import checked_cells
from prudent.study.play import code_version, to_bytes
from prudent.study.schema import FACTS, KEEP, STATISTICS, columns

FORMAT = 2
MANIFEST = {"format": int, "prudent": str, "code": str, "seed": int, "keep": str}
SEAL, UNSEALED = "prudent.digest", "0" * 32
Complain = Callable[[str], object]
LEFT_BEHIND = 3600.0
"""Seconds after which a file that was being written is taken as left by a process that died."""

CELLS_IN_A_PART, VALUES_IN_A_PART = 100_000, 20_000_000
"""The most a compacted part holds."""


class Store:
    """A study's folder. Any number of processes may read it and add to it."""

    def __init__(self, folder: Path | str) -> None:
        if not isinstance(folder, (str, os.PathLike)) or "\0" in os.fsdecode(folder):
            raise PrudentError(f"Store: folder must be a path, got {shown(folder)}; pass e.g. 'results/study'")
        self.folder = Path(os.fsdecode(folder))
        self.parts = self.folder / "parts"
        self._manifest = self.folder / "manifest.json"
        self._labels: pl.DataFrame | None = None

    @staticmethod
    def identity(seed: int, keep: str) -> dict[str, Any]:
        """What all cells of a folder share."""
        return {"format": FORMAT, "prudent": prudent.__version__, "code": code_version(), "seed": seed, "keep": keep}

    def begin(self, cells: Sequence[Labelled], keep: str, study: dict[str, object] | None = None) -> None:
        """Make the folder ready for cells, or refuse: another seed, version or `keep` never mix in one folder."""
        seeds = {each.cell.seed for each in cells}
        if len(seeds) != 1 or not isinstance(keep, str) or keep not in KEEP:
            raise PrudentError(f"{self.folder}: a store takes cells of one seed and keeps {' or '.join(KEEP)}")
        wanted, labels = self.identity(seeds.pop(), keep), labels_table(cells)
        strangers = [path.name for path in listed(self.folder) if path.name[0] != "."]
        if strangers and "manifest.json" not in strangers and not self._manifest.exists():  # it may be made just now
            raise PrudentError(f"{self.folder} holds {strangers[0]} and no study; choose an empty folder (--out)")
        facts = {**wanted, "versions": versions(), "created": now()}
        write(self._manifest, json.dumps(facts, indent=2), only_new=True)
        found = self.manifest()
        for name, value in wanted.items():
            if found.get(name) != value:
                kept = "what is there is left as it is; choose another folder (--out)"
                raise PrudentError(f"{self.folder} was made with {name} {found.get(name)}, and this is {value}; {kept}")
        if study is not None:
            write(self.folder / "study.json", json.dumps(study, indent=2, ensure_ascii=False))
        write(self.folder / "cells.parquet", sealed(labels))
        self._labels = labels
        self._sweep()

    def manifest(self) -> dict[str, Any]:
        """What the folder was made with."""
        try:
            found: dict[str, object] = json.loads(self._manifest.read_bytes())
            if not all(type(found[name]) is kind for name, kind in MANIFEST.items()) or found["keep"] not in KEEP:
                raise ValueError
        except FileNotFoundError:
            raise PrudentError(
                f"{self.folder} holds no study; `prudent study run STUDY.toml --out {self.folder}`"
            ) from None
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            raise PrudentError(f"{self._manifest} cannot be read; put it back, or choose another folder") from None
        return found

    def finished(self, complain: Complain) -> set[str]:
        """The keys of all cells in good parts. A part that is not is set aside as `*.damaged`, and named."""
        return {key for part in self._good_parts(complain, ["cell"], set_aside=True) for key in part["cell"]}

    def _good_parts(
        self, complain: Complain, columns: list[str] | None = None, *, set_aside: bool = False
    ) -> Iterator[pl.DataFrame]:
        """Every part, or some of its columns; damaged ones are named, and left out or set aside."""
        manifest = self.manifest()
        for path in self._paths():
            try:
                yield self._checked(path, manifest, columns)
            except FileNotFoundError:
                continue  # another process set it aside, or compacted it
            except PrudentError as error:
                fate = "left out"
                if set_aside:
                    aside = path.with_name(f"{path.name}.damaged")
                    with writing(aside), suppress(FileNotFoundError):
                        path.rename(aside)
                    fate = f"set aside as {aside.name}, its cells are computed again"
                complain(f"{error}; {fate}")

    def _paths(self) -> list[Path]:
        return [path for path in listed(self.parts) if path.suffix == ".parquet" and path.name[0] != "."]

    def _checked(self, path: Path, manifest: dict[str, Any], wanted: list[str] | None) -> pl.DataFrame:
        """A part whose bytes are those that were written, by this version; some of its columns, or all."""
        if path.is_dir():
            raise PrudentError(f"{path} is a folder and not a part of a study")
        with reading(path):
            data = path.read_bytes()
        if path.stem != digest(data):
            raise PrudentError(f"{path} is damaged or not of this study: its content does not match its name")
        try:
            if pl.read_parquet_metadata(io.BytesIO(data)).get("prudent.code") != manifest["code"]:
                raise PrudentError(f"{path} was made by another version of prudent")
            found, known = dict(pl.read_parquet_schema(io.BytesIO(data))), columns(manifest["keep"])
            # The columns of another version may be others; what identifies a cell stays.
            if not (found == known if manifest["code"] == code_version() else has_facts(found)):
                raise PrudentError(f"{path} is not a part of this study: its columns are others")
            return pl.read_parquet(io.BytesIO(data), columns=wanted)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise PrudentError(f"{path} is not a part of a study: {str(error).splitlines()[0]}") from None

    def add(self, part: bytes) -> None:
        """Keep the results of a task."""
        write(self.parts / f"{digest(part)}.parquet", part)

    def labels(self) -> pl.DataFrame:
        """One row per cell, as last asked for."""
        if self._labels is not None:
            return self._labels
        self.manifest()
        path = self.folder / "cells.parquet"
        try:
            return unsealed(path.read_bytes())
        except (pl.exceptions.PolarsError, OSError, ValueError):
            raise PrudentError(f"{path} cannot be read; `prudent study run` writes it again") from None

    def table(self, complain: Complain = lambda _: None) -> pl.DataFrame:
        """The finished cells, in the order asked for: labels, content and results. Damaged parts are left out."""
        cells = self.labels()
        results = self._rows(cells["cell"], complain).drop(set(cells.columns) - {"cell"}, strict=False)
        return cells.join(results, on="cell", how="inner", maintain_order="left")

    def to_pandas(self) -> Any:
        """`table()` as a pandas data frame."""
        return as_pandas(self.table())

    def runs(self, cells: Sequence[Cell | Labelled]) -> list[Runs]:
        """The runs of finished cells, array by array as `simulate` left them; how long they took is not kept."""
        if self.manifest()["keep"] != "runs":
            raise PrudentError(f'{self.folder} keeps summaries only; run with keep = "runs" into another folder')
        asked = checked_cells("Store.runs", cells)
        keys = [each.key for each in asked]
        found = self._rows(pl.Series(keys, dtype=pl.String), lambda _: None)
        places = {key: i for i, key in enumerate(found["cell"])}
        if missing := set(keys) - places.keys():
            raise PrudentError(f"{self.folder} does not hold {len(missing)} of the cells; run them first")
        return [_as_runs(each.cell, found[places[each.key]]) for each in asked]

    def _rows(self, keys: pl.Series, complain: Complain) -> pl.DataFrame:
        """One row per finished cell, in no order."""
        found = [part.filter(pl.col("cell").is_in(keys.implode())) for part in self._good_parts(complain)]
        return pl.concat(found or [pl.DataFrame(schema=columns("summary"))]).unique("cell")

    def compact(self, complain: Complain = lambda _: None) -> int:
        """Fewer, larger parts, sorted by key: the same cells always end in the same files. Returns how many."""
        self.finished(complain)
        self._sweep()
        old = self._paths()
        if not old:
            return 0
        try:
            made = self._merged(pl.scan_parquet(old))
        except (pl.exceptions.PolarsError, FileNotFoundError):
            raise PrudentError(f"{self.parts} changed meanwhile; is another process compacting it? Try again") from None
        for path in old:
            if path.stem not in made:
                with writing(path):
                    path.unlink(missing_ok=True)
        return len(made)

    def _merged(self, scan: pl.LazyFrame) -> set[str]:
        """Write all cells as new parts; their names."""
        found, made = self.manifest(), set()
        values = pl.col("runs") * pl.col("pulls").list.len() * len(STATISTICS) if found["keep"] == "runs" else pl.lit(1)
        cells = scan.select("cell", values.alias("values")).unique("cell").sort("cell").collect()
        by_count = (pl.int_range(pl.len()) // CELLS_IN_A_PART).alias("count")
        by_size = ((pl.col("values").cum_sum() - pl.col("values")) // VALUES_IN_A_PART).alias("size")
        for _, stretch in cells.group_by(by_count, by_size, maintain_order=True):
            first, last = stretch["cell"][0], stretch["cell"][-1]
            rows = scan.filter(pl.col("cell").is_between(pl.lit(first), pl.lit(last))).unique("cell").sort("cell")
            part = to_bytes(rows.collect(), found["code"])
            self.add(part)
            made.add(digest(part))
        return made

    def log(self, facts: dict[str, object]) -> None:
        """Add a line on a finished session; one write, so that lines of two processes do not mix."""
        line = json.dumps({**facts, "versions": versions()}) + "\n"
        path = self.folder / "sessions.jsonl"
        with writing(path), path.open("ab", buffering=0) as file:
            cut_off = path.read_bytes()[-1:] not in (b"", b"\n")  # by a process that was killed
            file.write(b"\n" * cut_off + line.encode())

    def _sweep(self) -> None:
        """Remove what processes that died were writing."""
        for path in [*self.folder.glob(".*.part"), *self.parts.glob(".*.part")]:
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > LEFT_BEHIND:
                    path.unlink()


def _as_runs(cell: Cell, row: pl.DataFrame) -> Runs:
    policy, scaled = cell.policy, cell.scale is not None and not is_learner(cell.policy)
    facts = {**cell._asdict(), "policy": fitted(policy, units_of(cell.scale, cell.bandit)) if scaled else policy}
    facts |= {"engine": row["engine_ran"][0], "seconds": math.nan}
    facts.pop("scale")
    shape = (facts.pop("runs"), len(cell.bandit))
    for name in STATISTICS:
        facts[name] = row[f"{name}_by_run"].explode().explode().to_numpy().reshape(shape)
    return Runs(**facts)


def sealed(table: pl.DataFrame) -> bytes:
    """A Parquet file that carries a digest of its own bytes, taken with zeros where the digest stands."""
    data = to_bytes(table, code_version(), **{SEAL: UNSEALED})
    return data.replace(UNSEALED.encode(), digest(data).encode())


def unsealed(data: bytes) -> pl.DataFrame:
    """The table of such a file; a ValueError if a bit of it has changed, or if it is another."""
    found = re.search(SEAL.encode() + rb"..([0-9a-f]{32})", data, re.DOTALL)
    if not found or digest(data.replace(found[1], UNSEALED.encode())) != found[1].decode():
        raise ValueError
    table = pl.read_parquet(io.BytesIO(data))
    if not has_facts(table.schema):
        raise ValueError
    return table


def has_facts(schema: Mapping[str, object]) -> bool:
    """Whether columns identify cells."""
    return all(schema.get(name) == kind for name, kind in FACTS.items())


def listed(folder: Path) -> list[Path]:
    """What a folder holds, sorted; nothing if it is not there."""
    with reading(folder):
        return sorted(folder.iterdir()) if folder.exists() else []


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong into an error in words; a file that is gone is the caller's to judge."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PrudentError(
            f"cannot read {path}: {error.strerror}; change the rights, or choose another folder"
        ) from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what goes wrong into an error that says what was kept."""
    kept = "finished cells are kept: make room or change the rights, and run again"
    try:
        yield
    except OSError as error:
        raise PrudentError(f"cannot write {path}: {error.strerror}; {kept}") from error
    except PrudentError as error:
        raise PrudentError(f"{str(error).partition(';')[0]}; {kept}") from error


def write(path: Path, data: bytes | str, *, only_new: bool = False) -> None:
    """As `files.write`, with an error that says what was kept."""
    with writing(path):
        files.write(path, data, only_new=only_new)


def digest(data: bytes) -> str:
    """The name of a part."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def versions() -> dict[str, str]:
    """What the numbers may depend on."""
    return {name: version(name) for name in ("prudent", "numpy", "numba", "scipy", "polars")}


def now() -> str:
    """The time in a form that sorts."""
    return datetime.now(UTC).isoformat(timespec="seconds")
