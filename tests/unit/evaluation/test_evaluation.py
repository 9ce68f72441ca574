"""Evaluation from logs: exact on tiny logs, honest on many, clear where it cannot say."""

import functools
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from prudent import CVaR, Entropic, LossAverse, MeanCVaR, MeanVariance, PrudentError, evaluate, simulate
from prudent.cli import main
from prudent.evaluation import bands, betting, estimates, limits, read_log
from prudent.evaluation.bands import Steps, band_of
from prudent.evaluation.betting import Sample
from prudent.evaluation.limits import Samples, risk_limits

VALUES = np.array([0.0, 0.3, 1.0])
LAWS = np.array([[0.2, 0.36, 0.44], [0.4, 0.43, 0.17]])
SHARES = np.array([0.1, 0.9])
SCALED = Sample.scaled
FALSE_ALARM = 1e-9
RUNS = 80


def logged(rng, rounds=200, epsilon=0.4):
    """The log of ε-greedy on two arms with three rewards each, in which an arm is left alone while it looks worse."""
    sums, pulls, rows = np.zeros(2), np.zeros(2), []
    for _ in range(rounds):
        chances = np.full(2, epsilon / 2.0)
        chances[np.argmax(sums / np.maximum(pulls, 1.0))] += 1.0 - epsilon
        arm = int(rng.random() >= chances[0])
        reward = float(VALUES[np.searchsorted(LAWS[arm].cumsum(), rng.random())])
        sums[arm], pulls[arm] = sums[arm] + reward, pulls[arm] + 1
        rows.append((arm, reward, chances[arm]))
    arms, rewards, propensities = zip(*rows, strict=True)
    return {"arm": arms, "reward": rewards, "propensity": propensities}


@pytest.fixture(scope="module")
def log():
    """One in which propensities vary."""
    logs = (logged(np.random.default_rng(seed), 600) for seed in range(100))
    return next(log for log in logs if read_log(log).constant_propensities() is None)


# Exact


def test_the_policy_of_the_log_itself_gets_the_empirical_law():
    rng = np.random.default_rng(1)
    arms = rng.choice(3, 50, p=[0.5, 0.3, 0.2])
    rewards = rng.random(50)
    log = {"arm": arms, "reward": rewards, "propensity": np.array([0.5, 0.3, 0.2])[arms]}
    found = evaluate(log, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(found.law.values, np.sort(rewards))
    np.testing.assert_allclose(found.law.weights, 1.0 / 50)
    assert found["mean"].estimate == pytest.approx(rewards.mean(), rel=1e-12)
    assert found["variance"].estimate == pytest.approx(rewards.var(), rel=1e-12)
    assert found.effective == pytest.approx(50.0)


def tiny_logs():
    """Every log of three rounds on two Bernoulli arms, its probability, and its propensities, which depend on the
    rewards before; all of them fractions."""
    chances = [Fraction(1, 3), Fraction(3, 5)]
    for arms in itertools.product((0, 1), repeat=3):
        for rewards in itertools.product((0, 1), repeat=3):
            likely, propensities = Fraction(1), []
            for t in range(3):
                first = Fraction(1, 4) if sum(rewards[:t]) > 0 else Fraction(1, 2)
                propensities.append(first if arms[t] == 0 else 1 - first)
                likely *= propensities[t] * (chances[arms[t]] if rewards[t] else 1 - chances[arms[t]])
            yield likely, np.array(arms), rewards, np.array(propensities)


@pytest.mark.parametrize("method", ["inverse propensity", "doubly robust"])
def test_estimates_have_no_bias_though_the_policy_of_the_log_learned(method):
    shares = np.array([Fraction(2, 7), Fraction(5, 7)])
    truth = shares[0] * Fraction(2, 3) + shares[1] * Fraction(2, 5)  # P(R ≤ 0)
    expected, total = Fraction(0), Fraction(0)
    for likely, arms, rewards, propensities in tiny_logs():
        weights = shares[arms] / propensities
        found = (
            estimates.inverse_propensity(weights)
            if method == "inverse propensity"
            else estimates.doubly_robust(arms, shares, weights)
        )
        expected += likely * sum(weight for weight, reward in zip(found, rewards, strict=True) if reward == 0)
        total += likely * sum(found)
    assert expected == truth
    assert total == 1


def test_a_doubly_robust_estimate_varies_less_than_plain_weights():
    plain, robust = [], []
    for seed in range(60):
        log = read_log(logged(np.random.default_rng(seed), 100))
        weights, outcomes = SHARES[log.arms] / log.propensities, log.outcomes + 1.0
        plain.append(estimates.inverse_propensity(weights) @ outcomes)
        robust.append(estimates.doubly_robust(log.arms, SHARES, weights) @ outcomes)
    assert np.std(robust) < 0.8 * np.std(plain)


def test_negative_weights_make_a_law_all_the_same():
    law = estimates.as_law(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.8, -0.2]))
    assert law.values.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(law.weights, [0.8 / 1.1, 0.0, 0.3 / 1.1])


