"""What intervals cost: of all arms at once against arm by arm, and a limit that is only asked about.

    python benchmarks/intervals.py [arms, 20 by default]

Processor time, the best of 5. Arms have 500 rewards each, with a ledger (`betting`) and without (`anytime`). An
interval of the mean alone is what `mean_above` saves.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from prudent.confidence import anytime, betting
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live.evidence import Evidence
from prudent.live.intervals import intervals
from prudent.risk.mean_variance import MeanVariance

PULLS, FAILURE, RHO = 500, 0.05, 1.0


def seconds(work: Callable[[], Any], times: int = 1) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            work()
        best = min(best, (time.process_time() - start) / times)
    return best


def main(number: int) -> None:
    rng = np.random.default_rng(0)
    arms = [ArmState() for _ in range(number)]
    for arm in arms:
        for reward in rng.random(PULLS).tolist():
            include_reward(arm, reward, 0.0, 1.0, RHO)

    def known(some: list[ArmState]) -> Any:
        return intervals(Evidence(some, MeanVariance(RHO), (0.0, 1.0)), FAILURE)

    first = arms[0]
    assert first.ledger is not None
    moments, within = (first.pulls, first.mean, first.variance), (FAILURE, 0.0, 1.0)
    bets = first.ledger, first.pulls
    asks: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "betting": (
            lambda: betting.mean_bounds(*bets, *within),
            lambda: betting.mean_above(*bets, 0.4, *within),
        ),
        "always": (
            lambda: anytime.mean_bounds(*moments, *within),
            lambda: anytime.mean_above(*moments, 0.4, *within),
        ),
    }
    for kind, (search, look) in asks.items():
        together, apart = seconds(lambda: known(arms)), seconds(lambda: [known([arm]) for arm in arms])
        print(f"{kind}: {number} arms at once {1e3 * together:.1f} ms, one by one {1e3 * apart:.1f} ms", end="")
        print(f": {apart / together:.1f} times")
        found, asked = seconds(search, 20), seconds(look, 1_000)
        print(
            f"{kind}: interval of a mean {1e6 * found:.0f} µs, a limit {1e6 * asked:.1f} µs: {found / asked:.0f} times"
        )
        for arm in arms:
            arm.ledger = None


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
