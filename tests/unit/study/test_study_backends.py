"""The same bytes from threads, processes and a cluster, also when workers die."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from prudent import Bandit, MeanVariance, PrudentError, RiskMeasure, RoundRobin, simulate
from prudent.study import Cell, Store, Study, backends, estimate_time, run, timing
from prudent.study import play as playing
from prudent.study.schema import SUMMARY


def study(**changes) -> Study:
    facts = {
        "bandits": {"pair": ["gaussian(1.0, 0.05)", "gaussian({mu}, 0.25)"]},
        "policies": ["exp-exp", "ucb1"],
        "risks": ["mean-variance(rho=1)"],
        "horizons": [200, 2000],
        "runs": 30,
        "ranges": {"mu": {"from": 0.0, "to": 1.0, "steps": 20}},
    }
    return Study(**{**facts, **changes})


def contents(store: Store) -> dict[str, bytes]:
    """Every byte of the results, compacted: which cells shared a part does not matter, all else does."""
    store.compact(pytest.fail)
    return {path.name: path.read_bytes() for path in store.parts.iterdir()}


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The study from one thread, undisturbed."""
    return run(study(), tmp_path_factory.mktemp("study") / "calm", workers=1)


@pytest.fixture(scope="module")
def expected(calm):
    return contents(calm)


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "workers"), [("threads", 3), ("processes", 2)])
def test_local_backends_give_the_same_bytes(tmp_path, expected, backend, workers):
    assert contents(run(study(), tmp_path / "other", backend=backend, workers=workers)) == expected


def test_cells_give_the_same_alone_and_in_company(calm):
    for row in calm.table().rows(named=True)[::17]:
        (each,) = (each for each in study().cells if each.key == row["cell"])
        bandit, risk, policy, horizon, runs, seed, engine, _ = each.cell
        alone = simulate(bandit, policy, risk=risk, horizon=horizon, runs=runs, seed=seed, engine=engine).summary()
        assert {name: alone[name] for name in SUMMARY} == {name: row[name] for name in SUMMARY}


@pytest.mark.slow
def test_a_process_that_dies_costs_only_its_cells(tmp_path, expected, monkeypatch):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(timing, "TASK", 0.0)  # a task for each cell, so that many are left when the process dies
    killed, complaints = [], []

    def progress(cells):
        if cells and not killed:
            children = psutil.Process().children()
            killed.append(next(child for child in children if "popen_loky" in " ".join(child.cmdline())))
            killed[0].kill()

    out = tmp_path / "lost"
    store = run(study(), out, backend="processes", workers=2, progress=progress, complain=complaints.append)
    assert killed
    assert all("a process died, its cells are simulated again" in text for text in complaints)
    assert len(complaints) == 1
    assert contents(store) == expected


def test_processes_that_always_die_end_in_an_error(tmp_path, monkeypatch):
    def dead(tasks):
        raise backends.WorkerLostError("out of memory")

    monkeypatch.setitem(backends.BACKENDS, "threads", lambda *_: nullcontext(dead))
    with pytest.raises(PrudentError, match="processes keep dying: out of memory"):
        run(study(), tmp_path / "dead", complain=lambda _: None)


def test_a_worker_of_another_version_is_refused():
    each = study().cells[0]
    with pytest.raises(PrudentError, match="another prudent"):
        playing.play(playing.Task({each.key: each.cell}, "summary", "0" * 32))


def test_a_policy_that_is_another_on_the_worker_is_refused():
    each = study().cells[0]
    with pytest.raises(PrudentError, match="not the same policy on a worker"):
        playing.play(playing.Task({"0" * 24: each.cell}, "summary", playing.code_version()))


@pytest.mark.parametrize("backend", ["thread", "tcp", "threads://here"])
def test_a_backend_is_a_name_or_an_address(tmp_path, backend):
    with pytest.raises(
        PrudentError, match=f"backend must be one of threads, processes, tcp://, tls://, got '{backend}'"
    ):
        run(study(), tmp_path / "a", backend=backend)
    assert not (tmp_path / "a").exists()


