"""A distribution of your own

Any distribution can be an arm if you know its quantiles. Here most customers pay
little and a few pay much (Weibull). The line is the density.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import weibull_min

from prudent import Bandit, FromQuantile

DRAWS = 20_000

law = FromQuantile(
    lambda u: (-np.log1p(-u)) ** 1.5,
    upper=lambda u: (-np.log(u)) ** 1.5,
    support=(0.0, math.inf),
)
bandit = Bandit([law, "gaussian(1.2, 0.1)"], names=["own", "steady"])
costs = bandit.costs("cvar(alpha=0.1)")
rewards = law.sample(np.random.default_rng(0), DRAWS)

figure, ax = plt.subplots(figsize=(6.4, 4.0))
ax.hist(
    rewards, bins=np.linspace(0.0, 6.0, 121), density=True, alpha=0.5, label="draws"
)
x = np.linspace(0.02, 6.0, 400)
ax.plot(x, weibull_min.pdf(x, 1.0 / 1.5), color="black", linewidth=1.2, label="density")
ax.set(xlabel="reward", ylabel="density", ylim=(0.0, 2.0))
ax.set_title(
    f"mean of the worst 10 %: own {-costs[0]:.2f}, steady {-costs[1]:.2f}", fontsize=10
)
ax.legend()
