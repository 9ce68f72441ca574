"""The pictures of the leaderboard: one of each suite."""

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from prudent.results.figures import COLOURS, MARKERS


def draw_suite(rows: pl.DataFrame, order: pl.DataFrame) -> Figure:
    """A row per policy, best mean rank first, and in it a mark per problem: the regret over the best policy's."""
    rows, count = rows.filter(pl.col("over best").is_not_null()), order.height
    height = order.select("policy").with_row_index("place")
    figure = Figure(figsize=(8.0, 1.6 + 0.24 * count), layout="constrained")
    ax = figure.subplots()
    problems = rows["problem"].unique(maintain_order=True)
    for i, problem in enumerate(problems):
        part = height.join(rows.filter(problem=problem), on="policy")
        looks: dict[str, Any] = {"marker": (*MARKERS, "*")[i % 8], "color": (*COLOURS, "#7F7F7F")[i % 8]}
        ax.plot(part["over best"], part["place"], linestyle="", markersize=5.0, alpha=0.85, label=problem, **looks)
    labels = [f"{row['policy']}  {row['mean rank']:.1f}" for row in order.iter_rows(named=True)]
    ax.set_yticks(range(count), labels, fontsize=9)
    ax.set(xscale="log", ylim=(count - 0.4, -0.6), xlabel="regret over that of the best policy on the problem")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_title(f"policies and their mean ranks; mean regrets of {rows['runs'][0]:,} runs", fontsize=10)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return figure
