"""The literature side by side: policies for Gaussian arms on the paper's two configurations of fifteen, and the others,
for bounded rewards and other risks, on five arms with rewards 0, ¼, ½, ¾ and 1.

Not part of the report, since it takes every round of the policies that cannot leap: `prudent paper leaderboard`.
"""

import math
import time
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from prudent import Bandit, Empirical
from prudent.engine.simulation import simulate
from prudent.figures import COLOURS, MARKERS, label_log_axis, over_runs
from prudent.paper.making import PaperFigure, Tables
from prudent.paper.problems import CONFIGURATIONS
from prudent.policies.base import ANY, MEAN, Policy, Setting
from prudent.policies.base import policies as registry
from prudent.policies.binding import assumed_rewards, bind, served_risk, serves
from prudent.policies.scoring import reads_rewards
from prudent.policies.units import PUBLISHED, fitted, without_warning
from prudent.risk.base import risks
from prudent.study import Cell, Labelled

RHOS = (0.0, 0.1, 1.0, 10.0)
HORIZON = 100_000
TIMED_RUNS = 5
"""Runs whose time is taken, after one that compiles."""

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)
FIVE = Bandit(
    [
        Empirical(np.repeat(VALUES, counts))
        for counts in ((4, 4, 4, 4, 4), (1, 4, 10, 4, 1), (6, 0, 0, 6, 8), (0, 8, 8, 4, 0), (2, 2, 10, 2, 4))
    ],
    names=["even", "steady", "bold", "safe", "mixed"],
)
"""Arms of which the best is another one for the mean, the mean-variance, the tail and the entropic risk."""

VARIANTS = ("mv-lcb(c=1, unbiased=True)", "exp-exp(explore=successive-rejects)", "mv-dsee(rule=log, a=100)")
BOUNDED_HORIZON = 5_000
BOUNDED_RISKS = {
    "mean-variance(rho=1)": ("mv-lcb(c=1, unbiased=True)", "best-of-both", "mvts"),
    "cvar(alpha=0.25)": (),
    "mean-cvar(alpha=0.25, weight=0.5)": (),
    "entropic(lam=4)": (),
    "var(alpha=0.35)": (),
    "mean": ("ucb1", "ucb-v", "thompson"),
}
"""The risks on bounded rewards, and policies of the first part to compare with."""


def simple(policy: Policy) -> bool:
    """Whether a policy takes any rewards and reads only their mean and variance, so that it suits the first part."""
    ready = bind(policy, Setting(2, served_risk(policy), 100))
    reads = hasattr(ready, "score") and reads_rewards(type(ready))
    return assumed_rewards(fitted(policy, PUBLISHED)) == (-math.inf, math.inf, ()) and not reads


def players(risk: str, part: bool) -> list[str]:
    """The policies that serve a risk, or any, of the first part or of the second; those of coins suit neither."""
    found = []
    for entry in registry.entries():
        policy = entry.factory()
        text = f"{entry.name}(values={list(VALUES)})" if hasattr(policy, "values") else entry.name
        if entry.facts.get("serves") == risk and "binary" not in entry.facts and simple(policy) == part:
            found.append(text)
    return found


GENERAL = [*players(ANY, part=False), "round-robin"]
PLAYERS = [name for risk in ("mean-variance", MEAN, ANY) for name in players(risk, part=True) if name != "fixed-arm"]
PLAYERS += VARIANTS
BOUNDED_PLAYERS = {
    risk: [*others, *players(risk.partition("(")[0], part=False), *GENERAL] for risk, others in BOUNDED_RISKS.items()
}
"""All but `fixed-arm`, which knows the best arm: who adds a policy adds it here too."""


def cells() -> dict[str, list[Labelled]]:
    """Every policy on both configurations; those for other risks on the five bounded arms."""
    gaussian = [
        labelled(bandit, f"mean-variance(rho={rho})", policy, HORIZON, f"{which}, ρ = {rho:g}")
        for (which, bandit), rho, policy in product(CONFIGURATIONS.items(), RHOS, PLAYERS)
    ]
    bounded = [
        labelled(FIVE, risk, policy, BOUNDED_HORIZON, risk)
        for risk, policies in BOUNDED_PLAYERS.items()
        for policy in policies
    ]
    return {"leaderboard": gaussian, "leaderboard-bounded": bounded}


def labelled(bandit: Bandit, risk: str, policy: str, horizon: int, problem: str) -> Labelled:
    """One policy on one problem."""
    cell = Cell(bandit, risks.parse(risk), registry.parse(policy), horizon)
    return Labelled(cell, {"player": policy, "problem": problem})


def tables(found: Tables) -> Tables:
    """One row per policy and problem: regret with its standard error, time, and the rank on the problem."""
    measures = {"leaderboard": "regret", "leaderboard-bounded": "gap_regret"}
    return {name: ranked(found[name], measure, cells()[name]) for name, measure in measures.items()}


