"""The theorems beside what is measured: Theorem 1 and MV-LCB, Theorem 2 and ExpExp, and the lower bounds' rates."""

import math
from typing import Any, Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from prudent import MVLCB, Bandit, Bernoulli, ExpExp, MeanVariance
from prudent.figures import COLOURS, MARKERS
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import FIGURE_2
from prudent.policies.base import Policy
from prudent.rates import end_slope
from prudent.study import Labelled
from prudent.theory import largest_pseudo_regret, lower_bound_rates, theorem1_expectation, theorem2

RISK = MeanVariance(rho=0.0)
BANDITS = {"Figure 2": FIGURE_2, "Unit interval": Bandit([Bernoulli(0.95), Bernoulli(0.5)])}
HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
ALGORITHMS: dict[str, Policy] = {"MV-LCB": MVLCB(), "ExpExp": ExpExp()}
THEOREMS = {"MV-LCB": "Theorem 1", "ExpExp": "Theorem 2"}
RESULTS = {"MV-LCB": theorem1_expectation, "ExpExp": theorem2}
COLUMNS: tuple[tuple[str, Literal["full", "none"], float], ...] = (
    ("pseudo_regret", "full", 1.8),
    ("regret", "none", 0.9),
)
"""What is drawn of the measurements, with its markers' filling and its line's width."""

FORMS = {"printed": "--", "corrected": "-"}
RATES = {"log n / n": ("$\\log n / n$", (0, (1, 1))), "n^(-1/3)": ("$n^{-1/3}$", (0, (3, 1, 1, 1)))}


def cells() -> dict[str, list[Labelled]]:
    """Both algorithms at every horizon, on both bandits."""
    return {
        "theorems": [
            point(bandit, policy, RISK.rho, horizon, bandit=which, algorithm=algorithm)
            for which, bandit in BANDITS.items()
            for algorithm, policy in ALGORITHMS.items()
            for horizon in HORIZONS
        ]
    }


def tables(found: Tables) -> Tables:
    """What was measured, with its theorem's values at the same horizon."""
    measures = ("regret", "regret_se", "pseudo_regret", "pseudo_regret_se")
    facts = found["theorems"].select("bandit", "runs", "algorithm", pl.col("horizon").alias("n"), *measures)
    theory = [theorem(BANDITS[row["bandit"]], row["algorithm"], row["n"]) for row in facts.rows(named=True)]
    return {"theorems": pl.concat([facts, pl.DataFrame(theory)], how="horizontal")}


def shown(tables: Tables) -> Tables:
    """A table for each bandit."""
    return {f"Bounds, {name}": tables["theorems"].filter(bandit=name).drop("bandit", "runs") for name in BANDITS}


def draw(tables: Tables) -> dict[str, Figure]:
    """A panel for each bandit, one legend."""
    figure = Figure(figsize=(10.5, 6.4), layout="constrained")
    axes = figure.subplots(1, len(BANDITS), sharex=True, sharey=True)
    for ax, (name, bandit) in zip(axes, BANDITS.items(), strict=True):
        plot_bounds(ax, bandit, tables["theorems"].filter(bandit=name)).set_title(title(name, bandit), fontsize=10)
    axes[0].set_ylabel(f"regret a round, mean over {tables['theorems']['runs'][0]} runs ± 2 standard errors")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return {"theorems": figure}


def findings(tables: Tables) -> str:
    """Both bandits in words."""
    return " ".join(describe(name, arms, tables["theorems"].filter(bandit=name)) for name, arms in BANDITS.items())


def theorem(bandit: Bandit, algorithm: str, horizon: int) -> dict[str, float | bool]:
    """The theorem's two values, whether each is vacuous, and whether this bandit grants its conditions."""
    bound = RESULTS[algorithm](bandit, RISK, horizon)
    limit = largest_pseudo_regret(bandit, RISK)
    values = {"printed": bound.printed, "corrected": bound.corrected}
    known = {form: math.inf if value is None else value for form, value in values.items()}
    vacuous = {f"{form} is vacuous": value >= limit for form, value in known.items()}
    return {**known, **vacuous, "applies": bound.applies}


def title(name: str, bandit: Bandit) -> str:
    """Which arms, and whether the theorems speak of them."""
    inside = all(theorem(bandit, algorithm, HORIZONS[-1])["applies"] for algorithm in ALGORITHMS)
    arms = " and ".join(map(str, bandit.arms))
    return f"{name}: {arms}\n{'within' if inside else 'OUTSIDE'} the theorems' assumptions"


