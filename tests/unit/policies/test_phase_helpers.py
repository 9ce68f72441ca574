"""What policies with phases share, interpreted: the answer, whom to strike out, and which arms to choose."""

import math

import numpy as np
import pytest

from prudent.policies.contract import Arms
from prudent.policies.helpers import (
    answer,
    cheapest,
    choose_alive,
    choose_only,
    choose_pulled,
    fewest_pulls_alive,
    strike_worst,
)

INF = math.inf


def arms(costs, alive=None, pulls=None):
    n = len(costs)
    living = np.ones(n, bool) if alive is None else np.array(alive, bool)
    times = np.full(n, 9) if pulls is None else np.array(pulls)
    return Arms(times, np.full(n, 0.5), np.full(n, 0.1), np.array(costs, float), living, np.empty((n, 0)))


@pytest.mark.parametrize(
    ("costs", "alive", "best", "given"),
    [
        ([3.0, 1.0, 2.0], [1, 1, 1], 1, 1),
        ([3.0, 1.0, 2.0], [1, 0, 1], 2, 2),
        ([2.0, 1.0, 1.0], [1, 1, 1], 1, 1),  # ties go to the lowest number
        ([1.0, 1.0 + 1e-16, 1.0], [0, 1, 1], 1, 1),
        ([INF, INF, INF], [1, 1, 1], 0, -1),  # several, and no costs to choose by
        ([INF, INF, INF], [0, 0, 1], 2, 2),  # one alone needs no cost
        ([1.0, 2.0, 3.0], [0, 0, 0], -1, -1),
        ([INF, 5.0, INF], [1, 1, 1], 1, 1),
        ([INF, 5.0, INF], [1, 0, 1], 0, -1),
    ],
)
def test_the_answer_is_the_cheapest_arm_alive_if_costs_or_numbers_can_tell(costs, alive, best, given):
    assert cheapest(arms(costs, alive)) == best
    assert answer(arms(costs, alive)) == given


@pytest.mark.parametrize(
    ("costs", "alive", "gone"),
    [([3.0, 1.0, 2.0], [1, 1, 1], 0), ([3.0, 1.0, 2.0], [0, 1, 1], 2), ([2.0, 2.0, 1.0], [1, 1, 1], 1)],
)
def test_the_dearest_arm_alive_is_struck_out_and_of_equal_ones_the_highest_number(costs, alive, gone):
    known = arms(costs, alive)
    strike_worst(known)
    assert known.alive.tolist() == [bool(mark) and i != gone for i, mark in enumerate(alive)]


def test_arms_are_chosen_by_their_pulls_or_if_alive():
    known, chosen = arms([1.0] * 4, [1, 0, 1, 1], [2, 1, 3, 2]), np.zeros(4, bool)
    assert fewest_pulls_alive(known) == 2
    assert fewest_pulls_alive(arms([1.0], [0])) == -1
    choose_pulled(chosen, known, 2)
    assert chosen.tolist() == [True, False, False, True]
    choose_alive(chosen, known)
    assert chosen.tolist() == [True, False, True, True]
    choose_only(chosen, 1)
    assert chosen.tolist() == [False, True, False, False]
