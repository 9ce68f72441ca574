"""Policies: the shared contract, and each one's formula computed again from its paper."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import (
    MVLCB,
    UCB1,
    UCBV,
    AnytimeMVLCB,
    Bandit,
    Bernoulli,
    BernsteinMVLCB,
    EpsilonGreedy,
    ExpExp,
    FixedArm,
    Gaussian,
    MeanVariance,
    PrudentError,
    RandomArm,
    RiskMeasure,
    RoundRobin,
    SuccessiveRejects,
    simulate,
)
from prudent.engine.phase_rounds import next_phase
from prudent.policies.binding import bind
from prudent.policies.contract import FOREVER, UNSET, Arm, Arms, Setting, spec
from prudent.policies.contract import policies as registry
from prudent.testing import check_policy

INF = math.inf
RISK = MeanVariance(0.7)

SPECS = {
    "anytime-mv-lcb": ["anytime-mv-lcb", "anytime-mv-lcb(rho=inf, a=2.5)", "anytime-mv-lcb(c=1, unbiased=True)"],
    "bernstein-mv-lcb": ["bernstein-mv-lcb", "bernstein-mv-lcb(rho=inf)", "bernstein-mv-lcb(0, delta=0.1, range=3)"],
    "epsilon-greedy": ["epsilon-greedy", "epsilon-greedy(epsilon=0)", "epsilon-greedy(rho=inf, epsilon=1)"],
    "exp-exp": [
        "exp-exp",
        "exp-exp(rule=appendix, rho=inf)",
        "exp-exp(tau=5)",
        "exp-exp(explore=successive-rejects)",
        "exp-exp(explore=successive-rejects, rule=appendix, rho=0)",
        "exp-exp(explore=ucb-e)",
        "exp-exp(explore='ucb-e(hardness=2)', rho=inf)",
    ],
    "fixed-arm": ["fixed-arm", "fixed-arm(arm=1)"],
    "mv-lcb": [
        "mv-lcb",
        "mv-lcb(rho=0)",
        "mv-lcb(rho=inf)",
        "mv-lcb(c=1, unbiased=True)",
        "mv-lcb(c=1, unbiased=True, rho=inf)",
        "mv-lcb(c=0, delta=0.1, range=10)",
    ],
    "mv-dsee": ["mv-dsee", "mv-dsee(rule=log, a=3)", "mv-dsee(rho=inf, a=0.1)"],
    "mv-ucb": ["mv-ucb", "mv-ucb(rho=inf)", "mv-ucb(b=1)"],
    "mts": ["mts", "mts(rho=inf)"],
    "vts": ["vts", "vts(rho=inf)"],
    "mvts": ["mvts", "mvts(rho=inf)"],
    "thompson": ["thompson", "thompson(sd=0.5)"],
    "cvar-ts": ["cvar-ts(alpha=0.1)", "cvar-ts(alpha=1, sd=3)"],
    "normal-ucb": ["normal-ucb"],
    "npts-sg": ["npts-sg(first=3)"],
    "r-ucb": ["r-ucb", "r-ucb(power=0, sd=3)"],
    "robust-ucb": ["robust-ucb(size=3)", "robust-ucb(order=1.2, size=0.5)"],
    "srts": ["srts(risk=sharpe, sd=3)"],
    "ucb-tuned": ["ucb-tuned", "ucb-tuned(range=5)"],
    "ucb-v": ["ucb-v", "ucb-v(zeta=2, range=5)"],
    "ucb1": ["ucb1", "ucb1(range=5)"],
}


BOUNDED = {
    "b-cvts": ["b-cvts(alpha=0.2)", "b-cvts(alpha=1, high=2)"],
    "bernoulli-mvts": ["bernoulli-mvts", "bernoulli-mvts(rho=inf)"],
    "mv-imed": ["mv-imed", "mv-imed(rho=0)", "mv-imed(rho=inf)"],
    "bernoulli-mv-imed": ["bernoulli-mv-imed", "bernoulli-mv-imed(rho=inf)"],
    "bernoulli-mv-kg": ["bernoulli-mv-kg", "bernoulli-mv-kg(rho=inf)"],
    "finite-mv-imed": ["finite-mv-imed"],
    "prudent": ["prudent", "prudent(rho=inf)"],
    "bernoulli-thompson": ["bernoulli-thompson"],
    "cvar-ucb": ["cvar-ucb(alpha=0.2)", "cvar-ucb(alpha=1, delta=0.1)"],
    "entropic-lcb": ["entropic-lcb(lam=2)", "entropic-lcb(lam=50, low=-1, high=20)"],
    "kl-ucb": ["kl-ucb", "kl-ucb(c=3)"],
    "m-cvts": ["m-cvts(alpha=0.3)", "m-cvts(alpha=1, values=[0, 0.5, 1])"],
    "marab": ["marab(alpha=0.1)", "marab(alpha=1, c=0)"],
    "mean-cvar-lcb": ["mean-cvar-lcb(alpha=0.2, weight=0.5)", "mean-cvar-lcb(alpha=1, weight=1, delta=0.1, range=5)"],
    "npts": ["npts", "npts(best=0)"],
    "quantile-ucb": ["quantile-ucb(alpha=0.25)", "quantile-ucb(alpha=1, delta=0.1)"],
    "rho-mts": ["rho-mts", "rho-mts(values=[0, 0.5, 1])"],
    "u-ucb": ["u-ucb(alpha=0.2)", "u-ucb(alpha=1, range=5)"],
    "w-ucb": ["w-ucb(risk=proportional-hazard(0.5))"],
}
"""Policies of rewards in [0, 1]."""


SIZES = {"exp-exp(tau=5)": (5,), "fixed-arm(arm=1)": (2, 3, 5), "optimal": (1, 2)}
"""Where a policy needs bandits of some sizes: K ≤ τ ≤ n down to n = K, and arm 1 exists."""


QUICK = (
    "bernoulli-mvts", "discounted", "epsilon-greedy", "exp-exp", "m-cvts", "mv-imed", "mv-lcb", "mvts", "npts",
    "optimal", "prudent", "ucb1",
)  # fmt: skip
"""One policy of each kind. The others compile loops of their own, so that they are for `make deep`."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in registry.names()]
)
def test_every_registered_policy_keeps_the_contract(name: str) -> None:
    rewards = (0.0, 1.0) if name in BOUNDED else (-INF, INF)
    for text in {**SPECS, **BOUNDED}.get(name, [name]):
        check_policy(registry.parse(text), arms=SIZES.get(text, (1, 2, 3, 5)), rewards=rewards)


def bound(policy: Any, horizon: int | None = 100, n_arms: int = 2, risk: RiskMeasure = RISK) -> Any:
    return bind(policy, Setting(n_arms, risk, horizon))


# Scores

pulls = st.integers(2, 10_000)
means = st.floats(-5, 5)
variances = st.floats(0, 5)
arms = st.builds(Arm, pulls, means, variances)
tolerances = st.floats(0, 20)
failures = st.floats(1e-12, 0.9)


@given(arms, tolerances, failures, st.floats(0, 10), st.floats(0.1, 10))
def test_mv_lcb(arm: Arm, rho: float, delta: float, c: float, b: float) -> None:
    width = (c * b**2 + rho * b) * math.sqrt(math.log(1.0 / delta) / (2.0 * arm.pulls))
    plain, sharp = (bound(MVLCB(rho, c=c, delta=delta, range=b, unbiased=u)) for u in (False, True))
    assert plain.score(arm) == pytest.approx(arm.variance - rho * arm.mean - width)
    unbiased = arm.variance * arm.pulls / (arm.pulls - 1)
    assert sharp.score(arm) == pytest.approx(unbiased - rho * arm.mean - width)
    assert sharp.score(arm._replace(pulls=1)) == -INF


@given(arms, failures, st.floats(0.1, 10))
def test_mv_lcb_of_the_mean_only(arm: Arm, delta: float, b: float) -> None:
    score = -arm.mean - b * math.sqrt(math.log(1.0 / delta) / (2.0 * arm.pulls))
    assert bound(MVLCB(INF, delta=delta, range=b)).score(arm) == pytest.approx(score)
    limit = bound(MVLCB(1e12, delta=delta, range=b)).score(arm) / 1e12
    assert limit == pytest.approx(score, abs=1e-9)


