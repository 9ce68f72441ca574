"""The field side by side: every policy for Gaussian arms on the seed's two configurations of fifteen.

Not part of the report, since it plays every round of the policies that cannot leap: `prudent paper leaderboard`.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from prudent.engine import simulate
from prudent.figures import save, style
from prudent.paper.measure import Cell, Desk, summary, write_table
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2
from prudent.policies import registry, serves
from prudent.report import Section
from prudent.risk import MeanVariance

CONFIGURATIONS = {"1": CONFIGURATION_1, "2": CONFIGURATION_2}
RHOS = (0.0, 0.1, 1.0, 10.0)
HORIZON = 100_000
SHARE_OF_RUNS = 10
"""One in so many of the runs of the report's figures: the policies that step take a thousand times as long."""

PLAYERS = (
    "mv-lcb", "mv-lcb(c=1, unbiased=True)", "bernstein-mv-lcb", "anytime-mv-lcb", "best-of-both", "exp-exp",
    "exp-exp(explore=successive-rejects)", "mv-ucb", "mv-dsee", "mv-dsee(rule=log, a=100)", "mts", "vts", "mvts",
    "epsilon-greedy", "ucb1", "ucb-v", "thompson", "round-robin", "random-arm",
)  # fmt: skip


def cells() -> list[Cell]:
    """Every policy on every problem."""
    return [
        Cell(bandit, registry.parse(player), MeanVariance(rho), HORIZON, {"configuration": which, "rho": rho})
        for which, bandit in CONFIGURATIONS.items()
        for rho in RHOS
        for player in PLAYERS
    ]


def play(desk: Desk) -> pl.DataFrame:
    """One row per policy and problem: regret with its standard error, time, and the rank on the problem."""
    rows = []
    workers = desk.workers or len(os.sched_getaffinity(0))
    for cell, player in zip(cells(), PLAYERS * (len(CONFIGURATIONS) * len(RHOS)), strict=True):
        settings: dict[str, Any] = {"risk": cell.risk, "horizon": cell.horizon, "seed": desk.seed, "workers": workers}
        simulate(cell.bandit, cell.policy, runs=1, **settings)  # the first run of a policy compiles it
        runs = simulate(cell.bandit, cell.policy, runs=desk.runs, **settings)
        facts = {"policy": player, "minds": serves(cell.policy), "engine": runs.engine}
        milliseconds = 1e3 * runs.seconds * workers / desk.runs
        rows.append({**cell.labels, **facts, **summary(runs), "milliseconds": milliseconds})
        desk.progress(1)
    rank = pl.col("regret").rank("ordinal").over("configuration", "rho")
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(rank=rank)


def standings(data: pl.DataFrame) -> pl.DataFrame:
    """Per policy its rank on every problem, their mean, and the time of a run; best first."""
    problem = pl.format("{}, ρ = {}", "configuration", pl.col("rho").cast(pl.String).str.strip_suffix(".0"))
    ranks = data.with_columns(problem=problem).pivot("problem", index="policy", values="rank")
    means = data.group_by("policy", "minds", "engine").agg(
        pl.col("rank").mean().alias("mean rank"), pl.col("milliseconds").mean().round(2).alias("ms a run and core")
    )
    return means.join(ranks, on="policy").sort("mean rank", "policy")


def regrets(data: pl.DataFrame) -> pl.DataFrame:
    """100 × regret ± standard error, a column per problem, in the order of the standings."""
    shown = pl.format("{} ± {}", (100 * pl.col("regret")).round(3), (100 * pl.col("regret_se")).round(3))
    problem = pl.format("{}, ρ = {}", "configuration", pl.col("rho").cast(pl.String).str.strip_suffix(".0"))
    table = data.with_columns(shown=shown, problem=problem).pivot("problem", index="policy", values="shown")
    return standings(data).select("policy").join(table, on="policy", maintain_order="left")


def make(desk: Desk) -> Section:
    """Play, and leave the data, the picture and a page in Markdown."""
    desk = replace(desk, runs=max(2, desk.runs // SHARE_OF_RUNS))
    data = play(desk)
    write_table(data, desk.path("leaderboard.parquet"))
    page = desk.path("leaderboard.md")
    best = standings(data).row(0, named=True)
    section = Section(
        name="leaderboard",
        title="Leaderboard: the field on the seed's configurations",
        caption=f"Regret of every policy at n = {HORIZON:,} with fifteen Gaussian arms; smaller is better.",
        settings=f"Configurations 1 and 2 of the seed, ρ in {', '.join(map(str, RHOS))}; {desk.runs} runs each, seed "
        f"{desk.seed}. Rank 1 is the smallest mean regret of a problem; differences within two standard errors mean "
        "little. Policies have the parameters of their papers, none is tuned to the problems; those that mind the mean "
        "or nothing are there for comparison.",
        seed_says="The seed compares MV-LCB with ExpExp; the others are the field since.",
        measured=f"Smallest mean rank over the {len(CONFIGURATIONS) * len(RHOS)} problems: {best['policy']}, "
        f"{best['mean rank']:.1f}.",
        figures=save(draw(data, desk.runs), desk.path("leaderboard")),
        tables={"Ranks": standings(data), "100 × regret": regrets(data)},
        data=[desk.path("leaderboard.parquet"), page],
        beyond=True,
    )
    write_page(section, page)
    return section


def write_page(section: Section, path: Path) -> None:
    """The section as Markdown."""
    parts = [f"# {section.title}", section.caption, section.settings, section.measured]
    parts += [f"![{section.caption}]({path.with_suffix('.png').name})"]
    for title, table in section.tables.items():
        with pl.Config(
            tbl_formatting="MARKDOWN", tbl_rows=-1, tbl_cols=-1, tbl_width_chars=10_000, fmt_str_lengths=200,
            tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, float_precision=2,
        ):  # fmt: skip
            parts += [f"## {title}", str(table)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def draw(data: pl.DataFrame, runs: int) -> Figure:
    """A dot per policy and problem on a logarithmic scale, a panel per ρ, the two configurations side by side."""
    order = standings(data)["policy"].to_list()[::-1]
    with style():
        figure = Figure(figsize=(11.0, 5.6), layout="constrained")
        panels = figure.subplots(1, len(RHOS), sharey=True)
        for ax, rho in zip(panels, RHOS, strict=True):
            for which, marker in zip(CONFIGURATIONS, "os", strict=True):
                part = data.filter(rho=rho, configuration=which)
                at = dict(part.select("policy", "regret").iter_rows())
                error = dict(part.select("policy", "regret_se").iter_rows())
                shift = 0.15 if marker == "o" else -0.15
                ax.errorbar(
                    [at[name] for name in order],
                    [i + shift for i in range(len(order))],
                    xerr=[2.0 * error[name] for name in order],
                    fmt=marker,
                    markersize=4.0,
                    label=f"configuration {which}",
                )
            ax.set_xscale("log")
            ax.set_title(f"$\\rho = {rho:g}$")
            ax.grid(axis="y", alpha=0.3)
        panels[0].set_yticks(range(len(order)), order)
        figure.supxlabel(f"regret at n = {HORIZON:,}, mean of {runs} runs ± 2 s.e.")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure
