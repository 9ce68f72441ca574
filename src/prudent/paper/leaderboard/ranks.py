"""Who is where: ranks and how sure they are, regret over the lower bound and over the best policy's, units, time."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from prudent import Bandit, MeanVariance
from prudent.arms.base import encode
from prudent.base.arrays import Array, Counts
from prudent.base.text import minus, number
from prudent.engine.compiled import stepper
from prudent.engine.record import Record
from prudent.engine.simulate import simulate
from prudent.paper.leaderboard.suites import TIED, Setup, suits
from prudent.policies.binding import bind, serves
from prudent.policies.contract import Policy, Setting
from prudent.policies.contract import policies as registry
from prudent.policies.units import PUBLISHED, without_warning
from prudent.results.rates import fit_slope
from prudent.study import Cell, Labelled
from prudent.theory import asymptotic_bound

TIMED_SECONDS = 0.5
"""After a run that compiles, runs are timed until so much has passed, five at most."""

DRAWS = 4_000
"""How often the mean regrets are drawn again, each from a normal law with its standard error."""

FACTOR, PLAYED = 128.0, (50, 150)
"""Rewards times so much, a power of two, which loses no digit, show after these rounds whether a policy has a unit."""


@without_warning()
def timed(cell: Cell) -> dict[str, Any]:
    """The engine a cell runs on, and the milliseconds that a run takes a core."""
    settings: dict[str, Any] = {"risk": cell.risk, "horizon": cell.horizon, "seed": cell.seed, "workers": 1}
    simulate(cell.bandit, cell.policy, runs=1, **settings)
    started, count, spent = time.process_time(), 0, 0.0
    while count < 5 and spent < TIMED_SECONDS:
        runs = simulate(cell.bandit, cell.policy, runs=1, **settings)
        count, spent = count + 1, time.process_time() - started
    return {"engine": runs.engine, "milliseconds": 1e3 * spent / count}


def unit_free(policy: Policy) -> bool:
    """Whether a policy as published chooses as before if all rewards are multiplied, and ρ with them."""
    if not all(suits(policy, multiplied(factor), max(PLAYED)) for factor in (1.0, FACTOR)):
        return False
    before, after = (pulls_played(policy, factor) for factor in (1.0, FACTOR))
    return bool((before == after).all())


def multiplied(factor: float) -> Bandit:
    """Two arms with their rewards times a factor."""
    return Bandit([law for each in TIED.arms if (law := each.times(factor)) is not None])


@without_warning()
def pulls_played(policy: Policy, factor: float) -> Counts:
    """The pulls after some rounds in a few runs, with random numbers that do not depend on the unit."""
    bandit, risk, rounds = multiplied(factor), MeanVariance(factor), np.array(PLAYED)
    ready = bind(policy, Setting.of(bandit, risk, max(PLAYED), PUBLISHED))
    record = Record.empty(3, len(PLAYED), len(bandit))
    play = stepper(ready, max(PLAYED))
    play(encode(bandit.arms), bandit.best(risk), rounds, record, np.zeros(1, np.bool_), np.random.default_rng(0))
    return record.pulls


def ranked(data: pl.DataFrame, measure: str) -> pl.DataFrame:
    """A row per policy and problem: the measure as `regret`, and its rank.

    Only policies with results on all problems have ranks. `over best` is the regret over the smallest on the problem.
    """
    columns = {"policy": "player", "problem": "problem", "regret": measure, "regret_se": f"{measure}_se"}
    rows = data.select(**columns, runs="runs")
    everywhere = pl.len().over("policy") == pl.col("problem").n_unique()
    ranks = rows.filter(everywhere).with_columns(rank=pl.col("regret").rank("ordinal").over("problem"))
    over_best = pl.col("regret") / pl.col("regret").min().over("problem")
    rows = rows.with_columns(pl.when(pl.col("regret").min().over("problem") > 0.0).then(over_best).alias("over best"))
    return rows.join(
        ranks.select("policy", "problem", "rank"), on=("policy", "problem"), how="left", maintain_order="left"
    )


def with_facts(rows: pl.DataFrame, cells: Sequence[Labelled]) -> pl.DataFrame:
    """With the risk that each policy serves, and how fast it is in each cell."""
    return rows.hstack(pl.DataFrame([{"risk": serves(each.cell.policy), **timed(each.cell)} for each in cells]))


def with_bounds(rows: pl.DataFrame, suite: Sequence[Setup]) -> pl.DataFrame:
    """With `over bound`, the regret over C log n/n; null where no bound is known, and where it says nothing yet, since
    its log n/K pulls of each arm are more than there are rounds (docs: lower-bounds)."""
    known = {}
    for each in suite:
        if each.model is not None:
            bound = asymptotic_bound(each.bandit, MeanVariance(each.rho), **each.model)
            others = bound.divergences[bound.divergences > 0.0]
            if (math.log(each.horizon) / others).sum() < each.horizon:
                known[each.name] = bound.regret(each.horizon)
    limit = pl.col("problem").replace_strict(known, default=None, return_dtype=pl.Float64)
    return rows.with_columns(**{"over bound": pl.col("regret") / limit})


def places(rows: pl.DataFrame) -> pl.DataFrame:
    """Per policy with ranks: the mean rank, and the places in their order that are likely at 95 %.

    For `with other runs` the mean regrets are drawn again; for `with other problems` the problems of the suite are
    drawn too, with replacement.
    """
    means, errors = (_matrix(rows, column) for column in ("regret", "regret_se"))
    policies = rows.filter(pl.col("rank").is_not_null())["policy"].unique(maintain_order=True)
    rng = np.random.default_rng(0)
    ranks = _order(rng.normal(means, errors, (DRAWS, *means.shape)))
    chosen = rng.integers(means.shape[1], size=(DRAWS, 1, means.shape[1]))
    found = {"policy": policies, "mean rank": _order(means[None])[0].mean(1)}
    for name, drawn in {
        "with other runs": ranks,
        "with other problems": np.take_along_axis(ranks, chosen, 2),
    }.items():
        likely = np.quantile(_order(drawn.mean(2, keepdims=True))[:, :, 0], (0.025, 0.975), axis=0, method="nearest")
        found[name] = [f"{low:.0f}" if low == high else f"{low:.0f}–{high:.0f}" for low, high in likely.T]
    return pl.DataFrame(found)


def _matrix(rows: pl.DataFrame, column: str) -> Array:
    """A row per policy with ranks, a column per problem."""
    table = rows.filter(pl.col("rank").is_not_null()).pivot("problem", index="policy", values=column)
    return table.drop("policy").to_numpy()


def _order(values: Array) -> Counts:
    """Ranks along the axis of the policies, the second."""
    ranks: Counts = values.argsort(1, kind="stable").argsort(1, kind="stable") + 1
    return ranks


COLUMNS = (
    "policy", "mean rank", "with other runs", "with other problems", "over the bound, median",
    "over the best, worst", "where", "free of units", "ms a run and core", "risk",
)  # fmt: skip


def standings(rows: pl.DataFrame) -> pl.DataFrame:
    """Per policy its mean rank and places, the median over the bound, the worst over the best, unit and time."""
    facts = rows.group_by("policy", "risk").agg(
        pl.col("over bound").median().alias("over the bound, median"),
        pl.col("over best").max().map_elements(short, return_dtype=pl.String).alias("over the best, worst"),
        pl.col("problem").sort_by("over best", nulls_last=False).last().alias("where"),
        pl.col("milliseconds").mean().round(2).alias("ms a run and core"),
    )
    free = {text: "yes" if unit_free(registry.parse(text)) else "no" for text in facts["policy"]}
    facts = facts.with_columns(pl.col("policy").replace_strict(free).alias("free of units"))
    return places(rows).join(facts, on="policy", how="left").sort("mean rank", "policy").select(COLUMNS)


def short(value: float) -> str:
    """`1.35`, `28`: two digits after the point, or none for large numbers."""
    return f"{value:,.0f}" if value >= 100.0 else number(value, 3)


def per_problem(rows: pl.DataFrame, factor: float, order: pl.DataFrame) -> pl.DataFrame:
    """Regret times a factor ± standard error, a column per problem; policies in this order, those without rank last."""
    cell = pl.format("{} ± {}", (factor * pl.col("regret")).round(3), (factor * pl.col("regret_se")).round(3))
    return _wide(rows.with_columns(shown=cell), order)


def over_bounds(rows: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """The regret over the lower bound, a column per problem."""
    cell = pl.col("over bound").map_elements(short, return_dtype=pl.String)
    return _wide(rows.with_columns(shown=cell), order)


def _wide(rows: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    table = rows.pivot("problem", index="policy", values="shown").fill_null("–")
    last = table.join(order, on="policy", how="anti").select("policy")
    return pl.concat([order.select("policy"), last]).join(table, on="policy", maintain_order="left")


def worst_cases(rows: pl.DataFrame) -> pl.DataFrame:
    """Per policy and horizon the largest mean regret of all gaps, with its standard error."""
    largest = pl.col("regret") == pl.col("regret").max().over("player", "horizon")
    worst = rows.filter(largest).unique(["player", "horizon"], maintain_order=True)
    return worst.select(policy="player", horizon="horizon", regret="regret", regret_se="regret_se", runs="runs")


def rates(worst: pl.DataFrame) -> pl.DataFrame:
    """100 × the worst regret at every horizon, and the exponent of n fitted to it; the smallest last regret first."""
    found = []
    for (policy,), some in worst.group_by("policy", maintain_order=True):
        part = some.sort("horizon")
        row = {"policy": policy}
        row |= {f"n = {n:,}": short(100.0 * regret) for n, regret in part.select("horizon", "regret").iter_rows()}
        exponent = fit_slope(part["horizon"], part["regret"], part["regret_se"])
        found.append((part["regret"][-1], {**row, "exponent of n": minus(str(exponent))}))
    return pl.DataFrame([row for _, row in sorted(found, key=lambda each: each[0] if math.isfinite(each[0]) else 0.0)])
