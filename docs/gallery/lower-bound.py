"""What no policy can beat

Multiplied by n, logarithmic regret is a straight line. The lower bound (dashed) holds
in the limit, so a policy may be below it for a while. MV-IMED follows it closely.
"""

import matplotlib.pyplot as plt

from prudent import Bandit, Gaussian, simulate
from prudent.results.figures import LOWER_BOUND
from prudent.theory import asymptotic_bound

RUNS, HORIZON = 300, 100_000

bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
risk = "mean-variance(rho=1)"
policies = {
    "Thompson": "mvts",
    "MV-IMED": "mv-imed",
    "sharp MV-LCB": "mv-lcb(c=1, unbiased=True)",
}
compared = simulate(
    bandit, policies, risk=risk, horizon=HORIZON, runs=RUNS, snapshots="log"
)

figure, ax = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
compared.plot(cumulative=True, ax=ax)
bound = asymptotic_bound(bandit, risk)
rounds = compared["Thompson"].curve().rounds
ax.plot(rounds, [n * bound.regret(n) for n in rounds], **LOWER_BOUND)
ax.legend(loc="upper left")
