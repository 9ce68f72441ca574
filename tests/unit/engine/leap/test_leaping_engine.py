"""The leaping engine: path by path against a plain loop, at the edges, and where simulate() takes it.

Its law is compared with stepping in tests/statistical/test_leaping.py.
"""

import math
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from helpers.careless_policies import CONSTANTLY, NOWHERE, OVERALL, UNDEFINED, WAVE, Odd
from prudent import (
    MVLCB,
    SRTS,
    UCB1,
    AnytimeMVLCB,
    Bandit,
    Bernoulli,
    BernsteinMVLCB,
    Beta,
    Deterministic,
    Empirical,
    EpsilonGreedy,
    ExpExp,
    FixedArm,
    Gaussian,
    MeanVariance,
    PrudentError,
    RoundRobin,
    UCBTuned,
    simulate,
)
from prudent.arms.sampling import include
from prudent.engine.leap import first_passage, level_search
from prudent.engine.leap.blocks import MEAN, SIZE, sources, split
from prudent.engine.question import LEADING, choose_engine
from prudent.engine.record import no_statistics
from prudent.engine.streams import CHUNK
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting, policies
from prudent.policies.posteriors import normal

RISK = MeanVariance(0.0)


def leap(arms, policy, *, rho=0.0, horizon=1_000, runs=1, **rest):
    played = simulate(
        Bandit(arms), policy, risk=MeanVariance(rho), horizon=horizon, runs=runs, engine="leaping", **rest
    )
    assert (played.pulls.sum(1) == horizon).all()
    return played


def step(arms, policy, *, rho=0.0, horizon=1_000, runs=1):
    return simulate(Bandit(arms), policy, risk=MeanVariance(rho), horizon=horizon, runs=runs, engine="stepping")


# Path by path


class Logged:
    """`first_passage.advance`, keeping the blocks that each arm has consumed, in their order."""

    def __init__(self, n_arms):
        self.blocks = [[] for _ in range(n_arms)]
        self.short = 0

    def __call__(self, policy, src, log_failure, i, level, budget, coarse, arms, scores, stacks, remember, rng):
        self.take_back(i, arms.pulls[i])
        start = stacks.n_behind[i]
        known = policy, src, log_failure, i, level, budget, coarse, arms, scores, stacks
        made = first_passage.advance(*known, True, rng)
        self.short += scores[i] < level and made < budget
        self.blocks[i] += list(stacks.behind[i, start : stacks.n_behind[i]].copy())
        if not remember:
            stacks.n_behind[i] = 0
        return made

    def take_back(self, i, pulls):
        """An arm that stands at `pulls` again has given the blocks after that back."""
        while sum(block[SIZE] for block in self.blocks[i]) > pulls:
            self.blocks[i].pop()
        assert sum(block[SIZE] for block in self.blocks[i]) == pulls


def consumed(bandit, ready, rounds, rng, monkeypatch):
    """Play one run with the engine's own search for the level; its pulls at each of `rounds`, and each arm's blocks."""
    n_arms, src = len(bandit), sources(bandit.arms)
    arms, saved = no_statistics(n_arms), no_statistics(n_arms)
    scores, level = np.full(n_arms, -math.inf), -math.inf
    stacks, log = first_passage.make_stacks(src, first_passage.FIRST_BLOCKS), Logged(n_arms)
    monkeypatch.setattr(level_search, "advance", log)
    pulls = []
    for n in rounds:
        level, full = level_search.raise_level.py_func(ready, src, 0.0, n, level, arms, scores, saved, stacks, rng)
        assert not full
        level = level_search.play_out.py_func(ready, src, 0.0, n, level, arms, scores, stacks, rng)
        pulls.append(arms.pulls.tolist())
    for i in range(n_arms):
        log.take_back(i, arms.pulls[i])
    return pulls, log.blocks, log.short


