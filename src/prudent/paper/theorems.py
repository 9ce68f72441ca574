"""The theorems beside what is measured: Theorem 1 and MV-LCB, Theorem 2 and ExpExp, and the lower bounds."""

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent import Bandit, Bernoulli, MeanVariance
from prudent.base.text import number
from prudent.paper.making import PaperFigure, Tables, point
from prudent.paper.problems import ALGORITHMS, FIGURE_2
from prudent.results.figures import COLOURS, LOWER_BOUND, over_runs, plot_curves
from prudent.results.page import Finding
from prudent.results.rates import end_slope
from prudent.study import Labelled
from prudent.theory import asymptotic_bound, largest_pseudo_regret, theorem1_expectation, theorem2

RISK = MeanVariance(rho=0.0)
BANDITS = {"Figure 2": FIGURE_2, "Unit interval": Bandit([Bernoulli(0.95), Bernoulli(0.5)])}
HORIZONS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
THEOREMS = {"MV-LCB": "Theorem 1", "ExpExp": "Theorem 2"}
RESULTS = {"MV-LCB": theorem1_expectation, "ExpExp": theorem2}
MEASURES: dict[str, Any] = {"pseudo_regret": {}, "regret": {"fillstyle": "none", "linewidth": 0.9}}
"""What is drawn of the measurements, and how."""

FORMS = {"printed": "--", "corrected": "-"}
WORST_CASE: dict[str, Any] = {"color": "black", "linestyle": (0, (3, 1, 1, 1)), "linewidth": 1.0}
VACUOUS: dict[str, Any] = {"color": "0.55", "linestyle": ":", "linewidth": 1.4}


def cells() -> dict[str, list[Labelled]]:
    """Both algorithms at every horizon, on both bandits."""
    places = product(BANDITS, ALGORITHMS, HORIZONS)
    return {"theorems": [point(BANDITS[b], ALGORITHMS[a], RISK.rho, n, bandit=b, algorithm=a) for b, a, n in places]}


def tables(found: Tables) -> Tables:
    """What was measured, with its theorem's values at the same horizon."""
    measures = ("regret", "regret_se", "pseudo_regret", "pseudo_regret_se")
    facts = found["theorems"].select("bandit", "runs", "algorithm", pl.col("horizon").alias("n"), *measures)
    theory = [theorem(BANDITS[bandit], *rest) for bandit, *rest in facts.select("bandit", "algorithm", "n").iter_rows()]
    return {"theorems": pl.concat([facts, pl.DataFrame(theory)], how="horizontal")}


def of_each(tables: Tables) -> Tables:
    """What each bandit has of the table, by its name."""
    return {name: tables["theorems"].filter(bandit=name) for name in BANDITS}


def draw(tables: Tables) -> dict[str, Figure]:
    """A panel for each bandit, one legend."""
    figure = Figure(figsize=(10.5, 6.4), layout="constrained")
    axes = figure.subplots(1, len(BANDITS), sharex=True, sharey=True)
    for ax, (name, table) in zip(axes, of_each(tables).items(), strict=True):
        assumed = "within" if table["applies"].all() else "OUTSIDE"
        title = f"{name}: {' and '.join(map(str, BANDITS[name].arms))}\n{assumed} the theorems' assumptions"
        plot_bounds(ax, BANDITS[name], table).set_title(title, fontsize=10)
        ax.get_legend().remove()
    axes[0].set_ylabel("regret per round")
    looks: dict[str, Any] = {"ncols": 4, "fontsize": 9, "title": over_runs(tables["theorems"]["runs"][0])}
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", **looks)
    return {"theorems": figure}


def theorem(bandit: Bandit, algorithm: str, horizon: int) -> dict[str, float | bool]:
    """The theorem's two values, whether each is vacuous, and whether this bandit grants its conditions."""
    bound = RESULTS[algorithm](bandit, RISK, horizon)
    most = largest_pseudo_regret(bandit, RISK)
    values = {form: getattr(bound, form) for form in FORMS}
    known = {form: math.inf if value is None else value for form, value in values.items()}
    vacuous = {f"{form} is vacuous": value >= most for form, value in known.items()}
    return {**known, **vacuous, "applies": bound.applies}


