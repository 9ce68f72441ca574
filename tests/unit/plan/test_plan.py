"""Plans: what people know becomes a prior, and the prior a recommendation."""

import contextlib
import itertools

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from prudent import MeanVariance, PrudentError
from prudent.arms.base import arms
from prudent.cli import main
from prudent.plan import Pilot, advise, guesses, lines_to_run, pilot, suitable, tolerance, winners, write_report
from prudent.plan.lengths import knee
from prudent.plan.ranking import alike
from prudent.plan.trial import Trial
from prudent.policies.contract import policies as registry
from prudent.policies.contract import spec

SMALL = {"policies": ["exp-exp", "mv-lcb", "vts"], "draws": 10, "runs": 2, "seconds": 1.0}
"""Plans that take little time."""


def test_guesses_are_named_and_repeated():
    found = guesses(["old: bernoulli(0.3)", "2 * gaussian(0.3..0.6, 0.1)", "new: 2 x bernoulli(0.1 … 0.2)"])
    assert [option.name for option in found] == ["old", "option 2", "option 3", "new 1", "new 2"]
    rng = np.random.default_rng(1)
    assert found[0].draw(rng) == "bernoulli(0.3)"
    means = [arms.parse(found[1].draw(rng)).mean for _ in range(2000)]
    assert stats.kstest(means, stats.uniform(0.3, 0.3).cdf).pvalue > 1e-6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gaussian(0.6..0.3, 1)", "must go from the smaller to the larger"),
        ("gausian(0.3..0.6, 1)", "did you mean gaussian"),
        ("gaussian(0.3, -1..1)", "variance must lie in"),
        ("gaussian(-1e308..1e308, 1)", "must go from the smaller to the larger"),
        ("99999999999 * gaussian(0, 1)", "from 1 to 10,000 options in all; take another"),
        ("9" * 5_000 + " * gaussian(0, 1)", "from 1 to 10,000 options in all"),
        ("a: 0 * gaussian(0, 1)", "from 1 to 10,000 options in all; take another"),
        (": gaussian(0, 1)", "write e.g. 'drug"),
        ("a:", "write e.g. 'drug"),
        ("", "write e.g. 'drug"),
        (" " * 9_999, "write e.g. 'drug"),
        ("1" * 9_999, "is no arm|needs|unreadable|write|cannot|known"),
        ("a" * 10_001, "must be a text of at most 10,000 characters"),
        (5, "must be a text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_guesses_are_refused(text, message):
    with pytest.raises(PrudentError, match=message):
        guesses([text])


def test_the_options_of_all_guesses_together_are_limited():
    assert len(guesses(["9_999 * gaussian(0, 1)".replace("_", ""), "gaussian(0, 1)"])) == 10_000
    with pytest.raises(PrudentError, match="options in all; take another"):
        guesses(["9999 * gaussian(0, 1)", "2 * gaussian(0, 1)"])


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["a: gaussian(0, 1)", "a: gaussian(5, 1)", "b: gaussian(1, 1)"], "a"),
        (["gaussian(0, 1)", "option 1: gaussian(5, 1)"], "option 1"),
        (["a: 2 * gaussian(0, 1)", "a 2: gaussian(5, 1)"], "a 2"),
    ],
)
def test_options_of_one_name_are_refused_with_the_name(tmp_path, texts, name):
    for call in (
        lambda options: suitable(MeanVariance(1.0), 100, options),
        lambda options: advise(options, MeanVariance(1.0), 100, tmp_path / "plan", policies=["exp-exp"]),
    ):
        with pytest.raises(PrudentError, match=f"two options are called '{name}'"):
            call(guesses(texts))
    assert not list(tmp_path.iterdir())


