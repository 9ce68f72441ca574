"""How often the best arm is pulled

The line is the median over runs, the band the middle 80 %. ExpExp first pulls all arms
equally often, then only the one that looks best. Thompson sampling is slower here,
because the arms are close together.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import COLOURS

RUNS, HORIZON = 300, 10_000

bandit = Bandit([Gaussian(0.6, 0.05), Gaussian(0.55, 0.1), Gaussian(0.5, 0.02)])
figure, ax = plt.subplots(figsize=(6.4, 4.0))
for colour, (label, policy) in zip(
    COLOURS, {"Thompson": "mvts", "ExpExp": "exp-exp"}.items(), strict=False
):
    runs = simulate(
        bandit,
        policy,
        risk="mean-variance(rho=1)",
        horizon=HORIZON,
        runs=RUNS,
        snapshots="log",
    )
    shares = np.array([each.best_share() for each in runs.history])
    low, middle, high = np.quantile(shares, [0.1, 0.5, 0.9], axis=1)
    rounds = [each.horizon for each in runs.history]
    ax.plot(rounds, middle, color=colour, label=label)
    ax.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
ax.set(xscale="log", xlabel="rounds", ylabel="share of the best arm")
ax.legend(loc="upper left")
