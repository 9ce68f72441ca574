"""Every interval of adaptive experiments, looked at again and again: how often one ever misses.

Two arms are sampled by five rules that chase rewards, low variances or chance, with rewards of six distributions. What
is asked is what `Agent`, the leader and guardrails are made of: `bounds`, `limits` and `between`, at 25 looks at most.
Streams are fixed. More than `binom.isf(1e-9, runs, failure)` runs with a miss have a probability below 1e-9 if an
interval holds.

    python tests/statistical/test_live_coverage.py [runs of each of the 30 experiments, 334 by default]

prints all of it, 10,020 experiments in about 20 minutes of one core.
"""

import math
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from prudent import Bernoulli, Beta, CVaR, Deterministic, Empirical, MeanVariance, Mixture, Uniform
from prudent.confidence import anytime
from prudent.confidence.anytime import MEAN_SHARE
from prudent.engine.python.arm import ArmState, include_reward
from prudent.live import intervals
from prudent.live.differences import between, gains_of
from prudent.live.evidence import Evidence, tail_of
from prudent.live.guardrails import Rail, fires

ROUNDS, FAILURE, UNIT = 300, 0.2, (0.0, 1.0)
COST, TAIL = MeanVariance(0.7), CVaR(0.25)
LAWS = {
    "coins .12 and .16": (Bernoulli(0.12), Bernoulli(0.16)),
    "fair coins": (Bernoulli(0.5), Bernoulli(0.5)),
    "beta": (Beta(2.0, 5.0), Beta(3.0, 3.0)),
    "skewed": (Beta(0.3, 6.0), Mixture([Deterministic(0.0), Beta(2.0, 2.0)], [0.9, 0.1])),
    "narrow": (Beta(90.0, 210.0), Uniform(0.2, 0.4)),
    "few values": (Empirical([0.0, 0.5, 0.5, 1.0]), Empirical([0.1, 0.1, 0.1, 0.9])),
}
POLICIES = ("round-robin", "greedy", "flees successes", "variance chaser", "thompson")
INTERVALS = (
    *("mean", "variance", "cost", "CVaR", "median", "merged: mean", "merged: cost", "declared: cost"),
    *("difference of means", "of spreads", "of costs", "of CVaRs", "of costs, declared"),
    *("wrong exclusion", "declared: wrong exclusion", "rail on the cost", "rail on the mean"),
)


def chosen(policy: str, t: int, pulls: Any, means: Any, variances: Any, latest: Any, rng: Any) -> Any:
    """The arm of each run in round t."""
    runs = len(pulls)
    if t < 4 or policy == "round-robin":
        return np.full(runs, t % 2)
    if policy == "greedy":
        return np.where(rng.random(runs) < 0.1, rng.integers(0, 2, runs), means.argmax(1))
    if policy == "flees successes":
        return np.where(latest[1] > means[np.arange(runs), latest[0]], 1 - latest[0], latest[0])
    if policy == "variance chaser":
        return np.where(rng.random(runs) < 0.1, rng.integers(0, 2, runs), variances.argmin(1))
    return (means + np.sqrt((variances + 0.01) / pulls) * rng.standard_normal((runs, 2))).argmax(1)


class Question(NamedTuple):
    """What is asked of all arms: the evidence, the quantity, its true values, and how differences of it are shown."""

    evidence: Evidence
    what: Any
    truth: Any
    root: bool = False


def misses(ends: Any, truth: Any) -> Any:
    return (ends[0] > truth + 1e-9) | (ends[1] < truth - 1e-9)


def of_one(question: Question) -> Any:
    """Whether the interval of each arm misses."""
    known = intervals.bounds(question.evidence, question.what, FAILURE)
    return misses(np.array([(-np.inf, np.inf) if ends is None else ends for ends in known]).T, question.truth)


def of_pairs(question: Question, *, exclusion: bool = False) -> Any:
    """Whether the difference of the two arms of each run misses, or the better arm is excluded by the other one."""
    evidence, what, truth, root = question
    spent = FAILURE * MEAN_SHARE if intervals.needs_mean(evidence, what) else 0.0
    gains = gains_of(evidence, what, math.log((1.0 if exclusion else 2.0) / (FAILURE - spent)))
    low, high = intervals.limits(evidence, what, gains, spent / 2.0)
    if root:
        low, high, truth = np.sqrt(np.maximum(low, 0.0)), np.sqrt(np.maximum(high, 0.0)), np.sqrt(truth)
    apart = between((low[:, ::2], high[:, ::2]), (low[:, 1::2], high[:, 1::2]))
    gap = truth[::2] - truth[1::2]
    if exclusion:
        return np.where(gap <= 0.0, apart[0] > 0.0, False) | np.where(gap >= 0.0, apart[1] < 0.0, False)
    return misses(apart, gap)


