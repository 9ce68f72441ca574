"""The unit of rewards changes no decision; what a policy assumes of rewards is taken from them, asked for, or said."""

import math
import warnings

import numpy as np
import pytest

from prudent import Agent, Bandit, PrudentError, identify, simulate
from prudent.arms.base import arms
from prudent.base.errors import AssumptionWarning
from prudent.policies.binding import served_risk
from prudent.policies.contract import policies, spec
from prudent.policies.units import (
    Units,
    check_scale,
    fitted,
    in_its_unit,
    power_of_two,
    units_of_arms,
    units_of_support,
)
from prudent.risk.base import risks
from prudent.study import Study, run
from prudent.study.toml import load, to_toml

POLICIES = {entry.name: set(entry.factory._fields) for entry in policies.entries() if "arms" not in entry.facts}
BOUNDED = {name for name, fields in POLICIES.items() if fields & {"low", "high", "best", "size", "values"}}
BINARY = {"bernoulli-thompson", "bernoulli-mvts", "bernoulli-mv-imed", "bernoulli-mv-kg"}
SLOW = {"npts", "npts-sg", "rho-mts", "m-cvts", "finite-mv-imed"}
EUROS = [(40.0, 900.0), (55.0, 8100.0), (38.0, 100.0)]
"""Means and variances of three options; at ρ = 55 euros the steady third is best."""

VALUES = [(-48.0, 32.0, 400.0), (-48.0, 64.0, 80.0), (16.0, 24.0, 400.0)]
"""Three values each, so that costs often tie."""


def gaussian(unit):
    return Bandit([f"gaussian({mean / unit!r}, {variance / unit / unit!r})" for mean, variance in EUROS])


def discrete(unit):
    return Bandit([f"empirical({[value / unit for value in values]})" for values in VALUES])


def binary(unit):
    return Bandit([f"empirical({[x / unit for x in values]})" for values in ([0.0, 0.0, 50.0], [0.0, 50.0, 50.0])])


ROADS = {
    "mv-lcb": "the height that an index must pass",
    "anytime-mv-lcb": "a width that grows with the round",
    "mvts": "normal draws",
    "vts": "other draws",
    "thompson": "draws without a variance",
    "mv-imed": "scores compared with the leader's",
    "epsilon-greedy": "chance without scores",
    "exp-exp": "phases",
    "srts": "a ratio",
    "kl-ucb": "bounds",
    "npts": "rewards that are kept",
    "rho-mts": "a list of values",
    "bernoulli-mvts": "two values",
}
"""One policy of each kind, and how it chooses; agents below are asked by all policies, with the same scaling."""

CASES = [(name, binary if name in BINARY else discrete) for name in ROADS]
CASES += [(name, gaussian) for name in ROADS if name not in BOUNDED]


def play(name, bandit, unit, scale="auto", runs=20):
    """A policy on an experiment in a unit, with the risk that it serves, for somebody whose ρ is 55 euros."""
    risk = served_risk(policies.parse(name)).times(1.0 / unit)
    if risk.name == "mean-variance" and risk.rho < math.inf:
        risk = f"mean-variance(rho={55.0 / unit!r})"
    horizon = 40 if name in SLOW else 150
    return simulate(bandit(unit), name, risk=risk, horizon=horizon, runs=runs, scale=scale, workers=1)


def assert_alike(one, other, unit):
    """The same runs, the rewards of the other in a larger unit."""
    np.testing.assert_array_equal(one.pulls, other.pulls)
    np.testing.assert_array_equal(one.mean, unit * other.mean)
    np.testing.assert_array_equal(one.variance, unit**2 * other.variance)
    np.testing.assert_array_equal(one.twin_mean, unit * other.twin_mean)


@pytest.mark.parametrize(("name", "bandit"), CASES)
def test_a_policy_decides_alike_in_every_unit(name, bandit):
    """Bit for bit, because powers of two cost no digit."""
    assert_alike(play(name, bandit, 1.0), play(name, bandit, 64.0), 64.0)


