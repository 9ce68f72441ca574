"""The states to which sequences of rewards lead: by the interpreted engine, and by the weights of the exact one.

No random number enters: an environment pays the rewards of each sequence in turn, and the counts of the sequences that
end in each state are compared with the weights of the states, as whole numbers.
"""

import math
from collections import Counter
from itertools import product
from typing import ClassVar

import numpy as np

from prudent import simulate


class Listed:
    """An environment that pays the rewards of a list of sequences, one sequence a run, in whichever copy of it."""

    sequences: ClassVar = []

    def __init__(self, sequences):
        Listed.sequences = [list(each) for each in sequences[::-1]]

    def reset(self, rng):
        self.left = Listed.sequences.pop()

    def pull(self, arm):
        return self.left.pop(0)


def enumerated(policy, risk, values, n_arms, n):
    """How many sequences of n rewards lead to each state: the pulls, the sums and the sums of squares of the arms."""
    sequences = list(product(values, repeat=n))
    played = simulate(
        Listed(sequences),
        policy,
        risk=risk,
        horizon=n,
        runs=len(sequences),
        arms=n_arms,
        engine="interpreted",
        workers=1,
    )
    sums = played.pulls * played.mean
    squares = played.pulls * (played.variance + played.mean**2)
    return Counter(
        zip(*(map(tuple, np.round(each, 6).tolist()) for each in (played.pulls, sums, squares)), strict=True)
    )


def counted(found, n_arms):
    """The same from the weights of the exact engine."""
    states = Counter()
    for allocation, weights in found.layer.items():
        for place in zip(*np.nonzero(weights), strict=True):
            counts = [found.lattice.arms[i].counts[s][place[i]] for i, s in enumerate(allocation)]
            orders = math.prod(
                math.factorial(s) // math.prod(map(math.factorial, own.tolist()))
                for s, own in zip(allocation, counts, strict=True)
            )
            sequences = float(weights[place]) * orders
            assert abs(sequences - round(sequences)) < 1e-9
            values = [arm.values for arm in found.lattice.arms]
            sums = tuple(round(float(own @ x), 6) for own, x in zip(counts, values, strict=True))
            squares = tuple(round(float(own @ x**2), 6) for own, x in zip(counts, values, strict=True))
            states[tuple(map(float, allocation)), sums, squares] += round(sequences)
    return states
