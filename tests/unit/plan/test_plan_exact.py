"""Trials of 0/1 outcomes without simulation, against sums over all tables and over all that a policy may see."""

import json
import math
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from prudent import Bandit, PrudentError
from prudent.cli import main
from prudent.engine.exact.simulation import simulate_exactly
from prudent.plan import characteristics, guesses
from prudent.plan.exact import EQUAL


def trial(*probabilities, policies=("ucb1",), horizon=20, risk="mean", **more):
    options = guesses([f"{'abc'[i]}: bernoulli({p})" for i, p in enumerate(probabilities)])
    found = characteristics(options, risk, horizon, policies=policies, **more)
    return {row["policy"]: row for row in found.table.to_dicts()}


def z(x, n, y, m):
    pooled = (x + y) / (n + m) if n and m else 0.0
    spread = pooled * (1 - pooled) * (1 / n + 1 / m) if pooled else 0.0
    return abs(x / n - y / m) / math.sqrt(spread) if spread > 0 else 0.0


def test_equal_allocation_to_two_options_is_the_test_of_boschloo():
    row, n, p, q = trial(0.3, 0.7, horizon=24)[EQUAL], 12, 0.3, 0.7
    values = {(x, y): stats.fisher_exact([[x, y], [n - x, n - y]]).pvalue for x in range(n + 1) for y in range(n + 1)}

    def error(level):
        stated = [table for table, value in values.items() if value <= level * (1 + 1e-9)]
        common = np.linspace(0.0, 1.0, 1_001)
        return sum(stats.binom.pmf(x, n, common) * stats.binom.pmf(y, n, common) for x, y in stated).max()

    assert row["critical"] == pytest.approx(max(v for v in values.values() if error(v) <= 0.05), rel=1e-9)
    assert row["error"] == pytest.approx(error(row["critical"]), rel=1e-9)
    chance = {(x, y): stats.binom.pmf(x, n, p) * stats.binom.pmf(y, n, q) for x, y in values}
    power = sum(w for (x, y), w in chance.items() if y > x and values[x, y] <= row["critical"] * (1 + 1e-9))
    assert row["power"] == pytest.approx(power, rel=1e-10)
    named = sum(w * (1.0 if y > x else 0.5 if y == x else 0.0) for (x, y), w in chance.items())
    assert (row["named"], row["worse"], row["total"]) == pytest.approx((named, 12.0, 12.0), rel=1e-10)


class Follower(NamedTuple):
    """Pull the arm with the larger (ones + 1)/(pulls + 2), after each once."""

    weight: float = 1.0

    def score(self, arm):
        return -(arm.mean * arm.pulls + self.weight) / (arm.pulls + 2.0 * self.weight)


def followed(p, n):
    """All states of that policy after n rounds, with their probabilities."""
    states = {tuple((0, 0) for _ in p): 1.0}
    for _ in range(n):
        following = defaultdict(float)
        for state, weight in states.items():
            scores = [math.inf if not sum(arm) else (arm[0] + 1) / (sum(arm) + 2) for arm in state]
            arm = next(i for i, score in enumerate(scores) if score >= max(scores) - 1e-12)
            for one in (0, 1):
                ones, zeros = state[arm]
                then = (*state[:arm], (ones + one, zeros + 1 - one), *state[arm + 1 :])
                following[then] += weight * (p[arm] if one else 1.0 - p[arm])
        states = following
    return states


def seen(state):
    """The shares in which the options are named, the ones, and |z|."""
    means = [ones / (ones + zeros) if ones + zeros else -1.0 for ones, zeros in state]
    named = [i for i, mean in enumerate(means) if mean > max(means) - 1e-12]
    pairs = ((state[i], state[j]) for i, j in product(named, range(len(state))) if i != j)
    least = min(z(one[0], sum(one), other[0], sum(other)) for one, other in pairs)
    return [(i in named) / len(named) for i in range(len(state))], sum(ones for ones, _ in state), least


