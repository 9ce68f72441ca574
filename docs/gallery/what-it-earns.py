"""What two learners earn

Both learners serve the same customers. One maximises the mean. The other also counts
the variance, with ρ = 50 EUR: it earns a little less on average and much more steadily.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import COLOURS

HORIZON = 20_000

bandit = Bandit(
    [Gaussian(39.0, 12.0**2), Gaussian(41.0, 28.0**2)], names=["steady", "bold"]
)
learners = {
    "learns the mean": ("mean", "thompson"),
    "counts the risk": ("mean-variance(rho=50)", "mvts"),
}

figure, ax = plt.subplots(figsize=(6.4, 3.6))
for colour, (label, (risk, policy)) in zip(
    COLOURS[1::-1], learners.items(), strict=True
):
    runs = simulate(
        bandit,
        policy,
        risk=risk,
        horizon=HORIZON,
        runs=1,
        scale="auto",
        keep="trajectory",
    )
    rewards = runs.trajectory().rewards[0]
    found = f"mean {rewards.mean():.1f}, standard deviation {rewards.std():.1f} EUR"
    ax.hist(
        rewards,
        bins=np.linspace(-50.0, 130.0, 91),
        color=colour,
        alpha=0.4,
        label=f"{label}: {found}",
    )
ax.set(xlabel="revenue from one customer (EUR)", ylabel="customers")
ax.set_ylim(top=1.25 * ax.get_ylim()[1])
ax.legend(loc="upper left")
