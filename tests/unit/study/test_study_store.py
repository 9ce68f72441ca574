"""The folder of a study: nothing finished is lost, nothing unfinished or foreign is used."""

import errno
import json
import multiprocessing
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal as assert_close

from helpers import killed_study
from prudent import PrudentError, simulate
from prudent.study import Labelled, Store, Study, run, store, timing
from prudent.study.schema import STATISTICS, SUMMARY


def small(**changes) -> Study:
    """Twelve cells."""
    facts = {
        "bandits": {"pair": ["gaussian(1.0, 0.05)", "gaussian({mu}, 0.25)"]},
        "policies": ["exp-exp", "ucb1"],
        "risks": ["mean-variance(rho=1)"],
        "horizons": [20, 40],
        "runs": 3,
        "ranges": {"mu": [0.0, 0.5, 1.0]},
    }
    return Study(**{**facts, **changes})


def thousand() -> Study:
    """A thousand cells."""
    return small(ranges={"mu": {"from": 0.0, "to": 1.0, "steps": 250}})


def assert_frame_equal(left, right) -> None:
    """To the last bit."""
    assert_close(left, right, check_exact=True)


def files(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "parts").glob("*.parquet"))}


@pytest.fixture
def whole(tmp_path):
    """A finished study."""
    return run(small(), tmp_path / "whole", workers=1)


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path):
    """SIGKILL at random moments, four processes at a time on one folder."""
    chance, folder = random.Random(7), tmp_path / "killed"
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["prudent.study", "prudent.engine.compiled", "joblib"])  # once for all

    def start():
        heard, told = made.Pipe(duplex=False)
        child = made.Process(target=killed_study.play, args=(thousand().as_dict(), str(folder), told), daemon=True)
        child.start()
        told.close()
        return child, heard

    def kill(child, heard, parts, delay):
        for _ in range(parts):
            heard.recv()
        time.sleep(delay)
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        heard.close()

    for _ in range(5):
        with ThreadPoolExecutor(4) as killers:
            children = [start() for _ in range(4)]
            moments = [(chance.randrange(8), chance.uniform(0.0, 0.02)) for _ in children]
            list(killers.map(kill, *zip(*children, strict=True), *zip(*moments, strict=True)))
    survivors = Store(folder).finished(pytest.fail)
    assert 0 < len(survivors) < 1000, "killed in the middle, not before and not after"
    run(thousand(), folder, complain=pytest.fail).compact()
    run(thousand(), tmp_path / "calm").compact()
    assert files(folder) == files(tmp_path / "calm")
    assert Store(folder).table().height == 1000


def test_a_finished_study_simulates_nothing(whole, monkeypatch):
    monkeypatch.setattr("prudent.study.play.simulate", None)
    assert_frame_equal(run(small(), whole.folder).table(), whole.table())


def test_more_policies_and_horizons_simulate_only_the_new_cells(whole):
    counted = []
    before = whole.table()
    more = small(policies=["exp-exp", "ucb1", "mv-lcb"], horizons=[20, 40, 80])
    table = run(more, whole.folder, progress=counted.append).table()
    assert counted[0] == 12
    assert sum(counted[1:]) == 27 - 12
    assert_frame_equal(table.filter(pl.col("cell").is_in(before["cell"].implode())), before)
    assert run(small(), whole.folder).table().height == 12, "what the study no longer asks for is not shown"


def test_runs_are_kept_on_request(tmp_path):
    table = run(small(keep="runs"), tmp_path / "runs").table()
    assert_frame_equal(
        table.select(run(small(), tmp_path / "summary").table().columns), Store(tmp_path / "summary").table()
    )
    regret = table.select(pl.col("regret_by_run").list.mean())
    assert regret.to_series().to_list() == pytest.approx(table["regret"].to_list(), abs=1e-12)
    pulls = table.explode("pulls_by_run").select("horizon", pl.col("pulls_by_run").list.sum())
    assert pulls["horizon"].to_list() == pulls["pulls_by_run"].to_list()


def test_stored_runs_are_those_of_the_simulation_to_the_last_bit(tmp_path):
    study = small(keep="runs", policies=["exp-exp", "ucb1", "mv-lcb"])
    cells = [each.cell for each in study.cells]
    kept = run(study, tmp_path / "runs")
    for cell, found in zip(cells, kept.runs(cells), strict=True):
        settings = {"horizon": cell.horizon, "runs": cell.runs, "seed": cell.seed, "engine": cell.engine}
        runs = simulate(cell.bandit, cell.policy, risk=cell.risk, **settings)
        for name in (*STATISTICS, "engine", "horizon", "seed", "policy", "risk"):
            assert np.array_equal(getattr(found, name), getattr(runs, name)), name
        assert all((found.measures()[name] == value).all() for name, value in runs.measures().items())
    labelled = kept.runs(study.cells)
    assert [runs.horizon for runs in labelled] == [cell.horizon for cell in cells]
    with pytest.raises(PrudentError, match="does not hold 1 of the cells"):
        kept.runs([cells[0]._replace(horizon=99)])