def test_guesses_know_the_rounds_before_and_shifts_hold_all_means():
    x = [np.array([0.2, 0.4]), np.array([1.0])]
    found = Samples(tuple(Sample(each, np.ones(len(each))) for each in x), SHARES, (np.array([0, 2]), np.array([1])))
    first, second = found.guesses(list(found.samples))
    np.testing.assert_allclose(first, [0.5, SHARES @ [0.35, 0.75]])
    np.testing.assert_allclose(second, [SHARES @ [0.35, 0.5]])
    centre, whole, own = np.linspace(0.0, 1.0, 11), np.array([0.3, 0.5]), np.array([0.35, 0.8])
    low, high = limits.shift_of(centre, whole, own)
    theta, mean = np.meshgrid(np.linspace(*whole, 41), np.linspace(*own, 46))
    every = (theta - centre[:, None, None]) * (2.0 * mean - theta - centre[:, None, None])
    np.testing.assert_allclose(low, every.min((1, 2)), atol=1e-12)
    np.testing.assert_allclose(high, every.max((1, 2)), atol=1e-12)


# Honest: limits are missed no more often than they may be, at levels at which they say something


@functools.cache
def many_logs():
    return [logged(np.random.default_rng(seed)) for seed in range(RUNS)]


def missed(ends, truth):
    return not ends[0] - 1e-12 <= truth <= ends[1] + 1e-12


TRUE_LAW = SHARES @ LAWS
TRUE_MEAN = float(TRUE_LAW @ VALUES)
TRUE_VARIANCE = float(TRUE_LAW @ (VALUES - TRUE_MEAN) ** 2)
TAIL = MeanCVaR(0.7, 0.5)
TRUE_TAIL = TAIL.weigh(VALUES, TRUE_LAW)
TRUE_ENTROPIC = Entropic(2.0).weigh(VALUES, TRUE_LAW)


def samples(log, method):
    """As `evaluate` has them."""
    known = read_log(log)
    if method == "arms":
        rounds = tuple(np.flatnonzero(known.arms == arm) for arm in (0, 1))
        return Samples(tuple(Sample(known.outcomes[own], np.ones(len(own))) for own in rounds), SHARES, rounds)
    weights = SHARES[known.arms] / known.propensities
    return alone(Sample(known.outcomes, weights, SHARES.max() / 0.2 if method == "floor" else math.inf))


def alone(sample):
    """What is received is one sample."""
    return Samples((sample,), np.ones(1), (np.arange(len(sample.rewards)),))


def misses(method, runs=RUNS, failure=0.5):
    """How often each limit misses the truth, over logs of a policy that learned."""
    counts = dict.fromkeys(("mean", "variance", "cost", "tail", "utility", "quantile", "band"), 0)
    for log in many_logs()[:runs]:
        found = samples(log, method)
        band = found.band(failure)
        counts["mean"] += missed(found.mean(failure), TRUE_MEAN)
        counts["variance"] += missed(found.cost(0.0, failure), TRUE_VARIANCE)
        counts["cost"] += missed(found.cost(1.0, failure), TRUE_VARIANCE - TRUE_MEAN)
        counts["tail"] += missed(risk_limits(found, TAIL, band, failure), TRUE_TAIL)
        counts["utility"] += missed(risk_limits(found, Entropic(2.0), band, failure), TRUE_ENTROPIC)
        counts["quantile"] += missed(found.quantile(0.5, band, failure), 0.3)
        x = np.array([-1e-9, 0.0, 0.15, 0.3, 0.6, 1.0 - 1e-9])
        levels = np.array([0.0, *np.repeat(TRUE_LAW.cumsum()[:2], 2), TRUE_LAW[:2].sum()])
        inside = (band.upper.below(x) <= levels + 1e-12) & (levels <= band.lower.below(x) + 1e-12)
        counts["band"] += not inside.all()
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("method", ["floor", "weights", "arms"])
def test_limits_hold_for_logs_of_a_policy_that_learned(method):
    most = stats.binom.isf(FALSE_ALARM, RUNS, 0.5)
    assert max(misses(method).values()) <= most