@njit
def splinter(src, arm, rows, singles, rng):
    """Split rows[0] into single rewards, in their order."""
    top, k = 1, 0
    while top > 0:
        size = int(rows[top - 1, SIZE])
        if size > 1:
            split(src, arm, size // 2, rows, top - 1, rng)
            top += 1
        else:
            top -= 1
            singles[k] = rows[top, MEAN]
            k += 1


def rewards(src, arm, blocks, rng):
    """The blocks' rewards one by one."""
    found = []
    for block in blocks:
        rows, singles = np.zeros((64, len(block))), np.empty(int(block[SIZE]))
        rows[0] = block
        splinter(src, arm, rows, singles, rng)
        found += singles.tolist()
    return found


def replay(ready, paths, rounds):
    """A plain loop over given rewards: the arm of smallest score, ties to the lowest number."""
    n_arms = len(paths)
    scores, stats, pulls = [-math.inf] * n_arms, [Arm(0, 0.0, 0.0)] * n_arms, []
    for t in range(1, rounds[-1] + 1):
        i = scores.index(min(scores))
        count = stats[i].pulls + 1
        if count > len(paths[i]):
            return None  # it wants a reward that leaping never drew
        stats[i] = Arm(count, *include.py_func(count, stats[i].mean, stats[i].variance, paths[i][count - 1]))
        scores[i] = ready.score(stats[i])
        if t in rounds:
            pulls.append([arm.pulls for arm in stats])
    return pulls


def tied(ready, paths, pulls):
    """Whether the pulls made are those of smallest running maximum of the score, to rounding."""
    last, following = [], []
    for path, count in zip(paths, pulls, strict=True):
        highest, stats = [-math.inf], Arm(0, 0.0, 0.0)
        for s, reward in enumerate(path[:count], 1):
            stats = Arm(s, *include.py_func(s, stats.mean, stats.variance, reward))
            highest.append(max(highest[-1], ready.score(stats)))
        last.append(highest[-2])
        following.append(highest[-1])
    return max(last) <= min(following) + 1e-12


PATHWISE = {
    "2 Gaussians": (Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]), 0.0),
    "2 equal Gaussians": (Bandit([Gaussian(0.5, 0.25)] * 2), 10.0),
    "5 Gaussians": (Bandit([Gaussian(0.5 + 0.1 * i, 0.05 + 0.05 * i) for i in range(5)]), 1.0),
    "2 Bernoullis": (Bandit([Bernoulli(0.5), Bernoulli(0.7)]), 5.0),
    "5 Bernoullis": (Bandit([Bernoulli(0.1 + 0.15 * i) for i in range(5)]), 0.7),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHWISE)
@pytest.mark.parametrize("policy", [MVLCB(), MVLCB.sharp()], ids=["seed", "sharp"])
def test_stepping_through_the_same_rewards_makes_the_same_pulls(name, policy, monkeypatch):
    """Every block refined to single rewards, in exact mode: the pulls agree at the snapshot and at the end."""
    (bandit, rho), rounds = PATHWISE[name], [600, 900]
    ready, src = bind(policy, Setting(len(bandit), MeanVariance(rho), rounds[-1])), sources(bandit.arms)
    whole, short = 0, 0
    for run in range(200):
        rng = np.random.default_rng([run, 12])
        leaped, blocks, stops = consumed(bandit, ready, rounds, rng, monkeypatch)
        paths = [rewards(src, i, blocks[i], rng) for i in range(len(bandit))]
        short += stops
        whole += sum(block[SIZE] > 1.0 for arm in blocks for block in arm)
        # Bernoulli arms of equal counts tie, and rounding may break that tie either way.
        stepped = replay(ready, paths, rounds)
        assert stepped == leaped or ("Bernoulli" in name and all(tied(ready, paths, pulls) for pulls in leaped))
    assert whole > 5_000  # it did leap
    assert short > 200  # and first went near levels without passing them


