"""The field side by side: policies for Gaussian arms on the paper's two configurations of fifteen, and the others, for
bounded rewards and other risks, on five arms with rewards 0, ¼, ½, ¾ and 1.

Not part of the report, since it plays every round of the policies that cannot leap: `prudent paper leaderboard`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from prudent.arms.discrete import Empirical
from prudent.bandit import Bandit
from prudent.engine.simulation import simulate
from prudent.figures import save, style
from prudent.paper.measure import Cell, Desk, write_table
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATION_2
from prudent.policies.base import policies as registry
from prudent.policies.binding import serves
from prudent.report import Section
from prudent.risk.base import risks
from prudent.risk.mean_variance import MeanVariance
from prudent.runs import Runs, mean_and_se

Array = NDArray[np.float64]

CONFIGURATIONS = {"1": CONFIGURATION_1, "2": CONFIGURATION_2}
RHOS = (0.0, 0.1, 1.0, 10.0)
HORIZON = 100_000
SHARE_OF_RUNS = 5
"""One in so many of the runs of the report's figures: the policies that step take a thousand times as long."""

PLAYERS = (
    "mv-lcb", "mv-lcb(c=1, unbiased=True)", "bernstein-mv-lcb", "anytime-mv-lcb", "best-of-both", "exp-exp",
    "exp-exp(explore=successive-rejects)", "mv-ucb", "mv-dsee", "mv-dsee(rule=log, a=100)", "mts", "vts", "mvts",
    "epsilon-greedy", "ucb1", "ucb-v", "thompson", "round-robin", "random-arm",
)  # fmt: skip


SUPPORT = (0.0, 0.25, 0.5, 0.75, 1.0)
FIVE = Bandit(
    [
        Empirical(np.repeat(SUPPORT, counts))
        for counts in ((4, 4, 4, 4, 4), (1, 4, 10, 4, 1), (6, 0, 0, 6, 8), (0, 8, 8, 4, 0), (2, 2, 10, 2, 4))
    ],
    names=["even", "steady", "bold", "safe", "mixed"],
)
"""Arms of which the best is another one for the mean, the mean-variance, the tail and the entropic risk."""

BOUNDED_HORIZON = 5_000
GENERAL = ("npts", f"rho-mts(support={list(SUPPORT)})", "round-robin")
BOUNDED_PLAYERS = {
    "mean-variance(rho=1)": ("mv-lcb(c=1, unbiased=True)", "best-of-both", "mvts", *GENERAL),
    "cvar(alpha=0.25)": ("b-cvts", f"m-cvts(support={list(SUPPORT)})", "cvar-ucb", "u-ucb", "marab", *GENERAL),
    "entropic(lam=4)": ("entropic-lcb", *GENERAL),
    "var(alpha=0.35)": ("quantile-ucb", *GENERAL),
    "mean": ("kl-ucb", "ucb1", "ucb-v", "thompson", *GENERAL),
}


def cells() -> list[Cell]:
    """Every policy on every problem."""
    return [*gaussian_cells(), *bounded_cells()]


def gaussian_cells() -> list[Cell]:
    """Both configurations."""
    return [
        Cell(
            bandit,
            registry.parse(player),
            MeanVariance(rho),
            HORIZON,
            {"player": player, "problem": f"{which}, ρ = {rho:g}"},
        )
        for which, bandit in CONFIGURATIONS.items()
        for rho in RHOS
        for player in PLAYERS
    ]


def bounded_cells() -> list[Cell]:
    """The five bounded arms under every risk that has policies of its own."""
    return [
        Cell(FIVE, registry.parse(player), risks.parse(risk), BOUNDED_HORIZON, {"player": player, "problem": risk})
        for risk, players in BOUNDED_PLAYERS.items()
        for player in players
    ]