def test_mv_lcb_takes_delta_from_the_horizon_and_rho_from_the_risk() -> None:
    assert bound(MVLCB(), horizon=1_000) == bound(MVLCB(rho=0.7, delta=1e-6), horizon=7)
    assert bound(MVLCB(delta=0.05), horizon=None) == bound(MVLCB(rho=0.7, delta=0.05))
    assert bound(MVLCB(), horizon=1, n_arms=1) == bound(MVLCB(rho=0.7, delta=0.5))
    assert bound(MVLCB(rho=2)) != bound(MVLCB())
    assert MVLCB.sharp(0.5) == MVLCB(rho=0.5, c=1.0, unbiased=True)


@given(arms, tolerances, st.integers(2, 10**6))
def test_anytime_mv_lcb_is_mv_lcb_with_log_t(arm: Arm, rho: float, t: int) -> None:
    # ε_t = a log t stands for log(1/δ), so δ = t^{−a}.
    other = bound(MVLCB(rho, delta=float(t) ** -4.0))
    assert AnytimeMVLCB(rho, range=1.0).score(arm, t) == pytest.approx(other.score(arm))


@given(st.lists(arms, min_size=2, max_size=6), st.integers(2, 10**6))
def test_anytime_mv_lcb_becomes_ucb1(each: list[Arm], t: int) -> None:
    ucb1 = [UCB1(1.0).score(arm, t) for arm in each]
    assert [AnytimeMVLCB(INF, a=4.0, range=1.0).score(arm, t) for arm in each] == pytest.approx(ucb1, rel=1e-12)
    nearly = [AnytimeMVLCB(1e13, a=4.0, range=1.0).score(arm, t) / 1e13 for arm in each]
    assert nearly == pytest.approx(ucb1, abs=1e-9)


@given(arms, tolerances, failures, st.floats(0.1, 10))
def test_bernstein_mv_lcb(arm: Arm, rho: float, delta: float, b: float) -> None:
    s, unbiased = arm.pulls, arm.variance * arm.pulls / (arm.pulls - 1)
    x, x2 = math.log(1.0 / delta), math.log(2.0 / delta)
    low = max(0.0, math.sqrt(unbiased) - b * math.sqrt(2.0 * x / (s - 1))) ** 2
    high = arm.mean + math.sqrt(2.0 * unbiased * x2 / s) + 7.0 * b * x2 / (3.0 * (s - 1))
    policy = BernsteinMVLCB(rho, delta, b)
    assert policy.score(arm) == pytest.approx(low - rho * high)
    assert policy._replace(rho=INF).score(arm) == pytest.approx(-high)
    assert policy.score(arm._replace(pulls=1)) == -INF
    assert bound(BernsteinMVLCB(), horizon=100) == BernsteinMVLCB(0.7, 1e-4, 1.0)


@given(arms, st.one_of(tolerances, st.just(INF)), failures, st.floats(0.1, 10), st.booleans())
def test_the_bound_of_a_score_over_a_single_point_is_the_score(arm, rho, delta, b, unbiased) -> None:
    for policy in (MVLCB(rho, delta=delta, range=b, unbiased=unbiased), BernsteinMVLCB(rho, delta, b)):
        ready = bound(policy)
        assert ready.score_bound(arm, arm) == pytest.approx(ready.score(arm))


@given(arms, st.integers(2, 10**6), st.floats(0.1, 10), st.floats(1.01, 3))
def test_ucb1_and_ucb_v(arm: Arm, t: int, b: float, zeta: float) -> None:
    s, log = arm.pulls, math.log(t)
    assert UCB1(b).score(arm, t) == pytest.approx(-(arm.mean + b * math.sqrt(2.0 * log / s)))
    upper = arm.mean + math.sqrt(2.0 * arm.variance * zeta * log / s) + 3.0 * b * zeta * log / s
    assert UCBV(zeta, b).score(arm, t) == pytest.approx(-upper)


