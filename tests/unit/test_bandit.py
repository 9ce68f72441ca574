"""Bandits: what a risk measure says about a set of arms."""

import itertools
import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import (
    Bandit,
    Bernoulli,
    Beta,
    CVaR,
    Deterministic,
    Empirical,
    Gaussian,
    Law,
    MeanVariance,
    Mixture,
    PrudentError,
    TruncatedGaussian,
    Uniform,
    identify,
    simulate,
)
from prudent.arms.base import arms as registry

FIGURE_2 = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])


def test_the_seeds_two_arms() -> None:
    risk = MeanVariance(0.0)
    assert FIGURE_2.means.tolist() == [1.0, 0.5]
    assert FIGURE_2.variances.tolist() == [0.05, 0.25]
    assert FIGURE_2.mean_differences.tolist() == [[0.0, 0.5], [-0.5, 0.0]]
    assert FIGURE_2.costs(risk).tolist() == [0.05, 0.25]
    assert FIGURE_2.best(risk) == 0
    assert FIGURE_2.gaps(risk) == pytest.approx([0.0, 0.2])
    assert FIGURE_2.complexity(risk) == pytest.approx(25.0)


def test_the_best_arm_depends_on_the_tolerance() -> None:
    bandit = Bandit([Gaussian(0.0, 0.1), Gaussian(1.0, 1.0)])
    assert [bandit.best(MeanVariance(rho)) for rho in (0.0, 0.8, 1.0, math.inf)] == [0, 0, 1, 1]


def test_a_tie_goes_to_the_lowest_number_and_makes_learning_endless() -> None:
    bandit = Bandit([Gaussian(0.0, 1.0), Gaussian(0.0, 0.5), Gaussian(0.5, 1.0)])
    assert bandit.best(MeanVariance(1.0)) == 1
    assert bandit.gaps(MeanVariance(1.0)).tolist() == [0.5, 0.0, 0.0]
    assert bandit.complexity(MeanVariance(1.0)) == math.inf


def test_one_arm_is_a_bandit_without_complexity() -> None:
    assert len(Bandit([Deterministic(1.0)])) == 1
    assert Bandit([Deterministic(1.0)]).complexity(MeanVariance()) == 0.0


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0, 5)), min_size=1, max_size=8),
    st.one_of(st.floats(0, 100), st.just(math.inf)),
)
def test_gaps_are_costs_above_the_best(arms: list[tuple[float, float]], rho: float) -> None:
    bandit, risk = Bandit([Gaussian(*arm) for arm in arms]), MeanVariance(rho)
    costs = [-mean if math.isinf(rho) else variance - rho * mean for mean, variance in arms]
    rounding = 1e-12 * max(map(abs, costs))
    assert costs[bandit.best(risk)] <= min(costs) + rounding
    assert bandit.gaps(risk) == pytest.approx(np.subtract(costs, min(costs)), abs=rounding)
    assert (bandit.gaps(risk) >= 0.0).all()
    assert (bandit.mean_differences == -bandit.mean_differences.T).all()


def test_support_holds_every_reward() -> None:
    assert Bandit([Beta(1, 3), Deterministic(-2.0)]).support == (-2.0, 1.0)
    assert FIGURE_2.support == (-math.inf, math.inf)


def test_arms_may_be_specs() -> None:
    bandit = Bandit(["gaussian(1.0, 0.05)", Bernoulli(0.5)])
    assert bandit.arms == (Gaussian(1.0, 0.05), Bernoulli(0.5))
    assert repr(bandit) == "Bandit([gaussian(1.0, 0.05), bernoulli(0.5)])"
    assert registry.parse(str(bandit.arms[0])) == bandit.arms[0]


def test_arms_are_numbered_unless_named() -> None:
    assert FIGURE_2.names == ("arm 1", "arm 2")
    assert Bandit([Bernoulli(0.1), Bernoulli(0.2)], names=["a", "b"]).names == ("a", "b")


