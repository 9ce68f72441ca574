"""Print the tables of widths in docs/practitioners/live.md: `python docs/widths.py`, a minute or so.

Mean widths of 95 % confidence sequences over `RUNS` samples of laws on [0, 1]: by betting (what agents use), from
pulls, mean and variance alone, and by the hedged capital of Waudby-Smith and Ramdas (2024) with its predictable plug-in
bets, which needs every reward in order and all candidates kept.
"""

import math
from collections.abc import Sequence

import numpy as np

from prudent import Bernoulli, Beta, Law, Uniform
from prudent.confidence import anytime, betting

COUNTS = (20, 50, 200, 1_000)
LONG = (100, 1_000, 10_000, 100_000)
RUNS, FAILURE, RHO = 50, 0.05, 1.0
CANDIDATES = np.linspace(0.0, 1.0, 1_001)
LAWS: dict[str, Law] = {
    "0/1, success 1 %": Bernoulli(0.01),
    "0/1, success 10 %": Bernoulli(0.1),
    "0/1, success 50 %": Bernoulli(0.5),
    "beta(2, 5)": Beta(2.0, 5.0),
    "uniform": Uniform(0.0, 1.0),
    "beta(90, 210), narrow": Beta(90.0, 210.0),
}


def by_betting(rewards: np.ndarray) -> list[float]:
    """Widths for mean, variance and cost."""
    ledger = betting.entered(rewards, np.array([len(rewards)]), 0.0, 1.0, RHO)[0]
    known = ledger, len(rewards), FAILURE, 0.0, 1.0
    cost = betting.mean_variance_bounds(ledger, len(rewards), RHO, FAILURE, 0.0, 1.0)
    return [float(np.diff(ends)[0]) for ends in (betting.mean_bounds(*known), betting.variance_bounds(*known), cost)]


def by_moments(rewards: np.ndarray) -> list[float]:
    known = len(rewards), rewards.mean(), rewards.var()
    within = FAILURE, 0.0, 1.0
    cost = anytime.mean_variance_bounds(*known, RHO, *within)
    ends = anytime.mean_bounds(*known, *within), anytime.variance_bounds(*known, *within), cost
    return [float(np.diff(each)[0]) for each in ends]


def by_hedged_capital(rewards: np.ndarray) -> float:
    """Its Theorem 3 with predictable plug-in bets, truncated at half of the largest possible."""
    count = np.arange(1, len(rewards) + 1)
    means = (0.5 + rewards.cumsum()) / (count + 1)
    variances = (0.25 + ((rewards - means) ** 2).cumsum()) / (count + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    bets = np.sqrt(2.0 * math.log(2.0 / FAILURE) / (before * count * np.log1p(count)))
    up, down = np.zeros((2, len(CANDIDATES)))
    with np.errstate(divide="ignore"):
        for reward, bet in zip(rewards, bets, strict=True):
            up += np.log1p(np.minimum(bet, 0.5 / CANDIDATES) * (reward - CANDIDATES))
            down += np.log1p(-np.minimum(bet, 0.5 / (1.0 - CANDIDATES)) * (reward - CANDIDATES))
    left = CANDIDATES[np.maximum(up, down) < math.log(2.0 / FAILURE)]
    return float(np.ptp(left))


def maurer_pontil(n: int, variance: float, failure: float) -> float:
    """Half-width of the empirical Bernstein interval on [0, 1] for one n [Maurer09, Theorem 4], both sides."""
    log = math.log(4.0 / failure)
    return math.sqrt(2.0 * variance * log / n) + 7.0 * log / (3.0 * (n - 1))


def row(name: str, *widths: Sequence[float]) -> None:
    """A line of a table; several widths at each number of rewards are parted by strokes."""
    cells = (" / ".join(f"{width:.4f}" for width in cell) for cell in zip(*widths, strict=True))
    print(f"| {name} |", " | ".join(cells), "|")


def few() -> None:
    for name, law in LAWS.items():
        rewards = law.sample(np.random.default_rng(1), RUNS * max(COUNTS)).reshape(RUNS, -1)
        parts = [[run[:n] for run in rewards] for n in COUNTS]
        bets, moments = (
            np.array([np.mean([widths(run) for run in part], axis=0) for part in parts]).T
            for widths in (by_betting, by_moments)
        )
        hedged = [float(np.mean([by_hedged_capital(run) for run in part])) for part in parts]
        row(f"mean, {name}", bets[0], moments[0], hedged)
        row(f"variance, {name}", bets[1], moments[1])
        row(f"σ² − μ, {name}", bets[2], moments[2])


def many() -> None:
    law = Uniform(0.0, 1.0)
    rewards = law.sample(np.random.default_rng(1), max(LONG))
    bets = np.array([by_betting(rewards[:n]) for n in LONG]).T
    row("mean, uniform, by betting", bets[0])
    shared = [2.0 * maurer_pontil(n, law.variance, FAILURE / (n * (n + 1))) for n in LONG]
    row("the same by Maurer and Pontil with δ/n(n+1)", shared)
    once = [2.0 * maurer_pontil(n, law.variance, FAILURE) for n in LONG]
    row("the same by Maurer and Pontil, for one fixed n only", once)
    row("variance, uniform, by betting", bets[1])


def main() -> None:
    few()
    many()


if __name__ == "__main__":
    main()
