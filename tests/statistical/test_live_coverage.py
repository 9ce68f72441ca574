"""Every interval of adaptive experiments, looked at after each reward: how often one ever misses.

Two arms are sampled by five rules that chase rewards, low variances or chance, with rewards of six distributions. All
runs go on side by side. Whether a limit has passed the truth needs no search, because its bets are looked at there; the
mean squared distance of the centres is that from the true mean, which makes misses a little more frequent than they
are. Streams are fixed. More than `binom.isf(1e-9, runs, failure)` runs with a miss have a probability below 1e-9 if an
interval holds.

    python tests/statistical/test_live_coverage.py [runs of each of the 30 experiments, 334 by default]

prints all of it, 10,020 experiments in a few minutes of one core.
"""

import math
import sys
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from prudent import Bernoulli, Beta, Deterministic, Empirical, Mixture, Uniform
from prudent.confidence import betting
from prudent.confidence.anytime import MEAN_SHARE
from prudent.live.differences import KEPT

ROUNDS, FAILURE, RHO = 300, 0.2, 0.7
LAWS = {
    "coins .12 and .16": (Bernoulli(0.12), Bernoulli(0.16)),
    "fair coins": (Bernoulli(0.5), Bernoulli(0.5)),
    "beta": (Beta(2.0, 5.0), Beta(3.0, 3.0)),
    "skewed": (Beta(0.3, 6.0), Mixture([Deterministic(0.0), Beta(2.0, 2.0)], [0.9, 0.1])),
    "narrow": (Beta(90.0, 210.0), Uniform(0.2, 0.4)),
    "few values": (Empirical([0.0, 0.5, 0.5, 1.0]), Empirical([0.1, 0.1, 0.1, 0.9])),
}
POLICIES = ("round-robin", "greedy", "flees successes", "variance chaser", "thompson")
INTERVALS = ("mean", "variance", "cost", "median", "difference of means", "difference of costs", "wrong exclusion")


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


def log_capital(bets: Any, pulls: Any, candidate: Any) -> Any:
    """The logarithm of the capital against means up to the candidate."""
    wealth = bets + betting.LOG_WEIGHTS - pulls[..., None] * np.log1p(betting.KAPPA * candidate[..., None])
    largest = wealth.max(-1)
    return largest + np.log(np.exp(wealth - largest[..., None]).sum(-1))


def looks(ledger: Any, pulls: Any, truth: Any) -> dict[str, Any]:
    """For each run and arm the log-capital that the bets have won against the truth, from below and from above."""
    rows = ledger[..., : 6 * betting.BETS].reshape(*ledger.shape[:-1], 6, betting.BETS)
    mean, variance, cost = truth
    first, second, floor = np.moveaxis(ledger[..., 6 * betting.BETS :] / pulls[..., None], -1, 0)
    found = {"mean": (log_capital(rows[..., 0, :], pulls, mean), log_capital(rows[..., 1, :], pulls, 1.0 - mean))}
    off = mean * mean - 2.0 * mean * first + second  # with the true mean: what the interval of the mean makes larger
    for name, place, rho, value in (("variance", 2, 0.0, variance), ("cost", 4, RHO, cost)):
        largest = betting.largest_cost(rho)
        lowest = floor if rho else 0.0
        below = log_capital(rows[..., place, :], pulls, (value + off - lowest) / (1.0 + rho))
        above = log_capital(rows[..., place + 1, :], pulls, (largest - value) / (largest + rho))
        found[name] = below, above
    return found


