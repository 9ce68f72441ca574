"""Which of several arms is asked for where the policy has no preference: against a model that keeps two counts an arm.

Among equal scores it is the arm with the fewest open asks. What a phase asks for is given in turn; while it waits for
arms that are not available, it is the arm with the fewest pulls and open asks of those the phase would have chosen.
Ties go to the lowest number.
"""

from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import Agent
from prudent.live.batches import PARTS

N_ARMS = 4


class Indifferent(NamedTuple):
    """Scores every arm the same."""

    def score(self, arm):
        return 0.0


class Restless(NamedTuple):
    """The same with a clock, for which asks of a batch are made one by one."""

    def score(self, arm, t):
        return float(t)


class Everyone(NamedTuple):
    """Phases in which every arm is chosen, `each` times."""

    each: int = 1

    def phase(self, arms, t, chosen, rng):
        chosen[:] = True
        return self.each


class Half(NamedTuple):
    """Phases of the first two of the arms that it is shown, or the only one."""

    def phase(self, arms, t, chosen, rng):
        chosen[:] = False
        chosen[:2] = True
        return 1


class Model:
    """Pulls and open asks of each arm, and how often it is due."""

    def __init__(self, policy, pulls):
        self.policy, self.pulls, self.open, self.due = policy, list(pulls), [0] * len(pulls), [0] * len(pulls)

    def ask(self, among):
        if hasattr(self.policy, "score"):
            arm = min(among, key=lambda i: self.open[i])
        else:
            several, each = (2, 1) if isinstance(self.policy, Half) else (len(self.due), self.policy.each)
            if not any(self.due):
                self.due = [each if i < several else 0 for i in range(len(self.due))]
            if any(self.due[i] for i in among):
                arm = max(among, key=lambda i: self.due[i])
                self.due[arm] -= 1
            else:
                arm = min(among[:several], key=lambda i: self.pulls[i] + self.open[i])
        self.open[arm] += 1
        return arm


def begun(policy, pulls):
    """An agent with so many equal rewards of each arm."""
    agent = Agent(policy, len(pulls), risk="mean", scale=1.0)
    for arm, times in enumerate(pulls):
        for _ in range(times):
            agent.tell(arm, 0.5, asked=False)
    return agent


groups = st.lists(st.sets(st.integers(0, N_ARMS - 1), min_size=1).map(sorted), min_size=1, max_size=30)
starts = st.lists(st.integers(1, 6), min_size=N_ARMS, max_size=N_ARMS)
POLICIES = [Indifferent(), Restless(), Everyone(1), Everyone(3), Half()]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@given(starts, groups)
def test_asks_go_to_the_arm_that_is_due_and_else_to_the_least_busy_one(policy, pulls, amongs):
    if hasattr(policy, "score"):
        pulls = [3] * N_ARMS  # equal scores are told apart by nothing that an arm has
    agent, model = begun(policy, pulls), Model(policy, pulls)
    assert [agent.ask(among) for among in amongs] == [model.ask(among) for among in amongs]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@given(starts, groups, st.integers(1, 40))
def test_batches_go_to_the_same_arms(policy, pulls, amongs, count):
    if hasattr(policy, "score"):
        pulls = [3] * N_ARMS
    agent, model = begun(policy, pulls), Model(policy, pulls)
    for among in amongs[:4]:
        assert agent.split(count, among) == Counter(model.ask(among) for _ in range(count))
    assert [known.open_asks for known in agent.estimates()] == model.open


@pytest.mark.parametrize("count", [PARTS, PARTS + 1, 5 * PARTS + 3])
@given(groups)
def test_a_large_batch_evens_out_what_is_open(count, amongs):
    """As so many asks in a row, where the arms asked for before are busier than the others."""
    policy, pulls = Indifferent(), [3] * N_ARMS
    agent, model = begun(policy, pulls), Model(policy, pulls)
    for among in amongs[:5]:
        assert agent.ask(among) == model.ask(among)
    assert agent.split(count) == Counter(model.ask(list(range(N_ARMS))) for _ in range(count))