def looks(arms: list[ArmState], law: Any) -> dict[str, Any]:
    """What is wrong now, for each arm of each run, or for each run."""
    count = len(arms) // 2
    mean, variance = (np.tile([getattr(one, name) for one in law], count) for name in ("mean", "variance"))
    costs = {risk: np.tile([risk.cost(one) for one in law], count) for risk in (COST, TAIL)}
    merged = [ArmState(None, arm.pulls, arm.mean, arm.variance) for arm in arms]
    by_cost, by_tail = Evidence(arms, COST, UNIT), Evidence(arms, TAIL, UNIT)
    cost = Question(by_cost, "cost", costs[COST])
    found = {
        "mean": of_one(Question(by_cost, "mean", mean)),
        "variance": of_one(Question(by_cost, "variance", variance)),
        "cost": of_one(cost),
        "CVaR": of_one(Question(by_tail, "cost", costs[TAIL])),
        "merged: mean": of_one(Question(Evidence(merged, COST, UNIT), "mean", mean)),
        "merged: cost": of_one(Question(Evidence(merged, COST, UNIT), "cost", costs[COST])),
        "difference of means": of_pairs(Question(by_cost, "mean", mean)),
        "of spreads": of_pairs(Question(by_cost, "variance", variance, root=True)),
        "of costs": of_pairs(cost),
        "of CVaRs": of_pairs(Question(by_tail, "cost", costs[TAIL])),
        "wrong exclusion": of_pairs(cost, exclusion=True),
    }
    if isinstance(law[0], Bernoulli):
        declared = Question(by_cost._replace(binary=True), "cost", costs[COST])
        found |= {"declared: cost": of_one(declared), "of costs, declared": of_pairs(declared)}
        found["declared: wrong exclusion"] = of_pairs(declared, exclusion=True)
    medians = np.tile([one.quantile(0.5) for one in law], count)
    ends = [intervals.quantiles(arm, np.array([0.5]), anytime.gains(FAILURE), UNIT) for arm in arms]
    found["median"] = misses(np.array([(low[0, 0], high[0, 0]) for low, high in ends]).T, medians)
    for what, truth in (("cost", costs[COST]), ("mean", mean)):
        rails = [Rail(what, above=float(limit) + 1e-9) for limit in truth[:2]]
        found[f"rail on the {what}"] = np.array(
            [fires(rails[i % 2], arm, COST, FAILURE, UNIT, binary=False) for i, arm in enumerate(arms)]
        )
    return found


def missed(law: Any, policy: str, runs: int, seed: int, rounds: int = ROUNDS, times: int = 25) -> dict[str, int]:
    """In how many runs each interval of either arm ever misses."""
    rng = np.random.default_rng(seed)
    rewards = np.stack([arm.sample(rng, runs * rounds).reshape(runs, rounds) for arm in law], 1)
    arms = [ArmState(rewards=[]) for _ in range(2 * runs)]
    every, latest = np.arange(runs), (np.zeros(runs, int), np.zeros(runs))
    off = {name: np.zeros(runs, np.bool_) for name in INTERVALS}
    seen = set(np.unique(np.geomspace(4, rounds, times).astype(int)).tolist())
    for t in range(rounds):
        known = np.array([(arm.pulls, arm.mean, arm.variance) for arm in arms]).reshape(runs, 2, 3)
        pulls = known[..., 0]
        arm = chosen(policy, t, np.maximum(pulls, 1.0), known[..., 1], known[..., 2], latest, rng)
        x = rewards[every, arm, pulls[every, arm].astype(int)]
        for run, (one, reward) in enumerate(zip(arm.tolist(), x.tolist(), strict=True)):
            include_reward(arms[2 * run + one], reward, *UNIT, COST.rho, tail_of(TAIL))
        latest = arm, x
        if t + 1 in seen:
            for name, wrong in looks(arms, law).items():
                off[name] |= wrong.reshape(runs, -1).any(1) if len(wrong) > runs else wrong
    return {name: int(each.sum()) for name, each in off.items()}


CELLS = [("coins .12 and .16", "thompson"), ("fair coins", "greedy"), ("skewed", "flees successes")]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "policy"), CELLS)
def test_few_adaptive_experiments_ever_have_an_interval_that_misses(law, policy):
    """Of two arms one may miss with twice the failure, their difference with the failure itself."""
    runs = 40
    found = missed(LAWS[law], policy, runs, seed=1, rounds=100, times=10)
    for name, count in found.items():
        of_both = name.startswith(("difference", "of ")) or name.endswith("exclusion")
        assert count <= binom.isf(1e-9, runs, FAILURE if of_both else 2.0 * FAILURE), (name, found)


@pytest.mark.slow
def test_bets_that_win_too_much_would_be_caught(monkeypatch):
    runs, entry = 25, intervals.betting._entry
    monkeypatch.setattr(intervals.betting, "_entry", lambda *given: 2.5 * entry(*given))
    found = missed(LAWS["fair coins"], "greedy", runs, seed=1, rounds=100, times=10)
    limit = binom.isf(1e-9, runs, 2.0 * FAILURE)
    assert all(found[name] > limit for name in ("mean", "rail on the mean", "difference of means")), found


def main(runs: int) -> None:
    found = {
        (law, policy): missed(LAWS[law], policy, runs, seed=1000 + place)
        for place, (law, policy) in enumerate((law, policy) for law in LAWS for policy in POLICIES)
    }
    print(f"{runs * len(found):,} experiments; misses of either arm, or of the pair, in %: all, and in the worst 30th")
    for name in INTERVALS:
        asked = [each[name] for (law, _), each in found.items() if "coins" in law or "declared" not in name]
        print(f"| {name} | {100.0 * sum(asked) / len(asked) / runs:.2f} | {100.0 * max(asked) / runs:.1f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 334)