@pytest.mark.parametrize("name", ["mvts", "vts", "mv-lcb"])
def test_as_published_the_unit_matters(name):
    """Else the test above could not fail."""
    one, other = (play(name, gaussian, unit, scale=None) for unit in (1.0, 1024.0))
    assert not np.array_equal(one.pulls, other.pulls)


@pytest.mark.parametrize(("name", "bandit"), [case for case in CASES if case[0] not in BOUNDED])
def test_a_number_is_the_unit_in_which_a_policy_runs_as_published(name, bandit):
    scaled, divided = play(name, bandit, 1.0, scale=32.0), play(name, bandit, 32.0, scale=1.0)
    assert_alike(scaled, divided, 32.0)


@pytest.mark.parametrize("name", sorted(set(ROADS) - BOUNDED))
def test_regret_is_the_same_in_any_unit(name):
    """Units that are no power of two have draws of their own. False alarms: 1e-6 each."""
    found = [play(name, gaussian, unit, runs=200).measures()["gap_regret"] for unit in (1.0, 30.0, 60.0, 450.0)]
    power = {"srts": 0}.get(name, 2 if "rho" in POLICIES[name] else 1)  # of the cost, in rewards
    means = [values.mean() * unit**power for values, unit in zip(found, (1.0, 30.0, 60.0, 450.0), strict=True)]
    errors = [values.std() / math.sqrt(200) * unit**power for values, unit in zip(found, (1, 30, 60, 450), strict=True)]
    for mean, error in zip(means[1:], errors[1:], strict=True):
        assert abs(mean - means[0]) < 4.9 * math.hypot(error, errors[0])


def asked(name, unit, seed=1):
    """What an agent asks for, with rewards in a unit that come late and now and then tie."""
    risk = served_risk(policies.parse(name)).times(1.0 / unit)
    if risk.name == "mean-variance" and risk.rho < math.inf:
        risk = f"mean-variance(rho={55.0 / unit!r})"
    values = f"(values=[0, {16.0 / unit!r}, {64.0 / unit!r}])" if "values" in POLICIES[name] else ""
    agent = Agent(name + values, 3, 200, seed, risk=risk, support=(0.0, 64.0 / unit))
    rng, waiting, found = np.random.default_rng(seed), [], []
    for _ in range(120):
        found.append(agent.ask())
        waiting.append((found[-1], rng.choice([0.0, 64.0] if name in BINARY else [0.0, 16.0, 64.0]) / unit))
        if len(waiting) > 3:
            agent.tell(*waiting.pop(rng.integers(len(waiting))))
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_agents_decide_alike_in_every_unit(name):
    assert asked(name, 1.0) == asked(name, 64.0) == asked(name, 2.0**-20)


def test_what_is_filled_in_can_be_read_off_the_runs():
    assert spec(play("mv-lcb", discrete, 1.0).policy) == "mv-lcb(range=448.0)"
    assert spec(play("mvts", gaussian, 1.0).policy) == "mvts(sd=90.0)"
    assert spec(play("kl-ucb", discrete, 2.0).policy) == "kl-ucb(low=-24.0, high=200.0)"
    assert spec(play("npts", discrete, 1.0, runs=2).policy) == "npts(best=400.0)"
    assert spec(play("mv-lcb", gaussian, 1.0).policy) == "mv-lcb(range=180.0)", "2σ has the tails of a Gaussian"


def test_what_was_given_stays():
    units = units_of_arms(discrete(1.0))
    assert fitted(policies.parse("mv-lcb(range=9)"), units) == policies.parse("mv-lcb(range=9)")
    assert fitted(policies.parse("kl-ucb(high=500)"), units) == policies.parse("kl-ucb(low=-48, high=500)")
    assert fitted(policies.parse("exp-exp"), units) == policies.parse("exp-exp")


def test_units_of_a_support():
    assert units_of_support((-50.0, 400.0)) == Units(450.0, 225.0, -50.0, 400.0, None)
    assert units_of_support((0.0, math.inf)) == Units(None, None, 0.0, None, None)


def test_arms_without_spread_have_units():
    assert units_of_arms(Bandit(["deterministic(3)"])) == Units(1.0, 0.5, 3.0, 3.0, (3.0,))


