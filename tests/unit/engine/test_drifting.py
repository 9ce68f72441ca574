"""Environments that drift by a plan, and the dynamic regret of what was pulled in them."""

import numpy as np
import pytest

from prudent import Bandit, Drifting, MeanVariance, PrudentError, simulate
from prudent.results.regret import dynamic_regret

ONE, OTHER = Bandit(["deterministic(0.7)", "bernoulli(0.5)"]), Bandit(["deterministic(0.1)", "bernoulli(0.5)"])


def test_dynamic_regret_from_its_definition():
    """Each round's cost minus the smallest of that round, from the costs of the bandit that it has."""
    risk, world = MeanVariance(0.5), Drifting([ONE, OTHER, OTHER], rounds=7)
    runs = simulate(world, "random-arm", risk=risk, horizon=50, runs=6, keep="trajectory")
    for found, arms, rewards in zip(dynamic_regret(runs, world), runs.kept.arms, runs.kept.rewards, strict=True):
        gaps = []
        for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
            bandit = (ONE, OTHER, OTHER)[t // 7 % 3]
            costs = [law.variance - 0.5 * law.mean for law in bandit.arms]
            gaps.append(costs[arm] - min(costs))
            if arm == 0:
                assert reward == bandit.arms[0].mean
        assert found == pytest.approx(np.mean(gaps))
    assert len({*map(float, dynamic_regret(runs, world))}) == 2  # one for each arm that a run kept to
    assert world.names == ONE.names
    assert repr(world) == f"Drifting([{ONE.unnamed}, {OTHER.unnamed}, {OTHER.unnamed}], rounds=7)"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Drifting([], rounds=5), "bandits must be a list of Bandits with the same arms"),
        (lambda: Drifting([ONE, Bandit(["bernoulli(0.5)"])], rounds=5), "the same arms"),
        (lambda: Drifting([ONE, "bernoulli(0.5)"], rounds=5), "the same arms"),
        (lambda: Drifting([ONE], rounds=0), "rounds must be a whole number at least 1"),
        (
            lambda: dynamic_regret(simulate(ONE, "ucb1", risk="mean", horizon=9, runs=2), ONE.arms),
            "must know its costs",
        ),
        (
            lambda: dynamic_regret(simulate(ONE, "ucb1", risk="mean", horizon=9, runs=2), Drifting([ONE], 9)),
            'pass simulate.*keep="trajectory"',
        ),
    ],
)
def test_what_has_no_dynamic_regret_is_refused(make, words):
    with pytest.raises(PrudentError, match=words):
        make()
