"""Figure 2, left: the regret of MV-LCB on an easy problem, and its two parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from prudent.arms import Gaussian
from prudent.bandit import Bandit
from prudent.engine import simulate
from prudent.figures import plot_curves, save, style
from prudent.policies import MVLCB
from prudent.risk import MeanVariance
from prudent.runs import mean_and_se

BANDIT = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
RISK = MeanVariance(rho=0.0)
POLICY = MVLCB()
HORIZONS = (5_000, 10_000, 25_000, 50_000, 100_000, 250_000)
CURVES = {
    "regret": "regret $R_n$",
    "gap": "gap part $R_n^{\\Delta}$",
    "exploration": "exploration risk $R_n^{\\Gamma}$",
}


def make(out: Path, *, runs: int, seed: int, workers: int | None, progress: Callable[..., Any]) -> list[Path]:
    """Simulate, and leave the figure and its data under `out`."""
    data = measure(runs, seed, workers, progress)
    table = out / "fig2-left.parquet"
    table.parent.mkdir(parents=True, exist_ok=True)
    beside = table.with_name(f".{table.name}.part")
    data.write_parquet(beside)
    beside.replace(table)
    with style():
        figure = Figure(figsize=(6.4, 4.4))
        draw(figure, data, runs)
        return [table, *save(figure, out / "fig2-left")]


def measure(runs: int, seed: int, workers: int | None, progress: Callable[..., Any]) -> pl.DataFrame:
    """Mean and standard error of the regret and its parts; each horizon is its own set of runs."""
    rows = []
    for horizon in HORIZONS:
        done = simulate(BANDIT, POLICY, risk=RISK, horizon=horizon, runs=runs, seed=seed, workers=workers)
        progress(horizon, total=sum(HORIZONS))
        parts = done.regret_parts()
        values = {"regret": done.regret(), "gap": parts.gap, "exploration": parts.exploration, "twins": parts.twins}
        for quantity, value in values.items():
            rows.append({"horizon": horizon, "quantity": quantity, **mean_and_se(value), "runs": runs, "seed": seed})
    return pl.DataFrame(rows)


def draw(figure: Figure, data: pl.DataFrame, runs: int) -> None:
    """The three curves against n."""
    ax = figure.subplots()
    curves = []
    for quantity, label in CURVES.items():
        rows = data.filter(pl.col("quantity") == quantity).sort("horizon")
        curves.append((label, rows["mean"].to_numpy(), rows["se"].fill_null(np.nan).to_numpy()))
    plot_curves(ax, HORIZONS, curves)
    ax.set_xticks(HORIZONS, [f"{n / 1000:g}" for n in HORIZONS])
    ax.minorticks_off()
    ax.set_xlabel("rounds $n$ (thousands)")
    ax.set_ylabel(f"mean over {runs} runs, ± 2 standard errors")
    ax.set_title("MV-LCB, $\\rho = 0$, $\\mu = (1, 0.5)$, $\\sigma^2 = (0.05, 0.25)$", fontsize=10)
