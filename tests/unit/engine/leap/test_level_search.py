"""What the search for a level aims at. A wrong aim costs only time, so no other test would notice it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import MVLCB, Gaussian, MeanVariance
from prudent.arms import sampling
from prudent.engine.leap import first_passage, level_search
from prudent.engine.leap.blocks import prefix_box, sources
from prudent.engine.record import no_statistics
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting

ARMS = [Gaussian(1.0, 0.05), Gaussian(0.5, 0.25), Gaussian(0.7, 0.4)]
INDEX = bind(MVLCB(rho=1.0), Setting(3, MeanVariance(1.0), 10**6))


def pulls_at(level, a, b, pulls):
    """How many pulls bring every arm to the level, if its score is a − b/√s."""
    return sum(max(s, (slope / (top - level)) ** 2) for top, slope, s in zip(a, b, pulls, strict=True))


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(1.1, 1e4))
def test_the_level_makes_as_many_pulls_as_asked_for(seed, n_arms, times):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n_arms), rng.uniform(0.5, 5.0, n_arms)
    pulls = rng.integers(1, 1_000, n_arms)
    target = float(pulls.sum()) * times
    low, high = float((a - b / np.sqrt(pulls)).min()), float((a - b / math.sqrt(target)).min())
    if low < high:
        level = level_search.solve_level.py_func(a, b, pulls, target, 0.0, low, high)
        assert pulls_at(level, a, b, pulls) == pytest.approx(target, abs=0.51 + 1e-6 * target)


@pytest.mark.parametrize("target", [10**4, 10**6])
@pytest.mark.parametrize("caution", [0.0, 4.0])
def test_the_first_guess_is_the_level_that_the_true_arms_reach_a_little_earlier(target, caution):
    src, arms = sources(ARMS), no_statistics(3)
    scores = np.full(3, -np.inf)
    guess = level_search.guess_level.py_func(INDEX, src, float(target), arms, scores, True, caution)
    needed = 0
    for law in ARMS:
        low, high = 1, 10**8
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if INDEX.score(Arm(middle, law.mean, law.variance)) > guess else (middle, high)
        needed += high
    assert (0.985 if caution == 0.0 else 0.75) * target < needed < 1.01 * target
    assert caution == 0.0 or needed < 0.99 * target


def test_a_score_that_does_not_rise_gives_no_guess():
    flat = bind(MVLCB(rho=1.0, c=0.0, delta=0.5), Setting(3, MeanVariance(0.0), 10))._replace(width=0.0)
    src, arms = sources(ARMS), no_statistics(3)
    assert level_search.guess_level.py_func(flat, src, 1e4, arms, np.full(3, -np.inf), True, 1.0) == -math.inf


def test_blocks_are_as_long_as_the_room_below_the_level():
    assert first_passage.fitting.py_func(1_000, 5.0, 0.001) == 1_000
    assert first_passage.fitting.py_func(1_000, 0.5, 0.001) == 460
    assert first_passage.fitting.py_func(1_000, 0.003, 0.001) == 1
    assert first_passage.fitting.py_func(1_000, 0.0, 0.0) == 1_000


@pytest.mark.parametrize("pulls", [100, 10_000])
def test_the_rise_of_a_bound_is_that_of_a_block_which_just_fits(pulls):
    law = ARMS[1]
    score = INDEX.score(Arm(pulls, law.mean, law.variance))
    level = INDEX.score(Arm(2 * pulls, law.mean, law.variance))
    rate = first_passage.rise.py_func(INDEX, 0.0, law.mean, law.variance, level, score, pulls, law.mean, law.variance)
    size = max(2, first_passage.fitting.py_func(8 * pulls, level - score, rate))
    box = prefix_box(pulls, law.mean, law.variance, size, law.mean, law.variance * size, 0.0)
    bound = INDEX.score_bound(Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3]))
    assert 0.5 * (level - score) < bound - score < 1.5 * (level - score)


class Counted:
    """A random generator that counts what is drawn."""

    def __init__(self):
        self.rng, self.draws = np.random.default_rng(0), 0

    def __getattr__(self, name):
        self.draws += 1
        return getattr(self.rng, name)


@pytest.mark.parametrize(
    ("low", "high", "most"), [(3.0, 50.0, 2.2), (-60.0, -4.0, 2.2), (0.5, 0.9, 2.4), (-1.0, 1.0, 2.6), (-2.0, 9.0, 2.2)]
)
def test_few_proposals_of_a_truncated_gaussian_are_rejected(low, high, most):
    """Two draws make a proposal, so 2 a reward are the fewest."""
    rng = Counted()
    for _ in range(3_000):
        assert low <= sampling._truncated.py_func(low, high, rng) <= high
    assert rng.draws / 3_000 < most
