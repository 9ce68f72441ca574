"""From which n on a bound says something: against trying every n, closed forms, and ties for which no n is enough."""

import json
import math
import re

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from prudent import Bandit, Bernoulli, Beta, Deterministic, Gaussian, MeanVariance
from prudent.cli import main
from prudent.policies.helpers import exploring_pulls
from prudent.theory import (
    Horizons,
    _results,
    bounds,
    horizons,
    informative_horizons,
    largest_pseudo_regret,
    lemma2,
    pulls_bound,
    theorem1_expectation,
    theorem2,
)
from prudent.theory.horizons import _first

APART = Bandit([Deterministic(1.0), Deterministic(0.0)])
LIMITED = 9
"""Results with a limit: all but Remarks 1 and 2, which are a rate and an exact value."""

in_unit = st.one_of(
    st.builds(Bernoulli, st.floats(0.0, 1.0)),
    st.builds(Beta, st.floats(0.2, 5.0), st.floats(0.2, 5.0)),
    st.builds(Deterministic, st.floats(0.0, 1.0)),
)
unit_bandits = st.builds(Bandit, st.lists(in_unit, min_size=2, max_size=6))
risks = st.builds(MeanVariance, st.one_of(st.just(0.0), st.floats(0.0, 3.0), st.floats(3.0, 60.0)))
deltas = st.one_of(st.none(), st.floats(-12.0, -1.0).map(lambda power: 10.0**power))


@given(st.integers(0, 50), st.integers(1, 10**12), st.integers(0, 10**12))
def test_the_first_that_passes_is_found_within_its_ends_in_a_few_questions(low, more, beyond):
    asked = []

    def passes(n):
        asked.append(n)
        return n >= low + more

    high = low + more + beyond
    assert _first(passes, low, high) == low + more
    assert all(low < n < high for n in asked), "neither end needs to be asked"
    assert len(asked) <= 2 * more.bit_length()


def says_something(result, bandit, risk, n, printed=False):
    bound = result(bandit, risk, n)
    value = bound.printed if printed else bound.corrected
    return value is not None and value < bound.limit[0] and all(met for _, met in bound.needs_of_horizon)


@settings(max_examples=40)
@given(unit_bandits, risks, deltas, st.booleans(), st.lists(st.floats(0.0, 12.0), min_size=5, max_size=5))
def test_it_says_something_from_there_on_and_not_just_before(bandit, risk, delta, printed, powers):
    found = [(result, informative_horizons(result, bandit, risk, printed=printed)) for result in _results(delta)]
    assert len([None for _, range_ in found if range_]) == LIMITED - printed  # the sharp width is not in print
    for result, range_ in found:
        if range_ is None:
            continue
        first = math.inf if range_.first is None else range_.first
        last = math.inf if range_.last is None else range_.last
        somewhere = [first, first + 1, first + 40, last, *(10**power for power in powers)]
        for n in (math.floor(x) for x in somewhere if x < math.inf):
            if first <= n <= last:
                assert says_something(result, bandit, risk, n, printed)
        # Theorem 2 as corrected is a sawtooth, which may say something before the last time that it does not.
        sawtooth = result(bandit, risk, 9).name.startswith("Theorem 2") and not printed
        before = [] if sawtooth else [1, first - 2, *(first / 10 ** (power / 12) for power in powers)]
        for n in (math.floor(x) for x in [first - 1, last + 1, *before] if 1 <= x < math.inf):
            assert first <= n <= last or not says_something(result, bandit, risk, n, printed)


@pytest.mark.parametrize("rule", ["theorem", "appendix"])
@pytest.mark.parametrize(
    ("n_arms", "rho"), [(2, 0.0), (2, 1.9), (2, 20.0), (3, 8.0), (3, 20.0), (5, 30.0), (8, 1.0), (10, 60.0)]
)
def test_theorem_2_says_something_after_the_last_n_at_which_it_does_not(n_arms, rho, rule):
    """Every n up to twice as far; ρ = 20 and 60 have pulls m for which the value rises with n."""
    bandit, risk = Bandit([Deterministic(1.0), *[Deterministic(0.0)] * (n_arms - 1)]), MeanVariance(rho)

    def result(*given):
        return theorem2(*given, rule=rule)

    first = informative_horizons(result, bandit, risk).first
    silent = [n for n in range(1, 2 * first + 2_000) if not says_something(result, bandit, risk, n)]
    assert first == silent[-1] + 1


def test_theorem_2_keeps_saying_something_wherever_the_pulls_increase():
    """Small limits are met late: the first n of each of the next 2,000 numbers of pulls are above the sawtooth."""
    bandit, risk = Bandit([Bernoulli(0.5), Bernoulli(0.53), Bernoulli(0.55)]), MeanVariance(0.0)
    first = informative_horizons(theorem2, bandit, risk).first
    assert first > 10**7
    assert not says_something(theorem2, bandit, risk, first - 1)
    each = exploring_pulls(first, 3)
    for m in range(each, each + 2_000):
        start = math.floor(14.0 * (m - 1) ** 1.5) + 1
        assert exploring_pulls(start, 3) == m > exploring_pulls(start - 1, 3)
        assert start < first or says_something(theorem2, bandit, risk, start)


def test_lemma_2_has_a_closed_form():
    bandit, risk = Bandit([Bernoulli(0.1)] * 4), MeanVariance(1.0)
    assert horizons(bandit, risk)["Lemma 2"] == (Horizons(6 * 4 + 1), Horizons(2 * 4 + 1))
    delta = 1e-4  # 1/(6Kδ) = 416.7 and 1/(2Kδ) = 1250, where the probability is 1
    assert horizons(bandit, risk, delta)["Lemma 2"] == (Horizons(1, 416), Horizons(1, 1249))