def play(desk: Desk, cells: Sequence[Cell], measure: Callable[[Runs], Array]) -> pl.DataFrame:
    """One row per policy and problem: `measure` with its standard error, time, and the rank on the problem."""
    rows = []
    for cell in cells:
        settings: dict[str, Any] = {
            "risk": cell.risk,
            "horizon": cell.horizon,
            "seed": desk.seed,
            "workers": desk.workers,
        }
        simulate(cell.bandit, cell.policy, runs=1, **settings)  # the first run of a policy compiles it
        started = time.process_time()  # of all threads
        runs = simulate(cell.bandit, cell.policy, runs=desk.runs, **settings)
        milliseconds = 1e3 * (time.process_time() - started) / desk.runs
        regret = mean_and_se(measure(runs))
        facts = {"policy": cell.labels["player"], "problem": cell.labels["problem"], "minds": serves(cell.policy)}
        numbers = {"regret": regret["mean"], "regret_se": regret["se"], "runs": desk.runs}
        rows.append({**facts, "engine": runs.engine, **numbers, "milliseconds": milliseconds})
        desk.progress(1)
    return pl.DataFrame(rows).with_columns(rank=pl.col("regret").rank("ordinal").over("problem"))


def standings(data: pl.DataFrame) -> pl.DataFrame:
    """Per policy its rank on every problem, their mean, and the time of a run; best first."""
    ranks = data.pivot("problem", index="policy", values="rank")
    means = data.group_by("policy", "minds", "engine").agg(
        pl.col("rank").mean().alias("mean rank"), pl.col("milliseconds").mean().round(2).alias("ms a run and core")
    )
    return means.join(ranks, on="policy").sort("mean rank", "policy")


def regrets(data: pl.DataFrame, factor: float) -> pl.DataFrame:
    """Regret times a factor ± standard error, a column per problem, in the order of the standings."""
    shown = pl.format("{} ± {}", (factor * pl.col("regret")).round(3), (factor * pl.col("regret_se")).round(3))
    table = data.with_columns(shown=shown).pivot("problem", index="policy", values="shown").fill_null("–")
    return standings(data).select("policy").join(table, on="policy", maintain_order="left")


def make(desk: Desk) -> Section:
    """Play, and leave the data, the picture and a page in Markdown."""
    desk = replace(desk, runs=max(2, desk.runs // SHARE_OF_RUNS))
    normal = play(desk, gaussian_cells(), Runs.regret)
    bounded = play(desk, bounded_cells(), Runs.gap_regret)
    paths = [desk.path("leaderboard.parquet"), desk.path("leaderboard-bounded.parquet")]
    for table, path in zip((normal, bounded), paths, strict=True):
        write_table(table, path)
    page = desk.path("leaderboard.md")
    best = standings(normal).row(0, named=True)
    section = Section(
        name="leaderboard",
        title="Leaderboard: the field on the paper's configurations",
        caption=f"Regret of every policy at n = {HORIZON:,} with fifteen Gaussian arms; smaller is better.",
        settings=f"Configurations 1 and 2 of the paper, ρ in {', '.join(f'{rho:g}' for rho in RHOS)}; {desk.runs} runs "
        f"each, seed {desk.seed}. Rank 1 is the smallest mean regret of a problem; differences within two standard "
        "errors mean little. Policies have the parameters of their papers, but for the factor 100 of mv-dsee's log "
        "rule, which the paper leaves to the gaps, and the sharp width of mv-lcb. Those that mind the mean or nothing "
        "are there for comparison. The last table has the policies for bounded rewards and for other risks: n times "
        f"the gap regret after {BOUNDED_HORIZON:,} rounds on five arms with rewards 0, ¼, ½, ¾ and 1.",
        paper_says="The paper compares MV-LCB with ExpExp; the others are the field since.",
        measured=f"Smallest mean rank over the {len(CONFIGURATIONS) * len(RHOS)} problems: {best['policy']}, "
        f"{best['mean rank']:.1f}.",
        figures=save(draw(normal, desk.runs), desk.path("leaderboard")),
        tables={
            "Ranks": standings(normal),
            "100 × regret": regrets(normal, 100.0),
            "Bounded rewards, other risks: n × gap regret": regrets(bounded, BOUNDED_HORIZON),
        },
        data=[*paths, page],
        beyond=True,
    )
    write_page(section, page)
    return section


def write_page(section: Section, path: Path) -> None:
    """The section as Markdown."""
    made = "Made by `prudent paper leaderboard`. Times are of the machine that made it."
    parts = [f"# {section.title}", section.caption, section.settings, section.measured, made]
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
                part = data.filter(problem=f"{which}, ρ = {rho:g}")
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
