"""Portfolios: arms that pay together, mixes of them, and learning the best mix (docs/portfolios.md)."""

from prudent.portfolio.bandit import Frontier, PortfolioBandit
from prudent.portfolio.laws import Block, EmpiricalJoint, JointLaw, MultivariateGaussian, MultivariateT
from prudent.portfolio.policies import (
    MCETE,
    MCUCB,
    Brief,
    Even,
    Explore,
    MCEmpirical,
    Observation,
    PortfolioPolicy,
    SingleArm,
    Vertices,
    registry,
)
from prudent.portfolio.program import Mix, positive_part, solve
from prudent.portfolio.runs import Band, PortfolioRuns, bootstrap_slope
from prudent.portfolio.simulation import simulate_portfolio, spaced

__all__ = [
    "MCETE",
    "MCUCB",
    "Band",
    "Block",
    "Brief",
    "EmpiricalJoint",
    "Even",
    "Explore",
    "Frontier",
    "JointLaw",
    "MCEmpirical",
    "Mix",
    "MultivariateGaussian",
    "MultivariateT",
    "Observation",
    "PortfolioBandit",
    "PortfolioPolicy",
    "PortfolioRuns",
    "SingleArm",
    "Vertices",
    "bootstrap_slope",
    "positive_part",
    "registry",
    "simulate_portfolio",
    "solve",
    "spaced",
]
