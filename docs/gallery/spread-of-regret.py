"""The regret is a random number

Each histogram shows the regret of all runs of one policy. ExpExp is good on average,
but in some runs it commits to the wrong arm.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate

RUNS, HORIZON = 2_000, 2_500

bandit = Bandit([Gaussian(0.6, 0.05), Gaussian(0.55, 0.1), Gaussian(0.5, 0.02)])
policies = {
    "sharp MV-LCB": "mv-lcb(c=1, unbiased=True)",
    "Thompson": "mvts",
    "ExpExp": "exp-exp",
}
settings = {"risk": "mean-variance(rho=1)", "horizon": HORIZON, "runs": RUNS}

figure, ax = plt.subplots(figsize=(6.4, 4.0))
for label, policy in policies.items():
    regret = simulate(bandit, policy, **settings).regret()
    ax.hist(
        regret,
        bins=np.linspace(-0.02, 0.14, 81),
        histtype="step",
        linewidth=1.6,
        label=label,
    )
ax.set(
    xlabel=f"regret per round of one run of {HORIZON:,} rounds",
    ylabel="runs",
    yscale="log",
)
ax.legend()