@pytest.mark.parametrize(
    ("place", "name", "broken"),
    [
        (betting, "LOG_WEIGHTS", betting.LOG_WEIGHTS + 12.0),  # stakes that are not paid for
        (Sample, "scaled", lambda self: SCALED(self)._replace(weights=np.ones(len(self.weights)))),  # weights left out
    ],
)
def test_the_check_of_limits_can_fail(monkeypatch, place, name, broken):
    monkeypatch.setattr(place, name, broken)
    assert max(misses("floor").values()) > stats.binom.isf(FALSE_ALARM, RUNS, 0.5)


def test_limits_that_hold_together_share_the_failure():
    """Two at twice the failure are each as wide as one alone: levels of a band, and arms of a mixture."""
    rng = np.random.default_rng(5)
    one, two = (Sample(rng.beta(2.0, 3.0, size), np.ones(size)) for size in (300, 200))
    together = bands.quantile_limits(one, np.array([0.2, 0.7]), 0.1)
    apart = [bands.quantile_limits(one, np.array([level]), 0.05) for level in (0.2, 0.7)]
    np.testing.assert_array_equal(together, np.hstack(apart))
    arms = Samples((one, two), np.array([0.25, 0.75]), (np.arange(300), 300 + np.arange(200)))
    singles = [betting.mean_limits(sample, 0.05) for sample in (one, two)]
    np.testing.assert_allclose(arms.mean(0.1), [0.25, 0.75] @ np.array(singles))
    mixture, edges = arms.band(0.1), [band_of(sample, 0.05) for sample in (one, two)]
    x = np.linspace(0.0, 1.0, 50)
    for side in (0, 1):
        np.testing.assert_allclose(
            mixture[side].below(x), 0.25 * edges[0][side].below(x) + 0.75 * edges[1][side].below(x)
        )


def test_limits_close_on_the_truth():
    rng = np.random.default_rng(2)
    x = rng.beta(4.0, 2.0, 20_000)
    weights = np.where(rng.random(20_000) < 0.25, 4.0, 0.0)
    for sample in (Sample(x, weights, 4.0), Sample(x[:5_000], np.ones(5_000))):
        found = alone(sample)
        for ends, width in ((found.mean(0.05), 0.02), (found.cost(0.0, 0.05), 0.006), (found.cost(1.0, 0.05), 0.03)):
            assert 0.0 < ends.high - ends.low < width
        band = found.band(0.05)
        for risk, width in ((CVaR(0.3), 0.035), (TAIL, 0.025), (Entropic(2.0), 0.02), (LossAverse(2.0, 0.6), 0.03)):
            ends, truth = risk_limits(found, risk, band, 0.05), risk.cost("beta(4, 2)")
            assert ends.low <= truth <= ends.high <= ends.low + width
            assert np.ptp(ends) < 0.8 * (limits._cost(risk, band.lower) - limits._cost(risk, band.upper))
        assert band.upper.below(np.array([0.7]))[0] > stats.beta(4, 2).cdf(0.7) - 0.06
        assert band.lower.below(np.array([0.7]))[0] < stats.beta(4, 2).cdf(0.7) + 0.06


def test_a_known_floor_makes_intervals_narrower(log):
    """On average over logs: by chance those without a floor may be narrower."""
    width = {"floor": np.zeros(2), "weights": np.zeros(2)}
    for each in many_logs()[:20]:
        for method, found in ((name, samples(each, name)) for name in width):
            width[method] += [np.ptp(found.mean(0.05)), np.ptp(found.cost(0.0, 0.05))]
    assert (width["floor"] < width["weights"]).all()
    assert "floor" in " ".join(evaluate(log, "1", support=(0, 1)).notes)
    assert "floor" not in " ".join(evaluate(log, "1", support=(0, 1), floor=0.2).notes)


