"""Finding the best arm with a budget

Only the answer counts, not the rewards on the way. Strategies that drop bad arms early
err far less often than one that divides the budget evenly.
"""

import matplotlib.pyplot as plt

from prudent import identify
from prudent.paper.problems import CONFIGURATION_1
from prudent.results.figures import plot_curves

RUNS = 2_000

budgets = [100, 250, 500, 1_000, 2_500, 5_000]
curves = []
for strategy in ("uniform", "successive-rejects", "sequential-halving"):
    settings = {"risk": "mean-variance(rho=1)", "runs": RUNS}
    found = [
        identify(CONFIGURATION_1, strategy, budget=n, **settings).error_probability()
        for n in budgets
    ]
    curves.append(
        (strategy, [each.value for each in found], [each.se for each in found])
    )

figure, ax = plt.subplots(figsize=(6.4, 4.0))
plot_curves(ax, budgets, curves, log=False)
ax.set(xscale="log", xlabel="budget (pulls)", ylabel="probability of a wrong answer")