def exact_values(n, many):
    """The p-value of every state: how likely so large a |z| is given its ones."""
    equal = followed((0.5,) * many, n)
    given = defaultdict(list)
    for state, weight in equal.items():
        _, ones, size = seen(state)
        given[ones].append((size, weight))
    found = {}
    for state in equal:
        _, ones, size = seen(state)
        found[state] = sum(w for s, w in given[ones] if s >= size - 1e-9) / sum(w for _, w in given[ones])
    return found


@pytest.mark.parametrize("p", [(0.2, 0.6), (0.6, 0.2), (0.5, 0.1, 0.7)])
def test_an_adaptive_policy_has_the_characteristics_of_all_it_may_see(p):
    n = 12 if len(p) == 2 else 9
    (row,) = (row for name, row in trial(*p, policies=[Follower()], horizon=n, error=0.3).items() if name != EQUAL)
    best, values = int(np.argmax(p)), exact_values(n, len(p))
    power = named = worse = 0.0
    for state, weight in followed(p, n).items():
        share = seen(state)[0][best]
        named += weight * share
        power += weight * share * (values[state] <= row["critical"] * (1 + 1e-9))
        worse += weight * (n - sum(state[best]))
    assert (row["named"], row["worse"], row["power"]) == pytest.approx((named, worse, power), rel=1e-10)

    def error(common, level):
        return sum(w for state, w in followed((common,) * len(p), n).items() if values[state] <= level * (1 + 1e-9))

    assert row["error"] == pytest.approx(error(row["at"], row["critical"]), rel=1e-10)
    grid = [row["at"], *np.linspace(0.05, 0.95, 19)]
    assert max(error(each, row["critical"]) for each in grid) <= row["error"] + 1e-12 <= 0.3
    larger = min(value for value in values.values() if value > row["critical"] * (1 + 1e-9))
    assert max(error(each, larger) for each in grid) > 0.3


def test_where_smaller_is_better_zeros_and_ones_change_places():
    found = trial(0.2, 0.6, policies=["mv-lcb(c=1)"])
    mirrored = trial(0.8, 0.4, policies=["mv-lcb(c=1)"], larger_is_better=False)
    for name, row in found.items():
        for key in ("named", "worse", "critical", "error", "power"):
            assert mirrored[name][key] == pytest.approx(row[key], rel=1e-9)
        assert mirrored[name]["total"] == pytest.approx(20 - row["total"])


@pytest.mark.parametrize("policy", ["ucb1", "exp-exp"])
def test_what_takes_longer_than_somebody_waits_is_refused_before_or_on_the_way(policy):
    with pytest.raises(PrudentError, match="name it to compute it"):
        simulate_exactly(Bandit(["bernoulli(0.3)"] * 2), policy, risk="mean-variance(rho=1)", horizon=40, patience=1e-4)


GOOD = ["--option", "a: bernoulli(0.3)", "--option", "b: bernoulli(0.6)", "--rho", "inf", "--horizon", "20", "--exact"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"b: bernoulli(0.6)": "b: bernoulli(0.4..0.6)"}, "needs one probability for each option"),
        ({"b: bernoulli(0.6)": "b: gaussian(0, 1)"}, "outcomes of 0 and 1"),
        ({"b: bernoulli(0.6)": "3 * bernoulli(0.6)"}, "two or three options, got 4"),
        ({"20": "4000"}, "from 2 to 1000"),
        ({"20": "20 30"}, "needs one horizon"),
        ({"more": ["--error", "5"]}, "error must lie in"),
        ({"more": ["--policy", "npts"]}, "draws at random by itself"),
    ],
)
def test_what_cannot_be_computed_is_refused(changed, words):
    asked = [changed.get(word, word) for word in GOOD] + changed.get("more", [])
    answer = CliRunner().invoke(main, ["plan", *asked])
    assert answer.exit_code == 2
    assert words in answer.output


def test_the_command_prints_the_table_or_json():
    asked = ["plan", *GOOD, "--policy", "ucb1"]
    told = CliRunner().invoke(main, asked).output
    assert "ucb1" in told
    assert EQUAL in told
    rows = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)
    assert rows["best"] == "b"
    assert [row["policy"] for row in rows["policies"]] == ["ucb1(range=1.0)", EQUAL]
