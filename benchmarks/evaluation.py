"""How often do the intervals of `evaluate` hold, and how wide are they? Over simulated logs whose truth is known.

    python benchmarks/evaluation.py [--logs 2000] [--rounds 500] [--resamples 200] [--seed 0]
    python benchmarks/evaluation.py bias
    python benchmarks/evaluation.py price

Rewards are Bernoulli, Beta, or of three values with a rare large one. Logs are those of policies that take every arm
equally often, that take one arm rarely, and that learn: ε-greedy, whose propensities have a floor, and Thompson
sampling, whose have none. Evaluated are a mixture of the arms, the rare arm, the mixture again, and the worse of two
arms. Beside the intervals of the package stands the percentile bootstrap of the estimate by weights, which many use. A
cell has the smallest coverage over the three laws of rewards, and the widths, added up over the laws, as a multiple of
the bootstrap's. bias: how far the estimate of a CVaR is from the cost on average, and its root mean square error, over
4,000 samples; the same for the estimate that a jackknife corrects. price: the width of the mean's interval over that of
Student's kind, its estimate ± quantiles of the normal distribution, for 100 logs of 400 rounds; that of the single bet
that turns out to be the best, which nobody knows before; and Chernoff's √(2 log(2/δ)) standard errors, the most that
the best bet can reach. Printed as Markdown.
"""

import argparse
from collections.abc import Callable
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from prudent import Beta, CVaR, Deterministic, Law, MeanVariance, Mixture, Uniform, evaluate
from prudent.evaluation import Log, betting

LEVEL = 0.95
RARE = [[0.6, 0.37, 0.03], [0.5, 0.49, 0.01], [0.8, 0.1, 0.1]]


def atoms(values: list[float], weights: list[float]) -> Mixture:
    return Mixture([Deterministic(value) for value in values], weights)


LAWS: dict[str, list[Law]] = {
    "Bernoulli": [atoms([0.0, 1.0], [1.0 - p, p]) for p in (0.3, 0.5, 0.6)],
    "Beta": [Beta(2.0, 4.0), Beta(3.0, 3.0), Beta(8.0, 4.0)],
    "three values": [atoms([0.0, 0.1, 1.0], weights) for weights in RARE],
}
RISKS = [MeanVariance(1.0), CVaR(0.1)]
QUANTITIES = ["mean", "variance", "mean-variance(rho=1)", "cvar(alpha=0.1)", "quantile 0.5"]


class Logger:
    """A policy that makes logs: its arms, the policy that is evaluated on them, and the probabilities of its arms given
    pulls and sums of rewards so far, arrays of (log, arm)."""

    def __init__(self, name: str, shares: list[float], floor: float | None, chances: Callable[..., Any]) -> None:
        self.name, self.shares, self.floor, self.chances = name, np.array(shares), floor, chances


def greedy(pulls: Any, sums: Any) -> Any:
    best = np.argmax(np.where(pulls > 0, sums / np.maximum(pulls, 1), np.inf), axis=1)
    return 0.1 + 0.7 * (np.arange(3) == best[:, None])


def thompson(pulls: Any, sums: Any) -> Any:
    """Posteriors are Gaussian, as if rewards had the variance ¼ and there had been one of ½ before."""
    means, spread = (sums + 0.5) / (pulls + 1), 0.25 / (pulls + 1)
    first = ndtr((means[:, 0] - means[:, 1]) / np.sqrt(spread.sum(1)))
    return np.stack([first, 1.0 - first], axis=1)


LOGGERS = [
    Logger("every arm equally often", [0.2, 0.3, 0.5], None, lambda pulls, sums: np.full(pulls.shape, 1.0 / 3.0)),
    Logger(
        "one arm in ten rounds", [0.0, 0.0, 1.0], None, lambda pulls, sums: np.tile([0.7, 0.2, 0.1], (len(pulls), 1))
    ),
    Logger("learns: ε-greedy", [0.2, 0.3, 0.5], 0.1, greedy),
    Logger("learns: Thompson sampling", [1.0, 0.0], None, thompson),
]


