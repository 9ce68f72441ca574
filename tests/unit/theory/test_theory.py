"""The theorems as values: against their formulas, their conditions, each other, and the page that explains them."""

import contextlib
import io
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import (
    MVLCB,
    Bandit,
    Bernoulli,
    Beta,
    Deterministic,
    ExpExp,
    Gaussian,
    MeanVariance,
    PrudentError,
    Uniform,
    simulate,
)
from prudent.results.regret import pseudo_regret_parts, sequence_moments
from prudent.theory import (
    bounds,
    corollary,
    largest_pseudo_regret,
    largest_regret,
    lemma1,
    lemma2,
    lower_bound_rates,
    pulls_bound,
    remark1_rate,
    theorem1_expectation,
    theorem1_high_probability,
    theorem1_sharp,
    theorem2,
    worst_case,
)
from prudent.theory.upper_bounds import explore_then_commit

HORIZONS = (5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
THREE = Bandit([Beta(8.0, 1.0), Bernoulli(0.3), Beta(1.0, 4.0)])
APART = Bandit([Deterministic(1.0), Deterministic(0.0)])
PAGE = Path(__file__).parents[3] / "docs/paper/theory.md"

in_unit = st.one_of(
    st.builds(Bernoulli, st.floats(0.0, 1.0)),
    st.builds(Beta, st.floats(0.2, 5.0), st.floats(0.2, 5.0)),
    st.builds(Deterministic, st.floats(0.0, 1.0)),
)
unit_bandits = st.builds(Bandit, st.lists(in_unit, min_size=1, max_size=5))
risks = st.builds(MeanVariance, st.one_of(st.just(0.0), st.floats(0.0, 20.0)))
horizons = st.integers(5, 10**7)


def test_figure_2_arms_as_printed(figure_2):
    printed = [theorem1_expectation(figure_2, MeanVariance(0.0), n).printed for n in HORIZONS]
    assert printed == pytest.approx([10.2, 5.5, 2.4, 1.3, 0.69, 0.298], rel=0.015)


def test_theorem_1_as_printed_is_its_formula():
    risk, n, delta = MeanVariance(2.0), 40_000, 1e-7
    b, log_term, best = 14.0, math.log(1e7), THREE.best(risk)
    gaps, gamma = THREE.gaps(risk), THREE.mean_differences
    others = [i for i in range(3) if i != best]
    first = sum(1 / gaps[i] for i in others)
    second = 4 * sum(gamma[best, i] ** 2 / gaps[i] ** 2 for i in others)
    pairs = sum(gamma[i, j] ** 2 / (gaps[i] * gaps[j]) ** 2 for i, j in itertools.permutations(others, 2))
    total = b**2 * log_term / n * (first + second + 2 * b**2 * log_term / n * pairs)
    assert theorem1_high_probability(THREE, risk, n, delta).printed == pytest.approx(total + 15 / n)
    ending = theorem1_expectation(THREE, risk, n).printed - theorem1_high_probability(THREE, risk, n, n**-2.0).printed
    assert ending == pytest.approx((17 + 12) * 3 / n - 15 / n)


def test_theorem_1_corrected_is_definition_3_at_the_most_pulls():
    risk, n, delta = MeanVariance(10.0), 20_000, 1e-9
    others = [i for i in range(3) if i != THREE.best(risk)]
    pulls = np.full(3, float(n))
    for arm in others:
        pulls[arm] = pulls_bound(THREE, risk, n, delta, arm).corrected
        assert pulls[arm] == pytest.approx(2 * 15**2 * math.log(1e9) / THREE.gaps(risk)[arm] ** 2 + 1)
    gamma = THREE.mean_differences
    exploration = 2 * (pulls @ gamma**2 @ pulls) / n**2
    expected = pulls @ THREE.gaps(risk) / n + exploration
    assert theorem1_high_probability(THREE, risk, n, delta).corrected == pytest.approx(expected)
    beyond = theorem1_expectation(THREE, risk, n).corrected
    beyond -= theorem1_high_probability(THREE, risk, n, n**-2.0).corrected
    assert beyond == pytest.approx(largest_pseudo_regret(THREE, risk) * 2 * 3 / n)
    together = pulls_bound(THREE, risk, n, delta)
    assert together.corrected == pytest.approx(pulls[others].sum())
    assert together.printed == pytest.approx(2 * together.corrected - 2)


def test_the_best_arm_may_be_pulled_throughout():
    risk = MeanVariance(1.0)
    bound = pulls_bound(THREE, risk, 500, arm=THREE.best(risk))
    assert bound.printed == bound.corrected == 500
    assert bound.vacuous
    with pytest.raises(PrudentError, match="arm must be a whole number from 0 to 2"):
        pulls_bound(THREE, risk, 500, arm=3)


def test_lemmas_are_their_formulas():
    risk, n, delta = MeanVariance(2.0), 10_000, 0.05
    log_term = math.log(6 * n * 3 / delta)
    assert lemma1(THREE, risk, n, delta).printed == pytest.approx(
        7 * math.sqrt(6 * log_term / n) + 4 * math.sqrt(2) * 3 * log_term / n
    )
    fewer = math.log((4 * n * 3 + 4) / delta)
    assert lemma1(THREE, risk, n, delta).corrected == pytest.approx(7 * math.sqrt(4 * fewer / n) + 8 * fewer / n)
    assert lemma2(THREE, risk, n, 1e-7).printed == pytest.approx(6 * n * 3 * 1e-7)
    assert lemma2(THREE, risk, n, 1e-7).corrected == pytest.approx(2 * n * 3 * 1e-7)


def test_the_corollary_is_theorem_1_and_lemma_1_on_one_event():
    risk, n, k = MeanVariance(2.0), 10_000, 3
    delta = n**-2.0
    theorem, whole = theorem1_high_probability(THREE, risk, n, delta), corollary(THREE, risk, n)
    # Lemma 1 at failure probability 6nKδ has log(1/δ), as the corollary does.
    lemma = lemma1(THREE, risk, n, 6 * n * k * delta)
    assert whole.printed == pytest.approx(theorem.printed + lemma.printed + 2.25 * 6 * k / n)
    log_term = 2 * math.log(n)
    excess = 7 * math.sqrt(4 * log_term / n) + 8 * log_term / n
    off_event = (4 * n * k + 2 * (k - 1)) * delta * largest_regret(2.0)
    assert whole.corrected == pytest.approx(theorem.corrected + excess + off_event)


@given(unit_bandits, risks, horizons)
def test_repairs_of_true_statements_never_exceed_them(bandit, risk, horizon):
    """All but Theorem 2 are true as printed on [0, 1], so that a repaired value must not be larger."""
    for bound in bounds(bandit, risk, horizon):
        if (
            bound.printed is not None
            and bound.corrected is not None
            and not bound.name.startswith(("Theorem 2", "Rem"))
        ):
            assert bound.corrected <= bound.printed * (1 + 1e-12)


@given(unit_bandits, horizons)
def test_theorem_2_is_implied_as_printed_when_rho_is_zero(bandit, horizon):
    for rule in ("theorem", "appendix"):
        bound = theorem2(bandit, MeanVariance(0.0), horizon, rule)
        assert bound.corrected <= bound.printed
        assert all(condition.holds for condition in bound.conditions)


@given(st.lists(in_unit, min_size=1, max_size=5), risks, st.integers(1, 10**6))
def test_no_value_is_nan_even_when_arms_tie(arms, risk, horizon):
    for bound in bounds(Bandit([*arms, arms[0]]), risk, horizon):
        for value in (bound.printed, bound.corrected):
            assert value is None or value >= 0.0
        assert json.loads(json.dumps(bound.as_dict(), allow_nan=False))["name"] == bound.name


def test_a_tie_makes_the_printed_theorem_infinite_and_leaves_the_corrected_one():
    # 0.24 − 0.55 and 0.28 − 0.59 differ in the last bit only: arms 7 and 8 of configuration 2 at ρ = 1.
    tied = Bandit([Gaussian(0.55, 0.24), Gaussian(0.59, 0.28)])
    bound = theorem1_expectation(tied, MeanVariance(1.0), 1_000)
    assert bound.printed == math.inf
    assert math.isfinite(bound.corrected)
    assert ("the best arm is unique (as printed)", False) in bound.conditions
    assert bound.as_dict()["printed"] == "inf"
    assert remark1_rate(tied, MeanVariance(1.0), 1_000).printed == math.inf


def test_conditions_are_checked_against_the_bandit(figure_2):
    risk = MeanVariance(0.0)
    assert not any(bound.applies for bound in bounds(figure_2, risk, 1_000)[:6])
    assert theorem1_expectation(THREE, risk, 1_000).applies
    assert theorem1_expectation(Bandit([Uniform(3.0, 4.0), Deterministic(3.5)]), risk, 1_000).applies
    assert not theorem1_expectation(Bandit([Uniform(0.0, 1.1), Deterministic(0.5)]), risk, 1_000).applies
    assert not theorem1_high_probability(THREE, risk, 1_000, 0.01).applies
    assert theorem1_high_probability(THREE, risk, 1_000, 0.01 / 18_000).applies
    assert not theorem1_expectation(THREE, risk, 2).applies
    assert not lemma1(THREE, risk, 1).applies  # δ = 1/n² is 1
    assert lemma1(THREE, risk, 2).applies
    assert theorem2(THREE, risk, 2).corrected is None
    assert not theorem2(THREE, risk, 2).applies


def test_a_value_no_play_can_reach_is_vacuous(figure_2):
    risk = MeanVariance(0.0)
    assert largest_pseudo_regret(figure_2, risk) == pytest.approx(0.36)
    early, late = theorem1_expectation(figure_2, risk, 50_000), theorem1_expectation(figure_2, risk, 100_000)
    assert early.vacuous
    assert "never exceeds 0.36" in early.note
    assert not late.vacuous
    assert "vacuous as printed" in late.note
    assert lemma2(figure_2, risk, 1_000, 0.01).vacuous


@given(unit_bandits, risks, st.data())
def test_the_largest_pseudo_regret_is_the_largest(bandit, risk, data):
    most = largest_pseudo_regret(bandit, risk)
    pulls = np.array(data.draw(st.lists(st.integers(1, 100), min_size=len(bandit), max_size=len(bandit))))
    parts = pseudo_regret_parts(pulls, bandit.means, bandit.gaps(risk), risk)
    assert parts.gap + parts.exploration <= most + 1e-12
    assert most <= 1.25 + risk.rho + 1e-12


def test_the_largest_pseudo_regret_is_reached():
    bandit, risk = Bandit([Deterministic(0.0), Bernoulli(0.5), Bernoulli(0.9)]), MeanVariance(0.2)
    grid = [(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)]
    parts = pseudo_regret_parts(np.array(grid), bandit.means, bandit.gaps(risk), risk)
    assert (parts.gap + parts.exploration).max() == pytest.approx(largest_pseudo_regret(bandit, risk), rel=1e-3)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), risks
)
def test_no_regret_exceeds_the_largest(received, best, risk):
    assert risk.sample_cost(received) - risk.sample_cost(best) <= largest_regret(risk.rho) + 1e-12


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0, 3.0])
def test_the_largest_regret_is_reached(rho):
    ones = np.arange(1001) / 1000
    _, variance = sequence_moments(np.stack([1000 - 1000 * ones, 1000 * ones], 1), np.array([0.0, 1.0]), np.zeros(2))
    assert (variance - rho * ones).max() + rho == pytest.approx(largest_regret(rho), abs=1e-6)
    assert largest_regret(rho) <= 0.25 + rho
    assert largest_regret(rho, math.inf) == math.inf


