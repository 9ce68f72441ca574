"""The laws that policies draw from: bounds on their tails hold and are close, and proposals have the right law."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prudent import Gaussian, MeanVariance
from prudent.engine.leap import boxes as regions_of_leaders
from prudent.engine.leap import drawn, leader
from prudent.engine.leap.blocks import sources
from prudent.engine.leap.boxes import Book, inside, leader_bounds, make_book, outlook, rate_of, region_around
from prudent.engine.leap.drawn import normal_part, settle
from prudent.engine.leap.drawn_scores import Surface, height, propose, rival_rate, roots, weak_point
from prudent.engine.leap.first_passage import Stacks, make_stacks
from prudent.engine.leap.leader import Table, box_of, known_of
from prudent.engine.record import Statistics
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting
from prudent.policies.contract import policies as registry
from prudent.policies.posteriors import Beta, InverseGamma, Normal, beta, inverse_gamma, normal
from prudent.policies.scoring import score_of

DRAWS = 4_000
FALSE_ALARM = 1e-6

CASES = {
    "normal": (normal(1.0, 0.5), stats.norm(1.0, 0.5)),
    "inverse gamma": (inverse_gamma(5.5, 3.0), stats.invgamma(5.5, scale=3.0)),
    "a wide inverse gamma": (inverse_gamma(1.5, 0.7), stats.invgamma(1.5, scale=0.7)),
    "beta": (beta(9.0, 4.0), stats.beta(9.0, 4.0)),
    "beta at an end": (beta(30.0, 1.0), stats.beta(30.0, 1.0)),
}
EDGES = [(name, tail, upper) for name in CASES for tail in (0.2, 1e-3) for upper in (False, True)]


def edge_of(name, tail, upper):
    law, known = CASES[name]
    edge = float(known.isf(tail) if upper else known.ppf(tail))
    return law, known, edge


@pytest.mark.parametrize(("name", "tail", "upper"), EDGES)
def test_tails_are_bounded(name, tail, upper):
    law, _, edge = edge_of(name, tail, upper)
    location, concentration, _ = law.place()
    assert law.tight(edge, upper) >= tail * (1 - 1e-9)
    assert law.loose(location, concentration, edge, upper) >= tail * (1 - 1e-9)
    if tail < 0.01 and name in ("normal", "inverse gamma", "beta"):  # past the mode the tangent is close
        assert law.tight(edge, upper) < 1.6 * tail


@pytest.mark.parametrize(("name", "tail", "upper"), EDGES)
@pytest.mark.parametrize("kind", ["tight", "loose"])
def test_proposals_have_the_law_beyond_the_edge(name, tail, upper, kind):
    law, known, edge = edge_of(name, tail, upper)
    location, concentration, _ = law.place()
    rate = law.tight(edge, upper) if kind == "tight" else law.loose(location, concentration, edge, upper)
    if rate == 1.0:
        return
    rng = np.random.default_rng(20)
    made = [law.beyond(edge, upper, rng) if kind == "tight" else law.tilted(edge, upper, rng) for _ in range(DRAWS)]
    numbers = np.array([x for accepted, x in made if accepted])
    assert ((numbers > edge) if upper else (numbers < edge)).all()
    assert stats.binomtest(len(numbers), DRAWS, min(1.0, tail / rate)).pvalue > FALSE_ALARM
    share = (known.sf(numbers) if upper else known.cdf(numbers)) / tail
    assert stats.kstest(share, "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    "law", [Normal(0.3, 1.0), InverseGamma(4.0, 2.0), Beta(3.0, 5.0)], ids=lambda law: type(law).__name__
)
@pytest.mark.parametrize("upper", [False, True])
def test_a_nearer_location_and_less_concentration_are_worse(law, upper):
    location, concentration, deviation = law.place()
    edge = location + (1.5 if upper else -1.2) * deviation
    for nearer in (0.0, 0.5, 1.0):
        step = location + nearer * (edge - location)
        known = [law.loose(step, concentration * share, edge, upper) for share in (1.0, 0.7, 0.1)]
        assert known == sorted(known)
        assert known[0] >= law.loose(location, concentration, edge, upper)


@given(st.floats(-3, 3), st.floats(-3, -0.01), st.floats(-3, 3), st.floats(-4, 4))
def test_numbers_that_do_not_fail_keep_a_parabola_below(q1, q2, level, location):
    score = Surface(q1, q2, 0.0, 0.0)
    edge, upper = weak_point(score, location, level)
    low, high = roots(score, level)
    for x in (edge - 1.0, edge + 1.0, location):
        if math.isfinite(x) and not (x > edge if upper else x < edge):
            assert height(score, x) <= level + 1e-6
        if math.isfinite(x) and not low <= x <= high:
            assert height(score, x) <= level + 1e-6


@pytest.mark.parametrize("rho", [0.02, 1.0, 20.0])
@pytest.mark.parametrize(("lower", "narrower"), [(0.0, 1.0), (0.05, 0.3), (0.0, 0.0)])
def test_two_numbers_below_a_leader(rho, lower, narrower):
    """The rate of A/γ + Y − Y′ below a share, for the largest mean and deviation of Y′; for smaller ones as well
    `propose` accepts the right proportion of it, with the right law."""
    law, w, rng = inverse_gamma(20.5, 9.0), 0.3 * rho * 0.15, np.random.default_rng(3)
    score = Surface(1.0, 0.0, -rho * 0.4, rho * 0.15)
    sums = 9.0 / rng.standard_gamma(20.5, 400_000) + score.b
    share = float(np.quantile(sums + rng.normal(0.0, math.hypot(score.w, w), len(sums)), 0.01))
    proposal = rival_rate(law, score, 0.0, w, share)
    rate = proposal[0]
    made = [propose(law, score, -lower, narrower * w, share, proposal, rng) for _ in range(DRAWS)]
    scores = np.array([first + more for accepted, first, more in made if accepted])
    plain = sums + lower + rng.normal(0.0, math.hypot(score.w, narrower * w), len(sums))
    assert (scores < share).all()
    error = 6.0 * math.sqrt(0.01 / len(plain) + rate**2 / DRAWS)
    assert abs(rate * len(scores) / DRAWS - (plain < share).mean()) < error
    assert 0.01 - error < rate < 0.1
    assert stats.ks_2samp(scores, plain[plain < share]).pvalue > FALSE_ALARM


@pytest.mark.parametrize("spec", ["thompson", "mts", "vts", "mvts", "mvts(rho=0)", "bernoulli-mvts(rho=0.3)"])
def test_the_leader_s_rates_hold_after_every_reward_of_a_block(spec):
    """The block is in its worst order, or changes little."""
    ready, rng = bind(registry.parse(spec), Setting(2, MeanVariance(1.0), 100)), np.random.default_rng(20)
    for case in range(40):
        before, block = rng.random(30) < 0.7, np.sort(rng.random(20) < 0.6)[:: rng.choice([-1, 1])]
        block = np.full(20, before.mean()) if case % 2 else block
        seen = [np.append(before, block[:k]).astype(float) for k in range(20)]
        arms = [Arm(len(x), float(x.mean()), float(x.var())) for x in seen]
        rows = np.array([[[20.0, block.mean(), 20.0 * block.var()]]])
        stacks = Stacks(rows, np.ones(1, np.int64), rows, np.ones(1, np.int64))
        low, high = box_of(Table(None, Statistics(*np.transpose(arms[:1])), stacks), 0)
        _, first, deviation, _ = outlook(ready, arms[0])
        share = first + 0.1 * case * deviation
        bounds = leader_bounds(ready, low, high, share)
        for arm in arms[1:]:
            found = leader_bounds(ready, arm, arm, share)
            assert all(one <= most + 1e-9 * abs(most) for one, most in zip(found, bounds, strict=True))


ROUNDS = 10_000


class Bent(NamedTuple):
    """A score that is a parabola of a normal number."""

    def draws(self, arm):
        return (normal(arm.mean, 0.7 / math.sqrt(arm.pulls)),)

    def score(self, arm, theta):
        return -theta - 0.3 * theta * theta


SEVERAL = [Bent(), "thompson", "mts", "vts(rho=0, sd=0.1)", "mvts(rho=0.4)", "bernoulli-thompson", "bernoulli-mvts"]


@pytest.mark.parametrize("spec", SEVERAL)
def test_a_round_has_the_law_of_its_scores(spec):
    """The rates are those of a region, the leader stands elsewhere in it, and arms win as often as by their scores."""
    ready, rng = spec, np.random.default_rng(20)
    if isinstance(spec, str):
        ready = bind(registry.parse(spec), Setting(3, MeanVariance(1.0), 100))
    before, *others = Arm(30, 0.8, 0.12), Arm(9, 0.5, 0.24), Arm(6, 0.55, 0.2)
    region = region_around(ready, 0, before, outlook(ready, before)[0], 1.0, 0.02, 0.8)
    book = Book(*np.transpose([(0.0, 0.0, 0.0), *(rate_of(ready, arm, region) for arm in others)]), np.zeros(3))
    rivals = float(book.rate.sum())
    now = Arm(60, 0.5 * (region.low.mean + 0.8), 0.5 * (max(region.low.variance, 0.1) + 0.12))
    table = Table(None, Statistics(*map(np.array, zip(now, *others, strict=True))), None)
    assert rivals < 0.9
    assert 0.0 < region.rate < 0.9 or spec in ("thompson", "mts")
    candidate = rng.random(ROUNDS) < 1.0 - (1.0 - region.rate) * (1.0 - rivals)
    winners = np.array([settle(ready, region, rivals, table, book, rng) if each else 0 for each in candidate])
    scores = [[score_of(ready, arm, 0.0, 0, rng, None) for arm in (now, *others)] for _ in range(ROUNDS)]
    for i in (1, 2):
        wins = [int((winners == i).sum()), int((np.argmin(scores, axis=1) == i).sum())]
        assert sum(wins) > 200
        assert stats.binomtest(wins[0], sum(wins)).pvalue > FALSE_ALARM


def test_the_leader_s_normal_part_given_the_difference():
    score, theirs, rng = Surface(0.0, 0.0, 0.3, 0.5), Surface(0.0, 0.0, -0.2, 0.8), np.random.default_rng(2)
    own, other = rng.normal(score.b, score.w, 40_000), rng.normal(theirs.b, theirs.w, 40_000)
    parts = np.array([normal_part(score, theirs, more, rng) for more in other - own])
    assert stats.kstest(parts, stats.norm(score.b, score.w).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(parts + other - own, stats.norm(theirs.b, theirs.w).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("spec", ["thompson", "mvts"])
def test_blocks_begin_and_stay_in_the_region_of_their_rates(monkeypatch, spec):
    """The first round of a block sees none of its rewards, so what is known before it counts too."""
    ready, rng = bind(registry.parse(spec), Setting(2, MeanVariance(1.0), 3_000)), np.random.default_rng(20)
    regions, seen = [], []

    def find_region(*args):
        regions.append(regions_of_leaders.find_region.py_func(*args))
        return regions[-1]

    def stage(table, arm, *args):
        seen.append((known_of(table, arm), regions[-1]))
        return leader.stage(table, arm, *args)

    def take(table, arm):
        low, high = box_of(table, arm)
        assert high.pulls == low.pulls or inside(low, high, regions[-1])
        leader.take(table, arm)

    monkeypatch.setattr(drawn, "find_region", find_region)
    monkeypatch.setattr(drawn, "stage", stage)
    monkeypatch.setattr(drawn, "take", take)
    for _ in range(200):
        arms = Statistics(np.array([300, 60]), np.array([1.0, 0.5]), np.array([0.05, 0.25]))
        table = Table(sources([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]), arms, None)
        table = table._replace(stacks=make_stacks(table.src, leader.BLOCKS_KEPT))
        drawn.stride.py_func(ready, 20_000, table, make_book.py_func(2), rng)

    assert len(seen) > 100
    assert all(inside(now, now, region) and now.pulls <= region.high.pulls for now, region in seen)
