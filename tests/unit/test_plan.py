"""Plans: what people know becomes a prior, and the prior a recommendation."""

import contextlib
import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from prudent import MeanVariance, PrudentError
from prudent.arms.base import arms
from prudent.cli import main
from prudent.plan import Pilot, advise, guesses, pilot, suitable, tolerance, write_report
from prudent.plan.advise import MEASURED, summarise
from prudent.policies.base import policies as registry
from prudent.policies.base import spec
from prudent.study import Store, load


@pytest.mark.parametrize(("less_mean", "less_variance"), [(0.2, 0.1), (1.0, 3.0), (0.01, 0.5)])
def test_at_the_tolerance_both_sides_of_the_trade_off_cost_the_same(less_mean, less_variance):
    risk = MeanVariance(tolerance(less_mean, less_variance))
    assert risk.stats_cost(1.0, 2.0) == pytest.approx(risk.stats_cost(1.0 - less_mean, 2.0 - less_variance))


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


@pytest.mark.parametrize("pair", [(1e-320, 1e300), (1e300, 1e-320), ("a", 1), (0.0, 1.0), (1.0, np.inf), (None, 1)])
def test_a_trade_off_without_a_tolerance_is_refused(pair):
    with pytest.raises(PrudentError, match=r"trade-off: (variance|mean)"):
        tolerance(*pair)


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
        ({"draws": 10**9}, "must be at most 50,000,000 to fit into memory; take fewer"),
        ({"runs": 10**12}, "2 policies|1 policies|must be at most 50,000,000"),
        ({"out": 5}, "out must be a folder, got 5"),
        ({"policies": "mv-lcb"}, "policies must be a list"),
        ({"policies": [5]}, "policy must be a NamedTuple"),
        ({"risk": "cvar(0.1)"}, "risk must be a mean-variance"),
        ({"options": [Pilot("a", None), Pilot("b", (1.0, 2.0, 4.0))]}, "option 'a' cannot be drawn"),
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
    asked = {"options": options, "risk": risk, "horizon": 30, "out": "plan", "policies": ["round-robin"], "draws": 10}
    asked |= {"runs": 2, "seed": 0, "workers": 1, "progress": None}
    trial = {name: asked[name] for name in ("risk", "horizon", "options")}
    trade = {"less_mean": 1.0, "less_variance": 1.0}
    calls = [(advise, asked | {name: value}) for name in asked if name != "policies" or value not in ([], {})]
    calls += [(suitable, trial | {name: value}) for name in trial]
    calls += [(tolerance, trade | {name: value}) for name in trade]
    calls += [(guesses, {"texts": value}), (guesses, {"texts": [value]}), (pilot, {"path": value})]
    calls += [(write_report, {"advice": value, "facts": {}, "out": "plan"})]
    for call, arguments in calls:
        with contextlib.suppress(PrudentError):
            call(**arguments)


def test_pilot_data_become_their_posterior():
    """Student's t for the mean, χ² for the variance, beta for a probability; false alarms 1e-6 each."""
    rng = np.random.default_rng(3)
    x = np.array([0.3, 0.7, 1.4, -0.2, 0.5])
    drawn = [arms.parse(Pilot("a", tuple(x)).draw(rng)) for _ in range(3000)]
    t = [(law.mean - x.mean()) / (x.std(ddof=1) / np.sqrt(5)) for law in drawn]
    assert stats.kstest(t, stats.t(4).cdf).pvalue > 1e-6
    assert stats.kstest([4 * x.var(ddof=1) / law.variance for law in drawn], stats.chi2(4).cdf).pvalue > 1e-6
    yes = [arms.parse(Pilot("b", (1.0, 1.0, 0.0)).draw(rng)).mean for _ in range(3000)]
    assert stats.kstest(yes, stats.beta(3, 2).cdf).pvalue > 1e-6


def test_every_policy_is_suitable_or_left_out_with_a_reason():
    risk, normal, coins = (
        MeanVariance(1.0),
        guesses(["4 * gaussian(0.3..0.6, 0.1)"]),
        guesses(["4 * bernoulli(0.2..0.5)"]),
    )
    for options, fits in ((normal, "mts mvts mv-lcb exp-exp"), (coins, "bernoulli-mvts kl-ucb npts mts mv-lcb")):
        fit, left_out = suitable(risk, 1000, options)
        assert {spec(policy).partition("(")[0] for policy in fit} | set(left_out) == set(registry.names())
        assert set(fits.split()) <= {spec(policy) for policy in fit}
    reasons = suitable(risk, 1000, normal)[1]
    assert "rewards that are 0 or 1" in reasons["bernoulli-mvts"]
    assert "[0, 1]" in reasons["kl-ucb"]
    assert "best must be an end" in reasons["npts"]
    assert "serves cvar" in reasons["b-cvts"]
    assert "horizon" in suitable(risk, 3, normal)[1]["mv-lcb"]


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    """Two options far apart, the better one last; exploring for ever is worse than stopping."""
    out = tmp_path_factory.mktemp("plan")
    options = guesses(["bad: gaussian(0.0..0.1, 0.3..0.4)", "good: gaussian(0.9..1.0, 0.01)"])
    policies = ["round-robin", "exp-exp"]
    return advise(options, MeanVariance(1.0), 500, out, policies=policies, draws=12, runs=5), out