@pytest.mark.slow
def test_a_bad_guess_of_the_level_costs_time_not_truth(monkeypatch):
    """Guesses far too high and too low, for rough levels too: runs go back or start over, and the pulls are right."""
    (bandit, rho), rounds = PATHWISE["2 Gaussians"], [600, 900]
    ready, src = bind(MVLCB(), Setting(len(bandit), MeanVariance(rho), rounds[-1])), sources(bandit.arms)
    guess, start_over, starts = level_search.guess_level, level_search.start_over, []
    chance = np.random.default_rng(3)
    monkeypatch.setattr(level_search, "guess_level", lambda *known: guess(*known) + chance.normal(0.0, 0.3))
    monkeypatch.setattr(level_search, "start_over", lambda *known: (starts.append(1), start_over(*known)))
    for run in range(200):
        rng = np.random.default_rng([run, 13])
        leaped, blocks, _ = consumed(bandit, ready, rounds, rng, monkeypatch)
        assert replay(ready, [rewards(src, i, blocks[i], rng) for i in range(2)], rounds) == leaped
    assert len(starts) > 10


# Edges


@pytest.mark.parametrize("horizon", [1_000, 1_001, 999_999])
def test_two_deterministic_arms_are_pulled_in_turn(horizon):
    """Remark 2 of the paper: the regret is Γ²/4, less 1/(4n²) for odd n."""
    runs = leap([Deterministic(0.0), Deterministic(1.0)], MVLCB(), horizon=horizon, runs=3)
    assert (runs.pulls == [(horizon + 1) // 2, horizon // 2]).all()
    exact = 0.25 if horizon % 2 == 0 else (horizon**2 - 1) / (4 * horizon**2)
    assert runs.regret() == pytest.approx(exact, abs=1e-15)
    assert horizon != 1_000 or (runs.regret() == 0.25).all()


CONSTANT = [Deterministic(0.1), Gaussian(0.3, 0.0), Empirical([0.2, 0.2]), Bernoulli(0.0), Gaussian(0.1, 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize("policy", [MVLCB(), MVLCB.sharp(), BernsteinMVLCB()], ids=["seed", "sharp", "bernstein"])
@pytest.mark.parametrize("rho", [0.0, 1.0, math.inf])
def test_constant_arms_leap_exactly_as_they_step(policy, rho):
    for horizon in (5, 6, 11, 1_000, 20_001):
        runs = {"rho": rho, "horizon": horizon}
        assert leap(CONSTANT, policy, **runs).pulls.tolist() == step(CONSTANT, policy, **runs).pulls.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("law", [Deterministic(0.1), Gaussian(0.1, 0.0)], ids=str)
def test_equal_constant_arms_share_a_billion_rounds(law):
    assert leap([law] * 3, MVLCB(), rho=1.0, horizon=10**9 + 1).pulls.tolist() == [[333333334, 333333334, 333333333]]


def test_ties_go_to_the_lowest_arm():
    for horizon in range(3, 40):
        pulls = leap([Deterministic(0.1)] * 3, MVLCB(), rho=1.0, horizon=horizon).pulls
        assert pulls.tolist() == [[(horizon + 2 - i) // 3 for i in range(3)]]


ARMS = {
    "Gaussians": [Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)],
    "equal Gaussians": [Gaussian(0.0, 1.0)] * 3,
    "Bernoullis": [Bernoulli(0.5), Bernoulli(0.4), Bernoulli(0.4)],
    "few atoms": [Empirical([0.0, 0.5, 2.0]), Empirical([1.0])],
    "a sure arm": [Deterministic(0.5), Gaussian(0.5, 0.1)],
    "many arms": [Gaussian(0.1 * i, 0.1 + 0.01 * i) for i in range(15)],
    "one arm": [Gaussian(1.0, 1.0)],
    "large numbers": [Gaussian(1e15, 1.0), Gaussian(1e15, 2.0)],
    "small numbers": [Gaussian(1e-12, 1e-20), Bernoulli(1e-9)],
}


@pytest.mark.parametrize("rho", [0.0, 1.0, math.inf])
@pytest.mark.parametrize("name", ARMS)
def test_all_rounds_are_played(name, rho):
    arms = ARMS[name]
    for policy in (MVLCB(), MVLCB.sharp(), BernsteinMVLCB()):
        for horizon in (len(arms), len(arms) + 1, 2 * len(arms), 100, 5_000):
            runs = leap(arms, policy, rho=rho, horizon=horizon, runs=10)
            assert (runs.pulls >= 1).all() or horizon < 2 * len(arms)  # a variance may want two pulls of an arm first
            assert np.isfinite(runs.mean).all()
            assert (runs.variance >= 0.0).all()
            assert (runs.variance[runs.pulls == 1] == 0.0).all()


@pytest.mark.parametrize("name", sorted(ARMS.keys() - {"large numbers"}))
def test_a_billion_rounds_take_few_draws(name):
    """The work of a run is what it draws; stepping draws at least once a round."""
    leap(ARMS[name], MVLCB.sharp(), rho=1.0, horizon=10**9, runs=2)
    assert drawn(Bandit(ARMS[name]), 10**9, most=2_000_000) is not None


def drawn(bandit, horizon, most):
    """How many numbers a run takes from its stream; None if more than `most`."""
    ready, src = bind(MVLCB.sharp(), Setting(len(bandit), MeanVariance(1.0), horizon)), sources(bandit.arms)
    arms, saved = (no_statistics(len(bandit)) for _ in "12")
    scores, level, full = np.full(len(bandit), -math.inf), -math.inf, True
    stacks, rng, again = (
        first_passage.make_stacks(src, first_passage.FIRST_BLOCKS),
        *(np.random.default_rng(1) for _ in "12"),
    )
    while full:
        level, full = level_search.raise_level(ready, src, 0.0, horizon, level, arms, scores, saved, stacks, rng)
        stacks = first_passage.enlarged(src, stacks) if full else stacks
    level_search.play_out(ready, src, 0.0, horizon, level, arms, scores, stacks, rng)
    assert arms.pulls.sum() == horizon
    end = rng.bit_generator.state["state"]
    return next((n for n in range(most) if again.bit_generator.advance(n > 0).state["state"] == end), None)


def test_ten_billion_rounds():
    """Products of two such counts do not fit whole numbers of 64 bits."""
    bandit = Bandit([Gaussian(0.2, 0.01), Gaussian(1.0, 0.05)])
    runs = simulate(bandit, MVLCB(), risk=MeanVariance(0.0), horizon=10**10, runs=10, workers=1)
    assert (runs.pulls.sum(1) == 10**10).all()
    assert (runs.pulls[:, 1] < 10**7).all()


def test_one_round():
    assert leap([Gaussian(1.0, 1.0)], MVLCB(), horizon=1).pulls.tolist() == [[1]]


def test_an_arm_may_never_be_seen_again():
    """A variance a thousand times the width: one pull, or two for a variance to show."""
    far = [Gaussian(0.0, 0.01), Gaussian(0.0, 1e12)]
    runs = leap(far, MVLCB(), horizon=10**6, runs=50)
    assert (runs.pulls[:, 1] == 2).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [OVERALL, CONSTANTLY, WAVE, NOWHERE])
def test_odd_scores_and_bounds_cost_time_but_no_exactness(kind):
    """On constant arms every engine must make the same pulls."""
    for horizon in (5, 100, 3_000, 20_000):
        leaped, stepped = leap(CONSTANT, Odd(kind), horizon=horizon), step(CONSTANT, Odd(kind), horizon=horizon)
        assert leaped.pulls.tolist() == stepped.pulls.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [OVERALL, NOWHERE])
def test_a_bound_that_says_nothing_leaves_the_law_alone(kind, ks_2samp):
    arms, rest = ARMS["Gaussians"], {"horizon": 400, "runs": 2_000}
    leaped, stepped = leap(arms, Odd(kind), **rest), step(arms, Odd(kind), **rest)
    for name in ("pulls", "mean", "variance"):
        assert ks_2samp(getattr(leaped, name)[:, 1], getattr(stepped, name)[:, 1]) > 1e-9


@pytest.fixture
def ks_2samp():
    """A p-value no smaller than it should be, ties or not: 2 exp(−n d²) for n ≥ 458 [WeiDudley12]."""
    from scipy import stats

    return lambda a, b: 2.0 * math.exp(-len(a) * stats.ks_2samp(a, b, method="asymp").statistic ** 2)


@pytest.mark.parametrize("horizon", [200, 10**9])
def test_a_score_that_is_no_number_is_reported_at_once(horizon):
    for arms in (ARMS["Gaussians"], CONSTANT):
        with pytest.raises(PrudentError, match="not a number"):
            leap(arms, Odd(UNDEFINED), horizon=horizon)


def test_memory_does_not_grow_with_the_horizon():
    code = """
import resource
from prudent import Bandit, Gaussian, simulate
bandit = Bandit([Gaussian(0.5, 0.25)] * 5)
def peak(n):
    runs = simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=n, runs=10, workers=1)
    assert runs.engine == "leaping"
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
short = peak(100_000)
print(peak(1_000_000_000) - short)
"""
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 200_000  # kilobytes; a billion rewards would take 8 million


def test_there_is_never_more_room_than_stated():
    src = sources([Gaussian(0.0, 1.0)] * 2)
    stacks, rooms = first_passage.make_stacks(src, first_passage.FIRST_BLOCKS), []
    for _ in range(6):
        stacks.ahead[:, :3], stacks.n_ahead[:] = 7.0, 3
        stacks = first_passage.enlarged(src, stacks)
        assert stacks.n_ahead.tolist() == [3, 3]
        assert (stacks.ahead[:, :3] == 7.0).all()
        rooms.append(stacks.ahead.shape[1])
    assert rooms[0] > first_passage.FIRST_BLOCKS
    assert rooms[-1] == rooms[-2] == first_passage.MAX_BLOCKS


def test_without_room_the_run_is_still_played_to_its_end():
    """With room for hardly a block the level cannot rise; what is left is played in its order."""
    bandit, rounds = Bandit(ARMS["equal Gaussians"]), 20_000
    ready, src = bind(MVLCB(), Setting(3, RISK, rounds)), sources(bandit.arms)
    for room in (first_passage.FIRST_BLOCKS, 160):
        arms, saved = no_statistics(3), no_statistics(3)
        scores, stacks, rng = np.full(3, -math.inf), first_passage.make_stacks(src, room), np.random.default_rng(1)
        level, full = level_search.raise_level(ready, src, 0.0, rounds, -math.inf, arms, scores, saved, stacks, rng)
        assert full == (room == 160)
        if full:
            assert arms.pulls.sum() == 0
            assert stacks.n_behind.sum() == 0
            assert stacks.n_ahead.sum() > 0
        level_search.play_out(ready, src, 0.0, rounds, level, arms, scores, stacks, rng)
        assert arms.pulls.sum() == rounds


# simulate()


@pytest.mark.parametrize(
    ("policy", "arms", "engine"),
    [
        *((policy, arms, "leaping") for policy in (MVLCB(), BernsteinMVLCB(), ExpExp()) for arms in ARMS.values()),
        *((policy, ARMS["Gaussians"], "leaping") for policy in (EpsilonGreedy(), RoundRobin(), FixedArm(0))),
        *((policy, ARMS["Gaussians"], "stepping") for policy in (UCB1(), AnytimeMVLCB())),
        *((policy, [Beta(1.0, 2.0), Gaussian(0.0, 1.0)], "stepping") for policy in (MVLCB(), ExpExp())),
        (MVLCB(), [Empirical(np.arange(65.0)), Bernoulli(0.5)], "stepping"),
        (Odd(OVERALL), CONSTANT, "leaping"),
    ],
)
def test_auto_leaps_where_it_can(policy, arms, engine):
    assert simulate(Bandit(arms), policy, risk=RISK, horizon=50, runs=1).engine == engine
    assert simulate(Bandit(arms), policy, risk=RISK, horizon=50, runs=1, engine="stepping").engine == "stepping"


@pytest.mark.parametrize("policy", ["ucb1", "ucb-v", "mv-ucb", "anytime-mv-lcb", "mv-imed", "thompson", "vts", "mvts"])
def test_auto_leaps_behind_a_leader_in_long_runs(policy):
    made, bandit = policies.parse(policy), Bandit(ARMS["Gaussians"])
    for horizon, engine in ((LEADING - 1, "stepping"), (LEADING, "leaping")):
        ready = bind(made, Setting.of(bandit, MeanVariance(1.0), horizon))
        assert choose_engine("auto", bandit, made, ready, horizon) == engine
        assert choose_engine("leaping", bandit, made, ready, horizon) == "leaping"


class Boundless(NamedTuple):
    def score(self, arm):
        return arm.variance


class TwoNormals(NamedTuple):
    def draws(self, arm):
        return normal(arm.mean, 1.0), normal(arm.mean, 1.0)

    def score(self, arm, one, other):
        return one + other


class OwnRisk(NamedTuple):
    risk: Any

    def score(self, arm, best_cost):
        return -best_cost

    def score_bound(self, low, high):
        return 0.0


@pytest.mark.parametrize(
    ("policy", "arms", "why"),
    [
        (UCBTuned(), ARMS["Gaussians"], "no score_bound"),
        (SRTS(RISK), ARMS["Gaussians"], "draws at random by itself"),
        (TwoNormals(), ARMS["Gaussians"], "an inverse gamma and then a normal"),
        (OwnRisk(RISK), ARMS["Gaussians"], "compares arms by a risk of its own"),
        (Boundless(), ARMS["Gaussians"], "no score_bound"),
        (MVLCB(), [Beta(1.0, 2.0)], "in blocks only for Gaussian arms and for arms with at most 64"),
        (ExpExp(), [Beta(1.0, 2.0)], "in blocks only for"),
        (MVLCB(), [Empirical(np.arange(65.0))], "at most 64 different values"),
    ],
)
def test_leaping_where_it_cannot_says_why(policy, arms, why):
    with pytest.raises(PrudentError, match=why):
        simulate(Bandit(arms), policy, risk=RISK, horizon=50, runs=1, engine="leaping")


@pytest.mark.parametrize("policy", [MVLCB(), MVLCB.sharp(), ExpExp()], ids=["seed", "sharp", "exp-exp"])
def test_workers_do_not_change_the_result(policy):
    one, eight = (leap(ARMS["Gaussians"], policy, horizon=50_000, runs=3 * CHUNK + 1, workers=n) for n in (1, 8))
    for name in ("pulls", "mean", "variance", "twin_mean", "twin_variance"):
        assert np.array_equal(getattr(one, name), getattr(eight, name))


@pytest.mark.parametrize("failure", [-1e-15, 1.1e-3, 1.0, math.nan])
def test_bounds_may_not_fail_often(failure):
    with pytest.raises(PrudentError, match="bound_failure must"):
        leap(ARMS["Gaussians"], MVLCB(), bound_failure=failure)


@pytest.mark.parametrize("failure", [0.0, 1e-300, 1e-15, 1e-3])
def test_tight_bounds_play_all_rounds(failure):
    assert leap(ARMS["many arms"], MVLCB.sharp(), horizon=10**6, runs=5, bound_failure=failure).engine == "leaping"


def test_snapshots_are_the_run_on_its_way():
    runs = leap(ARMS["equal Gaussians"], MVLCB(), horizon=10**6, runs=20, snapshots=[3, 4, 1_000, 999_999])
    pulls = np.stack([earlier.pulls for earlier in runs.history])
    assert (pulls.sum(2) == np.array([[3], [4], [1_000], [999_999], [10**6]])).all()
    assert (np.diff(pulls, axis=0) >= 0).all()
    for earlier in runs.history:
        assert sum(earlier.regret_parts()) == pytest.approx(earlier.regret(), abs=1e-12)