def missed(law: Any, policy: str, runs: int, seed: int, stakes: float = 1.0) -> dict[str, tuple[int, int]]:
    """In how many runs each interval of each arm ever misses; the bets of a mutant win the logarithm so many times."""
    rng = np.random.default_rng(seed)
    rewards = np.stack([arm.sample(rng, runs * ROUNDS).reshape(runs, ROUNDS) for arm in law], 1)
    truth = np.array([[arm.mean, arm.variance, arm.variance - RHO * arm.mean] for arm in law]).T[:, None, :]
    truth = np.broadcast_to(truth, (3, runs, 2))
    medians = np.array([arm.quantile(0.5) for arm in law])
    ledger, every = np.zeros((runs, 2, len(betting.no_bets(RHO)))), np.arange(runs)
    pulls, sums, squares = np.zeros((3, runs, 2))
    under, upto = np.zeros((2, runs, 2))
    latest = np.zeros(runs, int), np.zeros(runs)
    off = {name: np.zeros((runs, 2), np.bool_) for name in INTERVALS}
    for t in range(ROUNDS):
        seen = np.maximum(pulls, 1.0)
        means = sums / seen
        arm = chosen(policy, t, seen, means, squares / seen - means**2, latest, rng)
        x = rewards[every, arm, pulls[every, arm].astype(int)]
        before = pulls[every, arm], sums[every, arm]
        centre = (0.5 + before[1]) / (before[0] + 1.0)
        entry = betting._entry(x[:, None], centre[:, None], RHO)
        entry[:, : 6 * betting.BETS] *= stakes
        ledger[every, arm] += entry
        for total, more in ((pulls, 1.0), (sums, x), (squares, x * x)):
            total[every, arm] += more
        under[every, arm] += x < medians[arm]
        upto[every, arm] += x <= medians[arm]
        latest = arm, x
        if t < 3:
            continue
        gained, spent = looks(ledger, pulls, truth), MEAN_SHARE * FAILURE
        worst = {what: np.maximum(*sides) for what, sides in gained.items()}
        off["mean"] |= worst["mean"] >= math.log(2.0 / FAILURE)
        mean_behind = worst["mean"] >= math.log(2.0 / spent)
        for what in ("variance", "cost"):
            off[what] |= mean_behind | (worst[what] >= math.log(2.0 / (FAILURE - spent)))
        for count in (under, pulls - upto):
            half = np.full((runs, 2), 0.5)
            off["median"] |= log_capital(count[..., None] * betting.THETA, pulls, half) >= math.log(2.0 / FAILURE)
        kept = {
            what: [np.logaddexp(math.log(KEPT), math.log(1.0 - KEPT) + side) for side in gained[what]]
            for what in gained
        }
        either = (worst["mean"] >= math.log(4.0 / spent)).any(1, keepdims=True)
        for what, needed, also in (("mean", FAILURE, False), ("cost", FAILURE - spent, either)):
            together = kept[what][0] + kept[what][1][:, ::-1]  # one arm from below, the other from above
            off[f"difference of {what}s"] |= also | (together.max(1, keepdims=True) >= math.log(2.0 / needed))
        best = int(np.argmin(truth[2, 0]))
        excluded = kept["cost"][0][:, best] + kept["cost"][1][:, 1 - best] >= math.log(1.0 / (FAILURE - spent))
        off["wrong exclusion"] |= excluded[:, None] | either
    return {name: tuple(each.sum(0).tolist()) for name, each in off.items()}


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("law", LAWS)
def test_few_adaptive_experiments_ever_have_an_interval_that_misses(law, policy):
    runs = 100
    found = missed(LAWS[law], policy, runs, seed=1)
    assert max(map(max, found.values())) <= binom.isf(1e-9, runs, FAILURE), found


@pytest.mark.slow
def test_bets_that_win_too_much_would_be_caught():
    found = missed(LAWS["fair coins"], "greedy", 100, seed=1, stakes=1.5)
    limit = binom.isf(1e-9, 100, FAILURE)
    assert all(max(found[name]) > limit for name in ("mean", "cost", "difference of means")), found


def main(runs: int) -> None:
    worst, total = dict.fromkeys(INTERVALS, 0), dict.fromkeys(INTERVALS, 0)
    for place, law in enumerate(LAWS):
        for policy in POLICIES:
            found = missed(LAWS[law], policy, runs, seed=1000 + place)
            for name, both in found.items():
                worst[name], total[name] = max(worst[name], *both), total[name] + sum(both)
            shares = "  ".join(f"{name} {100.0 * max(both) / runs:.1f}" for name, both in found.items())
            print(f"{law:18} {policy:16} {shares}", flush=True)
    number = runs * len(LAWS) * len(POLICIES)
    print(f"{number:,} experiments, each with two arms; an interval may ever miss in {100.0 * FAILURE:g} %:")
    for name in INTERVALS:
        print(f"{name}: {50.0 * total[name] / number:.2f} %, at most {100.0 * worst[name] / runs:.1f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 334)
