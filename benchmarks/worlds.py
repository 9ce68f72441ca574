"""What a round costs where it is interpreted: microseconds of CPU time, the least of some repetitions.

python benchmarks/worlds.py
"""

import re
import time
from pathlib import Path

from prudent import Bandit, Gaussian, simulate

PAGE = Path(__file__).resolve().parents[1] / "docs/researchers/worlds.md"
COINS = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"])
ROUNDS, REPEATS = 20_000, 3


def noise(arm, rng):
    """The cheapest world that draws."""
    return rng.normal(0.1 * arm)


class InTurn:
    """The cheapest learner: what is left is the loop itself."""

    def start(self, n_arms, horizon):
        self.arm = 0

    def ask(self, rng):
        self.arm = 1 - self.arm
        return self.arm

    def tell(self, arm, reward):
        pass


def microseconds(world, policy, **more):
    """CPU time of a round."""
    rounds, best = more.pop("rounds", ROUNDS), float("inf")
    asked = {"risk": "mean", "runs": 1, "workers": 1, **more}
    simulate(world, policy, horizon=100, **asked)
    for _ in range(REPEATS):
        started = time.process_time()
        simulate(world, policy, horizon=rounds, **asked)
        best = min(best, (time.process_time() - started) / rounds)
    return 1e6 * best


def main():
    """Print a table, as docs/researchers/worlds.md has it."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        if "class EXP3" in block:
            exec(compile(block, "worlds.md", "exec"), names)
    rows = {
        "the loop alone, with a world that draws": microseconds(noise, InTurn(), arms=2),
        "EXP3": microseconds(COINS, names["EXP3"]()),
        "Gradient": microseconds(COINS, names["Gradient"]()),
        "UCB1, interpreted": microseconds(COINS, "ucb1", engine="interpreted"),
        "MV-LCB, interpreted": microseconds(
            Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)]), "mv-lcb", engine="interpreted"
        ),
        "UCB1, compiled": microseconds(COINS, "ucb1", engine="stepping", rounds=2_000_000),
    }
    for name, value in rows.items():
        print(f"| {name} | {value:.2g} |")


if __name__ == "__main__":
    main()
