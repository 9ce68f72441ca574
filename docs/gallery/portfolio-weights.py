"""A learner finds the best mix

The weights of a learner, averaged over runs. The dashed lines are the best mix.
"""

import matplotlib.pyplot as plt

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import spaced
from prudent.portfolio.figures import plot_weights

RUNS, HORIZON = 20, 30_000

law = MultivariateGaussian(
    [0.5, 0.3, 0.1], [[1.0, 0.3, 0.0], [0.3, 0.6, -0.1], [0.0, -0.1, 0.4]]
)
bandit = PortfolioBandit(law, names=["ads", "mail", "search"])
runs = simulate_portfolio(
    bandit,
    "mc-empirical",
    rho=1.0,
    horizon=HORIZON,
    runs=RUNS,
    snapshots=spaced(10, HORIZON, 13),
)

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
plot_weights(ax, runs)
