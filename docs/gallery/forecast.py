"""How a trial may end

After 1,000 customers an agent draws a thousand futures of its trial from the rewards so
far. The bands hold 50, 80 and 95 % of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Agent
from prudent.results.figures import COLOURS

HORIZON = 4_000

truth = {"old": 0.30, "new": 0.36, "bold": 0.33}
settings = {"horizon": HORIZON, "support": (0, 1), "risk": "mean-variance(rho=1)"}
agent = Agent("mv-lcb(c=1, unbiased=True)", arms=list(truth), **settings)
rng = np.random.default_rng(5)
for _ in range(HORIZON // 4):
    arm = agent.ask()
    agent.tell(arm, rng.random() < truth[arm])

rounds, quantiles = zip(*agent.forecast().fan, strict=True)
bands = np.array(quantiles).T  # at 2.5, 10, 25, 50, 75, 90 and 97.5 %
figure, ax = plt.subplots(figsize=(6.4, 4.0))
for low, high in ((0, 6), (1, 5), (2, 4)):
    ax.fill_between(
        rounds, bands[low], bands[high], color=COLOURS[0], alpha=0.25, linewidth=0
    )
ax.plot(rounds, bands[3], color=COLOURS[0], label="median of the futures")
ax.set(xlabel="rounds", ylabel="regret per round so far")
ax.legend()