def logs_of(logger: Logger, laws: list[Any], count: int, rounds: int, rng: np.random.Generator) -> list[Log]:
    """All logs at once, round by round."""
    arms = len(logger.shares)
    rewards = np.stack([law.sample(rng, size=(count * rounds)).reshape(count, rounds) for law in laws[:arms]], axis=2)
    pulls, sums, each = np.zeros((count, arms)), np.zeros((count, arms)), np.arange(count)
    taken, got, chance = np.empty((count, rounds), np.int64), np.empty((count, rounds)), np.empty((count, rounds))
    for t in range(rounds):
        chances = logger.chances(pulls, sums)
        arm = np.minimum((chances.cumsum(1) < rng.random((count, 1))).sum(1), arms - 1)
        taken[:, t], chance[:, t], got[:, t] = arm, chances[each, arm], rewards[each, t, arm]
        pulls[each, arm] += 1
        sums[each, arm] += got[:, t]
    labels = tuple(map(str, range(arms)))
    return [Log(labels, taken[i], got[i], chance[i]) for i in range(count)]


def bootstrapped(log: Log, shares: Any, resamples: int, rng: np.random.Generator) -> Any:
    """Percentile intervals of all quantities, from rounds that are drawn again with replacement."""
    weights = shares[log.arms] / log.propensities
    order = np.argsort(log.outcomes)
    x, size = log.outcomes[order], len(order)
    rows = rng.integers(size, size=(resamples, size)) + size * np.arange(resamples)[:, None]
    drawn = np.bincount(rows.ravel(), minlength=resamples * size).reshape(resamples, size) * weights[order]
    drawn = drawn[drawn.sum(1) > 0.0]
    drawn /= drawn.sum(1, keepdims=True)
    mean = drawn @ x
    variance = drawn @ x**2 - mean**2
    levels = drawn.cumsum(1)
    tail = np.diff(np.minimum(levels, 0.1), axis=1, prepend=0.0) @ x / 0.1
    median = x[np.minimum((levels < 0.5 * (1.0 - 1e-12)).sum(1), size - 1)]
    found = np.stack([mean, variance, variance - mean, -tail, median])
    return np.quantile(found, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=1).T


def truths(laws: list[Any], shares: Any) -> list[float]:
    some = [i for i, share in enumerate(shares) if share > 0.0]
    law = Mixture([laws[i] for i in some], [float(shares[i]) for i in some])
    return [law.mean, law.variance, *(risk.cost(law) for risk in RISKS), law.quantile(0.5)]


def measured(logger: Logger, laws: list[Any], options: Any, rng: np.random.Generator) -> dict[str, tuple[Any, Any]]:
    """For each method the share of logs in which each interval holds, and its mean width."""
    truth = np.array(truths(laws, logger.shares))
    found: dict[str, list[Any]] = {"weights": [], "arms": [], "bootstrap": []}
    settings: dict[str, Any] = {"risk": RISKS, "quantiles": [0.5], "support": (0, 1), "level": LEVEL}
    for log in logs_of(logger, laws, options.logs, options.rounds, rng):
        if (log.pulls()[logger.shares > 0.0] == 0).any():
            continue  # which is refused, because nothing is known of an arm
        for method in ("weights", "arms"):
            rows = evaluate(log, logger.shares, method=method, floor=logger.floor, **settings).rows
            found[method].append([row.interval for row in rows])
        found["bootstrap"].append(bootstrapped(log, logger.shares, options.resamples, rng))
    answers = {}
    for method, intervals in found.items():
        ends = np.array(intervals)
        holds = (ends[..., 0] <= truth + 1e-12) & (truth <= ends[..., 1] + 1e-12)
        answers[method] = holds.mean(0), (ends[..., 1] - ends[..., 0]).mean(0)
    return answers


def tails(rewards: Any, alpha: float) -> Any:
    """The CVaR of each row of ascending rewards."""
    levels = np.minimum(np.arange(1, rewards.shape[1] + 1) / rewards.shape[1], alpha)
    return -(rewards @ np.diff(levels, prepend=0.0)) / alpha