def test_propensities_know_of_a_context_that_arms_do_not():
    """The log's policy saw a context that helps both arms, and gave arm 1 then."""
    rng = np.random.default_rng(4)
    context = rng.random(4_000) < 0.5
    chance = np.where(context, 0.9, 0.1)
    arms = (rng.random(4_000) < chance).astype(int)
    rewards = (rng.random(4_000) < 0.3 + 0.4 * context).astype(float)  # the mean of each arm is 0.5
    log = {"arm": arms, "reward": rewards, "propensity": np.where(arms == 1, chance, 1.0 - chance)}
    by_weights, by_arms = (evaluate(log, 1, support=(0, 1), method=name)["mean"] for name in ("weights", "arms"))
    assert by_weights.interval.low <= 0.5 <= by_weights.interval.high
    assert not by_arms.interval.low <= 0.5 <= by_arms.interval.high


# Units and directions


def test_units_change_nothing_but_the_unit(log):
    other = log | {"reward": [3.0 * reward - 5.0 for reward in log["reward"]]}
    one = evaluate(log, {"0": 0.5, "1": 0.5}, risk=["mean-variance(rho=1)", "cvar(alpha=0.2)"], support=(0, 1))
    two = evaluate(other, {"0": 0.5, "1": 0.5}, risk=["mean-variance(rho=3)", "cvar(alpha=0.2)"], support=(-5, -2))
    for name, power in (("mean", 1), ("variance", 2), ("quantile 0.5", 1)):
        shift = -5.0 if power == 1 else 0.0
        found = [two[name].estimate, *two[name].interval]
        np.testing.assert_allclose(found, [3.0**power * x + shift for x in (one[name].estimate, *one[name].interval)])
    first, second = one.rows[2], two.rows[2]
    np.testing.assert_allclose(
        [second.estimate, *second.interval], 9.0 * np.array([first.estimate, *first.interval]) + 15.0
    )
    first, second = one["cvar(alpha=0.2)"], two["cvar(alpha=0.2)"]
    np.testing.assert_allclose(
        [second.estimate, *second.interval], 3.0 * np.array([first.estimate, *first.interval]) + 5.0
    )


def test_losses_are_gains_turned_round(log):
    risk = ["mean-variance(rho=1)", "cvar(alpha=0.05)"]
    gains = evaluate(log, "1", risk=risk, support=(0, 1), quantiles=[0.3])
    turned = log | {"reward": [-reward for reward in log["reward"]]}
    losses = evaluate(turned, "1", risk=risk, support=(-1, 0), quantiles=[0.7], larger_is_better=False)
    np.testing.assert_allclose(losses["mean"].interval, [-gains["mean"].interval.high, -gains["mean"].interval.low])
    for name in ("variance", "mean-variance(rho=1)", "cvar(alpha=0.05)"):
        np.testing.assert_allclose(losses[name].interval, gains[name].interval, atol=1e-12)
        assert losses[name].estimate == pytest.approx(gains[name].estimate)


def test_without_a_support_only_quantiles_have_intervals(log):
    found = evaluate(log, "1")
    assert found["mean"].interval is None
    assert found["cvar(alpha=0.05)"].interval is None
    assert found["quantile 0.5"].interval.low <= found["quantile 0.5"].estimate <= found["quantile 0.5"].interval.high
    assert any("--support" in note for note in found.notes)


def test_a_measure_without_limits_has_an_estimate_and_no_interval(log):
    row = evaluate(log, "1", risk="sharpe", support=(0, 1)).rows[2]
    assert row.interval is None
    assert math.isfinite(row.estimate)


def test_the_mean_has_the_same_limits_as_a_risk(log):
    found = evaluate(log, "1", risk="mean", support=(0, 1))
    np.testing.assert_allclose(found.rows[2].interval, [-found["mean"].interval.high, -found["mean"].interval.low])


# Logs


def test_a_log_is_a_file_a_frame_or_columns(tmp_path, log):
    path = tmp_path / "log.csv"
    frame = pl.DataFrame(log).rename({"arm": "version", "reward": "revenue"})
    frame.write_csv(path)
    names = {"group": "version", "outcome": "revenue"}
    expected = read_log(log)
    for given in (path, str(path), frame, frame.to_dict(as_series=False)):
        found = read_log(given, **names)
        assert found.labels == expected.labels == ("0", "1")
        np.testing.assert_array_equal(found.arms, expected.arms)
        np.testing.assert_allclose(found.outcomes, expected.outcomes)
        np.testing.assert_allclose(found.propensities, expected.propensities)


