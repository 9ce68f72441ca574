"""Portfolios: arms that pay together, mixes of them, and learning the best mix (docs/portfolios.md)."""

from prudent.portfolio.bandit import Frontier, PortfolioBandit
from prudent.portfolio.laws import Block, EmpiricalJoint, JointLaw, MultivariateGaussian, MultivariateT
from prudent.portfolio.program import Mix, positive_part, solve

__all__ = [
    "Block",
    "EmpiricalJoint",
    "Frontier",
    "JointLaw",
    "Mix",
    "MultivariateGaussian",
    "MultivariateT",
    "PortfolioBandit",
    "positive_part",
    "solve",
]
