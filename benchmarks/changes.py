"""How often the alarm "the rewards of an arm have changed" is false, and how soon it comes when they have.

    python benchmarks/changes.py [--runs 2000] [--rewards 5000] [--arms 5]

Experiments with arms whose rewards never change, of several laws: in how many of them an alarm ever comes, beside the
error that is stated. Then one arm changes by one standard deviation after some rewards: how many more it takes. Rewards
are judged as the service judges them, many experiments at once.
"""

import argparse

import numpy as np

from prudent.live import drift
from prudent.live.guardrails import share_of_arm

SUPPORT = (0.0, 1.0)
LAWS = {
    "coin": lambda rng, size: (rng.random(size) < 0.3).astype(float),
    "rare": lambda rng, size: (rng.random(size) < 0.01).astype(float),
    "beta": lambda rng, size: rng.beta(4.0, 4.0, size),
}
SHIFTS = {
    "coin, 0.2 to 0.6": (lambda rng, size: rng.random(size) < 0.2, lambda rng, size: rng.random(size) < 0.6),
    "beta, up by a standard deviation": (
        lambda rng, size: rng.beta(4.0, 4.0, size),
        lambda rng, size: np.clip(rng.beta(4.0, 4.0, size) + 1.0 / 6.0, 0.0, 1.0),
    ),
    "the same mean, twice the standard deviation": (
        lambda rng, size: rng.beta(4.0, 4.0, size),
        lambda rng, size: np.clip(0.5 + 2.0 * (rng.beta(4.0, 4.0, size) - 0.5), 0.0, 1.0),
    ),
}
BEFORE = (200, 500, 2000, 10_000)


def first_alarms(rewards: np.ndarray, failure: float) -> np.ndarray:
    """For each row, the number of rewards at which the first alarm comes; 0 if none does."""
    runs, length = rewards.shape
    counts = np.arange(1, length + 1)
    means = np.cumsum(rewards, 1) / counts
    variances = np.maximum(np.cumsum(np.square(rewards), 1) / counts - means**2, 0.0)
    marks: list[tuple[int, np.ndarray, np.ndarray]] = []
    limits: list[np.ndarray] = []
    first = np.zeros(runs, int)
    at = drift.FIRST
    for n in range(1, length + 1):
        now = n, means[:, n - 1], variances[:, n - 1]
        if n >= at:
            marks.append(now)
            limits.append(drift.limits_at((np.full(runs, n), *now[1:]), failure, SUPPORT))
            at = drift.GROWTH * n
        if n % drift.EVERY == 0:
            errors = drift.errors(len(marks), failure)
            for then, known, error in zip(marks, limits, errors, strict=True):
                if then[0] < n:
                    found = drift.excess(then, now, known, error, SUPPORT).max(0) >= 0.0
                    first[found & (first == 0)] = n
    return first


def false_alarms(rng: np.random.Generator, law: str, runs: int, length: int, arms: int) -> int:
    """Experiments, each with so many arms, in which an alarm ever comes."""
    failures = [drift.FAILURE * share_of_arm(arms, number) for number in range(arms)]
    found = [first_alarms(LAWS[law](rng, (runs, length)), failure) > 0 for failure in failures]
    return int(np.any(found, 0).sum())


def delays(rng: np.random.Generator, shift: str, before: int, runs: int, arms: int) -> np.ndarray:
    """Rewards from the change to the alarm, of one of so many arms; infinite if there is none."""
    old, new = SHIFTS[shift]
    rewards = np.concatenate([old(rng, (runs, before)), new(rng, (runs, 2 * before + 1000))], 1).astype(float)
    first = first_alarms(rewards, drift.FAILURE * share_of_arm(arms, 0))
    return np.where(first > before, first - before, np.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rewards", type=int, default=5000)
    parser.add_argument("--arms", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"Stationary, {given.arms} arms with {given.rewards:,} rewards each, {given.runs:,} experiments")
    print(f"An alarm ever comes in at most {drift.FAILURE:.1%} of them, it is said")
    for law in LAWS:
        alarms = false_alarms(rng, law, given.runs, given.rewards, given.arms)
        print(f"{law:>10} {alarms:5,} {alarms / given.runs:8.2%}", flush=True)
    print(f"Rewards from a change to the alarm, median and 90 %, for one of {given.arms} arms, 100 experiments each")
    print(f"{'rewards before':>48}" + "".join(f"{before:>16,}" for before in BEFORE))
    for shift in SHIFTS:
        cells = [
            np.quantile(delays(rng, shift, before, 100, given.arms), [0.5, 0.9], method="higher") for before in BEFORE
        ]
        texts = [f"{middle:,.0f} / {most:,.0f}" if np.isfinite(middle) else "–" for middle, most in cells]
        print(f"{shift:>48}" + "".join(f"{text:>16}" for text in texts), flush=True)


if __name__ == "__main__":
    main()
