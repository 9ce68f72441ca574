"""Print the numbers of published papers beside ours (docs/literature/policies.md): `python docs/published.py`.

tests/statistical/test_published.py runs the same experiments, with fewer runs.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prudent import Bandit, Bernoulli, Beta, MeanVariance, Mixed, identify, simulate
from prudent.paper.problems import CONFIGURATION_1
from prudent.results.runs import averages

Array = NDArray[np.float64]


class Experiment(NamedTuple):
    """A published mean with its standard error, how to measure it, and how many runs the table takes."""

    what: str
    published: float
    error: float
    measure: Callable[[int], Array]
    runs: int


def zhu_and_tan(policy: str, rho: float) -> Callable[[int], Array]:
    """n (variance − ρ mean − best cost) of the n = 30,000 rewards as one sequence, configuration 1 [Zhu20]."""

    def measure(runs: int) -> Array:
        n, risk = 30_000, MeanVariance(rho)
        found = simulate(CONFIGURATION_1, policy, risk=risk, horizon=n, runs=runs, engine="stepping")
        regrets: Array = n * (found.cost() - CONFIGURATION_1.costs(risk).min())
        return regrets

    return measure


BETAS = Bandit([Beta(1.0, 3.0), Beta(3.0, 3.0), Beta(3.0, 1.0)])
ROUNDS = 5_000
"""The experiment of [Chang22]: Σ T_i Δ_i of ρ-NPTS for ½ mean − variance + mean of the best 5 %, our `mixed`."""


def sorted_rewards(runs: int) -> Array:
    """As the paper defines it."""
    regrets: Array = ROUNDS * simulate(BETAS, "npts", risk=Mixed(), horizon=ROUNDS, runs=runs).gap_regret()
    return regrets


def unsorted_rewards(best_first: bool, from_the_end: bool, runs: int) -> Array:
    """The same with rewards left as they arrived, so that "the best 5 %" are those at one end of the list.

    The value that stands for the support, 1, is at the front of the list or at its back.
    """
    rng, regrets = np.random.default_rng(0), np.empty(runs)
    for run in range(runs):
        rewards, pulls = np.ones((len(BETAS), ROUNDS + 2)), np.zeros(len(BETAS), int)
        for _ in range(ROUNDS):
            lists = [row[: n + 1] if best_first else row[1 : n + 2] for row, n in zip(rewards, pulls, strict=True)]
            arm = int(np.argmax([_unsorted_score(values, from_the_end, rng) for values in lists]))
            pulls[arm] += 1
            rewards[arm, pulls[arm]] = BETAS.arms[arm].sample(rng, 1)[0]
        regrets[run] = pulls @ BETAS.gaps(Mixed())
    return regrets


def _unsorted_score(values: Array, from_the_end: bool, rng: np.random.Generator) -> float:
    weights = rng.standard_exponential(len(values))
    weights /= weights.sum()
    mean, below = weights @ values, weights.cumsum()
    tail = np.maximum(below - 0.95, 0.0) if from_the_end else np.minimum(below, 0.05)
    best = np.diff(tail, prepend=0.0) @ values / 0.05
    return float(0.5 * mean - weights @ (values - mean) ** 2 + best)


def hou_tan_and_zhong(j: int) -> Callable[[int], Array]:
    """Pulls until VA-LUCB stops, variance limit 0.2 and δ = 0.05 [Hou22]; a wrong answer is not a number to compare."""

    def measure(runs: int) -> Array:
        safe = [(0.3, 0.16), (0.1, 0.08), (0.15, 0.10), (0.2, 0.12), (0.25, 0.14)]
        risky = [(mean, 0.233 - 0.003 * j) for mean in (0.4, 0.45, 0.5, 0.55, 0.6)]
        bandit = Bandit([Beta.from_moments(*moments) for moments in safe + risky])
        found = identify(bandit, "va-lucb(limit=0.2)", risk="mean", delta=0.05, runs=runs)
        if found.wrong().any():
            raise AssertionError(f"VA-LUCB recommended {np.unique(found.recommended)}, not arm 0 alone")
        return found.stopping_time().astype(float)

    return measure


def wolf(policy: str, *probabilities: float) -> Callable[[int], Array]:
    """Σ T_i Δ_i of the mean after n = 100,000 rounds of Bernoulli arms [Wolf25]."""

    def measure(runs: int) -> Array:
        n, bandit = 100_000, Bandit([Bernoulli(p) for p in probabilities])
        found = simulate(bandit, policy, risk="mean", horizon=n, runs=runs, engine="stepping")
        regrets: Array = n * found.gap_regret()
        return regrets

    return measure


UCB_V = "ucb-v(zeta=1.000000001)"
"""With ζ = 1, where its theorem ends."""

EXPERIMENTS = [
    Experiment("MTS, ρ = 1 [Zhu20]", 831, 26, zhu_and_tan("mts", 1.0), 400),
    Experiment("MVTS, ρ = 1 [Zhu20]", 948, 33, zhu_and_tan("mvts", 1.0), 400),
    Experiment("MV-LCB (`mv-ucb`), ρ = 1 [Zhu20]", 4019, 25, zhu_and_tan("mv-ucb", 1.0), 400),
    Experiment("VTS, ρ = 0.001 [Zhu20]", 44, 7, zhu_and_tan("vts", 0.001), 400),
    Experiment("ρ-NPTS, sorted rewards (reference) [Chang22]", 6.40, 0.18, sorted_rewards, 200),
    Experiment("VA-LUCB, j = 1 [Hou22]", 226_542, 9_441 / math.sqrt(20), hou_tan_and_zhong(1), 400),
    Experiment("VA-LUCB, j = 3 [Hou22]", 312_921, 6_708 / math.sqrt(20), hou_tan_and_zhong(3), 400),
    Experiment("UCB-Tuned, arms 0.9 and 0.8 [Wolf25]", 25.96, 1.20, wolf("ucb-tuned", 0.9, 0.8), 1_000),
    Experiment("UCB-Tuned, arms 0.8 and 0.9 [Wolf25]", 25.4, 1.7, wolf("ucb-tuned", 0.8, 0.9), 1_000),
    Experiment("UCB-Tuned, arms 0.9 and 0.895 [Wolf25]", 106.1, 4.5, wolf("ucb-tuned", 0.9, 0.895), 1_000),
    Experiment("UCB1, arms 0.9 and 0.8 [Wolf25]", 177.8, 3.0, wolf("ucb1", 0.9, 0.8), 1_000),
    Experiment("UCB-V, ζ = 1, arms 0.9 and 0.8 [Wolf25]", 88.5, 1.4, wolf(UCB_V, 0.9, 0.8), 1_000),
]


def shown(mean: float, error: float) -> str:
    """To a tenth of the standard error."""
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:,.{digits}f} ± {error:,.{digits}f}"


def print_published() -> None:
    """Published and measured, and their distance in standard errors of the difference."""
    print("| experiment | published | measured here | runs | distance in standard errors |\n|---|---|---|---|---|")
    for what, published, theirs, measure, runs in EXPERIMENTS:
        mean, error = averages({"mean": measure(runs)}).values()
        apart = (mean - published) / math.hypot(error, theirs)
        print(f"| {what} | {shown(published, theirs)} | {shown(mean, error)} | {runs:,} | {apart:+.1f} |", flush=True)


def print_unsorted() -> None:
    """All four ways to forget to sort."""
    print("\n| the support's best value | tail taken from | regret, 100 runs |\n|---|---|---|")
    for best_first in (True, False):
        for from_the_end in (True, False):
            regret = shown(*averages({"mean": unsorted_rewards(best_first, from_the_end, 100)}).values())
            place, end = "first" if best_first else "last", "the end" if from_the_end else "the beginning"
            print(f"| {place} | {end} | {regret} |", flush=True)


if __name__ == "__main__":
    print_published()
    print_unsorted()
