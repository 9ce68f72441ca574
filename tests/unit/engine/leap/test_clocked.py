"""Scores that fall with the clock or with the best cost: every round of a block is the leader's."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from prudent import Bandit, Bernoulli, Gaussian, MeanVariance
from prudent.arms.base import encode
from prudent.arms.sampling import include
from prudent.engine.floors import Floors
from prudent.engine.leap import clocked, leader
from prudent.engine.leap.blocks import MEAN, SIZE, sources, split
from prudent.engine.leap.first_passage import make_stacks
from prudent.engine.record import FINE, Record, no_statistics
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting, policies
from prudent.policies.scoring import compares, own_cost, score_of

HORIZON = 1_500
FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
THREE = Bandit([Gaussian(0.3, 1.0), Gaussian(0.5, 0.01), Gaussian(0.45, 0.2)])
COINS = Bandit([Bernoulli(0.9), Bernoulli(0.4)])


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """What stands in line in kernels would be compiled here by itself, every time."""
    for module in (clocked, leader):
        for name, value in list(vars(module).items()):
            if isinstance(value, Dispatcher):
                monkeypatch.setattr(module, name, value.py_func)


def played(policy, bandit, rng, monkeypatch):
    """One run of the engine's own loop: which arm it took, and a block of it, or its statistics after a round."""
    events, src, n = [], sources(bandit.arms), len(bandit)

    def logged_take(table, i):
        events.append((i, table.stacks.ahead[i, table.stacks.n_ahead[i] - 1].copy()))
        leader.take(table, i)

    def round_by_round(policy, arm, t, count, *rest):
        ties, table, scores, rng = rest
        count = 1 if compares(type(policy)) else count
        for more in range(count):
            before = table.arms.pulls.copy()
            if more == 0:
                leader.pull(table, arm, rng)
            else:
                leader.step_on.py_func(policy, t + more, 1, ties, table, scores, rng)
            (i,) = np.flatnonzero(table.arms.pulls != before)
            events.append((i, leader.known_of(table, i)))
        return count

    monkeypatch.setattr(clocked, "take", logged_take)
    monkeypatch.setattr(clocked, "advance", round_by_round)
    table = clocked.Table(src, no_statistics(n), make_stacks(src, leader.BLOCKS_KEPT))
    known = table, Floors(*np.empty((4, n))), clocked.Guesses(*np.empty((3, n)))
    rounds, record, halt = np.array([100, HORIZON]), Record.empty(1, 2, n), np.zeros(1, bool)
    ties = isinstance(bandit.arms[0], Bernoulli)
    job = 0, ties, encode(bandit.arms), 0, rounds, record, halt
    with np.errstate(invalid="ignore"):
        assert clocked.run_falling.py_func(policy, *job, known, rng) == FINE
    return events, table.arms


def rewards(src, i, block, rng):
    """Those of a block, one by one."""
    rows, top = np.zeros((64, len(block))), 1
    rows[0] = block
    while top > 0:
        if rows[top - 1, SIZE] > 1:
            split(src, i, int(rows[top - 1, SIZE]) // 2, rows, top - 1, rng)
            top += 1
        else:
            top -= 1
            yield rows[top, MEAN]


def loses(policy, arms, t, pulled):
    """Whether the score of another arm is smaller, by more than rounding."""
    best = min((own_cost(policy, arm, 0) for arm in arms if arm.pulls > 0), default=math.inf)
    scores = [score_of(policy, arm, best, t, 0, 0) if arm.pulls > 0 else -math.inf for arm in arms]
    return scores[pulled] > min(scores) + 1e-9 * abs(min(scores))


@pytest.mark.parametrize(
    ("policy", "bandit"),
    [("ucb1", FIGURE_2), ("ucb1", COINS), ("mv-ucb(b=0.5)", THREE), ("mv-imed", FIGURE_2), ("mv-imed", THREE)],
)
def test_every_round_of_a_block_is_the_leader_s(policy, bandit, monkeypatch):
    ready = bind(policies.parse(policy), Setting.of(bandit, MeanVariance(1.0), HORIZON))
    src, blocks = sources(bandit.arms), 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(clocked, "GAP_SHARE", (0.8, 3.0)[seed % 2])  # blocks of a bad size fail, and do no harm
        events, final = played(ready, bandit, rng, monkeypatch)
        arms, t = [Arm(0, 0.0, 0.0)] * len(bandit), 0
        for i, what in events:
            if isinstance(what, Arm):
                t += 1
                assert not loses(ready, arms, t, i)
                arms[i] = what
                continue
            blocks += 1
            for reward in rewards(src, i, what, rng):
                t += 1
                assert not loses(ready, arms, t, i)
                count = arms[i].pulls + 1
                arms[i] = Arm(count, *include.py_func(count, arms[i].mean, arms[i].variance, reward))
        assert [arm.pulls for arm in arms] == final.pulls.tolist()
        np.testing.assert_allclose([arm.mean for arm in arms], final.mean, rtol=1e-9)
    assert blocks > 200


class Hurried(NamedTuple):
    """Its score falls ever faster, and is not defined after the last round."""

    horizon: int

    def score(self, arm, t):
        return -arm.mean - 0.01 / (self.horizon + 1 - t) / arm.pulls

    def score_bound(self, low, high, t):
        return self.score(Arm(high.pulls, low.mean, high.variance), t)


def test_no_clock_after_the_last_round_is_asked_for(monkeypatch):
    _, arms = played(Hurried(HORIZON), FIGURE_2, np.random.default_rng(1), monkeypatch)
    assert arms.pulls.sum() == HORIZON
