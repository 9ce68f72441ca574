"""What a plan says before it recommends anything, and that no few outcomes decide it without a word."""

import math

import numpy as np
import pytest

from prudent import CVaR, MeanVariance
from prudent.plan import Pilot, guesses
from prudent.plan.cautions import best_of, cautions, prefers_less
from prudent.plan.odd import odd_ones
from prudent.plan.ranking import Promise
from prudent.plan.tails import changes, in_words
from prudent.plan.trial import Trial
from prudent.plan.verdict import Favourite, Tail, Verdict

RNG = np.random.default_rng(8)
USUAL, OTHER = RNG.normal(30.0, 8.0, 60), RNG.normal(33.0, 8.0, 60)
WAITS = RNG.gamma(3.0, 60.0, 400).round(1)


def trial_of(columns, risk=None, **more):
    options = [Pilot(name, tuple(map(float, x))) for name, x in columns.items()]
    return Trial.checked(options, MeanVariance(55.0) if risk is None else risk, 500, **more)


def replaced(x, value, count):
    return np.append(x[count:], np.full(count, value))


@pytest.mark.parametrize(
    ("x", "odd"),
    [
        (replaced(USUAL, 98_765.43, 1), 1), (replaced(USUAL, 98_765.43, 2), 2), (replaced(USUAL, -5_000.0, 1), 1),
        (np.append(replaced(USUAL, 98_765.43, 2), 54_321.0), 3), (replaced(WAITS, 30_000.0, 3), 3),
        (replaced(WAITS, 30_000.0, 30), 30), (np.array([30.0, 31.0, 32.0, 98_765.0]), 1),
        (USUAL, 0), (WAITS, 0), (replaced(WAITS, 30_000.0, 60), 0), (np.repeat([0.0, 50.0], [95, 5]), 0),
        (np.array([1.0, 2.0, 900.0]), 0), (np.array([30.0, 31.0, 32.0, 40.0]), 0), (np.array([5.0]), 0),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_outcomes_far_from_all_others_are_found_as_a_group(x, odd):
    """Two that are alike hide each other if each is left out alone; time-outs are up to a tenth of all."""
    found, rest = odd_ones(x)
    assert (len(found), len(rest)) == (odd, len(x) - odd)
    if odd:
        assert np.abs(found - np.median(x)).min() > np.abs(rest - np.median(x)).max()


@pytest.mark.parametrize("count", [1, 2])
def test_odd_outcomes_are_named_with_what_they_decide(count):
    said = cautions(trial_of({"a": USUAL, "b": replaced(OTHER, 98_765.43, count)}, unit="EUR"))
    assert len(said) == 1
    begin = "One outcome of b is" if count == 1 else "2 outcomes of b are"
    assert said[0].startswith(begin)
    assert "98,765 EUR" in said[0]
    assert "b looks best instead of a" in said[0]
    assert "correct the file" in said[0]


def test_odd_outcomes_of_several_options_are_left_out_together():
    waits = {"a": replaced(WAITS, 30_000.0, 3), "b": replaced(WAITS + 50.0, 30_000.0, 1)}
    said = cautions(trial_of(waits, larger_is_better=False))
    assert "looks best" not in said[0]
    assert "All are the same, as time-outs are." in said[0]
    assert "Without all of these outcomes a looks best instead of b." in said[1]


def test_options_are_judged_by_the_trials_own_risk():
    """The mean likes the one, its worst 5 % the other, and mean-variance with ρ = 1 neither's mean."""
    columns = {"steady": np.linspace(9.0, 10.0, 40), "wild": np.linspace(-50.0, 80.0, 40)}
    best = {risk: best_of(trial, trial.options) for risk in ("mean", "cvar(0.05)", "variance")
            if (trial := trial_of(columns, risk))}  # fmt: skip
    assert best == {"mean": "wild", "cvar(0.05)": "steady", "variance": "steady"}
    guessed = Trial.checked(guesses(["a: uniform(0, 1)", "b: uniform(0.2, 0.7)"]), CVaR(0.1), 50)
    assert best_of(guessed, guessed.options) == "b"
    mirrored = Trial.checked(guesses(["a: uniform(0, 1)", "b: uniform(0.5, 1.2)"]), CVaR(0.1), 50,
                             larger_is_better=False)  # fmt: skip
    assert best_of(mirrored, mirrored.options) == "a"


def test_before_rho_is_chosen_no_option_is_said_to_look_best():
    trial = trial_of({"a": USUAL, "b": replaced(OTHER, 98_765.43, 1)}, MeanVariance(0.0))
    (said,) = cautions(trial, judged=False)
    assert "Without it: mean" in said
    assert "looks best" not in said


SELLS = [f"mixture([deterministic(0), exponential(50)], [{1 - p}, {p}])" for p in (0.04, 0.06)]


@pytest.mark.parametrize("texts", [SELLS, ["bernoulli(0.04..0.06)", "bernoulli(0.07..0.09)"]], ids=["sales", "coins"])
@pytest.mark.parametrize(("rho", "warned"), [(0.1, True), (math.inf, False), (500.0, False)])
def test_a_rho_that_prefers_less_is_named_for_guesses(texts, rho, warned):
    """The limit is where the derivative by p of the cost of the better one is 0: below it fewer payers cost less."""
    options = guesses([f"{name}: {text}" for name, text in zip("ab", texts, strict=True)])
    said = cautions(Trial.checked(options, MeanVariance(rho), 300))
    assert bool(said) == warned
    if warned:
        assert "you prefer a to b because fewer outcomes of a are other than 0" in said[0]


def test_a_steadier_option_is_preferred_without_a_word():
    """Those who pay b pay very different amounts; at this ρ more of them cost less, so that rareness is not why."""
    same = "a: mixture([deterministic(0), deterministic(50)], [0.96, 0.04])", f"b: {SELLS[1]}"
    trial = Trial.checked(guesses(same), MeanVariance(100.0), 300)
    assert best_of(trial, trial.options) == "a"
    assert prefers_less(trial) == []


def test_a_rho_that_prefers_less_is_named_where_some_outcomes_are_returns():
    rng = np.random.default_rng(1)
    columns = {}
    for name, share in (("a", 0.025), ("b", 0.035)):
        paid = rng.lognormal(3.6, 0.5, round(2_000 * share))
        columns[name] = np.concatenate([paid, [-20.0] * 10, np.zeros(1_990 - len(paid))])
    (said,) = prefers_less(trial_of(columns, MeanVariance(1.0)))
    assert "because fewer outcomes of a are other than 0 (3 % instead of 4 %)" in said
    assert not prefers_less(trial_of({name: -x for name, x in columns.items()}, MeanVariance(1.0)))


def test_few_outcomes_are_named_and_few_skewed_ones():
    skewed = np.random.default_rng(2).exponential(10.0, 60) ** 1.5
    assert "Fewer than 30 outcomes are known of b" in cautions(trial_of({"a": USUAL, "b": OTHER[:20]}))[0]
    assert any("intervals of this plan are too short" in text for text in cautions(trial_of({"a": USUAL, "b": skewed})))
    assert cautions(trial_of({"a": USUAL, "b": OTHER})) == []


def test_a_change_within_the_file_is_named():
    x = np.append(RNG.normal(30.0, 5.0, 40), RNG.normal(40.0, 5.0, 40))
    (said,) = cautions(trial_of({"a": x, "b": np.random.default_rng(3).permutation(x)}))
    assert said.startswith("Outcomes of a changed within the file")


PROMISES = {
    "found_best": Promise(0.9, 0.6, 1.0), "outcome": Promise(30.0, 25.0, 35.0), "regret": Promise(1.0, 0.0, 4.0),
}  # fmt: skip
SAME = Tail(2.0, 0.9, 1.0, 30.0, 0.97, "a", "no-trial")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, []), ({"found_best": 0.75}, ["found in 90 % (twice: 90 %; without: 75 %)"]),
        ({"sure": 0.5}, ["a is the best with 97 % (twice: 97 %; without: 50 %)"]),
        ({"outcome": 40.0}, ["mean outcome is 30 EUR (twice: 30 EUR; without: 40 EUR)"]),
        ({"regret": 5.0}, ["cost against the best option is 0.0182 EUR (twice: 0.0182 EUR; without: 0.0909 EUR)"]),
        ({"kind": "run"}, ["no trial is needed (twice: no trial is needed; without: the trial is worth running)"]),
        ({"found_best": 0.85, "sure": 0.9, "outcome": 34.0, "regret": 3.9}, []),
    ],
)  # fmt: skip
def test_what_changes_with_the_largest_outcomes_is_said_with_all_numbers(other, said):
    trial = trial_of({"a": USUAL, "b": OTHER}, unit="EUR")
    tails = [SAME, SAME._replace(times=0.0, **other)]
    verdict = Verdict("no-trial", ())
    found = in_words(changes(trial, PROMISES, Favourite(0, "a", 0.97), verdict, tails))
    assert len(found) == bool(said)
    assert all(text in found[0] for text in said)
    turned = [tails[1]._replace(times=2.0), SAME._replace(times=0.0)]
    assert len(in_words(changes(trial, PROMISES, Favourite(0, "a", 0.97), verdict, turned))) == bool(said)
