"""Plans: what people know becomes a prior, and the prior a recommendation."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from prudent import MeanVariance, PrudentError
from prudent.arms.base import arms
from prudent.cli import main
from prudent.plan import Pilot, advise, guesses, suitable, tolerance, write_report
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
    ],
)
def test_bad_guesses_are_refused(text, message):
    with pytest.raises(PrudentError, match=message):
        guesses([text])


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