def plot_bounds(ax: Axes, bandit: Bandit, table: pl.DataFrame) -> Axes:
    """Measured curves with markers, theorems without, their vacuous stretches dotted in grey; rates in black."""
    limit = largest_pseudo_regret(bandit, RISK)
    fine = np.unique(np.geomspace(HORIZONS[0], HORIZONS[-1], 161).astype(int))
    for i, algorithm in enumerate(ALGORITHMS):
        one, colour = table.filter(pl.col("algorithm") == algorithm), COLOURS[i]
        for column, fill, width in COLUMNS:
            label = f"{algorithm}, {column.replace('_', '-')}"
            centre, margin = one[column].to_numpy(), 2.0 * one[f"{column}_se"].to_numpy()
            ax.plot(one["n"], centre, color=colour, marker=MARKERS[i], fillstyle=fill, linewidth=width, label=label)
            ax.fill_between(one["n"], centre - margin, centre + margin, color=colour, alpha=0.2, linewidth=0)
        values = pl.DataFrame([theorem(bandit, algorithm, n) for n in fine.tolist()])
        for form, line in FORMS.items():
            empty = values[f"{form} is vacuous"].to_numpy()
            label = f"{THEOREMS[algorithm]}, {form}"
            curve = values[form].to_numpy()
            ax.plot(fine, np.where(empty, np.nan, curve), line, color=colour, linewidth=1.2, alpha=0.8, label=label)
            ax.plot(fine, np.where(empty, curve, np.nan), ":", color="0.55", linewidth=1.4)
            mark_vacuous(ax, fine, curve, empty, label)
    ax.plot([], [], ":", color="0.55", linewidth=1.4, label="vacuous")
    ax.axhline(limit, color="0.55", linewidth=0.8, label="largest pseudo-regret possible")
    rates = np.array([[bound.value for bound in lower_bound_rates(bandit, RISK, n)] for n in fine.tolist()], float)
    for rate, (label, dashes) in zip(rates.T, RATES.values(), strict=True):
        ax.plot(fine, rate, linestyle=dashes, color="black", linewidth=1.0, label=f"lower bound's rate {label}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rounds $n$")
    return ax


def mark_vacuous(ax: Axes, x: NDArray[Any], curve: NDArray[Any], empty: NDArray[Any], label: str) -> None:
    """The name of a bound at the start of its vacuous stretch."""
    if empty.any():
        first = int(np.flatnonzero(empty)[0])
        ax.annotate(label, (x[first], curve[first]), (4, 3), textcoords="offset points", fontsize=7, color="0.4")


def describe(name: str, bandit: Bandit, table: pl.DataFrame) -> str:
    """One bandit in words."""
    inside, most = bool(table["applies"].all()), largest_pseudo_regret(bandit, RISK)
    parts = [
        f"{name} ({'within' if inside else 'outside'} the theorems' assumptions; no pseudo-regret exceeds {most:.3f}):"
    ]
    for algorithm in ALGORITHMS:
        one = table.filter(pl.col("algorithm") == algorithm)
        last = one.row(-1, named=True)
        below = int((one["pseudo_regret"] + 2.0 * one["pseudo_regret_se"] < one["corrected"]).sum())
        starts = {form: first_informative(one, form) for form in FORMS}
        parts.append(
            f"{algorithm}'s pseudo-regret is {last['pseudo_regret']:.3g} at n = {last['n']:,}, "
            f"{last['corrected'] / last['pseudo_regret']:.1f} times below {THEOREMS[algorithm]} as "
            f"corrected and {last['printed'] / last['pseudo_regret']:.1f} times below it as printed; below the "
            f"corrected value at {below} of {len(one)} horizons; slope at the end "
            f"{end_slope(one['n'].tail(2), one['pseudo_regret'].tail(2)):.2f}. As printed the "
            f"theorem says something {starts['printed']}, as corrected {starts['corrected']}."
        )
    return " ".join([*parts, overtaking(table)])


def first_informative(one: pl.DataFrame, form: str) -> str:
    """From which measured horizon on a bound is not vacuous."""
    useful = one.filter(~pl.col(f"{form} is vacuous"))["n"].to_list()
    return f"from n = {useful[0]:,} on" if useful else "nowhere here"


def overtaking(table: pl.DataFrame) -> str:
    """Where MV-LCB, with the better rate, also has the smaller regret."""
    lcb, exp = (table.filter(pl.col("algorithm") == name) for name in ALGORITHMS)
    better = lcb.filter(lcb["pseudo_regret"] < exp["pseudo_regret"])["n"].to_list()
    if not better:
        return f"MV-LCB is below ExpExp at no horizon up to n = {max(lcb['n'].to_list()):,}."
    return f"MV-LCB is below ExpExp at n = {', '.join(f'{n:,}' for n in better)}."


FIGURE = PaperFigure(
    name="theorems",
    title="The theorems beside the measurements",
    caption="Pseudo-regret (Definition 3, which the theorems bound) and regret, beside Theorems 1 and 2 as printed "
    "and as corrected. Dotted grey is vacuous: not below the largest pseudo-regret that any allocation of these "
    "arms has. The rates of the lower bounds have no constant; only their slopes mean something.",
    settings=f"ρ = {RISK.rho:g}; {'; '.join(f'{name}: {bandit!r}' for name, bandit in BANDITS.items())}; "
    f"n from {HORIZONS[0]:,} to {HORIZONS[-1]:,}; δ = 1/n², c = 5.",
    paper_says="MV-LCB has a regret of O(log n / n) and ExpExp one of O(n^{-1/3}); the numerical simulations "
    "validate the theoretical results.",
    cells=cells,
    tables=tables,
    draw=draw,
    findings=findings,
    shown=shown,
)