# Phases


def statistics(pulls: list[int], mean: list[float] | None = None, variance: list[float] | None = None) -> Arms:
    zeros = [0.0] * len(pulls)
    seen = np.array(pulls), np.array(mean or zeros), np.array(variance or zeros)
    return Arms(*seen, np.full(len(pulls), INF), np.ones(len(pulls), bool), np.empty((len(pulls), 0)))


def phase(policy: Any, arms: Arms, chosen: list[bool] | None = None) -> tuple[list[bool], int]:
    """What the policy chooses, and how many times."""
    marks = np.array(chosen or [True] * len(arms.pulls))
    repeats = next_phase(policy, arms, int(arms.pulls.sum()) + 1, marks, np.random.default_rng(0))
    return marks.tolist(), repeats


@pytest.mark.parametrize(
    ("policy", "horizon", "n_arms", "each"),
    [
        (ExpExp(), 14_000, 2, 100),
        (ExpExp(), 14_001, 2, 101),
        (ExpExp(rule="appendix"), 4_000, 2, 100),
        (ExpExp(), 100, 2, 4),  # (100/14)^{2/3} = 3.7
        (ExpExp(), 100, 40, 2),  # at most ⌊n/K⌋
        (ExpExp(), 5, 5, 1),
        (ExpExp(tau=31), 100, 3, 10),
        (ExpExp(tau=3.0), 100, 3, 1),
    ],
)
def test_exp_exp_explores_each_arm_m_times(policy: ExpExp, horizon: int, n_arms: int, each: int) -> None:
    ready = bound(policy, horizon, n_arms)
    assert ready.budget == each * n_arms
    assert phase(ready, statistics([0] * n_arms)) == ([True] * n_arms, each)


def test_exp_exp_then_pulls_the_smallest_mean_variance() -> None:
    ready = bound(ExpExp(rho=1.0, tau=20), 100, 2)
    assert phase(ready, statistics([10, 10], [0.9, 0.1], [1.0, 0.1])) == ([False, True], FOREVER)  # 0.1 against 0.0
    assert phase(ready, statistics([10, 10], [0.9, 0.1], [0.8, 0.1])) == ([True, False], FOREVER)
    assert phase(ready, statistics([10, 10])) == ([True, False], FOREVER)
    assert phase(ready, statistics([7, 10])) == ([True, False], 3)
    mean_only = bound(ExpExp(rho=INF, tau=20), 100, 2)
    assert phase(mean_only, statistics([10, 10], [0.9, 0.8], [9.0, 0.0])) == ([True, False], FOREVER)


