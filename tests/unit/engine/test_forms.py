"""Gaussian arms have kernels of their own, which are quicker to compile and make the same numbers as all arms' do."""

import pytest
from numpy.testing import assert_array_equal

from prudent import Bandit, Bernoulli, Gaussian, identify, simulate
from prudent.arms import sampling
from prudent.arms.base import encode
from prudent.engine.leap import blocks
from prudent.engine.leap.blocks import sources

BANDIT = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25), Gaussian(0.5, 0.25)])


@pytest.fixture
def general_form(monkeypatch):
    """Called, it gives Gaussian arms the form of all others."""

    def take():
        monkeypatch.setattr(sampling, "GaussianLaws", sampling.Laws)
        monkeypatch.setattr(blocks, "GaussianSources", blocks.Sources)

    return take


def test_gaussian_arms_have_a_form_of_their_own(general_form):
    assert forms(BANDIT.arms) == (sampling.GaussianLaws, blocks.GaussianSources)
    mixed = [*BANDIT.arms, Bernoulli(0.5)]
    assert forms(mixed) == (sampling.Laws, blocks.Sources)
    general_form()
    assert forms(BANDIT.arms) == (sampling.Laws, blocks.Sources)


def forms(arms):
    return type(encode(arms)), type(sources(arms))


@pytest.mark.parametrize("policy", ["mv-lcb", "exp-exp"])
@pytest.mark.parametrize("engine", ["stepping", "leaping"])
def test_a_simulation_has_the_same_numbers_in_both(policy, engine, general_form):
    settings = {"risk": "mean-variance(rho=1)", "horizon": 2_000, "runs": 20, "snapshots": [7, 100], "engine": engine}
    own = simulate(BANDIT, policy, **settings)
    general_form()
    assert_same(own, simulate(BANDIT, policy, **settings), ("pulls", "mean", "variance", "twin_mean"))


def test_so_has_a_search(general_form):
    settings = {"risk": "mean-variance(rho=1)", "budget": 90, "runs": 50}
    own = identify(BANDIT, "sequential-halving", **settings)
    general_form()
    assert_same(own, identify(BANDIT, "sequential-halving", **settings), ("pulls", "recommended"))


def assert_same(one, other, names):
    for name in names:
        assert_array_equal(getattr(one, name), getattr(other, name))
