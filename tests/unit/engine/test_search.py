"""identify(): allocations as the papers state them, what depends on what, and bad input."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from helpers.careless_policies import IdleStrategy, Spendthrift
from prudent import (
    LUCB,
    UCBE,
    VALUCB,
    Bandit,
    Bernoulli,
    Beta,
    Deterministic,
    Gaussian,
    MeanVariance,
    PrudentError,
    RiskMeasure,
    RoundRobin,
    Searches,
    SuccessiveRejects,
    Uniform,
    VaR,
    identify,
)
from prudent.engine import search, search_rounds
from prudent.engine.streams import CHUNK
from prudent.policies.binding import bind
from prudent.policies.contract import Arms, Setting, spec
from prudent.policies.contract import strategies as registry
from prudent.risk.base import risks as risk_registry

MEAN = MeanVariance(math.inf)
BUDGETED = ["uniform", "successive-rejects", "sequential-halving", "ucb-e"]
THREE = Bandit([Beta(2.0, 3.0), Uniform(0.0, 1.0), Bernoulli(0.7)])


class Mean(RiskMeasure):
    """−μ with Hoeffding's interval."""

    name = "own-mean"
    by_moments = True

    def cost(self, law):
        return -law.mean

    def weigh(self, values, weights):
        return -(weights * values).sum()

    def estimate(self, mean, variance, rewards):
        return -mean

    def bounds(self, pulls, mean, variance, rewards, failure, low, high):
        width = (high - low) * math.sqrt(math.log(2.0 / failure) / (2.0 * pulls))
        return -mean - width, -mean + width


OwnMean = dataclass(frozen=True)(Mean)


@dataclass(frozen=True)
class SortedMean(Mean):
    """The same, which insists on reading every reward in ascending order."""

    by_moments = False

    def estimate(self, mean, variance, rewards):
        for i in range(1, len(rewards)):
            if rewards[i] < rewards[i - 1]:
                return math.nan
        return -rewards.sum() / len(rewards)


@dataclass(frozen=True)
class Boundless(SortedMean):
    """Without an interval."""

    bounds = None


def same(a: Searches, b: Searches) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("recommended", "decided", "pulls"))


def asked(name: str) -> dict:
    """Small problems of every strategy."""
    limit = {"most_pulls": 3_000} if name in ("lucb", "qlucb", "va-lucb") else {}
    risk = {"lucb": OwnMean(), "qlucb": VaR(0.5)}.get(name, MEAN)
    return {"risk": risk, **({"delta": 0.1} if limit else {"budget": 40}), **limit}


# Allocations


def rejects(n: int, k_arms: int) -> list[int]:
    """n_1, …, n_{K−1}, n_{K−1}: the pulls of the arms in the order in which they go."""
    logbar = 0.5 + sum(1.0 / i for i in range(2, k_arms + 1))
    pulls = [max(1, math.ceil((n - k_arms) / (logbar * (k_arms + 1 - k)))) for k in range(1, k_arms)]
    return [*pulls, pulls[-1]]