def test_a_store_of_summaries_has_no_runs(whole):
    with pytest.raises(PrudentError, match="keeps summaries only"):
        whole.runs([small().cells[0].cell])


def test_labelled_cells_need_no_study(whole, tmp_path):
    """The rows of a study's cells under other labels, in another order, one cell twice."""
    cells = [each.cell for each in small().cells]
    labelled = [Labelled(cell, {"who": f"cell {i}"}) for i, cell in enumerate([*cells[::-1], cells[0]])]
    table = run(labelled, tmp_path / "labelled").table()
    assert table["who"].to_list() == [f"cell {i}" for i in range(13)]
    columns = ["cell", *SUMMARY]
    assert_frame_equal(table.head(12).reverse().select(columns), whole.table().select(columns))
    assert_frame_equal(table.tail(1).select(columns), whole.table().head(1).select(columns))


def test_cells_of_two_seeds_are_refused(tmp_path):
    (cell, *_) = (each.cell for each in small().cells)
    with pytest.raises(PrudentError, match="cells of one seed"):
        run([cell, cell._replace(seed=1)], tmp_path / "two")
    assert not (tmp_path / "two").exists()
    assert run([cell], tmp_path / "one").table().height == 1


def test_parts_are_plain_parquet_with_the_same_columns(whole):
    plain = pl.read_parquet(whole.parts / "*.parquet")
    assert plain.height == 12
    assert plain.select("cell", "arms", "risk", "policy", "horizon", "regret").null_count().sum_horizontal().item() == 0


HARMS = ["flipped", "cut", "empty", "foreign", "foreign with a good name", "another version"]


@pytest.mark.parametrize("harm", [*HARMS, "other columns", "other types"])
def test_a_part_that_is_not_whole_is_named_set_aside_and_simulated_again(whole, harm):
    before = whole.table()
    victim = sorted(whole.parts.iterdir())[0]
    data = bytearray(victim.read_bytes())
    if harm == "flipped":
        data[len(data) // 2] ^= 1
    elif harm == "cut":
        del data[len(data) // 2 :]
    elif harm == "empty":
        data.clear()
    elif harm.startswith("foreign"):
        pl.DataFrame({"a": [1]}).write_parquet(victim)
        data = bytearray(victim.read_bytes())
    elif harm == "other columns":
        data = bytearray(store.to_bytes(pl.read_parquet(victim).drop("regret"), store.code_version()))
    elif harm == "other types":
        table = pl.read_parquet(victim).with_columns(pl.col("horizon").cast(pl.Int32))
        data = bytearray(store.to_bytes(table, store.code_version()))
    else:
        data = bytearray(store.to_bytes(pl.read_parquet(victim), "0" * 32))
    victim.write_bytes(data)
    if harm in ("foreign with a good name", "another version", "other columns", "other types"):
        victim = victim.rename(victim.with_name(f"{store.digest(bytes(data))}.parquet"))
    seen, complaints = [], []
    assert whole.table(seen.append).height < 12
    run(small(), whole.folder, complain=complaints.append)
    assert victim.name in seen[0]
    assert victim.name in complaints[0]
    assert victim.with_name(f"{victim.name}.damaged").read_bytes() == bytes(data)
    assert_frame_equal(whole.table(pytest.fail), before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"seed": 1}, "was made with seed 0, and this is 1"), ({"keep": "runs"}, "was made with keep summary")],
)
def test_another_seed_or_keep_is_refused_and_nothing_is_lost(whole, changes, message):
    before = {path.name: path.read_bytes() for path in whole.folder.iterdir() if path.is_file()} | files(whole.folder)
    with pytest.raises(PrudentError, match=message):
        run(small(**changes), whole.folder)
    after = {path.name: path.read_bytes() for path in whole.folder.iterdir() if path.is_file()} | files(whole.folder)
    assert after == before


