"""What is measured of simulated trials, and which policy is better: by the mean of all trials and that of the worst."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from prudent.base.arrays import Array
from prudent.plan.playing import Trials
from prudent.plan.trial import Trial, Worlds
from prudent.policies.contract import Policy, spec

WORST = 0.05
"""The share of trials that counts as the worst."""

LEVEL = 0.95

INSIDE = 0.9
"""How often an interval of a promise holds the truth."""

OUTSIDE = 0.03, 0.03
"""The shares of worlds below and above it. They are less than 5 %, because few outcomes of a skewed distribution let a
bootstrap be too sure; chosen, like the weights of worlds, so that intervals cover."""

BEST = "the best of them"


class Promise(NamedTuple):
    """A number that a plan promises: its average over the worlds that the pilot leaves possible, and an interval that
    holds the true value with 90 % probability. `error` is the standard error of the average, since worlds are drawn."""

    mean: float
    low: float
    high: float
    error: float = 0.0

    @classmethod
    def of(cls, values: Array) -> "Promise":
        """That of values by world and trial; a world's value is the mean of its trials."""
        by_world = values.mean(1)
        low = np.quantile(by_world, OUTSIDE[0], method="inverted_cdf")
        high = np.quantile(by_world, 1.0 - OUTSIDE[1], method="higher")
        mean = float(by_world.mean())
        error = float(by_world.std() / np.sqrt(len(by_world)))
        return cls(mean, min(mean, float(low)), max(mean, float(high)), error)  # a few worlds may carry the whole mean

    def times(self, factor: float) -> "Promise":
        """In another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Promise(self.mean * factor, low, high, self.error * abs(factor))


class Measured(NamedTuple):
    """Trials of a policy and what came of them, by world and trial.

    `regret` is the cost of the outcomes received, by the true distributions of the options, minus that of the best
    option; where the variance counts, the variance that switching between options adds is a part of it. `loss` is what
    the option that looks best at the end costs more than the best.
    """

    policy: Policy
    horizon: int
    trials: Trials
    regret: Array
    found_best: Array
    loss: Array
    outcome: Array
    variance: Array
    switching: Array
    best_share: Array
    chosen_mean: Array
    undecided: bool

    @classmethod
    def of(cls, trial: Trial, policy: Policy, horizon: int, worlds: Worlds, trials: Trials) -> "Measured":
        """What came of these trials in the first of the worlds."""
        worlds = worlds.some(len(trials.choice))
        shares, choice = trials.shares, trials.choice
        means = (shares * worlds.means[:, None]).sum(2)
        switching = (shares * (worlds.means[:, None] - means[:, :, None]) ** 2).sum(2)
        weight = getattr(trial.risk, "variance_weight", 0.0)
        regret = (shares * worlds.gaps[:, None]).sum(2) + weight * switching
        return cls(
            policy,
            horizon,
            trials,
            regret,
            (choice == worlds.best[:, None]).astype(float),
            np.take_along_axis(worlds.gaps, choice, 1),
            means,
            (shares * worlds.variances[:, None]).sum(2) + switching,
            switching,
            np.take_along_axis(shares, worlds.best[:, None, None], 2)[:, :, 0],
            np.take_along_axis(worlds.means, choice, 1),
            bool(np.bincount(worlds.best).max() < LEVEL * len(worlds)),
        )

    @property
    def name(self) -> str:
        return spec(self.policy)

    @property
    def worst_regret(self) -> float:
        """The mean regret of the worst trials."""
        return float(np.sort(self.regret.ravel())[-count_of_worst(self.regret.size) :].mean())

    @property
    def weighed(self) -> Array:
        """For every world numbers of which the mean is the score: half the mean regret of all trials, and half that of
        the worst."""
        flat = self.regret.ravel()
        count = count_of_worst(flat.size)
        limit = np.sort(flat)[-count]
        tail = limit + np.maximum(self.regret - limit, 0.0) * (flat.size / count)
        found: Array = (0.5 * self.regret + 0.5 * tail).mean(1)
        return found

    @property
    def score(self) -> float:
        """By what policies are ranked; smaller is better."""
        return float(self.weighed.mean())

    def promise(self, name: str) -> Promise:
        """That of a quantity; of `deviation` the square root of the variance.

        If worlds do not agree which option is best, two may be equal, and then a wrong one costs nothing. Hardly a
        world has equal options, so the interval of a cost is extended to 0.
        """
        if name == "deviation":
            found = Promise.of(self.variance)
            mean, low, high = (max(0.0, value) ** 0.5 for value in found[:3])
            return Promise(mean, low, high, found.error / (2.0 * mean) if mean > 0.0 else 0.0)
        found = Promise.of(getattr(self, name))
        return found._replace(low=min(0.0, found.low)) if self.undecided and name in ("regret", "loss") else found


PROMISED = ("regret", "found_best", "outcome", "deviation", "loss", "best_share")


def count_of_worst(trials: int) -> int:
    """How many of so many trials are the worst."""
    return max(1, round(WORST * trials))


def ranked(measured: Sequence[Measured]) -> list[Measured]:
    """The best first; those that were tried in more trials before those that left earlier."""
    return sorted(measured, key=lambda one: (-one.regret.size, one.score, one.name))


def behind(one: Measured, first: Measured) -> tuple[float, float]:
    """How much larger the score of one is than that of the first, in the worlds that both know, and the error."""
    count = min(len(one.regret), len(first.regret))
    gap = one.weighed[:count] - first.weighed[:count]
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(count))


def as_good(one: Measured, first: Measured, policies: int) -> bool:
    """Whether the scores differ by no more than chance."""
    count = min(len(one.regret), len(first.regret))
    return alike(one.weighed[:count] - first.weighed[:count], policies)


def alike(gap: Array, policies: int) -> bool:
    """Whether paired differences from the first of so many policies may be chance: a t-test, corrected for all pairs.

    The first was chosen by the same trials, so it could be any: all pairs count (Bonferroni), not those with it.
    """
    if not gap.std() > 1e-12 * np.abs(gap).max():  # no more than rounding
        return bool(gap[0] <= 0.0)
    pairs = policies * (policies - 1) / 2
    return bool(pairs * stats.ttest_1samp(gap, 0.0).pvalue > 1.0 - LEVEL)


def table_of(measured: Sequence[Measured], policies: int) -> pl.DataFrame:
    """A row for each of these, of so many policies that were tried, in the same worlds; the best first."""
    rows: list[dict[str, Any]] = []
    for one in measured:
        gap, error = behind(one, measured[0])
        row: dict[str, Any] = {"policy": one.name, "trials": one.regret.size, "score": one.score}
        row |= {"worst_regret": one.worst_regret, "behind": gap, "behind_se": error}
        for name in PROMISED:
            row |= {f"{name}{end}": x for end, x in zip(("", "_low", "_high"), one.promise(name)[:3], strict=True)}
        row["as_good"] = as_good(one, measured[0], policies)
        rows.append(row)
    return pl.DataFrame(rows)


def people_of(one: Measured, worlds: Worlds, names: Sequence[str]) -> pl.DataFrame:
    """How many people get each option, and in the last row the best, whichever it is: on average, and in the few trials
    with the fewest and the most."""
    pulls = one.trials.pulls.reshape(-1, len(names))
    runs = one.trials.pulls.shape[1]
    best = pulls[np.arange(len(pulls)), np.repeat(worlds.best[: len(one.regret)], runs)]
    whole = np.column_stack([pulls, best])
    low, high = np.quantile(whole, [WORST, 1.0 - WORST], axis=0, method="inverted_cdf")
    rows = {"option": [*names, BEST], "average": whole.mean(0), "fewest": low, "most": high}
    return pl.DataFrame(rows, schema_overrides={"fewest": pl.Int64, "most": pl.Int64})
