"""The worst case of two algorithms

MV-LCB loses most where the gap between the arms is close to zero, because it pulls both
for a long time. ExpExp stops exploring in time, and its worst gap is larger.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import plot_curves

RUNS, HORIZON = 200, 25_000

gaps = np.linspace(0.0, 0.25, 11)
curves = []
for label, policy in {"MV-LCB": "mv-lcb", "ExpExp": "exp-exp"}.items():
    means, errors = [], []
    for gap in gaps:
        bandit = Bandit([Gaussian(1.5, 0.25 - gap), Gaussian(0.4, 0.25)])
        found = simulate(
            bandit, policy, risk="mean-variance(rho=0)", horizon=HORIZON, runs=RUNS
        ).summary()
        means.append(found["regret"])
        errors.append(found["regret_se"])
    curves.append((label, means, errors))

figure, ax = plt.subplots(figsize=(6.4, 4.0))
plot_curves(ax, gaps, curves, log=False)
ax.set(
    xlabel="gap of the variances", ylabel=f"regret per round after {HORIZON:,} rounds"
)
