"""By how much common random numbers shrink the standard error of the difference of two policies, and what a taped round
costs: `python benchmarks/common.py [runs] [horizon]` prints the table of docs/researchers/results.md.

Runs are the same but for `common`. The ratio of variances is how many times as many independent runs give the same
standard error.
"""

import sys
import time
from itertools import combinations

from prudent import Bandit, Gaussian, MeanVariance, simulate
from prudent.base.text import number, with_error

BANDITS = {
    "2 arms": Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]),
    "close": Bandit([Gaussian(0.6, 0.05), Gaussian(0.55, 0.1), Gaussian(0.5, 0.02)]),
}
POLICIES = ["mv-lcb(c=1)", "mv-lcb(c=1.2)", "exp-exp", "mvts"]
RISK = MeanVariance(1.0)


def differences(runs: int, horizon: int) -> None:
    settings = {"risk": RISK, "horizon": horizon, "runs": runs, "engine": "stepping"}
    print("| arms | policies | measure | difference, independent | with common numbers | variance, times |")
    print("|---|---|---|---|---|---|")
    for label, bandit in BANDITS.items():
        own, shared = (simulate(bandit, POLICIES, common=flag, **settings) for flag in (False, True))
        for measure in ("regret", "reward_mean"):
            for one, other in combinations(POLICIES, 2):
                found = []
                for each in (own, shared):
                    row = each.table(measure, against=one).filter(policy=other).row(0, named=True)
                    found.append((row["difference"], row["difference_se"]))
                times = (found[0][1] / found[1][1]) ** 2
                cells = label, f"`{other}` − `{one}`", measure.replace("_", " "), *(with_error(*f) for f in found)
                print("|", " | ".join(cells), "|", number(times, 2), "|")


def costs(horizon: int) -> None:
    settings = {"risk": RISK, "horizon": horizon, "runs": 100, "engine": "stepping", "workers": 1}
    for label, more in (("plain", {}), ("keep", {"keep": "trajectory"}), ("common", {"common": True})):
        taken = []
        for _ in range(5):
            start = time.process_time()
            simulate(BANDITS["close"], "mv-lcb(c=1)", **settings, **more)
            taken.append(time.process_time() - start)
        print(f"{label}: {min(taken) / 100 / horizon * 1e9:.0f} ns a round")


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    differences(*(given or [1000, 2500]))
    costs(20_000)