def halvings(n: int, k_arms: int) -> list[int]:
    """The same for sequential halving."""
    phases, left, pulls, each = math.ceil(math.log2(k_arms)), k_arms, [], 0
    for _ in range(phases):
        each += n // (left * phases)
        pulls += [each] * (left // 2)
        left -= left // 2
    return [*pulls, each]


@given(st.integers(2, 12), st.integers(0, 400))
@settings(max_examples=60)
def test_allocations_are_the_papers(k_arms: int, more: int) -> None:
    bandit = Bandit([Gaussian(0.1 * i, 1.0) for i in range(k_arms)])
    budget = k_arms * math.ceil(math.log2(k_arms)) + more
    for strategy, allocation in (("successive-rejects", rejects), ("sequential-halving", halvings)):
        found = identify(bandit, strategy, risk=MEAN, budget=budget, runs=5, workers=1)
        assert (np.sort(found.pulls) == allocation(budget, k_arms)).all()
        assert (found.stopping_time() <= budget).all()
        assert (found.pulls[np.arange(5), found.recommended] == found.pulls.max(1)).all()


@pytest.mark.parametrize("budget", [3, 10, 11, 300])
def test_uniform_and_ucb_e_spend_the_budget(budget: int) -> None:
    for strategy in ("uniform", "ucb-e", "ucb-e(a=0)", "ucb-e(hardness=oracle)"):
        found = identify(THREE, strategy, risk=MEAN, budget=budget, runs=20)
        assert (found.stopping_time() == budget).all()
        assert found.pulls.min() >= 1
    found = identify(THREE, "uniform", risk=MEAN, budget=budget, runs=20)
    assert (found.pulls == budget // 3 + (np.arange(3) < budget % 3)).all()


def test_successive_rejects_with_a_pull_for_every_arm_pulls_every_arm() -> None:
    assert (identify(THREE, SuccessiveRejects(), risk=MEAN, budget=3, runs=4).pulls == 1).all()


def test_the_best_of_sure_arms_is_found_and_a_tie_goes_to_the_lowest() -> None:
    bandit = Bandit([Deterministic(value) for value in (0.2, 0.9, 0.5, 0.9)])
    for strategy in BUDGETED:
        found = identify(bandit, strategy, risk=MEAN, budget=20, runs=3)
        assert (found.recommended == 1).all()
        assert found.simple_regret().max() == 0.0


def test_ucb_e_takes_its_width_from_the_hardness() -> None:
    gaps = THREE.gaps(MEAN)
    hardness = (1.0 / np.delete(gaps, 2) ** 2).sum() + 1.0 / np.sort(gaps)[1] ** 2
    setting = Setting(3, MEAN, budget=60, bandit=THREE)
    for made_from, value in ((UCBE(), 48.0), (UCBE(hardness=10), 10.0), (UCBE(hardness="oracle"), hardness)):
        assert bind(made_from, setting).a == pytest.approx(25 * (60 - 3) / (36 * value))
    assert (identify(THREE, UCBE(a=1e6), risk=MEAN, budget=60, runs=10).pulls == 20).all()


# What depends on what


@pytest.mark.parametrize("name", registry.names())
def test_workers_do_not_change_the_result(name: str) -> None:
    one, two = (identify(THREE, name, **asked(name), runs=2 * CHUNK + 1, seed=3, workers=workers) for workers in (1, 2))
    assert same(one, two)
    assert not same(one, identify(THREE, name, **asked(name), runs=2 * CHUNK + 1, seed=4))


@pytest.mark.parametrize(("name", "risk"), [*((name, None) for name in registry.names()), ("lucb", SortedMean())])
def test_interpreted_and_compiled_searches_are_one(name: str, risk, monkeypatch) -> None:
    problem = {**asked(name), "runs": 3, **({"risk": risk} if risk else {})}
    compiled = identify(THREE, name, **problem)
    monkeypatch.setattr(search, "search", search_rounds.search.py_func)
    monkeypatch.setattr(search_rounds, "_pull", search_rounds._pull.py_func)
    assert same(compiled, identify(THREE, name, **problem))


@pytest.mark.parametrize("name", ["successive-rejects", "ucb-e", "lucb"])
def test_rewards_read_in_order_or_by_their_moments_give_one_answer(name: str, monkeypatch) -> None:
    if name != "lucb":  # which takes too many pulls; saves compiling the same search for both measures
        monkeypatch.setattr(search, "search", search_rounds.search.py_func)
        monkeypatch.setattr(search_rounds, "_pull", search_rounds._pull.py_func)
    bandit = Bandit([Beta(2.0, 3.0), Uniform(0.0, 1.0), Beta(4.0, 2.0)])  # laws without blocks: one stream of rewards
    problem = {**asked(name), "runs": 20}
    moments, ordered = (identify(bandit, name, **{**problem, "risk": risk}) for risk in (OwnMean(), SortedMean()))
    assert str(moments.risk) == str(ordered.risk)
    assert same(moments, ordered)


@pytest.mark.parametrize("name", risk_registry.names())
def test_every_registered_risk_with_an_interval_serves_lucb(name: str, monkeypatch) -> None:
    monkeypatch.setattr(search, "search", search_rounds.search.py_func)  # saves compiling it for every measure
    risk = risk_registry.parse(name)
    if not hasattr(risk, "bounds"):
        with pytest.raises(PrudentError, match="no confidence interval"):
            identify(THREE, LUCB(), risk=risk, delta=0.1, runs=1)
        return
    bandit = Bandit(["uniform(0, 0.1)", "uniform(0.9, 1)"])
    found = identify(bandit, LUCB(), risk=risk, delta=0.1, runs=2, most_pulls=100)
    assert (found.stopping_time() <= 100).all()
    assert not found.wrong().any()


class Coin(NamedTuple):
    """A strategy of a user's own: every arm once, then stop."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return 2 - t


def test_a_strategy_of_ones_own_runs_in_both_settings() -> None:
    for setting in ({"budget": 3}, {"delta": 0.1}):
        found = identify(THREE, Coin(), risk=MEAN, runs=2, **setting)
        assert (found.pulls == 1).all()
        assert spec(found.policy) == "Coin"


# Fixed confidence


def test_va_lucb_says_so_when_no_arm_is_feasible() -> None:
    found = identify(Bandit(["bernoulli(0.5)", "bernoulli(0.4)"]), "va-lucb(limit=0.05)", risk=MEAN, delta=0.1, runs=10)
    assert (found.recommended == -1).all()
    assert found.decided.all()
    assert found.error_probability().value == 0.0
    assert found.summary()["no_arm"] == 1.0


def test_va_lucb_decides_alike_in_every_unit() -> None:
    rng, decisions = np.random.default_rng(4), set()
    for _ in range(200):
        pulls, mean, variance = rng.integers(2, 2_000, 3), rng.random(3), rng.random(3) / 4
        found = []
        for unit in (1.0, 8.0):
            strategy = VALUCB(limit=0.1 * unit**2, range=unit, delta=0.1)
            marks, alive = np.zeros(3, np.bool_), np.ones(3, np.bool_)
            arms = Arms(pulls, unit * mean, unit**2 * variance, np.zeros(3), alive, np.empty((3, 0)))
            found.append((strategy.phase(arms, 50, marks, rng), *marks.tolist(), *alive.tolist()))
        assert found[0] == found[1]
        decisions.add(found[0])
    assert len(decisions) > 5


@pytest.mark.parametrize(("risk", "power"), [(MEAN, 1), ("mean-variance(rho=1)", 2), ("cvar(alpha=0.3)", 1)])
def test_the_gaps_that_ucb_e_guesses_have_the_unit_of_costs(risk: Any, power: int) -> None:
    setting = Setting(3, risk_registry.make("test", risk), budget=60)
    one, other = (bind(UCBE(range=length), setting).a for length in (1.0, 8.0))
    assert other == 8.0 ** (2 * power) * one


def test_va_lucb_leaves_a_larger_mean_of_larger_variance() -> None:
    bandit = Bandit([Bernoulli(0.5), Uniform(0.2, 0.3), Deterministic(0.1)])
    found = identify(bandit, VALUCB(limit=0.1), risk=MEAN, delta=0.1, runs=10)
    assert (found.recommended == 1).all()
    assert not found.wrong().any()
    assert identify(bandit, LUCB(), risk=OwnMean(), delta=0.1, runs=10).recommended.tolist() == [0] * 10
    with pytest.raises(PrudentError, match=r"simple_regret: va-lucb\(limit=0.1\) may answer with no arm"):
        found.simple_regret()


def test_a_hopeless_search_ends_undecided() -> None:
    twins = Bandit([Bernoulli(0.5), Bernoulli(0.5)])
    for strategy, risk in ((LUCB(), OwnMean()), (VALUCB(limit=0.25), MEAN)):
        found = identify(twins, strategy, risk=risk, delta=0.01, runs=5, most_pulls=101)
        assert not found.decided.any()
        assert (found.stopping_time() == 100).all()  # two a round
        assert not found.wrong().any()
        assert found.summary()["undecided"] == 1.0


# Results


def made(recommended, decided=True, strategy=None, bandit=THREE) -> Searches:
    answers = np.array(recommended)
    pulls = np.ones((len(answers), len(bandit)), np.int64)
    sure = np.broadcast_to(decided, answers.shape)
    facts = {"bandit": bandit, "policy": strategy or Coin(), "risk": MEAN, "seed": 0, "seconds": 0.0}
    asked = {"budget": 3, "delta": None, "most_pulls": 3}
    return Searches(**facts, **asked, recommended=answers, decided=sure, pulls=pulls)


@pytest.mark.parametrize("errors", [0, 1, 7, 20])
def test_the_interval_is_clopper_and_pearsons(errors: int) -> None:
    share = made([0] * errors + [2] * (20 - errors)).error_probability(level=0.9)
    assert share.value == errors / 20
    assert share.low <= share.value <= share.high
    if errors:
        assert binom.sf(errors - 1, 20, share.low) == pytest.approx(0.05)
    if errors < 20:
        assert binom.cdf(errors, 20, share.high) == pytest.approx(0.05)


def test_simple_regret_is_the_gap_of_the_recommended_arm() -> None:
    found = made([0, 1, 2])
    assert found.simple_regret() == pytest.approx([0.3, 0.2, 0.0])
    assert found.wrong().tolist() == [True, True, False]
    assert made([0, 1, 2], decided=False).error_probability().value == 0.0


def test_every_arm_of_smallest_cost_is_right_and_no_arm_is_wrong_where_there_is_one() -> None:
    twins = Bandit([Deterministic(0.5), Deterministic(0.5), Bernoulli(0.6)])
    assert made([0, 1, 2, -1], strategy=VALUCB(0.1), bandit=twins).wrong().tolist() == [False, False, True, True]


def test_one_run_has_a_summary() -> None:
    summary = identify(THREE, "uniform", risk=MEAN, budget=10, runs=1).summary()
    assert (summary["stopping_time"], summary["stopping_time_se"]) == (10.0, None)
    assert sum(summary["recommended"]) == 1.0


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0.1}, "either budget=… .* or delta=… .*, got both"),
        ({"budget": None}, "either budget=… .* or delta=… .*, got neither"),
        ({"budget": 2}, "budget must be a whole number from 3 .*, got 2"),
        ({"budget": 10.5}, "budget must be a whole number, got 10.5"),
        ({"budget": None, "delta": 5}, r"delta must lie in \(0, 1\), got 5; for a 5 % failure rate pass 0.05"),
        ({"budget": None, "delta": 5.0}, "got 5.0; for a 5 % failure rate pass 0.05"),
        ({"budget": None, "delta": 0.0}, r"delta must lie in \(0, 1\)"),
        (
            {"budget": None, "delta": 0.1},
            "uniform: needs budget=…, got delta; with a delta take one of lucb, qlucb, va-lucb",
        ),
        ({"strategy": "lucb"}, "lucb: needs delta=…, got budget; with a budget take one of sequential-halving"),
        ({"strategy": "sequential-halving", "budget": 5}, "sequential-halving: budget must be at least .* = 6, got 5"),
        ({"strategy": "successive-reject"}, "did you mean successive-rejects"),
        ({"strategy": "uniform(budget=3)"}, "give budget to identify"),
        ({"strategy": SuccessiveRejects}, r"pass SuccessiveRejects\(\)"),
        ({"strategy": (1, 2)}, "must be a NamedTuple with a method score or phase"),
        ({"strategy": "ucb-e(a=-1)"}, r"ucb-e: a must lie in \[0, ∞\), got -1"),
        ({"strategy": "ucb-e(a=1, hardness=2)"}, "ucb-e: give a or hardness, not both"),
        ({"strategy": "ucb-e(hardness=0)"}, "ucb-e: hardness must lie in .*oracle"),
        ({"strategy": "ucb-e(hardness=oracle)", "bandit": Bandit(["bernoulli(0.5)"] * 2)}, "needs a unique best arm"),
        ({"bandit": Bandit(["bernoulli(0.5)"])}, "at least 2 arms, got 1"),
        ({"most_pulls": 100}, "most_pulls goes with delta"),
        ({"bandit": [Bernoulli(0.5)] * 3}, r"bandit must be a Bandit, got .*; pass Bandit\(\[arm, arm\]\)"),
        ({"risk": None}, "risk must be a risk measure such as .*, got None"),
        ({"risk": MeanVariance}, r"risk must be made first: pass MeanVariance\(\)"),
        (
            {"bandit": Bandit(["student-t(1)", "student-t(1, 1)", "student-t(3)"])},
            r"student-t\(1.0, .*: it has no mean",
        ),
        ({"runs": 0}, "runs must be a whole number at least 1"),
        ({"workers": 0}, "identify: workers must be a whole number from 1 to"),
    ],
)
def test_bad_input_is_refused(change: dict, message: str) -> None:
    problem = {"bandit": THREE, "strategy": "uniform", "risk": MEAN, "budget": 10, "runs": 1, **change}
    with pytest.raises(PrudentError, match=message):
        identify(problem.pop("bandit"), problem.pop("strategy"), **problem)


@pytest.mark.parametrize(
    ("strategy", "risk", "arms", "message"),
    [
        ("lucb", Boundless(), ["uniform(0, 1)"] * 2, "lucb: own-mean has no confidence interval"),
        ("lucb", OwnMean(), ["gaussian(0, 1)", "uniform(0, 1)"], r"not finite even .* support \(−∞, ∞\)"),
        ("va-lucb", MEAN, ["uniform(0, 2)"] * 2, r"support must be at most range = 1 long, got \(0, 2\); pass range=2"),
        ("va-lucb", "mean-variance(rho=1)", ["uniform(0, 1)"] * 2, r"pass mean-variance\(rho=inf\)"),
        ("va-lucb(limit=-1)", MEAN, ["uniform(0, 1)"] * 2, r"va-lucb: limit must lie in \[0, ∞\), got -1"),
    ],
)
def test_what_confidence_cannot_do_is_refused(strategy, risk, arms, message) -> None:
    with pytest.raises(PrudentError, match=message):
        identify(Bandit(arms), strategy, risk=risk, delta=0.1, runs=1)


def test_a_broken_strategy_is_named() -> None:
    with pytest.raises(PrudentError, match="Spendthrift: asks for more pulls than the budget, 10"):
        identify(THREE, Spendthrift(), risk=MEAN, budget=10, runs=1)
    with pytest.raises(PrudentError, match="RoundRobin: asks for more pulls than the budget, 10"):
        identify(THREE, RoundRobin(), risk=MEAN, budget=10, runs=1)  # a policy that never stops
    with pytest.raises(PrudentError, match="IdleStrategy: its phase chose no arm"):
        identify(THREE, IdleStrategy(), risk=MEAN, budget=10, runs=1)


@dataclass(frozen=True)
class Broken(Mean):
    def estimate(self, mean, variance, rewards):
        return math.nan


def test_a_cost_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(PrudentError, match="uniform: an estimated cost is not a number"):
        identify(THREE, "uniform", risk=Broken(), budget=10, runs=1)