def test_the_feedback_of_obp_is_a_log():
    rng = np.random.default_rng(3)
    feedback = {
        "n_rounds": 500, "n_actions": 12, "action": rng.integers(12, size=500), "position": np.zeros(500, int),
        "reward": rng.integers(2, size=500), "pscore": np.full(500, 1.0 / 12.0), "context": rng.random((500, 3)),
        "action_context": np.eye(12),
    }  # fmt: skip
    found = read_log(feedback)
    assert found.labels == tuple(map(str, range(12)))
    assert evaluate(feedback, 10, support=(0, 1)).method == "weights"
    assert evaluate(feedback, "random-arm", risk="mean", support=(0, 1)).effective > 20


def test_times_put_rounds_in_order():
    log = {"arm": ["a", "b", "a"], "reward": [3.0, 1.0, 2.0], "day": ["2024-02-01", "2023-12-31", "2024-01-05"]}
    assert read_log(log, time="day").outcomes.tolist() == [1.0, 2.0, 3.0]
    assert read_log(log | {"day": [10, 9, 9.5]}, time="day").outcomes.tolist() == [1.0, 2.0, 3.0]
    assert read_log(log).outcomes.tolist() == [3.0, 1.0, 2.0]


GOOD = {"arm": ["a", "b", "a", "b"], "reward": [0.0, 1.0, 0.5, 0.2], "propensity": [0.5] * 4}


@pytest.mark.parametrize(
    ("changes", "settings", "words"),
    [
        ({"propensity": [0.5, 0.0, 0.5, 0.5]}, {}, "must lie in (0, 1], got 0 in row 2"),
        ({"reward": [0.0, math.nan, 1.0, 1.0]}, {}, "finite numbers, got nan in row 2"),
        ({"reward": [0.0, 1.0]}, {}, "of one length"),
        ({"reward": ["low"] * 4}, {}, "must be numbers"),
        ({}, {"outcome": "revenue"}, "outcome must be a column of the log, got 'revenue'"),
        ({}, {"policy": "c"}, "must be an arm of the log or a policy, got 'c'; arms: a, b"),
        ({}, {"policy": {"c": 1.0}}, "arm 'c' has no row in the log"),
        ({}, {"policy": {"a": 0.5}}, "sum to 1"),
        ({}, {"policy": {"a": "much"}}, "must be a number, got 'much'"),
        ({}, {"policy": [0.5, 0.2, 0.3]}, "must have 2 probabilities"),
        ({}, {"policy": 3.5}, "an arm, probabilities of arms, or a policy, got 3.5"),
        ({}, {"support": (0, 0.8)}, "support must hold all outcomes, got (0, 0.8)"),
        ({}, {"support": (0, math.inf)}, "support must be finite"),
        ({}, {"method": "ips"}, "method must be one of weights, doubly-robust, arms"),
        ({}, {"policy": "ucb1", "method": "arms"}, "left out for a policy that learns"),
        ({}, {"floor": 0.6}, "floor must be at most the smallest propensity, got 0.6"),
        ({}, {"unit": 5}, "unit must be a word such as 'EUR', got 5"),
        ({}, {"level": 95}, "for 95 % confidence pass 0.95"),
        ({"propensity": [0.5, 0.4, 0.6, 0.5]}, {"policy": "ucb1", "support": (0, 1)}, "propensities vary"),
        ({}, {"policy": "mv-lcb", "support": (0, 1)}, "needs rho, which has the unit of rewards"),
    ],
)
def test_what_is_wrong_is_said(changes, settings, words):
    settings = {"policy": "a"} | settings
    with pytest.raises(PrudentError) as caught:
        evaluate(GOOD | changes, **settings)
    assert words in str(caught.value)


def test_propensities_are_constant_only_if_they_can_be_so_together():
    assert read_log(GOOD).constant_propensities().tolist() == [0.5, 0.5]
    assert read_log(GOOD | {"propensity": [0.9, 0.8, 0.9, 0.8]}).constant_propensities() is None
    assert read_log(GOOD | {"propensity": [0.4, 0.5, 0.5, 0.5]}).constant_propensities() is None


def test_a_log_needs_its_columns():
    with pytest.raises(PrudentError, match="the log has no column 'arm' or 'action'"):
        evaluate({"reward": [1.0]}, "a")
    with pytest.raises(PrudentError, match="log must be a CSV file, a data frame or columns by name, got 5"):
        evaluate(5, "a")
    without = {name: GOOD[name] for name in ("arm", "reward")}
    assert evaluate(without, "a").method == "arms"
    with pytest.raises(PrudentError, match="method weights needs the propensities"):
        evaluate(without, "a", method="weights")
    with pytest.raises(PrudentError, match="a replay needs the propensities"):
        evaluate(without, "ucb1")


