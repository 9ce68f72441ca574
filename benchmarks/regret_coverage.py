"""Does the regret interval of a live experiment hold at all times? Simulated experiments, looked at all the time.

    python benchmarks/regret_coverage.py [--experiments 2000] [--rounds 400]

Each experiment runs a policy that chases rewards, and looks at the regret per round and at what an even split costs
at growing times. It misses if the truth was outside at any look. The level is 95 %, so that at most 5 % may miss.
"""

import argparse
import itertools

import numpy as np
from scipy.stats import binom

from prudent import Agent, Bernoulli, Beta, Uniform
from prudent.arms.base import Law

LEVEL = 0.95
BANDITS: tuple[tuple[Law, ...], ...] = (
    (Beta(20.0, 15.0), Uniform(0.0, 1.0), Beta(2.0, 6.0)),
    (Bernoulli(0.10), Bernoulli(0.14), Bernoulli(0.12)),
    (Beta(0.5, 0.5), Bernoulli(0.5)),
)
POLICIES = ("mv-lcb(rho=1, c=1)", "epsilon-greedy(rho=1, epsilon=0.3)", "exp-exp(rho=1)")


def looks(rounds: int) -> set[int]:
    """At ever longer distances."""
    return {round(1.35**k) for k in range(1, 60) if 1.35**k <= rounds} | {rounds}


def misses(laws: tuple[Law, ...], policy: str, seed: int, rounds: int) -> tuple[bool, bool]:
    """Whether regret, and the cost of an even split, ever lay outside their intervals in one experiment."""
    agent = Agent(policy, len(laws), rounds, seed, support=(0, 1))
    rng = np.random.default_rng([seed, rounds])
    means, variances = np.array([(law.mean, law.variance) for law in laws]).T
    best, even = (variances - means).min(), variances.mean() + means.var() - means.mean()
    drawn = [iter(law.sample(rng, rounds).tolist()) for law in laws]
    when, missed = looks(rounds), [False, False]
    for t in range(1, rounds + 1):
        arm = agent.ask()
        agent.tell(arm, min(max(next(drawn[arm]), 0.0), 1.0))
        if t in when and (known := agent.summary(LEVEL)).regret is not None:
            assert known.cost is not None
            assert known.even is not None
            missed[0] |= not known.regret.low <= known.cost - best <= known.regret.high
            missed[1] |= not known.even.low <= even <= known.even.high
    return missed[0], missed[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=400)
    given = parser.parse_args()
    kinds = itertools.cycle(itertools.product(BANDITS, POLICIES))
    found = np.zeros(2, int)
    for seed in range(given.experiments):
        found += misses(*next(kinds), seed, given.rounds)
    most = binom.isf(1e-9, given.experiments, 1.0 - LEVEL) / given.experiments
    print(f"{given.experiments:,} experiments of {given.rounds:,} rounds, {LEVEL:.0%} intervals; ever missed:")
    for name, count in zip(("regret per round", "cost of an even split"), found, strict=True):
        print(f"{name:>24} {count / given.experiments:8.2%}   (at most {1.0 - LEVEL:.0%}; chance allows {most:.1%})")


if __name__ == "__main__":
    main()
