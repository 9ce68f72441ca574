"""Choosing ρ: from an answer a person can give, or from which option wins."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prudent import CVaR, MeanVariance, PrudentError
from prudent.plan import Pilot, accepted, guesses, tolerance, winners
from prudent.plan.tradeoff import Stretch, in_words, rho_in_words, usual
from prudent.plan.trial import Trial
from prudent.plan.words import Outcome, percent, plus_minus, short


@pytest.mark.parametrize(("less", "small", "large"), [(5.0, 25.0, 30.0), (0.2, 0.0, 0.4), (0.01, 0.5, 7.0)])
def test_at_the_tolerance_both_sides_of_the_trade_off_cost_the_same(less, small, large):
    risk = MeanVariance(tolerance(less, small, large))
    assert risk.stats_cost(1.0, large**2) == pytest.approx(risk.stats_cost(1.0 - less, small**2))


@pytest.mark.parametrize(
    "answer",
    [
        "5 less on average for a standard deviation of 25 instead of 30",
        "5 25 30",
        "5, 25, 30",
        "  I'd take 5.0 EUR less if the sd were 25 EUR rather than 30 EUR.",
        "a standard deviation of 25 instead of 30 is worth 5 to me",
        "+5 → 25/30".replace("/", " "),
        "5,0 25,0 30,0",
        "{5} #25 instead of 30",
    ],
)
def test_what_one_would_accept_is_understood(answer):
    assert accepted(answer) == 55.0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("5 30", "needs three numbers: what you give up on average, and the standard deviations after and before"),
        ("5 less, honestly", "needs three numbers"),
        ("", "needs three numbers"),
        ("5 less for a variance of 625 instead of 900", "give standard deviations, not variances, such as"),
        ("5 % less for a sd of 25 instead of 30", "give amounts, not percentages, such as"),
        ("5 30 25", "the standard deviation must get smaller, got 30 → 25; say the smaller one first"),
        ("5 25 25", "the standard deviation must get smaller"),
        ("0 25 30", "the mean you would give up must be above 0"),
        ("-5 25 30", "the mean you would give up must be above 0"),
        ("5 -25 30", r"standard deviation must lie in \[0"),
        ("1,234 25 30", "1,234 may mean two numbers; write 1234 or 1,2340"),
        ("1.2.3 25 30", "'1.2.3' is no number; write it as 1234.5"),
        ("1e-320 1 1e200", "ρ must be above 0 and finite"),
        ("x" * 2_000, "must be a text such as"),
        (5, "must be a text such as"),
        (None, "must be a text such as"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_trade_off_is_refused(answer, message):
    with pytest.raises(PrudentError, match=f"trade-off: .*{message}"):
        accepted(answer)


@pytest.mark.parametrize("numbers", [("a", 1, 2), (None, 1, 2), (1, np.nan, 2), (1, 1, np.inf), (np.inf, 1, 2)])
def test_numbers_that_are_none_make_no_tolerance(numbers):
    with pytest.raises(PrudentError, match=r"trade-off: (mean|standard deviation) must"):
        tolerance(*numbers)


THREE = ["A: gaussian(40, 900)", "B: gaussian(55, 8100)", "C: gaussian(38, 100)"]


def test_the_winner_changes_where_two_options_cost_the_same():
    found = winners(guesses(THREE))
    assert [(each.option, each.low, each.high) for each in found] == [
        ("C", 0, 400),
        ("A", 400, 480),
        ("B", 480, math.inf),
    ]
    assert found[0][3:] == (38.0, 10.0)
    for order in itertools.permutations(THREE):
        assert winners(guesses(order)) == found
    turned = [
        f"{name}: gaussian(-{mean}, {variance})"
        for name, mean, variance in (("A", 40, 900), ("B", 55, 8100), ("C", 38, 100))
    ]
    backwards = winners(guesses(turned), larger_is_better=False)
    assert [each[:3] for each in backwards] == [each[:3] for each in found]


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), min_size=2, max_size=7), st.booleans())
def test_the_winners_are_those_of_smallest_cost_at_every_rho(moments, larger):
    """Against all costs at values of ρ in and between the stretches; small whole numbers make ties."""
    found = winners(guesses([f"gaussian({mean}, {variance})" for mean, variance in moments]), larger_is_better=larger)
    assert found[0].low == 0.0
    assert found[-1].high == math.inf
    assert all(before.high == after.low for before, after in itertools.pairwise(found))
    sign = 1.0 if larger else -1.0
    for each in found:
        assert each.low < each.high
        for rho in (each.low, 0.5 * (each.low + min(each.high, each.low + 100.0))):
            costs = [variance - rho * sign * mean for mean, variance in moments]
            assert each.deviation**2 - rho * sign * each.mean == pytest.approx(min(costs), abs=1e-9)


def test_a_pilot_is_judged_by_its_outcomes_and_a_guess_by_the_middle_of_its_ranges():
    found = winners([Pilot("pilot", (1.0, 2.0, 6.0)), *guesses(["guess: gaussian(0..4, 1..3)"])])
    assert [(each.option, each.mean, each.deviation**2) for each in found] == [
        ("guess", 2.0, pytest.approx(2.0)),
        ("pilot", 3.0, pytest.approx(7.0)),
    ]
    assert found[0].high == pytest.approx(5.0)


def test_who_wins_is_said_in_words():
    said = in_words(winners(guesses(THREE)), Outcome("EUR"))
    assert said[0] == "Below ρ = 400 EUR the steadiest option wins: C."
    assert said[1] == "From 400 EUR to 480 EUR A wins."
    assert said[2] == "Above ρ = 480 EUR the option with the best mean wins: B."
    assert said[3] == (
        "Would you rather have C (38 EUR on average, standard deviation 10 EUR), or A (40 EUR on average, standard"
        " deviation 30 EUR)? If you prefer C, your ρ is below 400 EUR."
    )
    assert "give the number of outcomes as the period" in said[-1]
    clear = winners(guesses(["steady: gaussian(2, 1)", "wild: gaussian(1, 2)"]))
    assert in_words(clear, Outcome()) == ["steady wins whatever ρ is: it has the best mean and the smallest spread."]


def test_options_are_pictured_by_the_pilots_own_outcomes():
    """No outcome below 0 where none was, and the share of those that are the same."""
    paid = [0.0] * 90 + [float(x) for x in range(10, 30, 2)]
    options = [Pilot("shop", tuple(paid)), Pilot("coin", (1.0, 0.0, 0.0, 0.0))]
    one, coin = Stretch(0.0, 1.0, "shop", 1.9, 5.8), Stretch(0.0, 1.0, "coin", 0.25, 0.4)
    assert usual(options[0], one, Outcome("EUR")) == "nine of ten between 0 EUR and 18 EUR; 90 % are 0 EUR"
    assert usual(options[1], coin, Outcome()) == "25 % are 1 and the others 0"
    said = usual(options[0], one, Outcome("EUR"), 1_000)
    low, high = (float(text.replace(",", "")) for text in re.findall(r"([\d,]+) EUR", said))
    assert 1_500 < low < 1_900 < high < 2_300, "sums of a period are close to 1,900"


def test_where_nine_of_ten_are_the_same_the_others_are_told():
    """95 of 100 pay nothing; of the five that pay the quantiles at 5 and 95 % are the ends."""
    option = Pilot("shop", (0.0,) * 95 + (12.0, 30.0, 40.0, 60.0, 180.0))
    one = Stretch(0.0, 1.0, "shop", 3.22, 19.0)
    said = usual(option, one, Outcome("EUR"))
    assert said == "95 % are 0 EUR, and nine of ten others between 12 EUR and 180 EUR"


@pytest.mark.parametrize("period", [50, 20_000])
@pytest.mark.parametrize("larger", [True, False])
def test_the_risk_of_a_sum_becomes_the_rho_that_orders_normal_options_as_it_does(period, larger):
    """For normal outcomes the CVaR of a sum is −nμ + √n σ φ(z)/α: two options whose sums are of equal worth cost the
    same by the mean-variance, but for the three digits of ρ and, where sums are drawn, their error."""
    alpha, sign = 0.1, 1.0 if larger else -1.0
    premium = stats.norm.pdf(stats.norm.isf(alpha)) / alpha
    gap = premium * (9.0 - 4.0) / math.sqrt(period)
    options = guesses([f"a: gaussian({sign * 10.0}, 16)", f"b: gaussian({sign * (10.0 + gap)}, 81)"])
    trial = Trial.checked(options, CVaR(alpha), 100, period=period, larger_is_better=larger)
    assert trial.rho == pytest.approx(math.sqrt(period) * 13.0 / premium, rel=0.006)
    assert f"cvar(alpha=0.1) of the sum of {period:,} outcomes" in trial.sums
    assert "by these sums" not in trial.sums or abs(gap) < 1.0
    assert Trial.checked(options, MeanVariance(3.0), 100, period=period).sums == "", "it adds up"


def test_a_rho_is_said_as_a_trade_off_that_gives_it():
    said = rho_in_words(55.0, 30.0, Outcome("EUR"))
    assert (
        said == "You would just accept 3.109 EUR less on average for a standard deviation of 27 EUR instead of 30 EUR."
    )
    assert accepted(said) == pytest.approx(55.0, rel=1e-3)
    assert "more on average" in rho_in_words(55.0, 30.0, Outcome("minutes", larger_is_better=False))
    assert rho_in_words(0.0, 30.0, Outcome()).startswith("Only the spread counts")
    assert rho_in_words(math.inf, 30.0, Outcome()).startswith("Only the mean counts")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (29.9, "29.9"), (-29.9, "−29.9"), (1234567.0, "1,234,567"), (0.0123456, "0.01235"),
        (math.inf, "∞"), (-math.inf, "−∞"), (400.0, "400"),
    ],
)  # fmt: skip
def test_numbers_are_written_for_people(x, text):
    assert Outcome().amount(x) == text


@pytest.mark.parametrize(
    ("mean", "se", "text"),
    [
        (38.123, 0.21, "38.12 ± 0.42"), (-38.123, 0.21, "−38.12 ± 0.42"), (281.4, 5.1, "281 ± 10"),
        (13440.0, 51.0, "13,440 ± 100"), (0.0135, 0.0, "0.0135"), (0.0135, 1e-19, "0.0135"), (None, None, "–"),
        (5.0, None, "5"), (math.nan, 1.0, "–"),
    ],
)  # fmt: skip
def test_errors_have_two_digits(mean, se, text):
    assert plus_minus(mean, se) == text


def test_amounts_have_their_unit_and_their_own_sign():
    minutes = Outcome("minutes", larger_is_better=False)
    assert minutes.of_gain(-29.9) == "29.9 minutes"
    assert minutes.difference(3.0) == "3 minutes less"
    assert Outcome("EUR").difference(3.0) == "3 EUR more"
    assert minutes.amount(4.0, power=2) == "4 minutes²"
    assert minutes.risk(MeanVariance(55.0)) == "ρ = 55 minutes"
    assert minutes.risk(MeanVariance(math.inf)) == "ρ = ∞, the mean alone"
    assert short("vts(sd=53.75390625)") == "vts(sd=53.8)"


@pytest.mark.parametrize(
    ("share", "text"), [(0.884, "88 %"), (1.0, "100 %"), (0.9999, "over 99.9 %"), (0.0, "0 %"), (0.005, "0.5 %")]
)
def test_shares_are_never_rounded_to_certainty(share, text):
    assert percent(share) == text
