"""Mixtures of arms: which measures they can serve, the best one, the regret against it, the policy that learns it."""

import numpy as np
import pytest

from prudent import (
    RSETCM,
    Bandit,
    Bernoulli,
    Deterministic,
    Distortion,
    Empirical,
    Gaussian,
    Mixture,
    PrudentError,
    Uniform,
)
from prudent.policies.binding import bind
from prudent.policies.contract import Arms, Setting
from prudent.results.regret import mixture_regret
from prudent.risk.base import risks as registry
from prudent.risk.mixtures import simplex

RIVALS = Bandit([Empirical([-2.0, 1.0, 2.0, 4.0]), Empirical([-2.0, -1.0, 8.0])])
WON_BY_MIXTURES = {
    "cpt": RIVALS,
    "mixed": Bandit([Deterministic(-1.0), Empirical([-1.0, 8.0])]),
    "sharpe": Bandit([Deterministic(-1.0), Deterministic(-3.0)]),
}
"""Where half of each costs less than either, or a few parts of one do."""


@pytest.mark.parametrize("name", registry.names())
def test_measures_say_whether_a_mixture_can_be_best(name: str) -> None:
    """Quasi-concave ones on random laws, and the others by an example."""
    risk, rng = registry.parse(name), np.random.default_rng(7)
    assert risk.quasiconcave == (risk.name not in WON_BY_MIXTURES)
    if not risk.quasiconcave:
        found = WON_BY_MIXTURES[name].best_mixture(risk)
        assert found.cost < found.single_cost - 0.1
        return
    for _ in range(100):
        laws = [Empirical(rng.choice([-2.0, -0.5, 0.0, 0.3, 1.0, 4.0], rng.integers(1, 5))) for _ in range(2)]
        share = float(rng.random())
        costs, mixed = [risk.cost(law) for law in laws], risk.cost(Mixture(laws, [share, 1.0 - share]))
        assert mixed >= min(costs) - 1e-9 * (1.0 + max(map(abs, costs)))


def test_a_distortion_of_ones_own_is_not_taken_for_quasiconcave() -> None:
    class Bold(Distortion):
        name = "bold"

        def distort(self, p: np.ndarray) -> np.ndarray:
            return p**2

    bandit = Bandit([Deterministic(1.0), Empirical([0.0, 0.0, 0.0, 2.6])])
    found = bandit.best_mixture(Bold())
    assert found.cost < found.single_cost - 0.05


@pytest.mark.parametrize("name", WON_BY_MIXTURES)
def test_the_best_mixture_of_two_arms_is_that_of_a_fine_grid(name: str) -> None:
    bandit, risk = WON_BY_MIXTURES[name], registry.parse(name)
    costs = [risk.cost(Mixture(bandit.arms, [1.0 - k / 2_000, k / 2_000])) for k in range(2_001)]
    found = bandit.best_mixture(name)
    assert found.cost == pytest.approx(min(costs), abs=1e-4)
    assert found.cost <= min(costs) + 1e-9
    assert risk.cost(Mixture(bandit.arms, found.weights)) == pytest.approx(found.cost)
    assert (found.single_arm, found.single_cost) == (bandit.best(risk), min(costs[0], costs[-1]))


def test_laws_with_densities_mix_too() -> None:
    bandit = Bandit([Uniform(0.9, 1.1), Uniform(-2.0, 2.0)])
    found = bandit.best_mixture("mixed(0, 0, 1, 0.5)")
    assert found.cost < found.single_cost - 0.05
    assert Bandit([Gaussian(1.0, 0.1), Gaussian(0.0, 2.0)]).best_mixture("cvar").weights == (1.0, 0.0)


def test_a_single_arm_is_preferred_where_no_mixture_costs_less() -> None:
    found = Bandit([Bernoulli(0.3), Bernoulli(0.8), Bernoulli(0.8)]).best_mixture("cpt")
    assert found.weights == (0.0, 1.0, 0.0)
    assert found.cost == found.single_cost