def test_an_option_and_a_column_of_one_name_are_refused(tmp_path):
    (tmp_path / "outcomes.csv").write_text("old,new\n1,2\n3,5\n2,7\n")
    command = ["--option", "old: gaussian(5, 1)", "--pilot", str(tmp_path / "outcomes.csv"), "--rho", "1"]
    result = CliRunner().invoke(main, ["plan", *command, "--horizon", "100", "--out", str(tmp_path / "plan")])
    assert result.exit_code == 2
    assert "two options are called 'old'; give each a name of its own" in result.stderr
    assert not (tmp_path / "plan").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 0}, "horizon must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"draws": 10**5, "runs": 10**4}, "must be at most 50,000,000 to fit into memory; take fewer"),
        ({"runs": 10**12}, "runs must be a whole number"),
        ({"seconds": 0}, "seconds must"),
        ({"model": "gamma"}, "model must be"),
        ({"begin": "no"}, "begin must be True or False"),
        ({"risk": "var(alpha=0.5)", "period": 5}, "risk must cost more where sums vary more"),
        ({"out": 5}, "out must be a folder, got 5"),
        ({"policies": "mv-lcb"}, "policies must be a list"),
        ({"policies": [5]}, "policy must be a NamedTuple"),
        ({"policies": ["round-robin", "fixed-arm"]}, "policies must hold one that learns, got .*; add e.g. 'exp-exp'"),
        ({"horizon": [100, 0]}, "horizon must be a whole number from 1"),
        ({"horizon": []}, "horizon must be a number of rounds, or a list of up to 20"),
        ({"unit": 5}, "unit must be a word such as 'EUR', got 5"),
        ({"larger_is_better": "no"}, "larger_is_better must be True or False, got 'no'"),
        ({"support": (1, 0)}, "support"),
        (
            {"options": [Pilot("a", (1.0, 2.0, 9.0)), Pilot("b", (1.0, 2.0, 4.0))], "support": (0, 5)},
            r"outcomes of 'a' must lie in the support, \[0, 5\], got 9; widen the support",
        ),
        (
            {"options": guesses(["2 * beta(1, 2)"]), "larger_is_better": False},
            "where smaller is better, option 'option 1' must be a pilot, or gaussian, .*; got beta",
        ),
        ({"options": [Pilot("a", None), Pilot("b", (1.0, 2.0, 4.0))]}, "option 'a' has no mean and variance"),
        ({"options": guesses(["gaussian(0, 1)"]) * 20_000}, "at most 10,000, got 20,000"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_makes_no_plan_is_refused_before_anything_is_written(tmp_path, settings, message):
    asked = {"options": guesses(["2 * gaussian(0, 1)"]), "risk": MeanVariance(1.0), "horizon": 100}
    asked |= {"out": tmp_path / "plan", "policies": ["exp-exp"]} | settings
    with pytest.raises(PrudentError, match=message):
        advise(**asked)
    assert not list(tmp_path.iterdir())


HOSTILE = [
    None,
    5,
    -1,
    1.5,
    "x",
    "",
    [],
    {},
    object(),
    np.nan,
    np.inf,
    10**400,
    b"x",
    [None],
    ["x", 5],
]


@pytest.mark.parametrize("value", HOSTILE, ids=[f"{value!r:.20}" for value in HOSTILE])
def test_hostile_values_are_refused_in_words(tmp_path, monkeypatch, value):
    """Every argument of every public function of plans; what is not refused must be a result."""
    monkeypatch.chdir(tmp_path)
    options, risk = guesses(["2 * gaussian(0, 1)"]), MeanVariance(1.0)
    asked = {"options": options, "risk": risk, "horizon": 30, "out": "plan", "policies": ["exp-exp"], "draws": 10}
    asked |= {
        "runs": 2,
        "seed": 0,
        "workers": 1,
        "progress": None,
        "seconds": 1.0,
        "begin": True,
        "model": "pilot",
        "period": 1,
        "month": None,
        "unit": "",
        "larger_is_better": True,
        "support": None,
    }
    trial = {name: asked[name] for name in ("risk", "horizon", "options")}
    trade = {"less_mean": 1.0, "deviation": 1.0, "instead_of": 2.0}
    calls = [(advise, asked | {name: value}) for name in asked if name != "policies" or value not in ([], {})]
    calls += [(suitable, trial | {name: value}) for name in trial]
    calls += [(tolerance, trade | {name: value}) for name in trade]
    calls += [(guesses, {"texts": value}), (guesses, {"texts": [value]}), (pilot, {"path": value})]
    calls += [(pilot, {"path": "x.csv", "group": value}), (winners, {"options": value})]
    calls += [(write_report, {"advice": value, "out": "plan"}), (lines_to_run, {"advice": value})]
    for call, arguments in calls:
        with contextlib.suppress(PrudentError):
            call(**arguments)


def test_pilot_data_become_their_posterior():
    """Student's t for the mean, χ² for the variance, beta for a probability; false alarms 1e-6 each."""
    rng = np.random.default_rng(3)
    x = np.array([0.3, 0.7, 1.4, -0.2, 0.5])
    drawn = [arms.parse(Pilot("a", tuple(x)).draw(rng)) for _ in range(3000)]  # of the normal model
    t = [(law.mean - x.mean()) / (x.std(ddof=1) / np.sqrt(5)) for law in drawn]
    assert stats.kstest(t, stats.t(4).cdf).pvalue > 1e-6
    assert stats.kstest([4 * x.var(ddof=1) / law.variance for law in drawn], stats.chi2(4).cdf).pvalue > 1e-6
    yes = [arms.parse(Pilot("b", (1.0, 1.0, 0.0)).draw(rng)).mean for _ in range(3000)]
    assert stats.kstest(yes, stats.beta(3, 2).cdf).pvalue > 1e-6


STAND = {"fixed-arm", "random-arm", "round-robin"}


def test_every_policy_is_suitable_or_left_out_with_a_reason_but_yardsticks():
    risk, normal, coins = (
        MeanVariance(1.0),
        guesses(["4 * gaussian(0.3..0.6, 0.1)"]),
        guesses(["4 * bernoulli(0.2..0.5)"]),
    )
    for options, fits in ((normal, "mts mvts mv-lcb exp-exp"), (coins, "bernoulli-mvts kl-ucb npts mts mv-lcb")):
        fit, left_out = suitable(risk, 1000, options)
        assert {spec(policy).partition("(")[0] for policy in fit} | set(left_out) | STAND == set(registry.names())
        assert not STAND & ({spec(policy) for policy in fit} | set(left_out))
        assert set(fits.split()) <= {spec(policy).partition("(")[0] for policy in fit}
    reasons = suitable(risk, 1000, normal)[1]
    assert "outcomes of two values, such as 0 and 1" in reasons["bernoulli-mvts"]
    assert "low is not known" in reasons["kl-ucb"]
    assert "serves mean, and outcomes are judged by" in reasons["ucb1"]
    assert "reads all outcomes in every round" in suitable(risk, 20_000, coins)[1]["npts"]
    assert "ucb1" not in suitable("mean", 1000, normal)[1], "where only the mean counts it is what one wants"
    assert "best is not known" in reasons["npts"]
    assert "is made for rewards in [-9, 9]" in suitable(risk, 1000, normal, support=(-9, 9))[1]["kl-ucb"]
    assert "serves cvar" in reasons["b-cvts"]
    assert "horizon" in suitable(risk, 3, normal)[1]["mv-lcb"]


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    """Two options far apart; exploring for longer is worse than stopping."""
    out = tmp_path_factory.mktemp("plan")
    options = guesses(["bad: gaussian(0.0..0.1, 0.3..0.4)", "good: gaussian(0.9..1.0, 0.01)"])
    policies = ["mv-lcb", "exp-exp", "round-robin"]
    return advise(options, MeanVariance(1.0), 500, out, policies=policies, draws=20, runs=5), out


def test_the_better_policy_is_recommended_with_reasons(advice):
    found, _ = advice
    assert found.recommended == "exp-exp"
    assert found.policies["policy"].to_list() == ["exp-exp", "mv-lcb(range=1.1796875)"]
    assert found.policies["as_good"].to_list() == [True, False]
    assert found.reasons[0].startswith("exp-exp is the best of 2 policies by regret, half by the mean of all trials")
    assert found.verdict.kind == "no-trial"
    assert found.verdict.sentences[0].startswith("No trial needed: take good. It is the best option with 100 % prob")


def test_all_that_is_said_of_a_policy_is_that_of_the_recommended_one(advice):
    found, out = advice
    first = found.policies.row(0, named=True)
    assert first["policy"] == found.recommended
    assert found.promises["found_best"][:3] == tuple(first[f"found_best{end}"] for end in ("", "_low", "_high"))
    trials = pl.read_csv(out / "trials.csv").filter(policy=found.recommended)
    assert trials["regret"].mean() == pytest.approx(found.promises["regret"].mean)
    worst = np.sort(trials["regret"])[-5:].mean()
    assert first["score"] == pytest.approx(0.5 * trials["regret"].mean() + 0.5 * worst)


def test_yardsticks_are_shown_and_never_recommended(advice):
    found, _ = advice
    rows = {row["yardstick"]: row for row in found.yardsticks.to_dicts()}
    assert set(rows) == {"always bad", "always good", "all in turn"}
    assert rows["always good"]["regret"] == 0.0 < found.policies["regret"][0]
    assert rows["all in turn"]["found_best"] == 1.0
    assert rows["all in turn"]["outcome"] == pytest.approx(0.5, abs=0.05)
    assert rows["all in turn"]["deviation"] > rows["always good"]["deviation"], "switching adds variance"


def test_people_are_counted_by_option_and_by_what_is_best(advice):
    found, _ = advice
    people = {row["option"]: row for row in found.people.to_dicts()}
    assert list(people) == ["bad", "good", "the best of them"]
    assert people["bad"]["average"] + people["good"]["average"] == pytest.approx(500)
    assert people["the best of them"] == {**people["good"], "option": "the best of them"}
    assert people["good"]["fewest"] <= people["good"]["average"] <= people["good"]["most"] <= 500


def advice_in_order(folder, names):
    """From a pilot whose columns come in this order."""
    rng = np.random.default_rng(5)
    columns = {
        name: rng.normal(mean, deviation, 12)
        for name, mean, deviation in zip("ABC", (40, 55, 38), (30, 90, 10), strict=True)
    }
    rows = zip(*(columns[name] for name in names), strict=True)
    lines = [",".join(names), *(",".join(map(repr, map(float, row))) for row in rows)]
    (folder / "pilot.csv").write_text("\n".join(lines))
    return advise(pilot(folder / "pilot.csv"), "mean-variance(rho=55)", 60, folder / "plan", **SMALL)


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    return advice_in_order(tmp_path_factory.mktemp("order"), "ABC")


@pytest.mark.parametrize("order", list(itertools.permutations("ABC")))
def test_the_order_of_options_changes_nothing(tmp_path, in_order, order):
    """All columns of a pilot in all orders: the same recommendation and the same numbers, to the last bit."""
    one, other = in_order, advice_in_order(tmp_path, order)
    assert (one.recommended, one.reasons, one.verdict) == (other.recommended, other.reasons, other.verdict)
    for name in ("policies", "yardsticks", "people"):
        assert getattr(one, name).equals(getattr(other, name), null_equal=True)


@pytest.mark.parametrize("factor", [2.0**9, 0.125])
def test_draws_are_exact_so_that_outcomes_times_a_power_of_two_give_arms_times_it(factor):
    x = np.random.default_rng(6).normal(3.0, 2.0, 17)
    ends = [0.1 * factor, 0.7 * factor, 0.3 * factor**2, 0.9 * factor**2]
    pairs = [
        (Pilot("a", tuple(x)), Pilot("a", tuple(factor * x))),
        (
            *guesses(["gaussian(0.1..0.7, 0.3..0.9)"]),
            *guesses([f"gaussian({ends[0]!r}..{ends[1]!r}, {ends[2]!r}..{ends[3]!r})"]),
        ),
    ]
    for one, other in pairs:
        rng, again = np.random.default_rng(1), np.random.default_rng(1)
        for _ in range(50):
            law, scaled = arms.parse(one.draw(rng)), arms.parse(other.draw(again))
            assert (factor * law.mean, factor**2 * law.variance) == (scaled.mean, scaled.variance)
        assert (factor * one.moments[0], factor**2 * one.moments[1]) == pytest.approx(other.moments, rel=1e-15)


@pytest.mark.parametrize("factor", [2.0**9, 0.125])
def test_the_plan_is_the_same_in_every_unit(tmp_path, factor):
    """In units of 1/factor: the same order and pulls, and every amount times the factor, to the last bit."""
    x = {name: np.random.default_rng(i).normal(40.0, 10.0 + 30.0 * i, 12) for i, name in enumerate("ABC")}
    one = advise([Pilot(name, tuple(x[name])) for name in x], "mean-variance(rho=55)", 60, tmp_path / "a", **SMALL)
    scaled = [Pilot(name, tuple(factor * x[name])) for name in x]
    other = advise(scaled, f"mean-variance(rho={55 * factor})", 60, tmp_path / "b", **SMALL)
    assert one.recommended.partition("(")[0] == other.recommended.partition("(")[0]
    assert one.people.equals(other.people)
    for name, power in {"regret": 2, "outcome": 1, "deviation": 1, "found_best": 0, "loss": 2, "behind": 2}.items():
        wanted = [pytest.approx(factor**power * value, rel=1e-12) for value in one.policies[name]]
        assert other.policies[name].to_list() == wanted
    assert other.check.regret == pytest.approx(factor**2 * one.check.regret)


def test_the_order_of_rows_changes_nothing(tmp_path):
    x = {name: np.random.default_rng(i).gamma(2.0, 10.0 + 5.0 * i, 15) for i, name in enumerate("AB")}
    one = advise([Pilot(name, tuple(x[name])) for name in x], "mean-variance(rho=55)", 60, tmp_path / "a", **SMALL)
    shuffled = [Pilot(name, tuple(np.random.default_rng(9).permutation(x[name]))) for name in x]
    other = advise(shuffled, "mean-variance(rho=55)", 60, tmp_path / "b", **SMALL)
    assert one.policies.equals(other.policies)


@pytest.mark.parametrize(
    ("texts", "facts", "units"),
    [
        (["gaussian(0, 4)", "gaussian(1, 9)"], {}, (6.0, 3.0, None, None, None)),
        (["gaussian(0, 4)", "gaussian(1, 9)"], {"support": (-50, 400)}, (450.0, 3.0, -50.0, 400.0, None)),
        (
            ["gaussian(0, 4)", "gaussian(1, 9)"],
            {"support": (-50, 400), "larger_is_better": False},
            (450, 3, -400, 50, None),
        ),
        (["2 * bernoulli(0.5)"], {}, (1.0, 0.5, 0.0, 1.0, (0.0, 1.0))),
        (["2 * bernoulli(0.5)"], {"larger_is_better": False}, (1.0, 0.5, -1.0, 0.0, (-1.0, 0.0))),
        (["2 * uniform(0..1, 3)"], {}, (1.4453125, 0.72265625, None, None, None)),
    ],
)
def test_policies_are_told_what_options_and_support_say_of_the_size_of_outcomes(texts, facts, units):
    assert tuple(Trial.checked(guesses(texts), "mean", 100, **facts).units) == units


def test_where_smaller_is_better_the_same_trial_is_simulated_with_minus_the_outcomes(tmp_path):
    rng = np.random.default_rng(7)
    minutes = {"phone": rng.normal(30, 5, 20), "web": rng.normal(20, 9, 20), "old": rng.uniform(0, 60, 20)}
    given = [Pilot(name, tuple(x)) for name, x in minutes.items()]
    turned = [Pilot(name, tuple(-x)) for name, x in minutes.items()]
    fixed = {**SMALL, "model": "normal"}
    one = advise(given, "mean-variance(rho=2)", 60, tmp_path / "a", unit="minutes", larger_is_better=False, **fixed)
    other = advise(turned, "mean-variance(rho=2)", 60, tmp_path / "b", **fixed)
    assert one.recommended == other.recommended
    assert one.promises["outcome"].mean == pytest.approx(-other.promises["outcome"].mean, rel=0.1)
    assert 15 < one.promises["outcome"].mean < 40
    assert "    larger_is_better=False,\n" in lines_to_run(one)
    page = write_report(one, tmp_path / "a").read_text()
    assert "smaller is better" in page
    assert "taken as normal, because a normal model was asked for" in page


@pytest.mark.parametrize(
    "law",
    [
        "gaussian(3, 2)",
        "uniform(1, 4)",
        "student-t(5, 2, 3)",
        "bernoulli(0.3)",
        "deterministic(2)",
        "truncated-gaussian(3, 1, 2, 9)",
    ],
)
def test_a_guess_is_mirrored_where_smaller_is_better(law):
    trial = Trial.checked(guesses([law, law]), "variance", 10, larger_is_better=False)
    straight, turned = arms.parse(law), trial.example().arms[0]
    assert (turned.mean, turned.variance) == pytest.approx((-straight.mean, straight.variance))
    assert turned.quantile(0.25) == pytest.approx(-straight.quantile(0.75 + 1e-9))


@pytest.mark.parametrize(
    ("found", "enough"),
    [
        ([0.5, 0.7, 0.9, 0.95, 0.96], 1_000), ([0.9, 0.9, 0.9, 0.9, 0.9], 30), ([0.5, 0.6, 0.7, 0.8, 0.9], 3_000),
        ([0.88, 0.92, 0.91, 0.92, 0.92], 100), ([0.9, 0.95, 0.89, 0.9, 0.97], 100), ([0.9, 0.92, 0.9, 0.9, 0.94], 100),
    ],
)  # fmt: skip
def test_the_knee_is_where_no_longer_trial_finds_the_best_three_points_more_often(found, enough):
    assert knee([30, 100, 300, 1_000, 3_000], found) == enough


def test_several_lengths_are_compared_and_one_is_taken(tmp_path):
    options = guesses(["a: gaussian(0.2..0.5, 0.3)", "b: gaussian(0.3..0.6, 0.3)"])
    found = advise(options, MeanVariance(1.0), [1_000, 30, 200], tmp_path / "plan", **SMALL)
    assert found.lengths["horizon"].to_list() == [30, 200, 1_000]
    assert set(found.lengths["policy"]) == {found.recommended}, "the curve is that of the policy that is recommended"
    assert found.horizon in (30, 200, 1_000)
    alone = advise(options, MeanVariance(1.0), [200], tmp_path / "plan", **SMALL)
    assert (alone.horizon, alone.lengths) == (200, None)


def test_lengths_too_short_for_the_policy_are_left_out(tmp_path):
    options = guesses(["a: gaussian(0.2..0.5, 0.3)", "b: gaussian(0.3..0.6, 0.3)"])
    asked = {**SMALL, "policies": ["exp-exp(tau=100)"]}
    found = advise(options, MeanVariance(1.0), [50, 100, 200], tmp_path / "plan", **asked)
    assert set(found.lengths["horizon"]) == {100, 200}


def test_without_a_horizon_the_usual_lengths_are_compared():
    few, many, more = (guesses([f"{count} * gaussian(0, 1)"]) for count in (2, 20, 5_000))
    assert Trial.checked(few, "mean", None).horizons == (30, 100, 300, 1_000, 3_000, 10_000)
    assert Trial.checked(many, "mean", None).horizons == (100, 300, 1_000, 3_000, 10_000)
    with pytest.raises(PrudentError, match="horizon must be given for 5,000 options, such as 150,000"):
        Trial.checked(more, "mean", None)


def test_a_pilot_without_a_finite_variance_is_refused(tmp_path):
    (tmp_path / "huge.csv").write_text("a,b\n1e300,1\n-1e300,2\n1e300,4\n")
    with pytest.raises(PrudentError, match="column 'a' has no finite variance"):
        pilot(tmp_path / "huge.csv")


def test_equal_policies_are_rarely_called_different_though_the_first_is_the_luckiest():
    """Of eight equal policies one is called worse in at most 5 % of plans; false alarms 1e-9."""
    rng = np.random.default_rng(2)
    different = 0
    for _ in range(200):
        regret = rng.normal(size=(8, 30))
        first = regret[regret.mean(1).argmin()]
        different += not all(alike(row - first, 8) for row in regret)
    assert different <= stats.binom.isf(1e-9, 200, 0.05)


@pytest.mark.parametrize("policies", [2, 3, 4])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_policy_is_as_good_unless_its_p_value_times_all_pairs_is_below_5_percent(policies, share):
    """Regrets whose paired t-test against the first has the p-value `share` · 0.05/pairs, exactly."""
    pairs = policies * (policies - 1) // 2
    noise = np.arange(12.0) - 5.5
    t = stats.t.isf(share * 0.05 / pairs / 2.0, 11)
    assert alike(noise + t * noise.std(ddof=1) / np.sqrt(12), policies) == (share > 1.0)


def test_a_difference_without_spread_is_seen():
    assert [alike(np.full(12, gap), 3) for gap in (0.0, 0.5)] == [True, False]


def test_columns_of_a_guess_may_differ_in_length_and_holes_are_counted(tmp_path):
    (tmp_path / "wide.csv").write_text("a,b\n1,2\nNA,4\n5,\n")
    law = arms.parse(f'empirical("{tmp_path / "wide.csv"}", "b")')
    assert law.values.tolist() == [2.0, 4.0]
    with pytest.warns(UserWarning, match="a: 1 of 3 missing"):
        assert arms.parse(f'empirical("{tmp_path / "wide.csv"}", "a")').values.tolist() == [1.0, 5.0]