@pytest.mark.parametrize("n_arms", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("per_arm", [1, 2, 5, 50])
def test_successive_rejects_follows_its_schedule_within_the_budget(n_arms: int, per_arm: int) -> None:
    budget = per_arm * n_arms
    ready = bound(ExpExp(explore="successive-rejects", tau=budget), budget, n_arms)
    logbar = 0.5 + sum(1.0 / i for i in range(2, n_arms + 1))
    schedule = [max(1, math.ceil((budget - n_arms) / (logbar * (n_arms + 1 - k)))) for k in range(1, n_arms)]
    arms, marks = statistics([0] * n_arms, mean=[float(i) for i in range(n_arms)]), [True] * n_arms
    while True:
        marks, repeats = phase(ready, arms, marks)
        if repeats == FOREVER:
            break
        arms.pulls[marks] += repeats
    # The means are in order, so arm k leaves in phase k with n_k pulls, and the last stays.
    assert arms.pulls.tolist() == [*schedule, *(schedule[-1:] or [0])]
    assert arms.pulls.sum() <= budget
    assert marks == [False] * (n_arms - 1) + [True]


def test_successive_rejects_keeps_the_lowest_of_equals() -> None:
    ready = bound(ExpExp(explore="successive-rejects"), 1_000, 3)
    assert phase(ready, statistics([900, 900, 900])) == ([True, False, False], FOREVER)


def test_ucb_e() -> None:
    ready = bound(ExpExp(rho=1.0, explore="ucb-e", tau=40), 100, 2)
    assert (ready.budget, ready.a) == (40, pytest.approx(25.0 * 38.0 / (36.0 * 32.0)))
    assert bound(ExpExp(explore="ucb-e(hardness=2)", tau=40), 100, 2).a == pytest.approx(25.0 * 38.0 / 72.0)
    assert phase(ready, statistics([1, 0])) == ([False, True], 1)
    arms = statistics([4, 16], [0.5, 0.9], [0.2, 0.1])
    scores = [0.2 - 0.5 - math.sqrt(ready.a / 4), 0.1 - 0.9 - math.sqrt(ready.a / 16)]
    assert phase(ready, arms) == ([scores[0] <= scores[1], scores[0] > scores[1]], 1)
    assert phase(ready, statistics([4, 36], [0.5, 0.9], [0.2, 0.1])) == ([False, True], FOREVER)


def test_epsilon_greedy() -> None:
    greedy, random = EpsilonGreedy(rho=1.0, epsilon=0.0), EpsilonGreedy(rho=1.0, epsilon=1.0)
    assert phase(greedy, statistics([1, 0, 0])) == ([False, True, True], 1)
    assert phase(greedy, statistics([1, 1, 1], [0.1, 0.9, 0.5])) == ([False, True, False], 1)
    marks = np.zeros(3, bool)
    rng = np.random.default_rng(0)
    counts = np.zeros(3)
    for _ in range(300):
        assert next_phase(random, statistics([1, 1, 1]), 4, marks, rng) == 1
        counts += marks
    assert counts.sum() == 300
    assert counts.min() > 50  # 7 standard deviations below 100


def test_yardsticks() -> None:
    assert phase(RoundRobin(), statistics([0, 0, 0])) == ([True] * 3, FOREVER)
    assert phase(FixedArm(2), statistics([0, 0, 0])) == ([False, False, True], FOREVER)
    marks, repeats = phase(RandomArm(), statistics([0, 0, 0]))
    assert (sum(marks), repeats) == (1, FOREVER)


def test_played_pulls() -> None:
    bandit = Bandit([Gaussian(1.0, 0.05), Bernoulli(0.5), Bernoulli(0.2)])
    facts: dict[str, Any] = {"risk": RISK, "horizon": 100, "runs": 4}
    assert simulate(bandit, RoundRobin(), **facts).pulls.tolist() == [[34, 33, 33]] * 4
    assert simulate(bandit, FixedArm(1), **facts).pulls.tolist() == [[0, 100, 0]] * 4
    assert (simulate(bandit, RandomArm(), **facts).pulls.max(1) == 100).all()
    explored = simulate(bandit, ExpExp(), **facts).pulls
    assert np.sort(explored).tolist() == [[4, 4, 92]] * 4
    assert (simulate(bandit, EpsilonGreedy(epsilon=1.0), **facts).pulls > 10).all()


# Text


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (MVLCB(), "mv-lcb"),
        (MVLCB(c=1), "mv-lcb(c=1)"),
        (MVLCB(rho=INF, unbiased=True), "mv-lcb(rho=inf, unbiased=True)"),
        (ExpExp(explore="ucb-e"), "exp-exp(explore=ucb-e)"),
        (FixedArm(3), "fixed-arm(arm=3)"),
        (RoundRobin(), "round-robin"),
    ],
)
def test_a_spec_says_what_differs_from_the_defaults(policy: Any, text: str) -> None:
    assert spec(policy) == text
    assert registry.parse(text) == policy
    assert type(registry.parse(text)) is type(policy)


@given(st.builds(MVLCB, st.none() | tolerances, st.floats(0, 1e9), st.none() | failures, st.floats(1e-9, 1e9)))
def test_a_spec_builds_the_same_policy(policy: MVLCB) -> None:
    assert registry.parse(spec(policy)) == policy


# Errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MVLCB(delta=5), r"mv-lcb: delta must lie in \(0, 1\), got 5; for a 5 % failure rate pass 0.05"),
        (lambda: MVLCB(delta=0.0), r"mv-lcb: delta must lie in \(0, 1\), got 0.0; δ is a probability of failure"),
        (lambda: MVLCB(delta=1), "mv-lcb: delta"),
        (lambda: MVLCB(delta="small"), "mv-lcb: delta must be a number"),
        (lambda: MVLCB(rho=-1), "mv-lcb: rho must lie in .* tolerance for risk"),
        (lambda: MVLCB(rho=math.nan), "mv-lcb: rho"),
        (lambda: MVLCB(c=-1), "mv-lcb: c .* 5 is the paper's constant"),
        (lambda: MVLCB(c=INF), "mv-lcb: c"),
        (lambda: MVLCB(range=0), "mv-lcb: range .* largest minus the smallest"),
        (lambda: AnytimeMVLCB(a=0), "anytime-mv-lcb: a must lie in"),
        (lambda: AnytimeMVLCB(rho=-1), "anytime-mv-lcb: rho"),
        (lambda: AnytimeMVLCB(range=-1), "anytime-mv-lcb: range"),
        (lambda: BernsteinMVLCB(delta=2), "bernstein-mv-lcb: delta"),
        (lambda: BernsteinMVLCB(rho=-0.1), "bernstein-mv-lcb: rho"),
        (lambda: BernsteinMVLCB(range=math.nan), "bernstein-mv-lcb: range"),
        (lambda: EpsilonGreedy(epsilon=1.5), r"epsilon-greedy: epsilon must lie in \[0, 1\], got 1.5; pass a probab"),
        (lambda: EpsilonGreedy(rho=-1), "epsilon-greedy: rho"),
        (lambda: UCB1(range=0), "ucb1: range"),
        (lambda: UCBV(zeta=0), "ucb-v: zeta"),
        (lambda: UCBV(range=INF), "ucb-v: range"),
        (lambda: ExpExp(rule="lemma"), "exp-exp: rule must be one of theorem, appendix, got 'lemma'"),
        (lambda: ExpExp(explore="luck"), "unknown strategy 'luck'; did you mean lucb"),
        (lambda: ExpExp(tau=0), "exp-exp: tau"),
        (lambda: ExpExp(tau=1.5), "exp-exp: tau must be a whole number"),
        (lambda: ExpExp(rho=-1), "exp-exp: rho"),
        (lambda: ExpExp(explore="ucb-e(hardness=0)"), "ucb-e: hardness"),
        (lambda: ExpExp(explore="lucb"), "exp-exp: explore must be a strategy with a budget, got 'lucb'"),
        (lambda: FixedArm(-1), "fixed-arm: arm .* numbered from 0"),
        (lambda: FixedArm(0.5), "fixed-arm: arm must be a whole number"),
    ],
)
def test_bad_parameters_are_refused(make: Any, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        make()


@pytest.mark.parametrize(
    ("policy", "horizon", "n_arms", "message"),
    [
        (MVLCB(), 2, 3, "mv-lcb: horizon must be at least the number of arms, 3, got 2; it pulls each once"),
        (UCB1(), 1, 2, "ucb1: horizon must be at least the number of arms"),
        (ExpExp(), 2, 3, "exp-exp: horizon must be at least the number of arms, 3, got 2"),
        (ExpExp(tau=2), 100, 3, "exp-exp: tau must be a whole number from 3 to 100, got 2; pull every arm once"),
        (ExpExp(tau=200), 100, 3, "exp-exp: tau"),
        (MVLCB(), None, 2, "mv-lcb: needs the horizon; pass horizon=…, or take an anytime policy"),
        (BernsteinMVLCB(), None, 2, "bernstein-mv-lcb: needs the horizon"),
        (ExpExp(), None, 2, "exp-exp: needs the horizon"),
        (FixedArm(3), 10, 3, "fixed-arm: arm must be a whole number from 0 to 2, got 3; arms are numbered from 0"),
        ((1.0, 2.0), 10, 2, "policy must be a NamedTuple with a method score or phase"),
        ("mv-lcb", 10, 2, "policy must be a NamedTuple"),
        (UCB1, 10, 2, r"policy must be made first: pass UCB1\(\), not UCB1"),
    ],
)
def test_policies_that_cannot_play_say_why(policy: Any, horizon: int | None, n_arms: int, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        bound(policy, horizon, n_arms)


class NoTolerance(RiskMeasure):
    name = "no-tolerance"
    cost = weigh = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.name


class Unfinished(NamedTuple):
    width: float = UNSET

    def score(self, arm: Arm) -> float:
        return -arm.mean - self.width


def test_what_nobody_fills_in_is_asked_for() -> None:
    with pytest.raises(PrudentError, match="mv-lcb: serves mean-variance, and rho cannot be taken from no-tolerance"):
        bound(MVLCB(), risk=NoTolerance())
    assert bound(MVLCB(rho=1), risk=NoTolerance()).rho == 1.0
    with pytest.raises(PrudentError, match="Unfinished: width is not set; pass a value"):
        bound(Unfinished())


def test_whole_numbers_bind_as_floats() -> None:
    assert [type(value) for value in bound(UCBV(zeta=2, range=1))] == [float, float]
    assert [type(value) for value in bound(FixedArm(1.0))] == [int]


# Strategies as policies


@pytest.mark.parametrize("explore", ["uniform", "successive-rejects", "sequential-halving", "ucb-e"])
@pytest.mark.parametrize("engine", ["stepping", "leaping"])
def test_exp_exp_explores_by_any_strategy_with_a_budget(explore: str, engine: str) -> None:
    bandit = Bandit([Gaussian(0.0, 0.5), Gaussian(1.0, 0.1), Gaussian(0.5, 0.3), Gaussian(0.2, 0.2)])
    policy = ExpExp(explore=explore, tau=80)
    runs = simulate(bandit, policy, risk=MeanVariance(1.0), horizon=1_000, runs=20, engine=engine)
    assert (runs.pulls.sum(1) == 1_000).all()
    assert (runs.pulls[:, 1] >= 920).all()  # the best arm by a cost of 0.7 and more, 5 standard errors of 20 pulls
    assert registry.parse(spec(policy)) == policy


def test_a_strategy_explores_by_any_risk_and_its_answer_is_pulled_to_the_end() -> None:
    """Arm 1 has the better mean, arm 2 the better tail; costs by the tail read every reward, so runs step.

    A wrong answer takes 16 zeros or fewer where 40 are expected: 2e-5 a run, were the stream not fixed.
    """
    bandit = Bandit([Bernoulli(0.9), Gaussian(0.6, 0.0001)])
    for risk, best in (("mean", 0), ("cvar(alpha=0.1)", 1)):
        runs = simulate(bandit, SuccessiveRejects(budget=800), risk=risk, horizon=2_000, runs=20)
        assert runs.engine == ("stepping" if best else "leaping")
        assert (runs.pulls[:, best] == 1_601).all()


@pytest.mark.parametrize("engine", ["auto", "stepping", "exact"])
@pytest.mark.parametrize(
    "text", ["optimal", "bernoulli-mv-imed", "bernoulli-mv-kg", "bernoulli-mvts", "bernoulli-thompson"]
)
def test_policies_for_two_values_refuse_arms_that_pay_others(text: str, engine: str) -> None:
    asked: dict[str, Any] = {"risk": "mean-variance(rho=0)", "horizon": 9, "engine": engine}
    asked |= {} if engine == "exact" else {"runs": 1}
    for third in ("empirical([0, 0.5, 1])", "deterministic(0.25)" if engine == "exact" else "uniform(0, 1)"):
        with pytest.raises(PrudentError, match="is made for rewards that are 0 or 1, and these arms pay"):
            simulate(Bandit(["bernoulli(0.5)", third]), text, **asked)