def warned(name, *specs, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(Bandit(specs), name, risk="mean-variance(rho=1)", horizon=10, runs=2, **settings)
    return [str(each.message) for each in caught if each.category is AssumptionWarning]


def test_a_policy_on_arms_that_it_was_not_made_for_says_so_once_with_the_fix():
    (text,) = warned("mv-lcb", "uniform(-50, 400)", "uniform(0, 1)")
    assert text == (
        "mv-lcb assumes rewards in an interval of length 1, and these arms have 450;"
        ' pass scale="auto" (--scale auto), or range=450 with the policy'
    )
    (text,) = warned("mvts", "gaussian(0, 900)", "gaussian(0, 100)")
    assert text.startswith("mvts assumes standard deviations of at most 1, and these arms have 30; pass scale=")
    (text,) = warned("mv-lcb", "gaussian(0, 900)", "gaussian(0, 100)")
    assert "these arms have rewards without bounds, with tails as on an interval of 60;" in text


def test_heavy_tails_are_named():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(Bandit(["student-t(1)", "student-t(1.5)"]), "ucb1", risk="var(0.1)", horizon=10, runs=2)
    assert "ucb1 assumes rewards of a limited size; student-t(1" in str(caught[0].message)


@pytest.mark.parametrize(
    ("name", "specs"),
    [
        ("mv-lcb", ("gaussian(1, 0.05)", "gaussian(0.5, 0.25)")),
        ("mvts", ("gaussian(5, 1)", "gaussian(7, 0.5)")),
        ("mv-lcb", ("uniform(7, 8)", "uniform(7, 7.5)")),
        ("mv-lcb(range=450)", ("uniform(-50, 400)", "uniform(0, 1)")),
        ("exp-exp", ("uniform(-50, 400)", "uniform(0, 1)")),
    ],
)
def test_where_the_assumption_holds_nothing_is_said(name, specs):
    assert warned(name, *specs) == []


def test_with_a_scale_nothing_is_said():
    assert warned("mv-lcb", "uniform(-50, 400)", "uniform(0, 1)", scale="auto") == []


@pytest.mark.parametrize("scale", [0, -1.0, math.inf, math.nan, "big", True, [1.0], {"length": 3.0}, {"range": -1.0}])
def test_what_is_no_scale_is_refused(scale):
    with pytest.raises(PrudentError, match=r"scale|range"):
        simulate(gaussian(1.0), "mvts", risk="variance", horizon=5, runs=1, scale=scale)


def test_policies_that_need_bounds_ask_for_them_where_there_are_none():
    with pytest.raises(PrudentError, match=r"kl-ucb: low is not known here; give the smallest reward possible, low=…"):
        simulate(gaussian(1.0), "kl-ucb", risk="mean", horizon=5, runs=1, scale="auto")


EXAMPLES = {
    "gaussian": "gaussian(3, 2)",
    "beta": "beta(2, 3)",
    "uniform": "uniform(-1, 5)",
    "exponential": "exponential(3)",
    "student-t": "student-t(5, 1, 3)",
    "bernoulli": "bernoulli(0.3)",
    "deterministic": "deterministic(3)",
    "empirical": "empirical([1, 2, 7])",
    "mixture": "mixture([gaussian(1, 2), uniform(0, 1)], [0.3, 0.7])",
    "truncated-gaussian": "truncated-gaussian(1, 2, 0, 5)",
    "clipped": "clipped(gaussian(1, 2), 0, 3)",
    "log-normal": "log-normal(0.3, 0.5)",
    "gamma": "gamma(2, 1.5)",
    "laplace": "laplace(1, 2)",
    "pareto": "pareto(3, 2)",
    "poisson": "poisson(3)",
    "from-scipy": "from-scipy(weibull_min, [2.0], 1, 3)",
}


@pytest.mark.parametrize("entry", arms.entries(), ids=lambda entry: entry.name)
def test_laws_in_another_unit(entry):
    law = arms.parse(EXAMPLES[entry.name])
    other = law.times(8.0)
    if entry.name in ("beta", "bernoulli", "poisson"):
        assert other is None
        return
    exact = 0.0 if entry.name not in ("log-normal", "from-scipy") else 1e-12
    assert (other.mean, other.variance) == pytest.approx((8.0 * law.mean, 64.0 * law.variance), rel=exact, abs=0.0)
    assert other.support == tuple(8.0 * end for end in law.support)
    for level in (0.1, 0.5, 0.9):
        assert other.quantile(level) == pytest.approx(8.0 * law.quantile(level), rel=1e-12)


@pytest.mark.parametrize("entry", risks.entries(), ids=lambda entry: entry.name)
def test_risks_in_another_unit_order_arms_alike(entry):
    risk = entry.factory()
    laws = [arms.parse(text) for text in ("uniform(0.1, 3)", "uniform(0.5, 1.5)", "uniform(1, 1.6)", "uniform(0, 4)")]
    order = np.argsort([risk.cost(law) for law in laws])
    assert list(np.argsort([risk.times(8.0).cost(law.times(8.0)) for law in laws])) == list(order)


def test_a_unit_is_a_power_of_two_from_below():
    assert [power_of_two(x) for x in (1.0, 1.9, 30.0, 0.3, 0.0, math.inf)] == [1.0, 1.0, 16.0, 0.25, 1.0, 1.0]


def test_what_cannot_be_converted_stays_in_its_unit():
    bandit, risk = Bandit(["beta(1, 2)", "gaussian(0, 9)"]), risks.parse("variance")
    assert in_its_unit(bandit, risk, policies.parse("mvts(sd=3)"), 3.0).unit == 1.0
    assert in_its_unit(gaussian(1.0), risk, policies.parse("mvts(sd=3)"), 3.0).unit == 2.0


@pytest.mark.parametrize("scale", [None, 30.0, "auto", {"range": 180.0, "sd": 90.0}])
def test_studies_take_a_scale(tmp_path, scale):
    """In a file too, and the runs of the store say what ran."""
    bandits = {"euros": [f"gaussian({mean}, {variance})" for mean, variance in EUROS]}
    study = Study(bandits, ["mvts"], ["mean-variance(rho=55)"], [50], runs=3, scale=scale, keep="runs")
    path = tmp_path / "study.toml"
    path.write_text(to_toml(study))
    again = load(path)
    assert [each.key for each in again.cells] == [each.key for each in study.cells]
    store = run(again, tmp_path / "out", workers=1)
    (runs,) = store.runs([each.cell for each in again.cells])
    alone = simulate(
        gaussian(1.0), "mvts", risk="mean-variance(rho=55)", horizon=50, runs=3, scale=check_scale("", scale)
    )
    np.testing.assert_array_equal(runs.pulls, alone.pulls)
    assert spec(runs.policy) == spec(alone.policy)
    assert store.table()["scale"].to_list() == ["" if scale is None else str(check_scale("", scale))]


def test_a_study_warns_once_for_each_policy(tmp_path):
    arms_ = {"euros": ["gaussian(1, {v})", "gaussian(2, 100)"]}
    study = Study(arms_, ["mvts", "vts", "exp-exp"], ["variance"], [5], runs=1, ranges={"v": [900, 901, 902]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(study, tmp_path / "out", workers=1)
    texts = [str(each.message).partition(" assumes")[0] for each in caught if each.category is AssumptionWarning]
    assert texts == ["mvts", "vts"]


def test_a_search_on_arms_that_it_was_not_made_for_says_so():
    with pytest.warns(AssumptionWarning, match="ucb-e assumes .* length 1, .*; pass range=450 with"):
        identify(Bandit(["uniform(-50, 400)", "uniform(0, 1)"]), "ucb-e", risk="mean", budget=20, runs=2)


def test_a_scale_may_list_all_values():
    bandit = Bandit(["empirical([0, 5, 9])", "empirical([0, 9])"])
    runs = simulate(bandit, "rho-mts", risk="mean", horizon=10, runs=2, scale={"values": [0, 5, 9]})
    assert runs.policy.values == (0, 5, 9)
    for wrong in ({"values": [5, 0]}, {"low": 3.0, "high": 1.0}, {"sd": math.nan}, {"range": "wide"}):
        with pytest.raises(PrudentError):
            simulate(bandit, "rho-mts", risk="mean", horizon=10, runs=2, scale=wrong)
