"""Errors in a policy of the user's own are said by their line; what Numba can compile needs no mark."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from prudent import Bandit, PrudentError, simulate

COINS = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"])


def width(pulls):
    return half(math.sqrt(1.0 / pulls))


def half(x):
    return 0.5 * x


class Plain(NamedTuple):
    """Functions without a mark, one of which calls another, and a field that is an array."""

    weights: np.ndarray = np.array([1.0, 2.0])

    def score(self, arm):
        return -self.weights[0] * arm.mean - width(arm.pulls)


class Misspelt(NamedTuple):
    def score(self, arm):
        return -arm.mean - arm.varianc


class Imports(NamedTuple):
    def score(self, arm):
        import math as numbers

        return -numbers.sqrt(arm.mean)


class Mixed(NamedTuple):
    def score(self, arm):
        return arm.mean + str(arm.pulls)


def play(policy, engine="auto"):
    return simulate(COINS, policy, risk="mean", horizon=30, runs=2, engine=engine, workers=1)


def test_plain_functions_and_arrays_are_compiled():
    assert (play(Plain()).pulls > 0).all()
    assert repr(play(Plain(np.array([3.0, 2.0])))).startswith("<Runs: Plain(weights=[3.0, 2.0])")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Misspelt(), "in score: return -arm.mean - arm.varianc: AttributeError: .* did you mean variance"),
        (Mixed(), "in score: return arm.mean \\+ str.arm.pulls.: TypeError: unsupported operand"),
        (Imports(), 'Numba refuses File "test_own_errors.py", line 38: import math as numbers; keep to numbers'),
    ],
)
def test_errors_name_the_line_of_the_user(policy, said):
    with pytest.raises(PrudentError, match=said):
        play(policy)
