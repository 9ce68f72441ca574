"""The index of mean-CVaR-LCB is below the true cost as often as it says.

Streams are fixed, so a test passes always or never; were they not, each would fail a correct index with probability
1e-9 at most.
"""

import numpy as np
import pytest
from scipy import stats

from prudent import Bernoulli, Beta, Empirical, Law, MeanCVaR, MeanCVaRLCB, Mixture, Uniform
from prudent.policies.contract import Arm

LAWS = [
    Beta(2.0, 3.0),
    Uniform(0.0, 1.0),
    Bernoulli(0.92),
    Empirical([0.0, 0.0, 0.1, 0.35, 0.35, 0.9]),
    Mixture([Beta(1.0, 9.0), Bernoulli(0.5), Uniform(0.6, 0.9)]),
]
RUNS, FAILURE = 2_000, 0.3
LIMIT = stats.binom.isf(1e-9, RUNS, FAILURE)


def misses(law: Law, risk: MeanCVaR, size: int, reach: float = 1.0) -> int:
    """In how many samples the index, for rewards in an interval of length `reach`, is above the true cost."""
    policy, cost = MeanCVaRLCB(risk.alpha, risk.weight, FAILURE, reach), risk.cost(law)
    rewards = np.sort(law.sample(np.random.default_rng(7), RUNS * size).reshape(RUNS, size))
    return sum(policy.score(Arm(size, x.mean(), x.var()), x) > cost + 1e-12 for x in rewards)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(
    "risk", [MeanCVaR(0.1, 1.0), MeanCVaR(0.1, 0.5), MeanCVaR(0.6, 0.3), MeanCVaR(1.0, 0.0)], ids=str
)
def test_the_index_is_below_the_cost(law: Law, risk: MeanCVaR) -> None:
    for size in (3, 40):
        assert misses(law, risk, size) <= LIMIT


@pytest.mark.parametrize(
    "risk", [MeanCVaR(0.1, 1.0), MeanCVaR(0.1, 0.5), MeanCVaR(0.6, 0.3), MeanCVaR(1.0, 0.0)], ids=str
)
def test_an_index_too_sure_of_itself_is_caught(risk: MeanCVaR) -> None:
    """A tenth of the width, as without the 1/α where α = 0.1."""
    assert any(misses(law, risk, 40, 0.1) > LIMIT for law in LAWS)
