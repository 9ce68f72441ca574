"""How long a study will take, where the time of each kind of cell is known: simulating is shared by the workers, and
what a cell takes whatever its size by processes, but not by threads."""

import math

import pytest

from prudent.study import Study, estimate_time, timing

RATE = 2e-3
"""Seconds a run takes at every horizon."""


@pytest.fixture
def cells(monkeypatch):
    """Twelve cells of two kinds, of which each takes RATE seconds a run when it is tried."""

    def told(alike, times, *rest):
        for cell in alike:
            times.learn(cell, timing.OVERHEAD + RATE * cell.runs)

    monkeypatch.setattr(timing, "_try", told)
    arms = ["bernoulli(0.4)", "bernoulli(0.6)"]
    return Study(
        {"coins": arms}, ["mv-lcb", "exp-exp"], ["mean-variance(1)"], [100, 200, 400, 800, 1600, 3200], 50
    ).cells


@pytest.mark.parametrize("threads", [True, False], ids=["threads", "processes"])
@pytest.mark.parametrize("workers", [1, 2, 5, 12, 40])
def test_workers_share_what_they_can(cells, workers, threads):
    found = estimate_time(cells, workers, threads=threads)
    simulating, overhead = 12 * 50 * RATE, 12 * timing.OVERHEAD
    assert found.seconds == pytest.approx(simulating / min(workers, 12) + overhead / (1 if threads else workers))
    assert (found.cells, found.uncompiled) == (12, 0)
    assert found.pulls == 2 * 50 * 6300


def test_a_kind_that_nobody_had_the_patience_to_try_is_as_fast_as_the_others(cells, monkeypatch):
    tried = timing._try

    def only_mv_lcb(alike, times, *rest):
        if "MVLCB" in type(alike[0].policy).__name__:
            tried(alike, times)

    monkeypatch.setattr(timing, "_try", only_mv_lcb)
    assert estimate_time(cells, 3).seconds == pytest.approx(12 * 50 * RATE / 3 + 12 * timing.OVERHEAD)
    monkeypatch.setattr(timing, "_try", lambda *given: None)
    wanted = 2 * 50 * 6300 * timing.PULL_SECONDS / 3 + 12 * timing.OVERHEAD
    assert estimate_time(cells, 3).seconds == pytest.approx(wanted)


def test_between_horizons_times_lie_on_a_line_of_logarithms_and_beyond_they_grow_as_the_horizon(cells):
    cell, times = cells[0].cell, timing.Times()
    assert times.each(cell) is None
    for horizon, each in ((128, 1e-3), (2048, 4e-3)):
        some = cell._replace(horizon=horizon, runs=10)
        times.learn(some, timing.OVERHEAD + 10 * each)
        times.learn(some, timing.OVERHEAD + 30 * each)  # they are averaged
    known = {n: times.each(cell._replace(horizon=n)) for n in (8, 128, 512, 2048, 2**15)}
    assert known == pytest.approx({8: 2e-3, 128: 2e-3, 512: 4e-3, 2048: 8e-3, 2**15: 8e-3 * 2**3.5})
    assert times.each(cell._replace(horizon=128, runs=7)) == pytest.approx(2e-3)
    assert not math.isnan(times.each(cell))
