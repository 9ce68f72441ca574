"""Intervals that hold at all times

A live experiment with two options. With probability 95 % the true mean is within its
band in all rounds at once. So you may look after every reward, and stop when you like.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Agent
from prudent.results.figures import COLOURS

HORIZON = 2_000

truth = {"old": 0.30, "new": 0.45}
agent = Agent(
    "round-robin",
    arms=list(truth),
    horizon=HORIZON,
    support=(0, 1),
    risk="mean",
    seed=1,
)
rng = np.random.default_rng(1)
looks = []
for t in range(1, HORIZON + 1):
    arm = agent.ask()
    agent.tell(arm, rng.random() < truth[arm])
    if t >= 10 and t % 10 == 0:
        looks.append((t, [each.mean for each in agent.intervals(level=0.95)]))

figure, ax = plt.subplots(figsize=(6.4, 4.0))
for i, (name, mean) in enumerate(truth.items()):
    low, high = np.array([[look[1][i].low, look[1][i].high] for look in looks]).T
    ax.fill_between(
        [look[0] for look in looks], low, high, color=COLOURS[i], alpha=0.3, label=name
    )
    ax.axhline(mean, color=COLOURS[i], linestyle="--", linewidth=1.0)
ax.set(
    xscale="log", xlabel="rewards reported", ylabel="success rate (dashed: the truth)"
)
ax.legend()