def bias() -> None:
    """A row for each law, level and number of rewards."""
    print("| rewards | risk | n | cost | estimate, bias | error | jackknife, bias | error |")
    print("|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for law, alpha, n in product((Uniform(0.0, 1.0), Beta(8.0, 4.0)), (0.05, 0.1), (20, 60)):
        x, cost = np.sort(law.sample(rng, 4_000 * n).reshape(-1, n), axis=1), CVaR(alpha).cost(law)
        plain = tails(x, alpha)
        without = np.mean([tails(np.delete(x, i, axis=1), alpha) for i in range(n)], axis=0)
        off = [found - cost for found in (plain, n * plain - (n - 1) * without)]
        cells = [f"{each.mean():+.4f} | {np.sqrt((each**2).mean()):.4f}" for each in off]
        print(f"| {law} | cvar(alpha={alpha}) | {n} | {cost:.4f} | {' | '.join(cells)} |")


def price() -> None:
    """A row for each law, share of the rounds in which the arm was taken, and level."""
    print("| rewards | arm taken in | level | misses | our bets | the best bet | Chernoff |")
    print("|---|---|---|---|---|---|---|")
    rng, own, logs = np.random.default_rng(0), betting.LOG_WEIGHTS, 100
    for law, share, level in product((Uniform(0.0, 1.0), LAWS["Bernoulli"][0]), (1.0, 0.05), (0.95, 0.5)):
        widths, missed = np.zeros(4), 0
        for _ in range(logs):
            x, weights = law.sample(rng, 400), (rng.random(400) < share) / share
            sample = betting.Sample(x, weights, 1.0 / share)
            ends = [betting.mean_limits(sample, 1.0 - level)]
            for place in range(3, len(own) - 3):
                with patch.object(betting, "LOG_WEIGHTS", np.where(np.arange(len(own)) == place, 0.0, -1e9)):
                    ends.append(betting.mean_limits(sample, 1.0 - level))
            error = np.sqrt((weights**2 * (x - weights @ x / weights.sum()) ** 2).sum()) / weights.sum()
            wide = np.diff(ends)[:, 0]
            factors = norm.isf((1.0 - level) / 2.0), np.sqrt(2.0 * np.log(2.0 / (1.0 - level)))
            widths += wide[0], wide[1:].min(), *(2.0 * error * factor for factor in factors)
            missed += not ends[0][0] <= law.mean <= ends[0][1]
        own_width, best, usual, chernoff = widths
        ratios = " | ".join(f"{width / usual:.2f}" for width in (own_width, best, chernoff))
        name = "uniform" if isinstance(law, Uniform) else "0/1, 30 %"
        print(
            f"| {name} | {100.0 * share:g} % | {100.0 * level:g} % | {100.0 * missed / logs:g} % | {ratios} |",
            flush=True,
        )


def main() -> None:
    described = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("logs", 2_000), ("rounds", 500), ("resamples", 200), ("seed", 0)):
        described.add_argument(f"--{name}", type=int, default=default)
    described.add_argument("part", choices=("intervals", "bias", "price"), nargs="?", default="intervals")
    options = described.parse_args()
    if options.part == "bias":
        bias()
        return
    if options.part == "price":
        price()
        return
    print(f"| the log's policy | method | {' | '.join(QUANTITIES)} |")
    print(f"|---|---|{'---|' * len(QUANTITIES)}", flush=True)
    for number, logger in enumerate(LOGGERS):
        rngs = [np.random.default_rng([options.seed, number, law]) for law in range(len(LAWS))]
        all_laws = [measured(logger, laws, options, rng) for laws, rng in zip(LAWS.values(), rngs, strict=True)]
        for method in ("weights", "arms", "bootstrap"):
            least = np.min([found[method][0] for found in all_laws], axis=0)
            width, usual = (np.sum([found[name][1] for found in all_laws], axis=0) for name in (method, "bootstrap"))
            pairs = zip(least, width / usual, strict=True)
            cells = [f"{100.0 * share:.1f} %, {ratio:.1f}×" for share, ratio in pairs]
            print(f"| {logger.name if method == 'weights' else ''} | {method} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
