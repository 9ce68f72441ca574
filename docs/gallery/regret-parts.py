"""The regret and its two parts

MV-LCB on the two arms of Figure 2 of the paper. Pulling the worse arm costs the gap
part. Switching between arms with different means adds variance, the exploration risk.
The regret is their sum.
"""

import matplotlib.pyplot as plt

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import plot_curves

RUNS, HORIZON = 500, 100_000

bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
runs = simulate(
    bandit,
    "mv-lcb",
    risk="mean-variance(rho=0)",
    horizon=HORIZON,
    runs=RUNS,
    snapshots="log",
)
names = {"regret": "regret", "gap": "gap part", "exploration": "exploration risk"}
curves = {label: runs.curve(measure) for measure, label in names.items()}

figure, ax = plt.subplots(figsize=(6.4, 4.0))
rounds = curves["regret"].rounds
plot_curves(
    ax,
    rounds,
    [(label, curve.mean, curve.se) for label, curve in curves.items()],
    log=False,
)
ax.set(xscale="log", xlabel="rounds", ylabel="regret per round")
