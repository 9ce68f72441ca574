"""Many policies on two bandits

One call simulates all policies, and one draws them.
"""

from prudent import Bandit, Gaussian, simulate

RUNS, HORIZON = 200, 10_000

bandits = {
    "arms far apart": Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]),
    "arms close together": Bandit(
        [Gaussian(0.6, 0.05), Gaussian(0.55, 0.1), Gaussian(0.5, 0.02)]
    ),
}
policies = {
    "MV-LCB": "mv-lcb",
    "sharp MV-LCB": "mv-lcb(c=1, unbiased=True)",
    "Thompson": "mvts",
    "ExpExp": "exp-exp",
}
settings = {
    "risk": "mean-variance(rho=1)",
    "horizon": HORIZON,
    "runs": RUNS,
    "snapshots": "log",
}
figure = simulate(bandits, policies, **settings).plot()
