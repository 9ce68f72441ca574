"""Mixes of arms

If a round may be divided among arms, mixes can be steadier than every single arm. The
curves are the best mixes under three sets of limits, the black path the mixes of a
learner over time.
"""

import matplotlib.pyplot as plt

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import spaced
from prudent.portfolio.figures import plot_frontier

HORIZON = 10_000

law = MultivariateGaussian(
    [0.5, 0.3, 0.1], [[1.0, 0.3, 0.0], [0.3, 0.6, -0.1], [0.0, -0.1, 0.4]]
)
bandit = PortfolioBandit(law, names=["ads", "mail", "search"])
runs = simulate_portfolio(
    bandit,
    "mc-empirical",
    rho=1.0,
    horizon=HORIZON,
    runs=2,
    snapshots=spaced(10, HORIZON, 13),
)

figure, ax = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
limits = {
    "long only": {},
    "at most 0.4 each": {"upper": 0.4},
    "with short selling": {"short": True},
}
plot_frontier(
    ax,
    bandit,
    [(label, bandit.frontier(**each)) for label, each in limits.items()],
    runs,
)
