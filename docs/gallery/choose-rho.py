"""The best arm depends on ρ

The cost of an arm is its variance minus ρ times its mean, a straight line in ρ. The
lowest line is the best arm.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, MeanVariance

arms = {
    "steady": Gaussian(0.3, 0.05),
    "middle": Gaussian(0.6, 0.2),
    "bold": Gaussian(0.9, 0.7),
}
bandit = Bandit(list(arms.values()), names=list(arms))
rhos = np.linspace(0.0, 3.0, 61)
costs = np.array([bandit.costs(MeanVariance(rho)) for rho in rhos])

figure, ax = plt.subplots(figsize=(6.4, 4.0))
for name, cost in zip(bandit.names, costs.T, strict=True):
    ax.plot(rhos, cost, label=name)
ax.plot(rhos, costs.min(1), color="black", linewidth=5, alpha=0.15, label="best arm")
ax.set(xlabel="tolerance for risk ρ", ylabel="cost: variance − ρ · mean")
ax.legend()
