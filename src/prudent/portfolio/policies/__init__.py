"""Policies that learn a mix, one file each; `base` holds their contract."""

from prudent.portfolio.policies.base import Brief, Explore, Observation, PortfolioPolicy, registry
from prudent.portfolio.policies.even import Even
from prudent.portfolio.policies.mc_empirical import MCEmpirical
from prudent.portfolio.policies.mc_ete import MCETE
from prudent.portfolio.policies.mc_ucb import MCUCB
from prudent.portfolio.policies.single_arm import SingleArm
from prudent.portfolio.policies.vertices import Vertices

__all__ = [
    "MCETE",
    "MCUCB",
    "Brief",
    "Even",
    "Explore",
    "MCEmpirical",
    "Observation",
    "PortfolioPolicy",
    "SingleArm",
    "Vertices",
    "registry",
]
