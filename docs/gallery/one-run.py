"""One run, round by round

A trajectory keeps the arm and the reward of every round. At first the policy tries
all arms. Later most rewards come from the third arm, the best one for this ρ.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import COLOURS

HORIZON = 600

bandit = Bandit([Gaussian(0.6, 0.10), Gaussian(0.2, 0.05), Gaussian(0.7, 0.02)])
settings = {
    "risk": "mean-variance(rho=1)",
    "horizon": HORIZON,
    "runs": 1,
    "keep": "trajectory",
}
arms, rewards, _ = simulate(bandit, "mvts", **settings).trajectory()

figure, ax = plt.subplots(figsize=(7.2, 3.6))
rounds = np.arange(1, HORIZON + 1)
for i, name in enumerate(bandit.names):
    chosen = arms[0] == i
    ax.scatter(
        rounds[chosen],
        rewards[0, chosen],
        s=9,
        color=COLOURS[i],
        label=f"{name}: {chosen.sum()} pulls",
    )
ax.set(xlabel="round", ylabel="reward")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