def test_another_version_is_refused_and_can_still_be_read(whole):
    path = whole.folder / "manifest.json"
    facts = json.loads(path.read_bytes())
    path.write_text(json.dumps({**facts, "prudent": "0.0.1"}))
    with pytest.raises(PrudentError, match=r"was made with prudent 0\.0\.1"):
        run(small(), whole.folder)
    assert whole.table(pytest.fail).height == 12


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(PrudentError, match=r"holds thesis\.tex and no study"):
        run(small(), tmp_path)
    with pytest.raises(PrudentError, match="holds no study"):
        Store(tmp_path).table()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_or_read_only_disk_ends_in_a_clear_error_and_keeps_what_is_finished(
    tmp_path, monkeypatch, code, workers
):
    monkeypatch.setattr(timing, "TASK", 0.0)
    written, sync = [], os.fsync

    def fail_later(descriptor):
        written.append(descriptor)
        if len(written) > 12:
            raise OSError(code, os.strerror(code))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_later)
    with pytest.raises(PrudentError, match=f"cannot write .*: {os.strerror(code)}; finished cells are kept"):
        run(small(), tmp_path / "full", workers=workers)
    monkeypatch.undo()
    survivors = Store(tmp_path / "full").finished(pytest.fail)
    assert 0 < len(survivors) < 12
    assert not list((tmp_path / "full" / "parts").glob(".*"))
    counted = []
    run(small(), tmp_path / "full", progress=counted.append)
    assert counted[0] == len(survivors)


def test_compacting_does_not_mind_a_part_that_is_gone_already(tmp_path, monkeypatch):
    """Another process may compact the same folder, and take away what both have merged."""
    monkeypatch.setattr(timing, "TASK", 0.0)
    made = run(small(), tmp_path / "many")
    honest = Store._merged

    def with_company(self, scan):
        names = honest(self, scan)
        for path in self.parts.glob("*.parquet"):
            if path.stem not in names:
                path.unlink()
        return names

    monkeypatch.setattr(Store, "_merged", with_company)
    assert made.compact() == len(files(made.folder)) == 1


def test_compacting_keeps_every_row_and_ends_in_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "TASK", 0.0)
    made = run(small(), tmp_path / "many")
    before = made.table()
    assert len(files(made.folder)) == 12
    assert made.compact() == 1
    assert len(files(made.folder)) == 1
    assert_frame_equal(made.table(), before)
    monkeypatch.setattr(store, "CELLS_IN_A_PART", 5)
    assert made.compact() == 3
    assert_frame_equal(made.table(), before)


def test_what_a_dead_process_was_writing_is_swept_after_a_while(whole):
    fresh, stale = whole.parts / ".a.parquet.x.part", whole.parts / ".b.parquet.y.part"
    for path in (fresh, stale):
        path.touch()
    os.utime(stale, (0, 0))
    run(small(), whole.folder)
    assert fresh.exists()
    assert not stale.exists()


def test_a_folder_in_the_place_of_a_part_is_named_and_set_aside(whole):
    before, seen, complaints = whole.table(), [], []
    stranger = whole.parts / "x.parquet"
    stranger.mkdir()
    assert_frame_equal(Store(whole.folder).table(seen.append), before)
    run(small(), whole.folder, complain=complaints.append)
    assert len(seen) == len(complaints) == 1
    assert "x.parquet is a folder" in complaints[0]
    assert [path.name for path in whole.parts.glob("x*")] == ["x.parquet.damaged"]


def test_a_flipped_bit_in_the_labels_is_refused_and_run_writes_them_again(whole):
    path, chance = whole.folder / "cells.parquet", random.Random(7)
    good, table = path.read_bytes(), whole.table()
    for place in [*(chance.randrange(8 * len(good)) for _ in range(200)), *range(0, 8 * 500, 61)]:
        data = bytearray(good)
        data[-1 - place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        with pytest.raises(PrudentError, match="cannot be read; `prudent study run` writes it again"):
            Store(whole.folder).table()
    run(small(), whole.folder, complain=pytest.fail)
    assert path.read_bytes() == good
    assert_frame_equal(Store(whole.folder).table(), table)


@pytest.mark.parametrize("harm", ["cut", "empty", "text", "folder", "gone", "other columns"])
def test_labels_that_are_no_table_of_cells_are_refused_and_written_again(whole, harm):
    path, table = whole.folder / "cells.parquet", whole.table()
    data = path.read_bytes()
    path.unlink()
    if harm == "folder":
        path.mkdir()
    elif harm == "other columns":
        pl.DataFrame({"a": [1]}).write_parquet(path)
    elif harm != "gone":
        path.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "text": b"cells"}[harm])
    with pytest.raises(PrudentError, match="cannot be read; `prudent study run` writes it again"):
        Store(whole.folder).table()
    if harm == "folder":
        path.rmdir()
    assert_frame_equal(run(small(), whole.folder).table(), table)


