"""The multi-period problem of the conclusions: a sequence of arms may beat every single arm, and it can be learned.

Everything but the learner's regret is exact: costs of sums come from convolutions (prudent.theory).
"""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent import (
    Bandit,
    CVaR,
    Empirical,
    adaptive_cost,
    best_sequence,
    explore_then_sequence,
    sequence_cost,
    sequence_regret,
)
from prudent.base.text import minus, with_error
from prudent.paper.making import PaperFigure, Tables
from prudent.results.figures import COLOURS, ERRORS
from prudent.results.page import Finding

LOSSES = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)], names=["rare large", "frequent small"])
LOSSES_RISK = CVaR(0.05)
PERIODS = 4

GAMES = Bandit([Empirical([0.0] * 7 + [2.0] * 3), Empirical([-1.0] + [1.0] * 4)], names=["lottery", "insurer"])
GAMES_RISK = CVaR(0.2)
HORIZONS = (8, 16, 32, 64, 128)
RUNS, SEED = 20_000, 0
LONG = 100_000
"""Too many periods to compare all sequences, so that the bound speaks."""


def tables(_: Tables) -> Tables:
    """The cost of every sequence of the losses; what the games cost, known and learned, for more and more periods."""
    shares = [
        {"pulls of arm 1": k, "share": k / PERIODS, "cost": sequence_cost(LOSSES, LOSSES_RISK, (k, PERIODS - k))}
        for k in range(PERIODS + 1)
    ]
    adaptive = adaptive_cost(LOSSES, LOSSES_RISK, PERIODS)
    return {
        "periods-shares": pl.DataFrame(shares).with_columns(adaptive=pl.lit(adaptive)),
        "periods-learning": pl.DataFrame([learned(n) for n in HORIZONS]),
    }


def learned(periods: int) -> dict[str, float | str]:
    """The best sequence of the games, what a single arm and adapting add or save, and the learner's regret."""
    best = best_sequence(GAMES, GAMES_RISK, periods)
    totals = explore_then_sequence(GAMES, GAMES_RISK, periods, runs=RUNS, seed=SEED)
    regret = sequence_regret(totals, GAMES, GAMES_RISK, periods)
    return {
        "periods": periods,
        "best sequence": " + ".join(f"{count} × {name}" for count, name in zip(best.counts, GAMES.names, strict=True)),
        "cost": best.cost,
        "single arm": (best.single_cost - best.cost) / periods,
        "adaptive": (adaptive_cost(GAMES, GAMES_RISK, periods) - best.cost) / periods,
        "regret": regret.value,
        "regret_se": regret.se,
    }


def draw(tables: Tables) -> dict[str, Figure]:
    """Left the costs of all sequences, right the regret of learning."""
    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_shares(left, tables["periods-shares"])
    plot_learning(right, tables["periods-learning"])
    return {"periods": figure}


def plot_shares(ax: Axes, data: pl.DataFrame) -> Axes:
    """The cost of the sum against the share of the first arm; the ends are the single arms."""
    ends, inner = data[[0, -1]], data[1:-1]
    ax.plot(data["share"], data["cost"], color=COLOURS[0], zorder=1)
    ax.scatter(ends["share"], ends["cost"], color=COLOURS[1], marker="s", label="one arm in all periods", zorder=2)
    ax.scatter(inner["share"], inner["cost"], color=COLOURS[0], label="both arms", zorder=2)
    ax.axhline(data["adaptive"][0], color="black", linestyle="--", linewidth=1.0, label="arm chosen by the sum so far")
    ax.set(
        xlabel=f"share of the arm with {LOSSES.names[0]} losses",
        ylabel=f"CVaR of the sum, worst {100.0 * LOSSES_RISK.alpha:g} %",
    )
    ax.set_xticks(data["share"].to_list())
    ax.set_title(f"{PERIODS} periods, all sequences", fontsize=10)
    ax.legend(loc="upper center")
    return ax


