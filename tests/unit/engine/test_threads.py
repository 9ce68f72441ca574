"""Chunks on threads: who plays them, and how they end early."""

import threading
import time

import numpy as np
import pytest

from prudent import LUCB, UCB1, Bandit, MeanVariance, PrudentError, identify, simulate
from prudent.arms.base import encode
from prudent.base import memory
from prudent.engine.compiled import stepper
from prudent.engine.leap.blocks import sources
from prudent.engine.leap.scores import leap_scores
from prudent.engine.record import FINE, HALTED, Record
from prudent.engine.search_rounds import Found, search
from prudent.engine.streams import CHUNK
from prudent.engine.threads import halted_by, play_all
from prudent.policies.binding import bind
from prudent.policies.contract import Setting, policies

UNIT = Bandit(["bernoulli(0.5)", "bernoulli(0.4)"])


def test_the_main_thread_never_plays_because_it_must_hear_an_interruption():
    players = []
    play_all(lambda *_: players.append(threading.current_thread()), 3 * CHUNK, 1, None)
    assert len(players) == 3
    assert threading.main_thread() not in players


def test_another_thread_with_one_worker_plays_itself():
    players = []

    def play():
        play_all(lambda *_: players.append(threading.current_thread()), 3 * CHUNK, 1, None)

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert players == [thread] * 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, PrudentError])
def test_what_ends_one_chunk_ends_the_others(error):
    """The second chunk would go on for ever."""
    both, ended = threading.Barrier(2), threading.Event()

    def play(chunk, _, halt):
        both.wait()
        if chunk == 0:
            raise error
        while not halt[0]:
            time.sleep(0.001)
        ended.set()

    with pytest.raises(error):
        play_all(play, 2 * CHUNK, 2, None)
    assert ended.wait(10.0)


def test_simulations_of_one_study_share_a_flag():
    mine, seen = np.zeros(1, np.bool_), []
    with halted_by(mine):
        play_all(lambda _, __, halt: seen.append(halt), CHUNK, 1, None)
    play_all(lambda _, __, halt: seen.append(halt), CHUNK, 1, None)
    assert seen[0] is mine is not seen[1]


def ended(halt):
    """How kernels end, interpreted, with the flag as given."""
    risk, laws = MeanVariance(1.0), encode(UNIT.arms)
    setting = Setting.of(UNIT, risk, 20)
    rest = 0, np.array([20]), Record.empty(1, 1, 2), np.array([halt]), np.random.default_rng(0)
    ucb, turns = bind(UCB1(), setting), bind(policies.parse("round-robin"), setting)
    lucb = bind(LUCB(), setting._replace(delta=0.3))
    yield stepper(ucb, 20, interpreted=True)(laws, *rest)
    yield stepper(turns, 20, interpreted=True)(laws, *rest)
    yield stepper(turns, 20, blocks=True, interpreted=True)(laws, *rest)
    yield search.py_func(lucb, lucb.risk, False, laws, 50, Found.empty(1, 2), *rest[-2:])
    if halt:  # else it would take a minute
        yield leap_scores.py_func(ucb, sources(UNIT.arms), 0.0, None, laws, *rest)


def test_kernels_end_once_the_flag_is_set():
    assert list(ended(False)) == [FINE] * 4
    assert list(ended(True)) == [HALTED] * 5


def test_a_simulation_that_was_stopped_says_so():
    stopped = pytest.raises(PrudentError, match="round-robin: was stopped before its end")
    with halted_by(np.ones(1, np.bool_)), stopped:
        simulate(UNIT, "round-robin", risk="variance", horizon=100, runs=1)


ABSURD = {
    "runs": (lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=10**15), "GiB of memory"),
    "more runs": (lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=1e30), r"at most 2\^53"),
    "rewards": (
        lambda: simulate(UNIT, "cvar-ucb(high=1)", risk="cvar", horizon=10**14, runs=1),
        "all rewards of 2 arms",
    ),
    "searches": (lambda: identify(UNIT, "uniform", risk="mean", budget=10, runs=10**15), "searches of 2 arms need"),
    "pulls": (lambda: identify(UNIT, "uniform", risk="cvar", budget=10**14, runs=1), "all rewards of 100,000,000,"),
    "workers": (
        lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=1, workers=10**6),
        "from 1 to 1024",
    ),
    "snapshots": (lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=1, snapshots=5), r"a list of rounds"),
    "text": (lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=1, snapshots="5"), r"a list of rounds"),
    "progress": (lambda: simulate(UNIT, "ucb1", risk="mean", horizon=10, runs=1, progress=5), "must be a function"),
}


@pytest.mark.parametrize("name", ABSURD)
def test_what_no_machine_can_hold_is_refused_with_its_size(name):
    call, message = ABSURD[name]
    with pytest.raises(PrudentError, match=message):
        call()


def test_where_the_system_does_not_tell_its_memory_nothing_is_refused(monkeypatch):
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.memory() == float("inf")
    memory.check_memory("simulate", 1e300, "runs")
