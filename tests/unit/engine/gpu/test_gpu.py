"""The engine of a GPU as far as neither a GPU nor its compiler is needed; `make gpu` and `make deep` have the rest."""

import math
import re
import subprocess
import sys
import threading
import time
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from helpers.gpu_thread_on_cpu import draw_all, draws_of, play_runs, played
from prudent import Bandit, Bernoulli, Gaussian, PrudentError, simulate
from prudent.arms import encode
from prudent.arms.sampling import GaussianLaws
from prudent.compile import announce
from prudent.engine.gpu import coins, device, playing
from prudent.engine.gpu.generator import key_of, sine_and_cosine
from prudent.engine.threads import halted_by
from prudent.policies.binding import bind, served_risk
from prudent.policies.coin_table import least_costs, row_starts
from prudent.policies.contract import Setting, policies, spec
from prudent.policies.optimal import costs_of_totals, factors
from prudent.policies.scoring import reads_rewards
from prudent.policies.units import units_of
from prudent.risk.base import risks

TWO = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
COINS = Bandit([Bernoulli(0.3), Bernoulli(0.5), Bernoulli(0.55)])
RISK = "mean-variance(rho=1)"


def ready(policy, bandit=TWO, horizon=100):
    return bind(policies.parse(policy), Setting.of(bandit, risks.parse(RISK), horizon))