def test_theorem_2_as_printed_has_a_closed_form():
    for bandit, rho in ((Bandit([Bernoulli(0.2), Bernoulli(0.6)]), 0.0), (APART, 0.7)):
        wanted = (4.0 / largest_pseudo_regret(bandit, MeanVariance(rho))) ** 3
        assert horizons(bandit, MeanVariance(rho))["Theorem 2"][0] == Horizons(math.floor(wanted) + 1)


def test_pulls_and_theorem_1_follow_the_table_of_the_page():
    """n/log n = 4(5+ρ)² Σ (Δ + 4Γ²)/Δ² / M up to terms of smaller order, twice that as printed."""
    bandit, risk = Bandit([Bernoulli(0.5), Bernoulli(0.52)]), MeanVariance(0.5)
    (gap,) = bandit.gaps(risk)[bandit.gaps(risk) > 0]
    found, most = horizons(bandit, risk), largest_pseudo_regret(bandit, risk)
    for name, value in (("Pulls bound", 1 / gap**2), ("Theorem 1, expectation", (gap + 4 * 0.02**2) / gap**2 / most)):
        for factor, one in zip((8, 4), found[name], strict=True):
            assert one.first / math.log(one.first) == pytest.approx(factor * 5.5**2 * value, rel=1e-3)


def test_a_user_s_delta_sets_a_last_horizon():
    bandit, risk, delta = Bandit([Bernoulli(0.9), Bernoulli(0.5)]), MeanVariance(1.0), 1e-7
    first, last = horizons(bandit, risk, delta)["Pulls bound"][1]
    # The pulls do not depend on n here, and 6nKδ < 1.
    assert first == math.floor(2 * 36 * math.log(1e7) / 0.56**2 + 1) + 1
    assert last == math.ceil(1e7 / 12) - 1
    assert horizons(bandit, risk, 1e-2)["Pulls bound"] == (Horizons(None), Horizons(None))
    assert horizons(bandit, risk, 0.5)["Theorem 1, high probability"] == (Horizons(None), Horizons(None))


def test_ties_may_leave_no_horizon_at_all():
    tied, risk = Bandit([Bernoulli(0.3), Bernoulli(0.7)]), MeanVariance(0.0)
    assert horizons(tied, risk)["Theorem 1, expectation"] == (Horizons(None), Horizons(None))
    # A third arm, far worse than two nearly equal ones that tie, leaves the corrected form something to say.
    third = Bandit([Bernoulli(0.1), Bernoulli(0.1), Bernoulli(0.5)])
    printed, corrected = horizons(third, risk)["Theorem 1, expectation"]
    assert printed == Horizons(None)
    assert 10**5 < corrected.first < 10**6


def test_small_gaps_need_horizons_beyond_what_floats_count():
    bandit, risk = Bandit([Deterministic(0.5), Deterministic(0.5 - 1e-9)]), MeanVariance(1.0)
    (first, _) = informative_horizons(pulls_bound, bandit, risk)
    assert first > 2**53
    assert first / math.log(first) == pytest.approx(4 * 36 * 1e18, rel=1e-6)


def test_arms_without_limits_leave_the_regret_without_one(figure_2):
    found = horizons(figure_2, MeanVariance(0.0))
    assert [name for name, pair in found.items() if not any(pair)] == [
        "Lemma 1",
        "Remark 1, rate",
        "Remark 2, worst case",
        "Corollary",
    ]
    assert found["Theorem 1 for the sharp width"][0] is None
    assert theorem1_expectation(figure_2, MeanVariance(0.0), found["Theorem 1, expectation"][1].first - 1).vacuous
    assert informative_horizons(lemma2, Bandit([Gaussian(0.0, 1.0)]), MeanVariance(0.0)) == Horizons(3)


def test_the_command_prints_them():
    pair = ["--arm", "bernoulli(0.9)", "--arm", "bernoulli(0.5)", "--horizon", "1000"]
    printed, corrected = horizons(Bandit([Bernoulli(0.9), Bernoulli(0.5)]), MeanVariance(1.0))["Corollary"]
    shown = CliRunner().invoke(main, ["bounds", *pair]).stdout
    (record,) = (record for record in shown.split("\n\n") if "Corollary" in record)
    assert f"from n =    {corrected.first:,}\n" in record
    assert f"as printed, it is informative from n = {printed.first:,}" in " ".join(record.split())
    facts = json.loads(CliRunner().invoke(main, ["bounds", *pair, "--delta", "1e-6", "--json"]).stdout)
    facts = {fact["name"]: fact for fact in facts}
    assert len(facts) == len(bounds(APART, MeanVariance(1.0), 10))
    assert facts["Corollary"]["says_something_as_printed"] == {"from": printed.first, "to": None}
    assert facts["Theorem 1 for the sharp width"]["says_something_as_printed"] is None
    assert facts["Lemma 2"]["says_something"] == {"from": 1, "to": 249_999}
    tied = ["--arm", "bernoulli(0.7)", "--arm", "bernoulli(0.3)", "--rho", "0", "--horizon", "1000", "--delta", "1e-6"]
    shown = CliRunner().invoke(main, ["bounds", *tied]).stdout
    found = dict(re.findall(r"^result +(.*?)$.*?^from n = +(.*?)$", shown, flags=re.MULTILINE | re.DOTALL))
    assert found["Theorem 1, expectation"] == "never"
    assert found["Lemma 2"] == "1 to 249,999"
    assert found["Lower bound, worst case"] == "–"
