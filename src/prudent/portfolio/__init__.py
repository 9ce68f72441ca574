"""Portfolios: arms that pay together, mixes of them, and learning the best mix (docs/portfolios.md)."""

from prudent.portfolio.bandit import Frontier, PortfolioBandit
from prudent.portfolio.laws import Block, EmpiricalJoint, JointLaw, MultivariateGaussian, MultivariateT
from prudent.portfolio.policies import (
    MCETE,
    MCUCB,
    Even,
    Explore,
    MCEmpirical,
    Observation,
    PortfolioPolicy,
    SingleArm,
    Task,
    Vertices,
    registry,
)
from prudent.portfolio.program import Mix, positive_part, solve
from prudent.portfolio.runs import PortfolioRuns, Slope, fit_slope
from prudent.portfolio.simulation import simulate_portfolio, spaced

__all__ = [
    "MCETE",
    "MCUCB",
    "Block",
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
    "Slope",
    "Task",
    "Vertices",
    "fit_slope",
    "positive_part",
    "registry",
    "simulate_portfolio",
    "solve",
    "spaced",
]
