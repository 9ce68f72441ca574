"""What only a GPU can show: `pytest -m gpu` on a machine that has one. Elsewhere these tests are left out."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import ks_2samp

from prudent import Bandit, Bernoulli, Beta, Exponential, FromDraw, Gaussian, PrudentError, Uniform, simulate
from prudent.arms import encode
from prudent.engine.gpu import coins, device, playing
from prudent.engine.record import FINE, Record
from prudent.policies.binding import bind
from prudent.policies.coin_table import least_costs
from prudent.policies.contract import Setting, policies
from prudent.policies.optimal import costs_of_totals, factors
from prudent.risk.base import risks


def _is_missing() -> str:
    try:
        device.require()
    except PrudentError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(_is_missing()), reason=_is_missing())]

RUNS = 20_000
TWO = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
SEVEN = Bandit([Gaussian(0.1 * i, 0.1 + 0.05 * i) for i in range(7)])
COINS = Bandit([Bernoulli(0.3), Bernoulli(0.5), Bernoulli(0.55)])


def larger_of_two(rng):
    return max(rng.random(), rng.random())


OTHERS = Bandit([Bernoulli(0.4), Beta(2.0, 3.0), Uniform(0.1, 0.8), Exponential(0.5), Gaussian(0.4, 0.1)])
OWN = Bandit([FromDraw(larger_of_two, 2 / 3, 1 / 18, (0.0, 1.0)), Uniform(0.0, 1.0)])
RISK = "mean-variance(rho=1)"
CELLS = [
    (TWO, "mv-lcb", RISK),
    (TWO, "thompson(sd=1)", RISK),
    (TWO, "mts(sd=1)", RISK),
    (TWO, "mvts(sd=1)", RISK),
    (TWO, "mv-imed", RISK),
    (TWO, "ucb1(range=1)", "mean"),
    (SEVEN, "mv-lcb", RISK),
    (SEVEN, "thompson(sd=1)", RISK),
    (SEVEN, "vts(sd=1)", "variance"),
    (SEVEN, "mvts(sd=1)", RISK),
    (SEVEN, "cvar-ts(sd=1)", "cvar(alpha=0.1)"),
    (SEVEN, "srts(sd=1)", "sharpe"),
    (SEVEN, "mv-imed", RISK),
    (SEVEN, "ucb-v(range=1)", "mean"),
    (COINS, "bernoulli-thompson", "mean"),
    (COINS, "bernoulli-mvts", RISK),
    (COINS, "mv-lcb", RISK),
    (COINS, "kl-ucb", "mean"),
    (OTHERS, "thompson(sd=1)", RISK),
    (OWN, "thompson(sd=1)", RISK),
]


@pytest.mark.parametrize(("bandit", "policy", "risk"), CELLS, ids=lambda value: str(value)[:30])
def test_law_is_that_of_stepping(bandit, policy, risk):
    """Of every arm's pulls, mean, variance and twins, at two rounds: 20 cells together fail once in 10,000 trials."""
    asked = {"risk": risk, "horizon": 300, "snapshots": [60], "runs": RUNS}
    there, here = (simulate(bandit, policy, engine=engine, seed=5, **asked) for engine in ("gpu", "stepping"))
    assert there.engine == "gpu"
    found = []
    for one, other in ((there.at(60), here.at(60)), (there, here)):
        for name in ("pulls", "mean", "variance", "twin_mean", "twin_variance"):
            for i in range(len(bandit)):
                # Of arms with few values, the same mean comes rounded in different ways.
                values = (getattr(which, name)[:, i].round(9) for which in (one, other))
                found.append(ks_2samp(*values, method="asymp").pvalue)
    print(f"{policy} on {len(bandit)} arms: least of {len(found)} p-values {min(found):.2g}")
    assert min(found) * len(found) * len(CELLS) > 1e-4


def _played(bandit, policy, risk, runs, *, first=0, **how):
    measure = risks.parse(risk)
    ready = bind(policies.parse(policy), Setting.of(bandit, measure, 500))
    record, rounds = Record.empty(runs, 2, len(bandit)), np.array([100, 500])
    play = playing.player(ready, encode(bandit.arms), bandit.best(measure), rounds, len(bandit), 7, **how)
    assert play(first, record) == FINE
    return record


@pytest.mark.parametrize(("bandit", "policy"), [(SEVEN, "mvts(sd=1)"), (SEVEN, "mv-lcb"), (SEVEN, "mv-imed")])
def test_neither_runs_nor_blocks_nor_lanes_change_results(bandit, policy):
    whole = _played(bandit, policy, RISK, 3_000, lanes=False)
    for how in ({"lanes": False, "block": 128}, {"lanes": True}, {"lanes": True, "block": 256}):
        other = _played(bandit, policy, RISK, 3_000, **how)
        assert (other.pulls == whole.pulls).all()
        assert np.allclose(other.mean, whole.mean, rtol=0, atol=1e-12)
        assert np.allclose(other.twin_variance, whole.twin_variance, rtol=0, atol=1e-12)
    part = _played(bandit, policy, RISK, 100, first=1_000, lanes=False)
    for some, array in zip(part, whole, strict=True):
        assert (some == array[1_000:1_100]).all()


def test_the_seed_and_the_cell_make_the_stream():
    asked = {"risk": RISK, "horizon": 200, "engine": "gpu"}
    one = simulate(TWO, "mvts(sd=1)", runs=50, **asked)
    assert (simulate(TWO, "mvts(sd=1)", runs=2_000, **asked).mean[:50] == one.mean).all()
    assert (simulate(TWO, "mvts(sd=1)", runs=50, seed=1, **asked).mean != one.mean).any()


def test_no_log_has_an_error_while_a_gpu_is_busy(caplog):
    simulate(SEVEN, "mvts(sd=1)", risk=RISK, horizon=20_000, runs=20_000, engine="gpu")
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


class Nothing(NamedTuple):
    """Its score is not a number after the first reward."""

    def score(self, arm, t):
        return math.nan


@pytest.mark.parametrize("runs", [50, 50_000])
def test_a_score_that_is_not_a_number_is_an_error(runs):
    with pytest.raises(PrudentError, match=r"Nothing.*its score is not a number"):
        simulate(OTHERS, Nothing(), risk=RISK, horizon=100, runs=runs, engine="gpu")


def test_laws_that_ask_for_other_draws_are_an_error():
    def poisson(rng):
        return float(rng.poisson(3.0))

    bandit = Bandit([FromDraw(poisson, 3.0, 3.0), Uniform(0.0, 1.0)])
    with pytest.raises(PrudentError, match="of rng, a GPU has only beta, binomial"):
        simulate(bandit, "mv-lcb", risk=RISK, horizon=100, runs=5, engine="gpu")


@pytest.mark.parametrize("pairs", [(), ((0.2, 0.9, 1.0), (0.5, 0.25, 2.0))])
def test_the_value_of_two_coins_is_that_of_the_cpu(pairs):
    n = 150
    given = *factors(n, (1.0, 1.0), pairs), costs_of_totals(risks.parse("variance"), n, 0.0, 1.0)
    wanted = min(least_costs(n, *given))
    assert coins.least_cost(n, *given) == pytest.approx(wanted, rel=1e-12)
    assert coins.least_cost(n, *given, digits=np.float32) == pytest.approx(wanted, rel=1e-5)
