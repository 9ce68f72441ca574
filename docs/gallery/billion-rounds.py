"""A billion rounds

MV-LCB leaps: it draws many pulls of one arm as one block, exactly in distribution. So
a run of a billion rounds takes about a millisecond. From a million rounds on the
regret follows the rate log n/n (dotted).
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import plot_curves

RUNS, LONGEST = 100, 9

bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
horizons = np.array([10**power for power in range(4, LONGEST + 1)])
settings = {"risk": "mean-variance(rho=0)", "runs": RUNS}
found = [
    simulate(bandit, "mv-lcb", horizon=int(n), **settings).summary() for n in horizons
]
regret = np.array([each["regret"] for each in found])

figure, ax = plt.subplots(figsize=(6.4, 4.0))
plot_curves(ax, horizons, [("MV-LCB", regret, [each["regret_se"] for each in found])])
rate = np.log(horizons) / horizons
ax.plot(
    horizons,
    regret[-1] * rate / rate[-1],
    color="black",
    linestyle=":",
    linewidth=1.0,
    label="log n/n",
)
ax.set(xlabel="rounds n", ylabel="regret per round")
ax.legend()
