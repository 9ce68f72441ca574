"""When does forgetting pay? Dynamic regret of policies that forget, on five problems that drift and one that does not.

    python benchmarks/drift.py [runs]

For each policy it prints 1,000 times the dynamic regret a round over 3,000 rounds, with a standard error: by how much
the arm pulled cost more than the best arm of its round (mean-variance, ρ = 1). Runs of all policies draw from the same
streams. The last row restarts what is known of an arm when the alarm of a live experiment says that its rewards have
changed (prudent.live.drift, 1 % false alarms).
"""

import sys

from prudent import Bandit, Drifting, simulate
from prudent.engine.python.arm import ArmState
from prudent.engine.python.policies import Acting
from prudent.live import drift
from prudent.policies.contract import policies
from prudent.results.regret import dynamic_regret
from prudent.risk.base import risks

ROUNDS, RISK = 3_000, "mean-variance(rho=1)"
GOOD, FAIR, POOR, BROKEN = "beta(12, 8)", "beta(10, 10)", "beta(8, 12)", "beta(0.3, 2.7)"


def gradual():
    """The first arm's mean falls from 0.7 to 0.3, the second's rises; the third stays."""
    steps = [0.7 - 0.4 * k / 59 for k in range(60)]
    return [Bandit([f"beta({20 * p!r}, {20 - 20 * p!r})", f"beta({20 - 20 * p!r}, {20 * p!r})", FAIR]) for p in steps]


WEEKDAY, WEEKEND = Bandit([GOOD, FAIR, POOR]), Bandit([POOR, FAIR, GOOD])
PROBLEMS = {
    "nothing changes": Drifting([WEEKDAY], rounds=ROUNDS),
    "abrupt": Drifting([WEEKDAY, WEEKEND, Bandit([FAIR, GOOD, POOR])], rounds=ROUNDS // 3),
    "gradual": Drifting(gradual(), rounds=ROUNDS // 60),
    "weekday": Drifting([WEEKDAY] * 5 + [WEEKEND] * 2, rounds=100),
    "best arm breaks": Drifting([WEEKDAY, Bandit([BROKEN, FAIR, POOR])], rounds=ROUNDS // 2),
    "worst arm improves": Drifting([WEEKDAY, Bandit([GOOD, FAIR, "beta(16, 4)"])], rounds=ROUNDS // 2),
}
POLICIES = (
    "mv-imed",
    *(f"discounted(mv-imed, half_life={h})" for h in (50, 200, 800)),
    "sliding-window(mv-imed, window=300)",
)


class AfterAlarm:
    """A policy that knows nothing more of an arm as soon as its rewards have surely changed."""

    def __init__(self, policy):
        self.policy = policy

    def start(self, n_arms, horizon):
        self.acting = Acting(policies.parse(self.policy), risks.parse(RISK), None)
        self.acting.start(n_arms, horizon)
        self.marks = [drift.Marks() for _ in range(n_arms)]

    def ask(self, rng):
        return self.acting.ask(rng)

    def tell(self, arm, reward):
        self.acting.tell(arm, reward)
        known = self.acting.arms[arm]
        self.marks[arm].include(known)
        if known.pulls % drift.EVERY == 0 and self.marks[arm].change(known, drift.FAILURE / 3, (0.0, 1.0)):
            self.acting.arms[arm], self.marks[arm] = ArmState(), drift.Marks()


def main():
    """The table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("| policy |", " | ".join(PROBLEMS), "|")
    print("|---|" + "---|" * len(PROBLEMS))
    restarted = AfterAlarm("mv-imed")
    for policy in (*POLICIES, restarted):
        row = []
        for world in PROBLEMS.values():
            played = simulate(
                world, policy, risk=RISK, horizon=ROUNDS, runs=runs, keep="trajectory", common=True, workers=1
            )
            regret = 1_000 * dynamic_regret(played, world)
            row.append(f"{regret.mean():.1f} ± {regret.std(ddof=1) / runs**0.5:.1f}")
        name = policy if isinstance(policy, str) else f"{restarted.policy}, restarted by the alarm"
        print(f"| {name} |", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
