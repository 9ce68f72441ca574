"""Gaussian arms have kernels of their own, which are quicker to compile and make the same numbers as those of all arms.

In the other tests Gaussian arms take the general ones (conftest.py).
"""

import pytest
from numpy.testing import assert_array_equal

from prudent import Bandit, Gaussian, identify, simulate
from prudent.arms import sampling
from prudent.arms.base import encode
from prudent.engine import blocks
from prudent.engine.blocks import sources

BANDIT = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25), Gaussian(0.5, 0.25)])


def test_gaussian_arms_have_a_form_of_their_own(own_form):
    assert type(encode(BANDIT.arms)) is sampling.Laws
    own = own_form()
    assert (type(encode(BANDIT.arms)), type(sources(BANDIT.arms))) == own
    mixed = [*BANDIT.arms, Bandit(["bernoulli(0.5)", "bernoulli(0.4)"]).arms[0]]
    assert (type(encode(mixed)), type(sources(mixed))) == (sampling.Laws, blocks.Sources)


@pytest.mark.parametrize("policy", ["mv-lcb", "exp-exp"])
@pytest.mark.parametrize("engine", ["stepping", "leaping"])
def test_a_simulation_has_the_same_numbers_in_both(policy, engine, own_form):
    settings = {"risk": "mean-variance(rho=1)", "horizon": 2_000, "runs": 20, "snapshots": [7, 100], "engine": engine}
    general = simulate(BANDIT, policy, **settings)
    own_form()
    assert_same(general, simulate(BANDIT, policy, **settings), ("pulls", "mean", "variance", "twin_mean"))


def test_so_has_a_search(own_form):
    settings = {"risk": "mean-variance(rho=1)", "budget": 90, "runs": 50}
    general = identify(BANDIT, "sequential-halving", **settings)
    own_form()
    assert_same(general, identify(BANDIT, "sequential-halving", **settings), ("pulls", "recommended"))


def assert_same(one, other, names):
    for name in names:
        assert_array_equal(getattr(one, name), getattr(other, name))