def plot_bounds(ax: Axes, bandit: Bandit, table: pl.DataFrame) -> Axes:
    """Measured curves with markers, theorems without, their vacuous stretches dotted in grey; lower bounds in black."""
    for measure, line in MEASURES.items():
        parts = [(f"{name}, {measure.replace('_', '-')}", table.filter(algorithm=name)) for name in ALGORITHMS]
        curves = [(label, part[measure], part[f"{measure}_se"]) for label, part in parts]
        plot_curves(ax, parts[0][1]["n"], curves, **line)
    fine = np.unique(np.geomspace(HORIZONS[0], HORIZONS[-1], 161).astype(int))
    for algorithm, colour in zip(ALGORITHMS, COLOURS, strict=False):
        values = pl.DataFrame([theorem(bandit, algorithm, n) for n in fine.tolist()])
        for form, style in FORMS.items():
            label = f"{THEOREMS[algorithm]}, {form}"
            curve, vacuous = values[form].to_numpy(), values[f"{form} is vacuous"].to_numpy()
            ax.plot(fine, np.where(vacuous, np.nan, curve), style, color=colour, linewidth=1.2, alpha=0.8, label=label)
            ax.plot(fine, np.where(vacuous, curve, np.nan), **VACUOUS)
            if vacuous.any():
                start = fine[vacuous][0], curve[vacuous][0]
                ax.annotate(label, start, (4, 3), textcoords="offset points", fontsize=7, color="0.4")
    ax.plot([], [], **VACUOUS, label="vacuous")
    most = largest_pseudo_regret(bandit, RISK)
    ax.axhline(most, color="0.55", linewidth=0.8, label="largest pseudo-regret possible")
    ax.plot(fine, asymptotic_bound(bandit, RISK).constant * np.log(fine) / fine, **LOWER_BOUND)
    ax.plot(fine, fine ** (-1.0 / 3.0), label="rate of the worst case, $n^{-1/3}$", **WORST_CASE)
    ax.set_xlabel("rounds $n$")
    return ax


def finding(tables: Tables) -> Finding:
    """At how many points the theorems hold as corrected; of each bandit its assumptions, and who is better there."""
    below = total = 0
    rows = []
    for name, table in of_each(tables).items():
        below += int((table["pseudo_regret"] + 2.0 * table["pseudo_regret_se"] < table["corrected"]).sum())
        total += len(table)
        lcb, exp = (table.filter(algorithm=algorithm) for algorithm in ALGORITHMS)
        better = ", ".join(f"{n:,}" for n in lcb.filter(lcb["pseudo_regret"] < exp["pseudo_regret"])["n"])
        rows.append(
            {
                "arms": name,
                "within the theorems' assumptions": "yes" if table["applies"].all() else "no",
                "largest possible pseudo-regret": f"{largest_pseudo_regret(BANDITS[name], RISK):.3f}",
                "MV-LCB below ExpExp at n =": better or f"none up to {max(lcb['n']):,}",
            }
        )
    verdict = f"The pseudo-regret is below the theorem as corrected at {below} of {total} points."
    return Finding(verdict, pl.DataFrame(rows))


def compared(tables: Tables) -> pl.DataFrame:
    """How far measurements are below each theorem at the longest horizon, and from which n on it says something."""
    rows = []
    for name, table in of_each(tables).items():
        for algorithm, theorem_name in THEOREMS.items():
            one = table.filter(algorithm=algorithm)
            n, regret, corrected, printed = one.select("n", "pseudo_regret", "corrected", "printed").row(-1)
            below = int((one["pseudo_regret"] + 2.0 * one["pseudo_regret_se"] < one["corrected"]).sum())
            useful = [one.filter(~one[f"{form} is vacuous"])["n"] for form in FORMS]
            starts = [f"n = {horizons[0]:,}" if len(horizons) else "nowhere here" for horizons in useful]
            end = end_slope(one["n"].tail(2), one["pseudo_regret"].tail(2))
            row = {"bandit": name, "theorem": f"{theorem_name}, {algorithm}"}
            row |= {f"pseudo-regret at n = {n:,}": number(regret, 3), "slope at the end": f"{end:.2f}"}
            row |= {"corrected, times as large": f"{corrected / regret:.1f}"}
            row |= {"printed, times as large": f"{printed / regret:.1f}"}
            row |= {"below as corrected": f"at {below} of {len(one)} horizons"}
            rows.append(row | {"printed says something from": starts[0], "corrected says something from": starts[1]})
    return pl.DataFrame(rows)


def shown(tables: Tables) -> Tables:
    """The comparison, then all values."""
    every = {f"Bounds, {name}": part.drop("bandit", "runs") for name, part in of_each(tables).items()}
    return {"Measured and proved": compared(tables), **every}


FIGURE = PaperFigure(
    name="theorems",
    title="The theorems beside the measurements",
    caption="Pseudo-regret (Definition 3, which the theorems bound) and regret, beside Theorems 1 and 2 as printed "
    "and as corrected. Dotted grey is vacuous: not below the largest pseudo-regret that any allocation of these "
    "arms has. The lower bound is for the regret of every policy that learns, as n grows. The rate of the worst case "
    "has no constant; only its slope means something.",
    settings=f"ρ = {RISK.rho:g}; {'; '.join(f'{name}: {bandit!r}' for name, bandit in BANDITS.items())}; "
    f"n from {HORIZONS[0]:,} to {HORIZONS[-1]:,}; δ = 1/n², c = 5.",
    paper_says="MV-LCB has a regret of O(log n / n) and ExpExp one of O(n^(−1/3)); the numerical simulations "
    "validate the theoretical results.",
    cells=cells,
    tables=tables,
    draw=draw,
    finding=finding,
    shown=shown,
)
