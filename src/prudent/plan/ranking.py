"""From simulated trials to a table: a row per policy, with error bars, and what happens to the people."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from prudent import Runs
from prudent.plan.trial import Trial
from prudent.plan.words import percent
from prudent.policies.base import spec
from prudent.runs import averages
from prudent.study import Labelled

WORST = 0.05
"""The share of trials that counts as the worst."""

LEVEL = 0.95

BEST = "the best of them"

MEASURED = ("regret", "outcome", "deviation", "found_best", "loss", "exploration_risk", "best_share")
"""What is measured of every trial: `loss` is the cost of the option that looks best at the end minus that of the best,
`best_share` the share of people who were given the best."""


def trials_of(cells: Sequence[Labelled], found: Sequence[Runs]) -> pl.DataFrame:
    """One row per trial: its policy, horizon and draw, and what came of it."""
    frames = []
    for each, runs in zip(cells, found, strict=True):
        choice, gaps = looks_best(runs), runs.bandit.gaps(runs.risk)
        best = (choice == runs.bandit.best(runs.risk)).astype(float)
        deviation, share = np.sqrt(runs.reward_variance()), runs.best_share()
        values = (
            runs.regret(), runs.reward_mean(), deviation, best, gaps[choice], runs.exploration_risk(), share
        )  # fmt: skip
        facts = {"policy": spec(runs.policy), "horizon": runs.horizon, "draw": each.labels["bandit"]}
        labels = {name: [fact] * len(runs) for name, fact in facts.items()}
        frames.append(pl.DataFrame({**labels, **dict(zip(MEASURED, values, strict=True))}))
    return pl.concat(frames)


def looks_best(runs: Runs) -> NDArray[np.intp]:
    """The option of each trial that one would take after it: the smallest estimated cost, by the unbiased variance.

    An option seen less than twice shows no variance at all, and would look best by that alone.
    """
    with np.errstate(invalid="ignore"):
        unbiased = runs.variance * (runs.pulls / np.maximum(runs.pulls - 1, 1))
        costs = runs.risk.stats_cost(runs.mean, unbiased)
    choice: NDArray[np.intp] = np.where(runs.pulls >= 2, costs, np.inf).argmin(1)
    return choice


def summarise(trials: pl.DataFrame, yardsticks: Collection[str] = ()) -> pl.DataFrame:
    """A row per policy, smallest mean regret first, and then the yardsticks, which no one is to follow.

    Draws are the independent pieces: errors come from their means.
    """
    rows: list[dict[str, Any]] = []
    for (policy,), own in trials.group_by("policy", maintain_order=True):
        # The mean outcome of the worst trials is that of q − (q − x)⁺/WORST, with q their quantile.
        quantile = own["outcome"].quantile(WORST, "lower")
        worst = quantile - (quantile - pl.col("outcome")).clip(lower_bound=0.0) / WORST
        by_draw = own.group_by("draw", maintain_order=True).agg(pl.col(MEASURED).mean(), worst_outcome=worst.mean())
        found = averages({name: by_draw[name].to_numpy() for name in by_draw.columns[1:]})
        rows.append({"policy": policy, **found, "by_draw": by_draw["regret"].to_numpy()})
    rows.sort(key=lambda row: (row["policy"] in yardsticks, row["regret"]))
    # The same bandits for all policies: differences are paired by draw.
    behind = [row["by_draw"] - rows[0]["by_draw"] for row in rows]
    # The first was chosen by the same trials, so it could be any: all pairs count (Bonferroni), not those with it.
    count = sum(row["policy"] not in yardsticks for row in rows)
    pairs = count * (count - 1) / 2
    for row, gap in zip(rows, behind, strict=True):
        row.update(averages({"behind": gap}))
        varies = gap.std() > 1e-12 * np.abs(gap).max()  # more than rounding
        p = stats.ttest_1samp(gap, 0.0).pvalue if varies else float(gap[0] == 0.0)
        row["as_good"] = None if row["policy"] in yardsticks else bool(pairs * p > 1.0 - LEVEL)
        del row["by_draw"]
    return pl.DataFrame(rows)


def people_of(found: Sequence[Runs], names: Sequence[str]) -> pl.DataFrame:
    """How many people get each option, and in the last row the best, whichever it is: on average, and in the few trials
    with the fewest and the most."""
    best = np.concatenate([runs.pulls[:, runs.bandit.best(runs.risk)] for runs in found])
    pulls = np.column_stack([np.concatenate([runs.pulls for runs in found]), best])
    low, high = np.quantile(pulls, [WORST, 1.0 - WORST], axis=0, method="inverted_cdf")
    rows = {"option": [*names, BEST], "average": pulls.mean(0), "fewest": low, "most": high}
    return pl.DataFrame(rows, schema_overrides={"fewest": pl.Int64, "most": pl.Int64})


def reasons(trial: Trial, ranked: pl.DataFrame, yardsticks: pl.DataFrame, draws: int, runs: int) -> list[str]:
    """Why the first policy is recommended, in sentences with error bars (two standard errors)."""
    rows, outcome = ranked.to_dicts(), trial.outcome
    first = rows[0]
    among = f"the smallest of {len(rows)} policies" if len(rows) > 1 else "the only policy tried"
    found = [
        f"It costs {trial.price(first, 'regret')} per round compared with the best option from the start, {among} in"
        f" simulations of {draws:,} bandits that your data and guesses leave possible, {runs:,} trials on each.",
        f"The mean outcome is {outcome.about(first, 'outcome', gain=True)}; in the worst {100 * WORST:g} % of trials it"
        f" is {outcome.about(first, 'worst_outcome', gain=True)}.",
        f"Outcomes within a trial have a standard deviation of {outcome.about(first, 'deviation')}; switching between"
        f" options adds {outcome.about(first, 'exploration_risk', power=2)} of variance.",
        f"At the end the best option looks best in {percent(first, 'found_best')} of trials.",
    ]
    ties = [row["policy"] for row in rows[1:] if row["as_good"]]
    if ties:
        found.append(f"Statistically indistinguishable from it in these simulations: {', '.join(ties)}.")
    elif len(rows) > 1:
        found.append(f"Next comes {rows[1]['policy']}, which costs {trial.price(rows[1], 'behind')} more.")
    return found + _against_yardsticks(trial, yardsticks)


def _against_yardsticks(trial: Trial, yardsticks: pl.DataFrame) -> list[str]:
    """How far the trivial ways are behind; one that is not behind is said plainly."""
    rows = yardsticks.to_dicts()
    level = [row for row in rows if row["behind"] <= 0.0]
    behind = [f"{row['yardstick']} {trial.price(row, 'behind')}" for row in rows if row["behind"] > 0.0]
    said = [f"Without learning it would cost more per round: {'; '.join(behind[:6])}."] if behind else []
    for row in level:
        said.append(
            f"{row['yardstick'][0].upper()}{row['yardstick'][1:]} does as well or better in these simulations:"
            " what you know points to it already, and a trial mainly makes sure."
        )
    return said