def test_theorem_2_fails_as_printed_when_rho_is_large():
    """Arms 1 and 0, ρ = 20: exploring alone costs more than the theorem allows in all."""
    risk, n = MeanVariance(20.0), 10_000
    bound = theorem2(APART, risk, n)
    played = simulate(APART, ExpExp(), risk=risk, horizon=n, runs=1).pseudo_regret().item()
    share = math.ceil((n / 14) ** (2 / 3)) / n
    assert played == pytest.approx(20 * share + 4 * share * (1 - share))
    assert bound.printed < played < bound.corrected
    assert bound.applies
    assert not bound.conditions[-1].holds


@pytest.mark.parametrize("rho", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("each", [1, 2, 30])
def test_committing_to_a_wrong_arm_costs_at_most_what_theorem_2_says(rho, each):
    """Exactly, for two Bernoulli arms: Δ P(wrong) from the binomial laws of the m samples of each."""
    values = np.arange(each + 1) / each
    cost = values * (1.0 - values) - rho * values
    committed = explore_then_commit(10**9, 2, rho, each) - (4.25 + rho) * each / 10**9
    for p, q in itertools.product(np.linspace(0.0, 1.0, 21), repeat=2):
        gap = (q * (1 - q) - rho * q) - (p * (1 - p) - rho * p)
        chances = np.outer(binomial(each, p), binomial(each, q))
        wrong = chances[cost[None, :] <= cost[:, None] + 1e-12].sum()
        assert gap * wrong <= committed + 1e-6


def test_exploring_costs_at_most_what_theorem_2_says():
    """When exploration fills the horizon, arms 1 and 0 pay ρ on half the rounds and four times a variance of 1/4."""
    for rho in (0.0, 1.0, 20.0):
        assert rho / 2 + 1 <= explore_then_commit(100, 2, rho, 50) == pytest.approx((4.25 + rho) / 2)
    biased = 3 / math.sqrt(2 * math.e * 10) + 1 / 40
    assert explore_then_commit(100, 3, 2.0, 10) == pytest.approx(2 * (6.25 * 0.1 + 0.7 * biased))


def binomial(n: int, p: float) -> np.ndarray:
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("horizon", [2, 3, 100, 101])
def test_remark_2_is_exact_for_even_and_odd_horizons(horizon):
    risk = MeanVariance(0.0)
    bound = worst_case(APART, risk, horizon)
    assert bound.applies
    assert bound.printed == 0.25
    assert bound.corrected == pytest.approx((horizon**2 - horizon % 2) / (4 * horizon**2))
    played = simulate(APART, MVLCB(), risk=risk, horizon=horizon, runs=1).regret().item()
    assert played == pytest.approx(bound.corrected)
    assert not worst_case(APART, MeanVariance(1.0), horizon).applies


def test_remark_1_corrected_is_the_rate_of_theorem_1():
    """Their ratio stays within b² to 4b² as the gap shrinks and Γ does not; without the middle term it would not."""
    risk, n = MeanVariance(0.0), 10**40
    for step in (1e-1, 1e-2, 1e-3, 1e-4):
        bandit = Bandit([Bernoulli(0.3), Bernoulli(0.7 - step)])
        ratio = theorem1_expectation(bandit, risk, n).printed / remark1_rate(bandit, risk, n).corrected
        assert 0.99 * 10**2 < ratio < 1.01 * 4 * 10**2
    one, two = (remark1_rate(THREE, risk, n) for n in (10**8, 10**9))
    assert two.corrected / one.corrected == pytest.approx(0.1 * 9 / 8, rel=0.01)
    assert two.printed > two.corrected


def test_theorem_2_holds_as_printed_up_to_the_corrected_value_itself(monkeypatch):
    printed = theorem2(THREE, MeanVariance(1.0), 10**6).printed
    for corrected, safe in ((printed, True), (np.nextafter(printed, 1e9), False)):
        monkeypatch.setattr("prudent.theory.upper_bounds.explore_then_commit", lambda *_, value=corrected: value)
        (condition,) = theorem2(THREE, MeanVariance(1.0), 10**6).needs_as_printed
        assert condition.holds == safe


@pytest.mark.parametrize("result", [theorem1_expectation, theorem1_sharp, corollary, theorem2])
def test_bounds_fall_with_the_horizon(result):
    risk = MeanVariance(1.0)
    values = [result(THREE, risk, n).corrected for n in (10**5, 10**6, 10**7, 10**8)]
    assert values == sorted(values, reverse=True)


def test_the_sharp_width_needs_fewer_pulls():
    risk = MeanVariance(0.0)
    sharp, seed = theorem1_sharp(THREE, risk, 10**8), theorem1_expectation(THREE, risk, 10**8)
    assert sharp.corrected < seed.corrected / 20
    assert sharp.printed is None
    assert sharp.value == sharp.corrected


def test_lower_bounds_are_rates_per_round():
    instance, worst = lower_bound_rates(THREE, MeanVariance(1.0), 1_000)
    assert instance.value == pytest.approx(math.log(1_000) / 1_000)
    assert worst.value == pytest.approx(0.1)
    assert instance.corrected is None
    assert not lower_bound_rates(Bandit([Bernoulli(0.5)]), MeanVariance(1.0), 10)[0].applies


def test_a_single_arm_has_no_regret():
    for bound in bounds(Bandit([Bernoulli(0.3)]), MeanVariance(1.0), 1):
        assert bound.value is not None
    assert theorem1_high_probability(Bandit([Bernoulli(0.3)]), MeanVariance(1.0), 10).corrected == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MeanVariance(math.inf), 100), r"rho must lie in \[0, 1e\+40\], got inf; .*UCB1"),
        ((MeanVariance(0.0), 0), "horizon must be a whole number at least 1"),
        ((MeanVariance(0.0), 100, 5), "for a 5 % failure rate pass 0.05"),
        ((MeanVariance(0.0), 100, 0.0), r"delta must lie in \(0, 1\)"),
        (("cvar", 100), "risk must be a mean-variance, got cvar"),
    ],
)
def test_bad_input_stops_at_the_door(arguments, message):
    with pytest.raises(PrudentError, match=message):
        bounds(THREE, *arguments)
    with pytest.raises(PrudentError, match="rule must be one of theorem, appendix"):
        theorem2(THREE, MeanVariance(0.0), 100, "apendix")


def test_the_page_prints_what_it_says():
    """Every Python block of docs/paper/theory.md runs, in order, and prints the block that follows it."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", text, flags=re.S)
    assert len(blocks) == text.count("```python") > 5
    names: dict[str, object] = {}
    for source, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(source, names)
        assert [line.rstrip() for line in printed.getvalue().splitlines()] == expected.splitlines()


@pytest.mark.parametrize(("horizon", "holds"), [(5, False), (6, True), (7, True)])
def test_the_sharp_width_needs_two_pulls_of_every_arm(horizon, holds):
    arms = [Bernoulli(0.2), Bernoulli(0.5), Bernoulli(0.8)]
    bound = theorem1_sharp(Bandit(arms), MeanVariance(1.0), horizon)
    assert dict(bound.conditions)[f"n ≥ 2K: {horizon} ≥ 6"] is holds
