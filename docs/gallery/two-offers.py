"""Which of two offers is better?

The second offer pays a little more on average, but its revenue varies much more. By
the mean it is better. By the mean-variance with ρ = 50 EUR the first one is.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, MeanVariance
from prudent.results.figures import COLOURS

bandit = Bandit(
    [Gaussian(39.0, 12.0**2), Gaussian(41.0, 28.0**2)], names=["steady", "bold"]
)
costs = bandit.costs(MeanVariance(rho=50.0))

figure, ax = plt.subplots(figsize=(6.4, 3.6))
x = np.linspace(-50.0, 130.0, 500)
arms = zip(bandit.names, bandit.means, bandit.variances, costs, COLOURS, strict=False)
for name, mean, variance, cost, colour in arms:
    density = np.exp(-((x - mean) ** 2) / (2.0 * variance)) / np.sqrt(
        2.0 * np.pi * variance
    )
    ax.fill_between(
        x,
        density,
        color=colour,
        alpha=0.25,
        label=f"{name}: mean {mean:g} EUR, cost −{-cost:,.0f}",
    )
    ax.plot([mean, mean], [0.0, density.max()], color=colour, linewidth=1.2)
ax.set(xlabel="revenue from one customer (EUR)", ylabel="density", yticks=[])
ax.set_ylim(0.0, 1.35 * ax.get_ylim()[1])
ax.legend()