def test_small_cells_share_a_part_and_large_ones_do_not(tmp_path):
    cells, known = study().cells, timing.Times()
    assert all(len(task.cells) == 1 for task in timing.tasks(cells, known, "summary")), "nothing is known yet"
    for each in cells:
        known.learn(each.cell, timing.OVERHEAD + 0.1)
    sizes = [len(task.cells) for task in timing.tasks(cells, known, "summary")]
    assert sum(sizes) == len(cells)
    assert set(sizes[:-1]) == {5}, "0.1 s each, half a second a task"
    known = timing.Times()
    for each in cells:
        known.learn(each.cell, 100.0)
    assert {len(task.cells) for task in timing.tasks(cells, known, "summary")} == {1}


def test_times_between_known_horizons_are_interpolated_and_beyond_them_grow_linearly():
    known, cell = timing.Times(), study().cells[0].cell
    for power in (8, 10):
        known.learn(cell._replace(horizon=2**power, runs=1), timing.OVERHEAD + 2.0**power)
    assert known.each(cell._replace(horizon=2**9)) == pytest.approx(2.0**9)
    assert known.each(cell._replace(horizon=2**12)) == pytest.approx(2.0**12, rel=0.5)
    assert known.each(cell._replace(horizon=2**4)) == pytest.approx(2.0**8)


def test_an_estimate_counts_cells_and_pulls():
    left = estimate_time(study().cells, workers=2)
    assert (left.cells, left.pulls) == (80, 20 * 2 * 30 * 2200)
    assert left.seconds > 0.0


def test_tiny_cells_share_parts(tmp_path):
    """`benchmarks/studies.py` measures what that saves."""
    tiny = study(runs=1, horizons=list(range(10, 35)))
    run(study(runs=1, horizons=[10]), tmp_path / "warm", workers=1)
    store = run(tiny, tmp_path / "tiny", workers=2)
    assert len(tiny.cells) == 1000
    assert len(list(store.parts.iterdir())) < 200


@dataclass(frozen=True)
class Worst(RiskMeasure):
    """Minus the smallest reward possible: no function of mean and variance."""

    name = "worst"

    def cost(self, law):
        return -law.support[0]

    def weigh(self, values, weights):
        return -values[0]


def test_what_a_risk_does_not_define_is_null_and_the_rest_is_there(tmp_path):
    arms = {"pair": ["uniform(0.0, 1.0)", "uniform(0.2, 0.6)"]}
    table = run(study(bandits=arms, ranges={}, risks=[Worst()], policies=["ucb1"]), tmp_path / "worst").table()
    assert table["regret"].null_count() == table.height == 2
    first, second = (np.array(pulls) for pulls in table["pulls"])
    assert table["gap_regret"].to_list() == pytest.approx([0.2 * first[0] / 200, 0.2 * second[0] / 2000])
    assert table["best_share"].to_list() == pytest.approx([first[1] / 200, second[1] / 2000])


