"""What a policy earns for each ρ

Grey points are single arms, the line a policy for different ρ. A small ρ stays with the
steady arms on the left, a large one moves up to the arms with a high mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import MeanVariance, simulate
from prudent.paper.problems import CONFIGURATION_1

RUNS, HORIZON = 50, 25_000

rhos = (0.0, 0.1, 0.3, 0.7, 1.2, 2.3, 3.7, 10.0)
found = [
    simulate(
        CONFIGURATION_1, "mvts", risk=MeanVariance(rho), horizon=HORIZON, runs=RUNS
    )
    for rho in rhos
]

figure, ax = plt.subplots(figsize=(6.4, 4.0))
ax.scatter(
    np.sqrt(CONFIGURATION_1.variances), CONFIGURATION_1.means, color="0.6", label="arms"
)
deviations = [runs.reward_variance().mean() ** 0.5 for runs in found]
ax.plot(
    deviations,
    [runs.reward_mean().mean() for runs in found],
    marker="o",
    label="Thompson sampling, ρ from 0 to 10",
)
ax.set(xlabel="standard deviation", ylabel="mean")
ax.legend()