def ranked(data: pl.DataFrame, measure: str, cells: list[Labelled]) -> pl.DataFrame:
    """The measure of every cell under the name regret, which risk its policy serves, and how fast it is."""
    facts = [{"risk": serves(each.cell.policy), **timed(each.cell)} for each in cells]
    columns = {"policy": "player", "problem": "problem", "regret": measure, "regret_se": f"{measure}_se"}
    rank = pl.col("regret").rank("ordinal").over("problem")
    return data.select(**columns, runs="runs").hstack(pl.DataFrame(facts)).with_columns(rank=rank)


@without_warning()
def timed(cell: Cell) -> dict[str, Any]:
    """The engine a cell runs on, and the milliseconds that a run takes a core."""
    settings: dict[str, Any] = {"risk": cell.risk, "horizon": cell.horizon, "seed": cell.seed, "workers": 1}
    simulate(cell.bandit, cell.policy, runs=1, **settings)
    started = time.process_time()
    runs = simulate(cell.bandit, cell.policy, runs=TIMED_RUNS, **settings)
    return {"engine": runs.engine, "milliseconds": 1e3 * (time.process_time() - started) / TIMED_RUNS}


def standings(data: pl.DataFrame) -> pl.DataFrame:
    """Per policy its rank on every problem, their mean, and the time of a run; best first."""
    ranks = data.pivot("problem", index="policy", values="rank")
    means = data.group_by("policy", "risk", "engine").agg(
        pl.col("rank").mean().alias("mean rank"), pl.col("milliseconds").mean().round(2).alias("ms a run and core")
    )
    return means.join(ranks, on="policy").sort("mean rank", "policy")


def regrets(data: pl.DataFrame, factor: float) -> pl.DataFrame:
    """Regret times a factor ± standard error, a column per problem, in the order of the standings."""
    shown = pl.format("{} ± {}", (factor * pl.col("regret")).round(3), (factor * pl.col("regret_se")).round(3))
    table = data.with_columns(shown=shown).pivot("problem", index="policy", values="shown").fill_null("–")
    return standings(data).select("policy").join(table, on="policy", maintain_order="left")


def findings(tables: Tables) -> list[str]:
    """The first of the standings."""
    best = standings(tables["leaderboard"]).row(0, named=True)
    problems = len(CONFIGURATIONS) * len(RHOS)
    return [f"Smallest mean rank over the {problems} problems: {best['policy']}, {best['mean rank']:.1f}."]


def shown(tables: Tables) -> Tables:
    """Ranks and regrets of the Gaussian problems, then the bounded ones."""
    gaussian, bounded = tables["leaderboard"], regrets(tables["leaderboard-bounded"], BOUNDED_HORIZON)
    shown = {"Ranks": standings(gaussian), "100 × regret": regrets(gaussian, 100.0)}
    return {**shown, "Bounded rewards, other risks: n × gap regret": bounded}


def draw(tables: Tables) -> dict[str, Figure]:
    """A dot per policy and problem on a logarithmic scale, a panel per ρ, the two configurations side by side."""
    data = tables["leaderboard"]
    places = standings(data).select("policy").reverse().with_row_index("place")
    figure = Figure(figsize=(11.0, 5.6), layout="constrained")
    panels = figure.subplots(1, len(RHOS), sharey=True)
    for ax, rho in zip(panels, RHOS, strict=True):
        for which, colour, marker, shift in zip(CONFIGURATIONS, COLOURS, MARKERS, (0.15, -0.15), strict=False):
            part = places.join(data.filter(problem=f"{which}, ρ = {rho:g}"), on="policy", maintain_order="left")
            looks: dict[str, Any] = {"fmt": marker, "color": colour, "markersize": 4.0}
            bars = ax.errorbar(part["regret"], part["place"] + shift, xerr=2.0 * part["regret_se"], **looks)
            bars.set_label(f"configuration {which}")
        ax.set(xscale="log", title=f"$\\rho = {rho:g}$")
        label_log_axis(ax, "x")
    panels[0].set_yticks(places["place"], places["policy"])
    figure.supxlabel(f"regret per round at n = {HORIZON:,}, {over_runs(data['runs'][0])}")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return {"leaderboard": figure}


FIGURE = PaperFigure(
    name="leaderboard",
    title="Leaderboard: the literature on the paper's configurations",
    caption=f"Regret of every policy at n = {HORIZON:,} with fifteen Gaussian arms; smaller is better.",
    settings=f"Configurations 1 and 2 of the paper, ρ in {', '.join(f'{rho:g}' for rho in RHOS)}. "
    "Rank 1 is the smallest mean regret of a problem; differences within two standard errors mean little. Policies "
    "have the parameters of their papers, but for the factor 100 of mv-dsee's log rule, which the paper leaves to the "
    "gaps, and the sharp width of mv-lcb. Those that serve the mean or no risk are there for comparison. The last "
    "table has the policies for bounded rewards and for other risks: n times the gap regret after "
    f"{BOUNDED_HORIZON:,} rounds on five arms with rewards 0, ¼, ½, ¾ and 1.",
    paper_says="The paper compares MV-LCB with ExpExp; the others are from the literature since.",
    cells=cells,
    tables=tables,
    draw=draw,
    findings=findings,
    shown=shown,
    tag="beyond the paper",
    share_of_runs=5,
    page=True,
)