def start(module, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, arguments), "--no-dashboard"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_worker(folder):
    """A process that joins the cluster of this folder."""
    local = ("--nthreads", 1, "--no-nanny", "--local-directory", folder)
    return start("dask_worker", "--scheduler-file", folder / "scheduler.json", *local)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask scheduler and at least so many workers, processes of their own: cluster(2) is a `Cluster`.

    What a test leaves alive serves the next one, because they start slowly.
    """
    distributed = pytest.importorskip("distributed")
    folder, schedulers, workers = tmp_path_factory.mktemp("cluster"), [], []
    contact = folder / "scheduler.json"

    def with_workers(count):
        if not schedulers or schedulers[-1].poll() is not None:
            end(*workers)
            contact.unlink(missing_ok=True)
            schedulers.append(start("dask_scheduler", "--port", 0, "--host", "127.0.0.1", "--scheduler-file", contact))
        workers[:] = [worker for worker in workers if worker.poll() is None]
        workers.extend(start_worker(folder) for _ in range(count - len(workers)))
        until = time.monotonic() + 60.0
        while not (contact.exists() and contact.read_text()):  # it is made empty first
            assert time.monotonic() < until, "the scheduler does not start"
            time.sleep(0.05)
        address = json.loads(contact.read_text())["address"]
        with distributed.Client(address, timeout=60.0, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60.0)  # or a test would see none before it kills them
        return Cluster(folder, address, workers, schedulers[-1])

    yield with_workers
    end(*workers, *schedulers)


class Cluster(NamedTuple):
    folder: Path
    address: str
    workers: list[subprocess.Popen]
    scheduler: subprocess.Popen


def end(*processes):
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_though_a_worker_is_killed(tmp_path, expected, cluster, monkeypatch):
    monkeypatch.setattr(timing, "TASK", 0.02)
    _, address, workers, _ = cluster(2)
    counted, killed = [], []

    def progress(cells):
        counted.append(cells)
        if sum(counted) > 20 and not killed:
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(sum(counted))

    store = run(study(), tmp_path / "cluster", backend=address, progress=progress)
    assert killed[0] < sum(counted) == 80
    assert contents(store) == expected


@pytest.mark.slow
def test_a_study_does_not_become_the_clusters_client_for_everything_else(cluster):
    distributed, (_, address, *_) = pytest.importorskip("distributed"), cluster(1)
    with backends.cluster(address, 1, print), pytest.raises(ValueError, match="No global client found"):
        distributed.get_client()


@pytest.mark.slow
def test_a_cluster_without_workers_says_so_and_goes_on_when_one_comes(tmp_path, expected, cluster, monkeypatch):
    monkeypatch.setattr(timing, "TASK", 0.02)
    monkeypatch.setattr(backends, "LONELY", 0.5)
    folder, address, workers, _ = cluster(1)
    counted, complaints = [], []

    def progress(cells):
        counted.append(cells)
        if len(counted) == 5:
            for worker in workers:
                worker.kill()

    def complain(text):
        complaints.append(text)
        if len(complaints) == 1:
            workers.append(start_worker(folder))

    store = run(study(), tmp_path / "lonely", backend=address, progress=progress, complain=complain)
    assert [text.partition(f" is connected to {address}")[0] for text in complaints] == ["no worker", "a worker"]
    assert contents(store) == expected


@pytest.mark.slow
def test_a_scheduler_that_is_gone_is_one_error_without_a_log(tmp_path, cluster, monkeypatch, capfd):
    monkeypatch.setattr(timing, "TASK", 0.02)
    _, address, _, scheduler = cluster(1)
    counted = []

    def progress(cells):
        counted.append(cells)
        if len(counted) == 5:
            scheduler.kill()

    with pytest.raises(PrudentError, match=f"the cluster at {address} is gone; finished cells are kept"):
        run(study(), tmp_path / "gone", backend=address, progress=progress)
    assert len(Store(tmp_path / "gone").finished(pytest.fail)) >= sum(counted[:5])
    assert capfd.readouterr() == ("", "")


def test_no_scheduler_is_a_clear_error_and_nothing_is_written(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(backends, "SCHEDULER_SECONDS", 0.5)
    with pytest.raises(PrudentError, match="no Dask scheduler answers at"):
        run(study(), tmp_path / "a", backend="tcp://127.0.0.1:9")
    assert not (tmp_path / "a").exists()


def test_a_library_is_silent_for_a_while_only():
    logger = logging.getLogger("distributed.some.part")
    with backends.silence("distributed"):
        assert logger.disabled
        assert not logging.getLogger("prudent").disabled
    assert not logger.disabled


LONG = """
import sys
from prudent.study import Study, run
arms = ["gaussian(1.0, 0.05)", "gaussian({mu}, 0.25)"]
ranges = {"mu": [0.1, 0.2, 0.3, 0.4]}
run(
    Study({"a": arms}, ["ucb1"], ["mean-variance(rho=1)"], [10, 10**11], runs=1, ranges=ranges),
    sys.argv[1],
    backend="processes",
    workers=2,
    progress=lambda cells: print(cells, flush=True),
)
"""


@pytest.mark.slow
def test_processes_end_with_their_parent_even_inside_a_long_cell(tmp_path):
    """A parent for each signal, all at once, because they start slowly."""
    psutil = pytest.importorskip("psutil")
    names = [name for name in ("SIGKILL", "SIGTERM", "SIGINT") if hasattr(signal, name)]
    commands = {name: [sys.executable, "-c", LONG, tmp_path / name] for name in names}
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "start_new_session": True}
    parents = {name: subprocess.Popen(command, **settings) for name, command in commands.items()}
    children = {}
    for name, parent in parents.items():
        for _ in range(2):  # nothing is finished yet, then the first short cell is: its process takes a long one
            assert parent.stdout.readline(), name
        children[name] = psutil.Process(parent.pid).children(recursive=True)
        assert len(children[name]) >= 2, name
    for name, parent in parents.items():
        parent.send_signal(getattr(signal, name))
    _, alive = psutil.wait_procs([child for some in children.values() for child in some], timeout=120.0)
    for child in alive:
        child.kill()
    assert not [name for name in names if {*children[name]} & {*alive}]
    for name, parent in parents.items():
        assert parent.wait(5.0) != 0, name
        parent.stdout.close()


def test_a_child_knows_its_parent():
    assert backends._is_child_of(os.getppid())
    assert sys.platform == "win32" or not backends._is_child_of(os.getpid())


def test_an_estimate_tries_the_shortest_and_the_longest_of_each_kind(monkeypatch):
    tried = []
    monkeypatch.setattr(timing, "_probe", lambda cell, *_: tried.append(cell))
    cells = study().cells
    estimate_time(cells, workers=1)
    for kind in {each.cell.kind() for each in cells}:
        alike = sorted((each.cell.horizon, each.key) for each in cells if each.cell.kind() == kind)
        assert {alike[0][1], alike[-1][1]} <= {cell.key() for cell in tried}


class Pool:
    """Tries nothing, and says that everything took long."""

    def __init__(self):
        self.given = []

    def map(self, _, tasks):
        self.given += tasks
        return [playing.Done(dict.fromkeys(task.cells, 9.0), b"") for task in tasks]


@pytest.mark.parametrize(("each", "tried"), [(None, 1), (timing.LONGEST_PROBE, 1), (1.01 * timing.LONGEST_PROBE, 0)])
def test_no_run_is_tried_that_takes_longer_than_a_probe_may(monkeypatch, each, tried):
    times, pool = timing.Times(), Pool()
    monkeypatch.setattr(times, "each", lambda _: each)
    timing._probe(study().cells[0].cell, times, pool, workers=1)
    assert len(pool.given) == tried


def test_a_simulation_after_a_study_on_one_thread_is_not_stopped(tmp_path):
    """With one worker joblib stays on this thread, whose flag must not outlive the study."""
    cell = Cell(Bandit(["bernoulli(0.5)", "bernoulli(0.4)"]), MeanVariance(1.0), RoundRobin(), 20, runs=2)
    run([cell], tmp_path / "out", workers=1)
    assert len(simulate(**cell._asdict())) == 2


def test_a_kind_of_cells_that_was_not_tried_is_taken_to_be_as_fast_as_the_others(monkeypatch):
    cells = study().cells
    kinds = {}
    for each in cells:
        kinds.setdefault(each.cell.kind(), []).append(each.cell)
    tried, *rest = kinds.values()
    others = [cell for alike in rest for cell in alike]
    assert others
    monkeypatch.setattr(timing, "_try", lambda *args: None)
    monkeypatch.setattr(timing, "_seconds", lambda alike, times: 3.0 if alike[0].kind() == tried[0].kind() else 0.0)
    pulls = [sum(cell.runs * cell.horizon for cell in part) for part in (tried, others)]
    wanted = 3.0 + 3.0 * pulls[1] / pulls[0] + timing.OVERHEAD * len(cells)
    assert estimate_time(cells, workers=1).seconds == pytest.approx(wanted)
