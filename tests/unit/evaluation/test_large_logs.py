"""Logs that are read in parts: the same as logs that are held, but for what parts of the support cannot tell."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from prudent import PrudentError, evaluate
from prudent.confidence.betting import LOG_WEIGHTS
from prudent.evaluation import streaming
from prudent.evaluation.betting import STAKES, Sample, mean_limits
from prudent.evaluation.sums import BINS, Limits, Sums

FALSE_ALARM = 1e-9
SHAPES = {"A": (2.0, 3.0), "B": (3.0, 3.0), "C": (1.0, 1.0)}
CHANCES = np.array([0.5, 0.3, 0.2])


def log_of(rounds, seed, *, varying=False):
    """Decisions that a service might export, some of which expired; with propensities that vary, or do not."""
    rng = np.random.default_rng(seed)
    tilt = np.where(rng.random(rounds) < 0.5, 0.1, -0.1) if varying else np.zeros(rounds)
    chances = np.stack([CHANCES[0] + tilt, CHANCES[1] - tilt, np.full(rounds, CHANCES[2])], 1)
    arms = (rng.random(rounds)[:, None] > chances.cumsum(1)).sum(1)
    shapes = np.array(list(SHAPES.values()))[arms]
    answered = rng.random(rounds) < 0.95
    return pl.DataFrame(
        {
            "decision": [str(i) for i in range(rounds)],
            "arm": np.array(list(SHAPES))[arms],
            "state": np.where(answered, "done", "expired"),
            "reward": pl.Series(10.0 * rng.beta(shapes[:, 0], shapes[:, 1])).set(pl.Series(~answered), None),
            "propensity": chances[np.arange(rounds), arms],
            "floor": np.full(rounds, 0.2),
        }
    )


@pytest.fixture
def in_parts(monkeypatch):
    """Every log is large, and its parts are small."""
    monkeypatch.setattr(streaming, "LARGE", 10)
    monkeypatch.setattr(streaming, "PART", 500)


@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize(("policy", "method"), [("B", "weights"), ({"A": 0.3, "C": 0.7}, "weights"), ("B", "arms")])
def test_it_is_what_a_log_that_is_held_gives(in_parts, policy, method, varying):
    frame = log_of(20_000, 1, varying=varying)
    asked = {"support": (0, 10), "method": method, "risk": ["cvar(alpha=0.1)", "mean-variance(rho=3)", "mean"]}
    held, read = evaluate(frame, policy, **asked), evaluate(frame.lazy(), policy, **asked)
    assert (read.rounds, read.method, read.policy) == (held.rounds, held.method, held.policy)
    assert read.effective == pytest.approx(held.effective)
    assert read.notes == (*held.notes, streaming.RESOLUTION)
    for one, other in zip(read.rows, held.rows, strict=True):
        assert (one.name, one.power) == (other.name, other.power)
        assert one.estimate == pytest.approx(other.estimate, abs=1e-9 if one.name in ("mean", "variance") else 0.02)
        width = other.interval.high - other.interval.low
        assert abs(one.interval.low - other.interval.low) < 0.6 * width
        assert abs(one.interval.high - other.interval.high) < 0.6 * width
        assert one.interval.low <= one.estimate <= one.interval.high
    smaller = evaluate(frame.lazy(), policy, **asked, larger_is_better=False)
    same = evaluate(frame, policy, **asked, larger_is_better=False)
    for one, other in zip(smaller.rows, same.rows, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=0.02)
        assert one.interval.low <= one.estimate <= one.interval.high


def test_limits_are_those_of_the_bets():
    rng = np.random.default_rng(2)
    x, weights = rng.random(400), np.ones(400)
    sums = Sums(1, 1.0)
    for part in np.array_split(np.arange(400), 7):
        sums.include(np.zeros(len(part), np.int64), x[part], weights[part])
    limits = Limits(sums, np.ones(1))
    np.testing.assert_allclose(limits.mean(0.05), mean_limits(Sample(x, weights), 0.05), atol=1e-12)

    most, failure, edge = 4.0, 0.05, 300
    weights = rng.choice([0.0, 0.5, 4.0], 400, p=[0.3, 0.5, 0.2])
    sums = Sums(1, most)
    sums.include(np.zeros(400, np.int64), x, weights)
    low, high = Limits(sums, np.ones(1)).below(failure)
    for inside, limit in ((x < (edge + 1) / BINS, low[edge]), (x >= (edge + 1) / BINS, 1.0 - high[edge])):
        capital = 0.0
        for guess in (0.0, 0.5, 1.0):
            z = weights * inside + (most - weights) * guess
            against = np.log1p(STAKES * (limit + (most - 1.0) * guess))
            won = np.log1p(STAKES[:, None] * z).sum(1) - len(x) * against
            capital += np.exp(won + LOG_WEIGHTS).sum() / 3.0
        # The limit of a later or an earlier end may be sharper, and then counts here too.
        assert capital >= (1.0 - 1e-6) * 2.0 / failure


def test_quantiles_and_bands_are_read_off_the_limits():
    rng = np.random.default_rng(3)
    sums = Sums(1, 1.0)
    sums.include(np.zeros(3_000, np.int64), rng.random(3_000), np.ones(3_000))
    limits, level = Limits(sums, np.ones(1)), 0.4
    ((begin, end),) = limits.quantiles([level], 0.05)
    low, high = limits.below(0.05)
    last, first = round(end * BINS) - 1, round(begin * BINS) - 1
    assert low[last - 1] < level <= low[last]
    assert high[first] < level <= high[first + 1]
    low, high = limits.below(0.05 / (BINS - 1))
    band, edges = limits.band(0.05), np.arange(1, BINS) / BINS
    np.testing.assert_allclose(band.upper.below(edges), low, atol=1e-12)
    np.testing.assert_allclose(band.lower.below(edges - 0.5 / BINS), high, atol=1e-12)


def test_limits_are_missed_no_more_often_than_they_may_be(in_parts):
    logs, missed, narrow = 40, dict.fromkeys(("mean", "variance", "quantile 0.5", "cvar(alpha=0.3)"), 0), 0.0
    a, b = SHAPES["C"]
    truth = {"mean": 10.0 * a / (a + b), "variance": 100.0 / 12.0, "quantile 0.5": 5.0, "cvar(alpha=0.3)": -1.5}
    for seed in range(logs):
        log = log_of(1_000, 10 + seed, varying=True).lazy()
        found = evaluate(log, "C", support=(0, 10), risk="cvar(alpha=0.3)", quantiles=[0.5])
        for name, value in truth.items():
            low, high = found[name].interval
            missed[name] += not low <= value <= high
        narrow = max(narrow, found["mean"].interval.high - found["mean"].interval.low)
    assert max(missed.values()) <= binom.isf(FALSE_ALARM, logs, 0.05)
    assert narrow < 2.0


def test_what_cannot_be_done_in_parts_is_refused(in_parts):
    log = log_of(200, 3).lazy()
    for settings, words in (
        ({}, "support must be given"),
        ({"support": (0, 10), "method": "doubly-robust"}, "method doubly-robust takes a log of at most 10 rows"),
        ({"support": (0, 1)}, "support must hold all outcomes"),
        ({"support": (0, 10), "floor": 0.5}, "floor must be at most the smallest propensity"),
    ):
        with pytest.raises(PrudentError, match=f"evaluate: {words}"):
            evaluate(log, "B", **settings)
    with pytest.raises(PrudentError, match="a replay takes a log of at most 10 rows"):
        evaluate(log, "ucb1", support=(0, 10))
    for column, value, words in (
        ("reward", math.inf, "outcomes must be finite numbers, and 200 are not"),
        ("propensity", 2.0, r"propensity must lie in \(0, 1\]"),
        ("arm", None, "arm must name an arm in every row"),
        ("state", "open", "no decision of the log has an outcome yet"),
    ):
        wrong = log.with_columns(pl.lit("done").alias("state")).with_columns(pl.lit(value).alias(column))
        with pytest.raises(PrudentError, match=words):
            evaluate(wrong.with_columns(pl.col("reward").fill_null(1.0)), "B", support=(0, 10))


def test_arms_without_a_chance_are_named(in_parts):
    log = log_of(400, 4).with_columns(pl.lit(1.0).alias("propensity"), pl.lit(0.0).alias("floor"))
    held, read = evaluate(log, "B", support=(0, 10)), evaluate(log.lazy(), "B", support=(0, 10))
    assert read.method == held.method == "arms"
    assert read.notes == (*held.notes, streaming.RESOLUTION)