def test_another_table_in_the_place_of_the_labels_is_refused(whole):
    part = next(whole.parts.iterdir())
    for data in (part.read_bytes(), store.to_bytes(whole.labels(), store.code_version())):
        (whole.folder / "cells.parquet").write_bytes(data)
        with pytest.raises(PrudentError, match="`prudent study run` writes it again"):
            Store(whole.folder).table()


@pytest.mark.parametrize("name", store.MANIFEST)
@pytest.mark.parametrize("value", ["gone", None, 1.5, True, [], {}, "x", 7])
def test_a_manifest_with_a_wrong_field_is_one_line_in_words(whole, name, value):
    path = whole.folder / "manifest.json"
    facts = json.loads(path.read_bytes())
    facts[name] = value
    if value == "gone":
        del facts[name]
    path.write_text(json.dumps(facts))
    with pytest.raises(PrudentError) as error:
        run(small(), whole.folder)
    assert "\n" not in str(error.value)
    readable = type(value) is store.MANIFEST[name] and value != "gone" and name != "keep"
    for call in (Store(whole.folder).table, Store(whole.folder).compact):
        with nullcontext() if readable else pytest.raises(PrudentError, match=r"manifest\.json cannot be read"):
            call()


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null", '{"format": 2}', "\ufeff{}", "[" * 100_000, "\0"])
@pytest.mark.parametrize("name", ["manifest.json", "study.json", "sessions.jsonl"])
def test_a_damaged_file_is_refused_in_words_or_written_again(whole, name, text):
    table = whole.table()
    (whole.folder / name).write_text(text)
    if name == "manifest.json":
        for call in (lambda: run(small(), whole.folder), Store(whole.folder).table, Store(whole.folder).compact):
            with pytest.raises(PrudentError, match=r"manifest\.json cannot be read"):
                call()
        return
    assert_frame_equal(run(small(), whole.folder).table(), table)
    last = (whole.folder / "sessions.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["cells"] == 0
    assert json.loads((whole.folder / "study.json").read_text()) == small().as_dict()


def test_a_seed_is_stored_up_to_the_largest_that_a_column_holds_and_refused_beyond(tmp_path):
    table = run(small(seed=2**63 - 1, horizons=[20]), tmp_path / "large").table()
    assert set(table["seed"]) == {2**63 - 1}
    for changes in ({"seed": 2**63}, {"seed": 10**400}, {"runs": 2**63}):
        (name,) = changes
        with pytest.raises(PrudentError, match=f"{name} must be below 2\\^63"):
            run(small(**changes), tmp_path / "larger")
        with pytest.raises(PrudentError, match=f"{name} must be below 2\\^63"):
            run([small().cells[0].cell._replace(**changes)], tmp_path / "larger")
    assert not (tmp_path / "larger").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workers": 0}, "workers must be a whole number from 1 to"),
        ({"workers": "x"}, "workers must be a whole number"),
        ({"backend": "gpu"}, "backend must be one of"),
        ({"keep": "all"}, "keeps summary or runs"),
    ],
)
def test_refused_means_that_nothing_is_written(tmp_path, changes, message):
    with pytest.raises(PrudentError, match=message):
        run([each.cell for each in small().cells], tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


def test_a_policy_that_cannot_run_is_found_before_anything_is_written(tmp_path):
    cell = small().cells[0].cell
    with pytest.raises(PrudentError, match=r"cell 2 of 2: .*horizon must be at least"):
        run([cell, cell._replace(policy="ucb1", horizon=1)], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_specs_and_whole_floats_in_a_cell_are_as_good_as_what_they_mean(whole, tmp_path):
    cell = small().cells[0].cell
    written = cell._replace(risk="mean-variance(rho=1)", policy="exp-exp", horizon=20.0, runs=3.0)
    columns = ["cell", *SUMMARY]
    assert_frame_equal(
        run([written], tmp_path / "written").table().select(columns), whole.table().head(1).select(columns)
    )


@pytest.mark.parametrize("place", ["parts", "."])
def test_what_a_dead_process_was_writing_is_swept_in_every_folder(whole, place):
    stale = whole.folder / place / f".x.{'0' * 32}.part"
    for sweep in (lambda: run(small(), whole.folder), whole.compact):
        stale.touch()
        os.utime(stale, (0, 0))
        sweep()
        assert not stale.exists()


def test_compacting_what_is_no_study_is_refused(tmp_path):
    with pytest.raises(PrudentError, match="holds no study"):
        Store(tmp_path / "nowhere").compact()