# The first three are the known answers of the generator's authors: zeros, ones, and digits of π.
KNOWN = [
    (0, (0, 0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (2**64 - 1, (2**32 - 1,) * 4, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (0x299F31D0A4093822, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("key", "counter", "known"), KNOWN)
def test_philox_gives_the_known_answers(key, counter, known):
    one, two = draws_of(np.uint64(key), *counter)
    found = [int(one) % 2**32, int(one) >> 32, int(two) % 2**32, int(two) >> 32]
    assert found == [int(word, 16) for word in known.split()]


def test_sine_and_cosine_are_right_to_the_last_digits():
    for u in [*np.linspace(0.0, 1.0, 1001)[:-1], 1.0 - 2.0**-53]:
        sine, cosine = sine_and_cosine(float(u))
        assert abs(sine - math.sin(2.0 * math.pi * u)) < 1e-15
        assert abs(cosine - math.cos(2.0 * math.pi * u)) < 1e-15


def test_every_method_draws_from_its_law():
    found = np.empty((10, 4_000))
    draw_all(np.uint64(3), found)
    laws = [
        stats.uniform(),
        stats.norm(1.0, 2.0),
        stats.expon(scale=3.0),
        stats.gamma(0.4),
        stats.gamma(6.0, scale=0.5),
        stats.chi2(5.0),
        stats.t(4.0),
        stats.beta(2.0, 0.7),
    ]
    for row, law in zip(found, laws, strict=False):
        assert stats.kstest(row, law.cdf).pvalue > 1e-4
    for row, law in ((found[8], stats.randint(3, 9)), (found[9], stats.binom(200, 0.3))):
        cuts = np.unique(law.ppf(np.linspace(0.1, 0.9, 9)))
        expected = np.diff([0.0, *law.cdf(cuts), 1.0]) * len(row)
        counts = np.diff([0, *(np.sum(row <= cut) for cut in cuts), len(row)])
        assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-4


def interpreted(policy, laws, rounds, n_arms, runs, **settings):
    with np.errstate(over="ignore"):
        return played(policy, laws, rounds, n_arms, runs, loop=play_runs.py_func, **settings)


def test_a_run_does_not_depend_on_the_others():
    policy, laws = ready("thompson(sd=1)"), encode(TWO.arms)
    whole, part = (interpreted(policy, laws, [10, 30], 2, runs) for runs in (slice(0, 6), slice(4, 6)))
    for some, all_of_them in zip(part, whole, strict=True):
        assert (some == all_of_them[4:]).all()
    assert (interpreted(policy, laws, [10, 30], 2, slice(0, 6), key=2).mean != whole.mean).any()


EVERY = [policies.parse(entry.name) for entry in policies.entries() if "arms" not in entry.facts]
FACTS = units_of("auto", COINS)
READY = {spec(each): bind(each, Setting.of(COINS, served_risk(each), 40, FACTS)) for each in EVERY}
SUPPORTED = [name for name, policy in READY.items() if not playing.obstacle(policy, 3, 1)]


@pytest.mark.parametrize("name", SUPPORTED)
def test_every_policy_that_scores_arms_by_their_moments_plays(name):
    record = interpreted(READY[name], encode(COINS.arms), [12, 40], 3, slice(0, 2))
    assert (record.pulls.sum(2) == [12, 40]).all()
    assert (record.pulls > 0).all()
    assert all(np.isfinite(array).all() for array in record)


def test_which_policies_these_are():
    scoring = {name for name, policy in READY.items() if hasattr(policy, "score") and not reads_rewards(type(policy))}
    assert set(SUPPORTED) == scoring
    assert {"mv-lcb", "thompson", "mts", "vts", "mvts", "cvar-ts", "srts", "ucb1", "mv-imed"} <= scoring


def test_the_seed_and_the_cell_make_the_key():
    assert len({key_of(0, "a"), key_of(1, "a"), key_of(0, "b"), key_of(0, "a")}) == 3


@pytest.mark.parametrize(
    ("policy", "settings", "why"),
    [
        ("exp-exp", {}, "exp-exp cannot run on a GPU here: it decides by phases"),
        ("npts-sg", {}, "its score reads all rewards of an arm"),
        ("mv-lcb", {"batch": 2}, "rewards are seen a batch at a time"),
        ("mv-lcb", {"keep": "trajectory"}, "trajectories"),
        ("mv-lcb", {"common": True}, "common random numbers"),
        ("mv-lcb", {"horizon": 2**31}, "at most 2,147,483,647 rounds and 4,294,967,296 runs, got 2,147,483,648 and 2"),
    ],
)
def test_what_a_gpu_cannot_run_is_an_error_that_says_why(policy, settings, why):
    with pytest.raises(PrudentError, match=why):
        simulate(TWO, policy, **{"risk": RISK, "horizon": 100, "runs": 2, "engine": "gpu"} | settings)


def test_a_thread_has_no_room_for_very_many_arms():
    assert "room for 1,000 arms at most, and there are 1,001" in playing.obstacle(ready("mv-lcb"), 1_001, 1)


def _asked():
    return simulate(TWO, "mv-lcb", risk=RISK, horizon=100, runs=2, engine="gpu")


def test_without_numba_cuda_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    with pytest.raises(PrudentError, match=r"needs numba-cuda, which is not installed; .*pip install '\.\[gpu\]'"):
        _asked()


def finds_none():
    raise RuntimeError("Error at driver init: no CUDA-capable device is detected (100)")


@pytest.mark.parametrize(
    ("driver", "why"),
    [
        (SimpleNamespace(), "needs an NVIDIA driver, and this machine has none; take engine='auto'"),
        (
            SimpleNamespace(lib=1, get_device_count=finds_none),
            r"an NVIDIA GPU, and the driver finds none \(no CUDA-capable device is detected \(100\)\)",
        ),
        (SimpleNamespace(lib=1, get_device_count=lambda: 0), "needs an NVIDIA GPU, and the driver finds none; take"),
    ],
)
def test_without_a_driver_or_a_gpu_the_error_says_so(monkeypatch, driver, why):
    monkeypatch.setattr(device, "find_spec", lambda name: True)
    monkeypatch.setattr(device, "teach", lambda: None)
    monkeypatch.setitem(sys.modules, "numba.cuda.cudadrv.driver", SimpleNamespace(driver=driver))
    monkeypatch.setitem(sys.modules, "numba.cuda.cudadrv.error", SimpleNamespace(CudaSupportError=RuntimeError))
    with pytest.raises(PrudentError, match=why):
        _asked()


@pytest.fixture
def launches(monkeypatch):
    """In place of a GPU, the loop of its thread, interpreted; what it was asked for is in the list."""
    asked = []

    def player(policy, laws, best, rounds, n_arms, key, *, lanes):
        def play(first, record):
            asked.append((first, len(record.pulls), lanes))
            facts = playing.is_rescored(policy), playing.equal_scores(laws, n_arms), type(laws) is GaussianLaws
            with np.errstate(over="ignore"):
                return play_runs.py_func(policy, *facts, laws, best, rounds, record, np.uint64(key), first)

        return play

    monkeypatch.setattr(device, "require", lambda: None)
    monkeypatch.setattr(playing, "player", player)
    return asked


def test_runs_are_cut_into_launches_and_none_changes(launches, monkeypatch):
    asked, finished = {"risk": RISK, "horizon": 20, "snapshots": [5], "engine": "gpu"}, []
    whole = simulate(TWO, "thompson(sd=1)", runs=7, **asked)
    assert whole.engine == "gpu"
    assert launches.pop() == (0, 7, True)
    monkeypatch.setattr(playing, "AT_ONCE", 3)
    parts = simulate(TWO, "thompson(sd=1)", runs=7, progress=finished.append, **asked)
    assert launches == [(0, 3, True), (3, 3, True), (6, 1, True)]
    assert finished == [3, 3, 1]
    assert (parts.mean == whole.mean).all()
    assert (parts.at(5).twin_variance == whole.at(5).twin_variance).all()


def test_memory_bounds_a_launch_and_equal_scores_take_threads(launches, monkeypatch):
    monkeypatch.setattr(playing, "NUMBERS", 5 * 2 * 3 * 4)  # arrays, snapshots, arms, runs
    simulate(COINS, "ucb1", risk="mean", horizon=20, snapshots=[5], runs=9, engine="gpu")
    assert launches == [(0, 4, False), (4, 4, False), (8, 1, False)]


class Nothing(NamedTuple):
    def score(self, arm, t):
        return math.nan


def test_a_score_that_is_not_a_number_is_an_error(launches):
    with pytest.raises(PrudentError, match=r"Nothing.*its score is not a number"):
        simulate(TWO, Nothing(), risk=RISK, horizon=20, runs=2, engine="gpu")


def test_nobody_waits_for_what_was_halted():
    answers = [False, True]
    playing.wait(SimpleNamespace(record=lambda: None, query=lambda: answers.pop(0)))
    assert answers == []
    endless = SimpleNamespace(record=lambda: None, query=lambda: False)
    with halted_by(np.ones(1, np.bool_)), pytest.raises(PrudentError, match="was stopped before its end"):
        playing.wait(endless)


def test_compiling_that_takes_long_is_announced(monkeypatch, capsys):
    monkeypatch.delenv("PRUDENT_QUIET")
    monkeypatch.setattr(announce, "ANNOUNCED_SECONDS", 0.01)
    said = ""
    with announce.Compiling("mine"), announce.patience():
        while "\n" not in said:
            said += capsys.readouterr().err
            time.sleep(0.01)
    assert re.findall(r"compiling (\w+)", said) == ["mine"]


def test_compiling_that_has_ended_is_no_longer_announced(monkeypatch):
    monkeypatch.setattr(announce, "ANNOUNCED_SECONDS", 3600.0)
    before = set(threading.enumerate())
    with announce.Compiling("quick"), announce.patience():
        (timer,) = set(threading.enumerate()) - before
    timer.join(10.0)
    assert not timer.is_alive()


def test_nothing_of_it_is_imported_before_it_is_asked_for():
    code = "import prudent, prudent.engine.compiled, prudent.engine.simulate, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in modules if name.startswith(("numba.cuda", "numba_cuda", "prudent.engine.gpu"))] == []


@pytest.mark.parametrize(
    ("n_arms", "runs", "rescored", "lanes"),
    [
        (15, 5_000, True, True),
        (15, 100_000, True, False),
        (33, 500, True, False),
        (2, 20_000, False, True),
        (15, 20_000, False, False),
    ],
)
def test_lanes_are_for_few_runs(n_arms, runs, rescored, lanes):
    assert playing.takes_lanes(n_arms, runs, rescored) == lanes


def test_studies_name_the_engine_and_check_what_it_can():
    from prudent.study import Cell, Study

    cells = [Cell(TWO, risks.parse(RISK), policies.parse("mv-lcb"), 100, engine=name) for name in ("stepping", "gpu")]
    assert cells[0].key() != cells[1].key()
    asked = {"bandits": {"two": TWO}, "risks": [RISK], "horizons": [100], "runs": 2, "engine": "gpu"}
    assert [each.cell.engine for each in Study(**asked, policies=["thompson(sd=1)"]).cells] == ["gpu"]
    with pytest.raises(PrudentError, match="exp-exp cannot run on a GPU here"):
        _ = Study(**asked, policies=["exp-exp"]).cells


def test_on_the_leaderboard_it_takes_what_would_step():
    from prudent.paper.leaderboard import suites

    taken = [suites.labelled(suites.FIVE, RISK, text, 100, "any") for text in ("mv-lcb(range=1)", "ucb1", "npts-sg")]
    assert [suites.stepping_on("gpu", each).cell.engine for each in taken] == ["auto", "gpu", "auto"]


@pytest.mark.parametrize("pairs", [(), ((0.2, 0.9, 1.0), (0.5, 0.25, 2.0))])
def test_threads_for_the_rows_of_two_coins_have_the_value_of_the_cpu(pairs):
    """Their functions one after the other, three threads to a row."""
    n, offset, threads = 9, row_starts(9), range(3)
    left, right = factors(n, (2.0, 1.0, 1.0, 3.0), pairs)
    costs = costs_of_totals(risks.parse("variance"), n, 0.0, 1.0)
    layer, following = np.full((2, math.comb(n + 3, 3)), np.nan)
    for place, first in product(range((n + 1) * (n + 2) // 2), threads):
        coins.fill_row(layer, left, right, costs, offset, n, place, first, len(threads))

    def respond(t, after, before):
        for place, first in product(range((t + 1) * (t + 2) // 2), threads):
            coins.respond_in_row(after, before, offset, n, t, place, first, len(threads))

    assert coins.descend(n, layer, following, respond) == pytest.approx(
        min(least_costs(n, left, right, costs)), rel=1e-13
    )


def test_what_a_gpu_has_no_memory_for_is_refused_with_its_size():
    assert coins.digits_for(1_000, 2**40) is np.float64
    assert coins.digits_for(4_000, 140 * 2**30) is np.float32
    with pytest.raises(PrudentError, match=r"4,000 rounds need 80.6 GiB of a GPU's memory, and it has 24 left"):
        coins.digits_for(4_000, 24 * 2**30)