def plot_learning(ax: Axes, data: pl.DataFrame) -> Axes:
    """Regret per period against the number of periods."""
    bars: dict[str, Any] = {"yerr": 2.0 * data["regret_se"], "capsize": 3.0, "label": "explore, then sequence"}
    ax.errorbar(data["periods"], data["regret"], **bars, color=COLOURS[0], marker="o")
    ax.plot(data["periods"], data["single arm"], color=COLOURS[1], marker="s", label="best single arm, known")
    ax.plot(data["periods"], data["adaptive"], color="black", linestyle="--", linewidth=1.0, label="adaptive, known")
    ax.axhline(0.0, color="grey", linewidth=0.8)
    ax.set_xscale("log", base=2)
    ax.set_xticks(data["periods"].to_list(), [f"{n}" for n in data["periods"]])
    ax.set(xlabel="periods n", ylabel="regret per period")
    ax.set_title(f"{' and '.join(GAMES.names)}, worst {100.0 * GAMES_RISK.alpha:g} %", fontsize=10)
    ax.legend(title=f"{RUNS:,} runs, {ERRORS}", alignment="left")
    return ax


def finding(tables: Tables) -> Finding:
    """What sequences, single arms and learners cost in both panels, and what a mix can save over a long horizon."""
    shares, data = tables["periods-shares"].rows(named=True), tables["periods-learning"].rows(named=True)
    best = min(shares, key=lambda row: row["cost"])
    alone = min(shares[0]["cost"], shares[-1]["cost"])
    far = best_sequence(GAMES, GAMES_RISK, LONG)
    left, ends = f"left: cost of the sum of {PERIODS}", (data[0], data[-1])
    right = [f"right: regret per period at n = {row['periods']}" for row in ends]
    rows = [
        ["best sequence", f"{best['cost']:.2f}", "0", "0"],
        ["best single arm", f"{alone:.2f}", *(f"{row['single arm']:.4f}" for row in ends)],
        ["best plan by the sum so far", f"{best['adaptive']:.2f}", *(f"{row['adaptive']:.4f}" for row in ends)],
        ["learner", "–", *(with_error(row["regret"], row["regret_se"]) for row in ends)],
    ]
    verdict = (
        f"The best sequence of {PERIODS} pulls the first arm {best['pulls of arm 1']} times and beats each arm alone; "
        f"over {LONG:,} periods no mix saves more than {(far.cost - far.least) / LONG:.5f} per period, by the bound."
    )
    return Finding(verdict, pl.DataFrame(rows, ["choice", left, *right], orient="row"))


def in_words(bandit: Bandit) -> str:
    """The arms with their values and probabilities."""
    parts = []
    for name, law in zip(bandit.names, bandit.arms, strict=True):
        values, masses = law.atoms() or ([], [])
        chances = [f"{value:g} with probability {mass:g}" for value, mass in zip(values, masses, strict=True)]
        parts.append(f"{name}: {minus(', '.join(chances))}")
    return "; ".join(parts)


FIGURE = PaperFigure(
    name="periods",
    title="Conclusions: the risk of a sum, and the best sequence of arms",
    caption=f"Left: the cost of the sum of {PERIODS} rewards for every sequence of two arms; squares are the single "
    "arms. Right: the regret per period against the best sequence, for a learner that explores and then plays the "
    "best sequence for the laws it estimated, for the best single arm, and for the best plan that chooses by the sum "
    "so far. The last two know the laws and are exact.",
    settings=f"Left: {in_words(LOSSES)}; {LOSSES_RISK}. Right: {in_words(GAMES)}; {GAMES_RISK}; ⌈(n/14)^(2/3)⌉ pulls "
    f"of each arm to explore; {RUNS:,} runs, random seed {SEED}. The regret is one of the law of a run's sum, so it "
    "is estimated from all runs together.",
    paper_says="An arm with the smallest single-period risk might not be the best over n rounds; a learner should be "
    "compared with the smallest risk that any sequence of arms achieves, which requires a new definition of regret. "
    "(In a remark left out of print: for the mean-variance the best sequence is the best single arm, for the "
    "conditional value at risk it need not be.)",
    tables=tables,
    draw=draw,
    finding=finding,
    shown=lambda tables: {"Lottery and insurer": tables["periods-learning"]},
)