def test_the_grid_has_all_weights_once_and_single_arms_first() -> None:
    grid = simplex(3, 4)
    assert grid[:3].tolist() == np.eye(3).tolist()
    assert len(np.unique(grid, axis=0)) == len(grid) == 15
    assert grid.sum(1) == pytest.approx(np.ones(15))


def test_regret_is_that_of_the_shares_of_pulls() -> None:
    risk, best = registry.parse("cpt"), RIVALS.best_mixture("cpt").cost
    pulls = np.array([[[10, 0], [0, 10]], [[5, 5], [30, 10]]])
    wanted = [risk.cost(Mixture(RIVALS.arms, row)) - best for row in pulls.reshape(-1, 2).tolist()]
    assert mixture_regret(pulls, RIVALS, "cpt") == pytest.approx(np.reshape(wanted, (2, 2)))
    assert mixture_regret(np.array([3, 1]), RIVALS, "mean-variance").shape == ()
    with pytest.raises(PrudentError, match="mixture_regret: arrays must be for the same arms"):
        mixture_regret(np.array([1, 2, 3]), RIVALS, "cpt")


def pulls_of(bandit: Bandit, risk: str, horizon: int, seed: int, policy: RSETCM) -> np.ndarray:
    """The policy by hand, as a plain loop over its phases."""
    rng, measure, arms = np.random.default_rng(seed), registry.parse(risk), len(bandit)
    ready, chosen = bind(policy, Setting.of(bandit, measure, horizon)), np.full(arms, True)
    seen = [np.empty(0) for _ in range(arms)]
    while (t := sum(map(len, seen))) < horizon:
        rows = np.zeros((arms, t + 1))
        for row, rewards in zip(rows, seen, strict=True):
            row[: len(rewards)] = np.sort(rewards)
        facts = [[f(x) if x.size else 0.0 for x in seen] for f in (np.mean, np.var, measure.sample_cost)]
        known = Arms(np.array(list(map(len, seen))), *map(np.array, facts), np.full(arms, True), rows)
        repeats = ready.phase(known, t + 1, chosen, rng)
        for i in np.flatnonzero(chosen):
            left = horizon - sum(map(len, seen))
            seen[i] = np.append(seen[i], bandit.arms[i].sample(rng, min(repeats, left)))
    return np.array(list(map(len, seen)))


def test_the_policy_learns_the_mixture() -> None:
    """The shares are multiples of 5 %, and nearest to 0.745 is 0.75; a single arm has regret 0.22 for ever."""
    shares = [pulls_of(RIVALS, "cpt", 20_000, seed, RSETCM()) / 20_000 for seed in range(3)]
    assert np.abs(np.array(shares)[:, 0] - 0.75).max() < 0.2
    regret = [np.mean([mixture_regret(pulls_of(RIVALS, "cpt", n, seed, RSETCM()), RIVALS, "cpt") for seed in range(5)])
              for n in (200, 4_000)]  # fmt: skip
    assert regret[1] < 0.2 * regret[0]


def test_the_policy_mixes_by_moments_and_commits_where_no_mixture_is_best() -> None:
    debts = Bandit([Deterministic(-1.0), Deterministic(-3.0), Deterministic(-2.0)])
    assert pulls_of(debts, "sharpe", 2_000, 0, RSETCM(explore=5)) == pytest.approx([1_500, 495, 5], abs=5)
    assert pulls_of(debts, "mean-variance", 2_000, 0, RSETCM(explore=5)).tolist() == [1_990, 5, 5]
    assert pulls_of(debts, "cvar", 2_000, 0, RSETCM(explore=7)).tolist() == [1_986, 7, 7]


def test_bad_parameters_of_the_policy_are_refused() -> None:
    for given, message in (({"explore": 0}, "explore must"), ({"parts": 0}, "parts must")):
        with pytest.raises(PrudentError, match=f"rs-etc-m: {message}"):
            RSETCM(**given)
    with pytest.raises(PrudentError, match=r"rs-etc-m: explore must .* 50"):
        bind(RSETCM(explore=80), Setting.of(RIVALS, registry.parse("cpt"), 100))