def test_a_cell_that_is_missing_is_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\na,1\nNA,2\n")
    with pytest.raises(PrudentError, match="line 3: arm is 'NA'"):
        evaluate(path, "a")


def test_notes_warn_of_little_and_of_wrong_propensities(log):
    assert "about 2 rounds" in " ".join(evaluate(GOOD, "a").notes)
    halved = log | {"propensity": [0.5 * propensity for propensity in log["propensity"]]}
    assert "The weights have the mean" in " ".join(evaluate(halved, {"0": 0.5, "1": 0.5}).notes)
    (assumed,) = evaluate(log, {"0": 0.5, "1": 0.5}, risk="mean", support=(0, 1), floor=0.2).notes
    assert "Propensities are the true probabilities" in assumed


def test_risks_are_estimated_too_low_and_a_note_says_so():
    """Uniform rewards, 400 rounds, an arm in a twentieth of them: the estimate of a CVaR at 5 % is about minus the
    smallest of twenty rewards, which has the mean 1/21."""
    rng, found = np.random.default_rng(3), []
    for _ in range(60):
        arms = np.where(rng.random(400) < 0.05, "b", "a")
        log = {"arm": arms, "reward": rng.random(400), "propensity": np.where(arms == "b", 0.05, 0.95)}
        found.append(evaluate(log, "b", risk=[CVaR(0.05), MeanVariance(0.0)], quantiles=[], support=(0, 1)))
    low = np.mean([each["cvar(alpha=0.05)"].estimate for each in found])
    assert -0.065 < low < -0.035 < CVaR(0.05).cost("uniform(0, 1)")
    row = found[0]["cvar(alpha=0.05)"]
    assert (row.at_worst, found[0]["mean"].at_worst) == (row.interval.high, found[0]["mean"].interval.low)
    assert "Estimated too low on average" in found[0].notes[-1]
    assert "so few: cvar(alpha=0.05), mean-variance(rho=0)." in found[0].notes[-1]
    outcomes = {"arm": ["a", "b"] * 400, "reward": [0.2, 0.8] * 400, "propensity": [0.5] * 800}
    costs = evaluate(outcomes, "a", risk=[CVaR(1.0)], support=(0, 1), larger_is_better=False)
    assert costs["mean"].at_worst == costs["mean"].interval.high
    assert not any("too low" in note for note in costs.notes)


# Replay


class Remembers:
    """A learner that takes arms in turn and knows what it was told."""

    def __init__(self):
        self.told = []

    def start(self, n_arms, horizon):
        self.n_arms = n_arms

    def ask(self, rng):
        return len(self.told) % self.n_arms

    def tell(self, arm, reward):
        self.told.append((arm, reward))


def test_a_replay_keeps_the_rounds_in_which_the_log_took_the_same_arm():
    arms = np.array([0, 1, 1, 0, 0, 1])
    log = {"arm": arms, "reward": 10.0 * arms + np.arange(6), "propensity": [0.5] * 6}
    found = evaluate(log, Remembers())
    assert np.sort(found.law.values).tolist() == [0.0, 3.0, 11.0, 15.0]
    assert found.effective == 4.0
    assert "4 of 6 rounds were kept" in found.notes[1]
    assert found.band is None


def test_replays_are_runs_of_the_policy_whatever_the_propensities():
    """Rounds are thinned to equal shares: ε-greedy receives as much as in a simulation, from a log that favours the
    worse arm, in which outcomes are better while it does."""
    rng = np.random.default_rng(6)
    rounds, received = 1_500, []
    for seed in range(8):
        lucky = rng.random(rounds) < 0.5
        first = np.where(lucky, 0.8, 0.4)
        arms = (rng.random(rounds) >= first).astype(int)
        rewards = (rng.random(rounds) < np.array([0.2, 0.5])[arms] + 0.3 * lucky).astype(float)
        log = {"arm": arms, "reward": rewards, "propensity": np.where(arms == 0, first, 1.0 - first)}
        found = evaluate(log, "epsilon-greedy(epsilon=0.2)", risk="mean", support=(0, 1), floor=0.2, seed=seed)
        received.append(found["mean"].estimate)
        assert 200 < found.effective < 400
    settings = {"risk": "mean", "horizon": 300, "runs": 300}
    runs = simulate(bandit(), "epsilon-greedy(epsilon=0.2)", **settings).reward_mean()
    error = math.hypot(np.std(received, ddof=1) / math.sqrt(8), runs.std() / math.sqrt(300))
    assert abs(np.mean(received) - runs.mean()) < 6.0 * error