def test_the_better_policy_is_recommended_with_reasons(advice):
    found, _ = advice
    assert found.recommended == "exp-exp"
    assert found.policies["as_good"].to_list() == [True, False]
    assert any("Next comes round-robin" in reason for reason in found.reasons)
    row = found.policies.row(1, named=True)
    assert row["found_best"] == 1.0
    assert row["deviation"] ** 2 > row["exploration_risk"] > 0.15, "half of the time on each of two means"


def test_the_study_written_is_the_study_that_ran(advice):
    _, out = advice
    keys = {each.key for each in load(out / "study.toml").cells}
    assert keys == set(Store(out / "study").table()["cell"])


def test_a_pilot_without_a_finite_variance_is_refused(tmp_path):
    (tmp_path / "huge.csv").write_text("a,b\n1e300,1\n-1e300,2\n1e300,4\n")
    with pytest.raises(PrudentError, match="column 'a' has no finite variance"):
        pilot(tmp_path / "huge.csv")


def test_the_report_says_it(advice):
    found, out = advice
    page = write_report(found, {"options": "good, bad"}, out).read_text()
    assert "Take exp-exp" in page
    assert "<svg" in page
    assert "The paper says" not in page


def made_up(regret, outcome=None):
    """Trials of policies 0, 1, … with these regrets (policy, draw, trial)."""
    policy, draw, _ = (places.ravel().tolist() for places in np.indices(regret.shape))
    outcome = regret if outcome is None else outcome
    facts = {"policy": list(map(str, policy)), "draw": list(map(str, draw)), "regret": regret.ravel()}
    return pl.DataFrame({**facts, **dict.fromkeys(MEASURED[1:], outcome.ravel())})


def test_equal_policies_are_rarely_called_different_though_the_first_is_the_luckiest():
    """Of eight equal policies one is called worse in at most 5 % of plans; false alarms 1e-9."""
    rng = np.random.default_rng(2)
    plans = [summarise(made_up(rng.normal(size=(8, 30, 1)))) for _ in range(200)]
    assert sum(not plan["as_good"].all() for plan in plans) <= stats.binom.isf(1e-9, 200, 0.05)


@pytest.mark.parametrize(("policies", "pairs"), [(2, 1), (3, 3), (4, 6)])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_policy_is_as_good_unless_its_p_value_times_all_pairs_is_below_5_percent(policies, pairs, share):
    """Regrets whose paired t-test against the first has the p-value `share` · 0.05/pairs, exactly."""
    noise = np.arange(12.0) - 5.5
    t = stats.t.isf(share * 0.05 / pairs / 2.0, 11)
    behind = noise + t * noise.std(ddof=1) / np.sqrt(12)
    regret = np.zeros((policies, 12, 1))
    regret[1] = behind[:, None]
    regret[2:] = 1_000.0
    ranked = summarise(made_up(regret))
    assert ranked["behind"].to_list() == pytest.approx([0.0, behind.mean(), *[1_000.0] * (policies - 2)])
    assert ranked["as_good"].to_list() == [True, share > 1.0] + [False] * (policies - 2)


def test_a_difference_without_spread_is_seen():
    regret = np.arange(12.0)[None, :, None] + np.array([0.0, 0.5, 0.0])[:, None, None]
    assert summarise(made_up(regret))["as_good"].to_list() == [True, True, False]


def test_the_worst_trials_are_averaged_and_their_error_is_that_over_draws():
    """The true mean lies within two errors in 90 % of 400 plans or more; false alarms 1e-9."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(1, 50, 20))
    row = summarise(made_up(x)).row(0, named=True)
    assert row["worst_outcome"] == pytest.approx(np.sort(x.ravel())[:50].mean())
    plans = [summarise(made_up(rng.normal(size=(1, 40, 20)))).row(0, named=True) for _ in range(400)]
    truth = -stats.norm.pdf(stats.norm.isf(0.05)) / 0.05
    inside = sum(abs(plan["worst_outcome"] - truth) < 2.0 * plan["worst_outcome_se"] for plan in plans)
    assert stats.binom.ppf(1e-9, 400, 0.9) <= inside


def test_the_command(tmp_path):
    fixed = ["--horizon", "200", "--draws", "10", "--runs", "2", "--out", str(tmp_path), "--policy", "exp-exp"]
    options = ["--option", "2 * bernoulli(0.2..0.8)", "--accept", "0.2", "0.1"]
    result = CliRunner().invoke(main, ["plan", *options, *fixed, "--json"])
    assert json.loads(result.stdout)["recommended"] == "exp-exp"
    again = CliRunner().invoke(main, ["plan", *options, *fixed])
    assert "Take exp-exp." in again.stdout
    assert str(tmp_path / "plan.html") in again.stdout
    for wrong, message in (([], "either --accept"), (["--rho", "1"], "two or more to choose from")):
        result = CliRunner().invoke(main, ["plan", *wrong, *fixed])
        assert result.exit_code == 2
        assert message in result.stderr
