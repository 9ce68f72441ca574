"""Rewards that come late

In a live experiment a reward is often known only some rounds later (horizontal axis).
Up to about a hundred rounds the delay costs little here.
"""

import matplotlib.pyplot as plt

from prudent import Bandit, simulate
from prudent.results.figures import plot_curves

RUNS, HORIZON = 100, 2_000

bandit = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"])
delays = [0, 3, 10, 30, 100, 300, 1_000]
curves = []
for label, policy in {"UCB1": "ucb1", "Thompson": "bernoulli-thompson"}.items():
    settings = {"risk": "mean", "horizon": HORIZON, "runs": RUNS}
    found = [
        simulate(bandit, policy, delay=delay, **settings).summary() for delay in delays
    ]
    curves.append(
        (
            label,
            [each["regret"] for each in found],
            [each["regret_se"] for each in found],
        )
    )

figure, ax = plt.subplots(figsize=(6.4, 4.0))
plot_curves(ax, delays, curves, log=False)
ax.set_xscale("symlog", linthresh=3)
ax.set(xlabel="delay in rounds", ylabel="regret per round")