def test_names_are_shown_and_change_no_result() -> None:
    plain, named = (Bandit([Bernoulli(0.1), Bernoulli(0.2)], names=names) for names in (None, ["a", "b"]))
    assert repr(named) == "Bandit([bernoulli(0.1), bernoulli(0.2)], names=['a', 'b'])"
    runs = [simulate(bandit, "ucb1", risk="mean", horizon=50, runs=20).regret() for bandit in (plain, named)]
    assert (runs[0] == runs[1]).all()
    strategy = "successive-rejects"
    found = [identify(bandit, strategy, risk="mean", budget=30, runs=20).pulls for bandit in (plain, named)]
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize(
    ("arms", "names", "message"),
    [
        ([], None, "at least one arm, got none; pass e.g."),
        ([0.5], None, "arm must be a law such as .* got 0.5"),
        ([Gaussian], None, r"arm must be made first: pass Gaussian\(\), not Gaussian"),
        ("gaussian(0, 1)", None, "arms must be a list of arms.* brackets"),
        (Gaussian(0, 1), None, "arms must be a list of arms"),
        (["gausian(0, 1)"], None, "did you mean gaussian"),
        ([Bernoulli(0.5)], ["a", "b"], r"names must be 1 different names, got \['a', 'b'\]"),
        ([Bernoulli(0.5), Bernoulli(0.6)], ["a", "a"], "names must be 2 different names"),
        ([Bernoulli(0.5)], [5], "names must be 1 different names"),
        ([Bernoulli(0.5)], [["a"]], "names must be 1 different names"),
        ([Bernoulli(0.5)], 5, "names must be a list, got 5"),
        ([Bernoulli(0.5)], "a", "names must be a list, got 'a'"),
    ],
)
def test_bad_bandits_are_refused(arms: list[Law], names: list[str] | None, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        Bandit(arms, names)


def test_a_tie_hidden_by_rounding_is_a_tie() -> None:
    bandit, risk = Bandit([Gaussian(0.55, 0.24), Gaussian(0.59, 0.28)]), MeanVariance(1.0)
    assert 0.24 - 0.55 != 0.28 - 0.59
    assert bandit.gaps(risk).tolist() == [0.0, 0.0]
    assert bandit.best(risk) == 0
    assert bandit.complexity(risk) == math.inf


NEAR = 1e9
"""Where floats have no digits below 1e-7."""


@pytest.mark.parametrize(
    ("better", "worse", "risk", "gap"),
    [
        (Gaussian(NEAR + 1e-4, 0.05), Gaussian(NEAR, 0.05), "mean", 1e-4),
        (Gaussian(NEAR, 0.4999), Gaussian(NEAR, 0.5), "mean-variance(1)", 1e-4),
        (Gaussian(NEAR, 0.4999), Gaussian(NEAR, 0.5), "cvar(0.05)", 1.4586e-4),
        (Gaussian(NEAR, 0.4999), Gaussian(NEAR, 0.5), "var(0.05)", 1.1631e-4),
        (Gaussian(NEAR, 0.4999), Gaussian(NEAR, 0.5), "wang(1)", 7.071e-5),
        (Gaussian(NEAR, 0.4999), Gaussian(NEAR, 0.5), "entropic(2)", 1e-4),
        (Gaussian(NEAR + 1e-4, 0.5), Gaussian(NEAR, 0.5), "loss-averse", 1e-4),
        (Gaussian(NEAR + 1e-3, 0.5), Gaussian(NEAR, 0.5), "sharpe(0.5)", 1e-3),
        (Uniform(NEAR, NEAR + 1.0), Uniform(NEAR - 0.001, NEAR + 1.001), "variance", (1.002**2 - 1) / 12),
        (Gaussian(-NEAR, 1e-9), Gaussian(-NEAR, 2e-9), "variance", 1e-9),
    ],
)
def test_an_offset_of_all_rewards_hides_no_difference(better: Law, worse: Law, risk: str, gap: float) -> None:
    bandit = Bandit([worse, better])
    assert bandit.best(risk) == 1
    assert bandit.gaps(risk) == pytest.approx([gap, 0.0], rel=0.02)
    assert bandit.gaps(risk)[0] > 0.0


def test_an_arm_of_huge_cost_hides_no_difference_between_the_others() -> None:
    bandit = Bandit([Gaussian(0.0, 0.1 + 1e-6), Gaussian(0.0, 0.1), Gaussian(-1e9, 1.0)])
    assert bandit.best("mean-variance(1)") == 1


@pytest.mark.parametrize(
    ("one", "other", "risk"),
    [
        (Gaussian(NEAR, 0.5), Gaussian(NEAR + 1e-7, 0.5), "mean"),
        (Gaussian(NEAR, 0.5), Gaussian(NEAR, 0.6), "loss-averse"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "variance"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "cvar(0.1)"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "wang(0.5)"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "proportional-hazard(0.3)"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "semivariance(0.4)"),
        (Beta(1.0, 1.0), Uniform(0.0, 1.0), "exponential-utility(2)"),
        (Gaussian(0.0, 0.25), Mixture([Gaussian(0.0, 0.25), Gaussian(0.0, 0.25)], [0.3, 0.7]), "wang(0.5)"),
        (Gaussian(0.0, 0.25), Mixture([Gaussian(0.0, 0.25), Gaussian(0.0, 0.25)], [0.3, 0.7]), "cvar(0.05)"),
        (Gaussian(0.3, 0.25), TruncatedGaussian(0.3, 0.5, -20.0, 20.6), "mean-variance(1)"),
        (Bernoulli(0.3), Deterministic(0.0), "mean-variance(0.7)"),
        (Bernoulli(0.3), Empirical([0.0] * 7 + [1.0] * 3), "mixed"),
    ],
)
def test_costs_that_differ_by_their_computation_alone_tie(one: Law, other: Law, risk: str) -> None:
    assert Bandit([one, other]).gaps(risk).tolist() == [0.0, 0.0]
    assert Bandit([other, one]).best(risk) == 0


def test_measures_may_be_specs() -> None:
    assert FIGURE_2.costs("variance").tolist() == FIGURE_2.costs(MeanVariance(0.0)).tolist()
    assert FIGURE_2.complexity("variance") == FIGURE_2.complexity(MeanVariance(0.0))
    assert CVaR(0.1).cost("gaussian(1.0, 0.05)") == FIGURE_2.costs("cvar(0.1)")[0]


@pytest.mark.parametrize("risk", [MeanVariance(1e200), "mean-variance(1e300)", MeanVariance(1e308)])
def test_costs_that_cannot_be_squared_are_refused(risk: MeanVariance) -> None:
    with pytest.raises(PrudentError, match=r"Bandit: the cost of gaussian\(1.0, 0.05\) under .* cannot be squared"):
        FIGURE_2.gaps(risk)


def test_very_many_arms_are_made_and_too_many_are_refused() -> None:
    assert len(Bandit(["gaussian(0, 1)"] * 10**5)) == 10**5
    with pytest.raises(PrudentError, match="Bandit: arms must be at most 1,000,000, got more; take fewer arms"):
        Bandit(["gaussian(0, 1)"] * (10**6 + 1))


@pytest.mark.parametrize("arms", [None, 5, 1.5, object(), [None], [5], {1: 2}, itertools.repeat("gaussian(0, 1)")])
def test_what_is_no_list_of_arms_is_refused_in_words(arms: object) -> None:
    with pytest.raises(PrudentError, match="Bandit: arm"):
        Bandit(arms)  # type: ignore[arg-type]


WEIGHT = 1.0


@dataclass(frozen=True)
class Weighted(MeanVariance):
    """A measure of one's own that reads a constant."""

    def cost(self, law):
        return law.variance - WEIGHT * law.mean


def test_gaps_under_a_measure_whose_code_has_changed_are_found_anew(monkeypatch):
    bandit, risk = Bandit([Gaussian(1.0, 1.0), Gaussian(0.0, 0.5)]), Weighted()
    assert bandit.best(risk) == 0
    monkeypatch.setattr(sys.modules[__name__], "WEIGHT", 0.1)
    assert bandit.best(risk) == 1