def bandit():
    from prudent import Bandit

    return Bandit(["bernoulli(0.35)", "bernoulli(0.65)"])


# What one sees


def test_the_result_is_a_table_a_page_and_a_picture(log):
    found = evaluate(log, {"0": 0.25, "1": 0.75}, support=(0, 1), unit="EUR", floor=0.2)
    table = found.table()
    assert table.columns == ["quantity", "at worst", "estimate", "low", "high"]
    assert table["quantity"].to_list()[:4] == ["mean", "variance", "cvar(alpha=0.05)", "quantile 0.05"]
    assert ((table["low"] <= table["estimate"]) & (table["estimate"] <= table["high"])).all()
    page = found._repr_html_()
    assert f"0.25 0 + 0.75 1: 600 rounds, worth {found.effective:.0f} of its own, by weights, 95 % intervals" in page
    assert "EUR²" in page
    assert all(note in page.replace("&#x27;", "'") for note in found.notes)
    assert repr(found) == "<Evaluation: 0.25 0 + 0.75 1, by weights, 600 rounds>"
    with pytest.raises(PrudentError, match="no row 'means'; did you mean mean"):
        found["means"]
    (ax,) = found.plot().axes
    (line,), (area,) = ax.lines, ax.collections
    x = line.get_xdata()
    np.testing.assert_allclose(line.get_ydata(), found.law.below(x))
    assert (found.band.upper.below(x) <= line.get_ydata() + 1e-9).all()
    assert area.get_label() == "95 % band"
    assert ax.get_xlabel() == "outcome, EUR"


def test_the_command_prints_the_same_numbers(tmp_path, log):
    path, picture = tmp_path / "log.csv", tmp_path / "law.svg"
    pl.DataFrame(log).write_csv(path)
    asked = [
        "evaluate",
        str(path),
        "--policy",
        "0=0.25,1=0.75",
        "--support",
        "0",
        "1",
        "--rho",
        "2",
        "--quantile",
        "0.1",
    ]
    told = CliRunner().invoke(main, [*asked, "--out", str(picture), "--floor", "0.2"])
    assert told.exit_code == 0, told.output
    *lines, last = told.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert last == str(picture)
    found = evaluate(
        path,
        {"0": 0.25, "1": 0.75},
        risk=["mean-variance(rho=2)", "cvar(alpha=0.05)"],
        quantiles=[0.1],
        support=(0, 1),
        floor=0.2,
    )
    for row in found.cells():
        assert row["95 % interval"] in told.output
    assert picture.read_text().startswith("<?xml")
    as_json = CliRunner().invoke(main, [*asked, "--json"])
    assert json.loads(as_json.output)["rows"][0]["estimate"] == pytest.approx(found["mean"].estimate)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--policy", "0=much"], "probability of '0' must be a number, got 'much'"),
        (["--policy", "0", "--out", "law.jpg"], "--out must end in .svg, .png, .pdf"),
        (["--policy", "2"], "got '2'; arms: 0, 1"),
        (["--policy", "0", "--risk", "cvar(alpha=5)"], "alpha must lie in (0, 1]"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, log, more, words):
    path = tmp_path / "log.csv"
    pl.DataFrame(log).write_csv(path)
    told = CliRunner().invoke(main, ["evaluate", str(path), *more])
    assert told.exit_code == 2
    assert words in " ".join(told.output.split())


def test_steps_are_laws():
    law = Steps.of(np.array([2.0, 1.0, 3.0]), np.array([0.5, 0.25, 0.25]))
    assert law.below(np.array([0.5, 1.0, 2.5, 3.0])).tolist() == [0.0, 0.25, 0.75, 1.0]
    assert [law.quantile(level) for level in (0.25, 0.26, 0.75, 1.0)] == [1.0, 2.0, 2.0, 3.0]
    assert law.reversed().below(np.array([-3.0, -2.0])).tolist() == [0.25, 0.75]
