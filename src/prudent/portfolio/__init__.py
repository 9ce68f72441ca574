"""Portfolios: arms that pay together, mixes of them, and learning the best mix (docs: portfolios).

Examples
--------
>>> from prudent.portfolio import solve
>>> solve([[0.04, 0.01], [0.01, 0.09]], mean=[0.1, 0.2], rho=0.5).weights.round(3).tolist()
[0.5, 0.5]

active_set.py   the compiled half of the quadratic program: an active-set method
bandit.py       a portfolio bandit: arms that pay together, and the mixes that are best for them
figures.py      pictures of portfolios
laws.py         joint laws of the arms' rewards: what one round pays each arm, all drawn together
prices.py       prices and returns: to recognise the former, and to turn them into the latter
program.py      the best mix for known means and covariance: min xᵀCx − ρ xᵀμ over Σx = 1
report.py       what the command `portfolio` and the examples show: a mix being learned, the facts about it
runs.py         what simulated portfolios leave: the rewards' moments, the best mix's on the same draws
simulation.py   simulate_portfolio(): many runs of a portfolio policy
policies/       policies that learn a mix, one file each; `base` holds their contract
"""

from prudent.portfolio.bandit import Frontier as Frontier
from prudent.portfolio.bandit import PortfolioBandit as PortfolioBandit
from prudent.portfolio.laws import Block as Block
from prudent.portfolio.laws import EmpiricalJoint as EmpiricalJoint
from prudent.portfolio.laws import JointLaw as JointLaw
from prudent.portfolio.laws import MultivariateGaussian as MultivariateGaussian
from prudent.portfolio.laws import MultivariateT as MultivariateT
from prudent.portfolio.policies.base import Brief as Brief
from prudent.portfolio.policies.base import Explore as Explore
from prudent.portfolio.policies.base import Observation as Observation
from prudent.portfolio.policies.base import PortfolioPolicy as PortfolioPolicy
from prudent.portfolio.policies.base import portfolio_policies as portfolio_policies
from prudent.portfolio.policies.baselines import Even as Even
from prudent.portfolio.policies.baselines import SingleArm as SingleArm
from prudent.portfolio.policies.baselines import Vertices as Vertices
from prudent.portfolio.policies.mc_empirical import MCEmpirical as MCEmpirical
from prudent.portfolio.policies.mc_ete import MCETE as MCETE
from prudent.portfolio.policies.mc_ucb import MCUCB as MCUCB
from prudent.portfolio.program import Mix as Mix
from prudent.portfolio.program import positive_part as positive_part
from prudent.portfolio.program import solve as solve
from prudent.portfolio.runs import PortfolioRuns as PortfolioRuns
from prudent.portfolio.simulation import simulate_portfolio as simulate_portfolio
from prudent.portfolio.simulation import spaced as spaced
