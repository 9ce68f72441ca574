"""The best arm changes with the number of periods

Only the sum of n rewards counts, and its cost is the mean of the worst 5 % of sums. In
one period the steady arm is best, over many the bold one, because good and bad rewards
even out.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import CVaR, Empirical, Gaussian, period_cost

laws = {
    "steady": Gaussian(0.5, 0.01),
    "bold": Gaussian(1.0, 1.0),
    "rare disaster": Empirical([1.0] * 49 + [-5.0]),
}
periods = np.unique(np.geomspace(1, 1_000, 40).astype(int))

figure, ax = plt.subplots(figsize=(6.4, 4.0))
for name, law in laws.items():
    ax.plot(
        periods,
        [period_cost(law, CVaR(0.05), int(n)).cost / n for n in periods],
        label=name,
    )
ax.set(xscale="log", xlabel="periods", ylabel="cost of the sum per period (CVaR, 5 %)")
ax.legend()
