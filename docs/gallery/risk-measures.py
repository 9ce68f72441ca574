"""Five risk measures, three verdicts

Three distributions: steady, bold, and with a rare disaster. Each measure is a cost, so
the lowest bar of a group is the best arm. Three measures choose the steady arm, the
mean chooses the bold one, and the quantile ignores the rare disaster.
"""

import matplotlib.pyplot as plt
import numpy as np

from prudent import Bandit, Empirical, Gaussian

laws = {
    "steady": Gaussian(0.7, 0.02),
    "bold": Gaussian(1.0, 0.5),
    "rare disaster": Empirical([1.1] * 49 + [-4.0]),
}
bandit = Bandit(list(laws.values()), names=list(laws))
measures = {
    "mean": "mean",
    "mean-variance": "mean-variance(rho=1)",
    "worst 5 %": "cvar(alpha=0.05)",
    "entropic": "entropic(lam=2)",
    "10 % quantile": "var(alpha=0.1)",
}
costs = np.array([bandit.costs(spec) for spec in measures.values()])

figure, ax = plt.subplots(figsize=(7.2, 4.0))
for i, name in enumerate(bandit.names):
    ax.bar(
        np.arange(len(measures)) + 0.27 * (i - 1), costs[:, i], width=0.25, label=name
    )
ax.set_xticks(range(len(measures)), measures)
ax.axhline(0.0, color="black", linewidth=0.8)
ax.set_ylabel("cost; the smallest is best")
ax.legend()
