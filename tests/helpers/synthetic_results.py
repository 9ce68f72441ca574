"""Results that nobody simulated: numbers by a formula, so that figures, findings and tables are always the same."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl

from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, MultivariateGaussian, PortfolioBandit, PortfolioRuns
from prudent.portfolio import MCEmpirical
from prudent.results.runs import MEASURES
from prudent.study import Cell, Labelled
from prudent.study.cells import labels_table

GOLDEN = (5.0**0.5 - 1.0) / 2.0
REWARDS = ("reward_mean", "reward_variance", "best_share")
"""Between 0 and 1 whatever the horizon; all else shrinks with it."""


def spread(count: int, salt: float) -> np.ndarray:
    """Numbers between 0.1 and 1 in no apparent order."""
    return 0.1 + 0.9 * ((GOLDEN * np.arange(1, count + 1) + np.sqrt(2.0) * salt) % 1.0)


def results(cells: Sequence[Labelled], by_run: int = 0) -> pl.DataFrame:
    """The table of a study with these cells, a made-up value for every measure; that of single runs if asked for."""
    table = labels_table(cells)
    count, shrinking = len(cells), table["horizon"].to_numpy() ** -0.4
    columns = {}
    for salt, name in enumerate(MEASURES):
        columns[name] = spread(count, salt) * (1.0 if name in REWARDS else shrinking)
        columns[f"{name}_se"] = 0.02 * spread(count, salt + 0.5) * columns[name]
    pulls = [shares(len(each.cell.bandit), i) * each.cell.horizon for i, each in enumerate(cells)]
    table = table.with_columns(
        **columns, across_variance=spread(count, 20), pulls=pl.Series(pulls, dtype=pl.List(float))
    )
    if by_run:
        single = [spread(by_run, i) for i in range(count)]
        table = table.with_columns(regret_by_run=pl.Series(single, dtype=pl.List(float)))
    return table


def shares(arms: int, salt: float) -> np.ndarray:
    """Parts of one."""
    found = spread(arms, salt)
    return found / found.sum()


def study_cells(rhos: Sequence[float] = (0.0,), means: Sequence[float] = (0.0, 0.5, 0.75)) -> list[Labelled]:
    """Two policies at three horizons, on Gaussian arms over two ranges."""
    found = []
    for policy, n, rho, mean, variance in product((MVLCB(), ExpExp()), (100, 10, 1000), rhos, means, (1.0, 0.25)):
        bandit = Bandit([Gaussian(1.0, variance), Gaussian(mean, 0.5), Gaussian(0.2, 0.1)])
        labels = {"bandit": "three", "mean": mean, "variance": variance, "rho": rho}
        found.append(Labelled(Cell(bandit, MeanVariance(rho), policy, n), labels))
    return found


def portfolio(arms: int) -> PortfolioBandit:
    """Arms that are worth mixing, slightly correlated."""
    deviations = np.linspace(1.0, 0.4, arms)
    covariance = np.outer(deviations, deviations) * np.where(np.eye(arms), 1.0, 0.1)
    return PortfolioBandit(
        MultivariateGaussian(np.linspace(0.6, 0.1, arms), covariance), [f"arm {i}" for i in range(arms)]
    )


def portfolio_runs(arms: int, worse: float = 0.0, runs: int = 8, size: float = 1.0) -> PortfolioRuns:
    """Runs whose regret shrinks like n^(−1/2); `worse` is taken from it, so that it may fall below zero."""
    bandit, risk, rounds = portfolio(arms), MeanVariance(1.0), (10, 100, 1_000, 10_000)
    values = np.array([[spread(1, 10 * i + j)[0] for j in range(len(rounds))] for i in range(runs)])
    weights = np.array([[shares(arms, i + 3 * j) for j in range(len(rounds))] for i in range(runs)])
    regret = size * values / np.sqrt(rounds) - worse
    record = dict.fromkeys(("reward_mean", "best_mean", "best_variance", "gap", "exploration"), 0.0 * values)
    record |= {"reward_variance": regret, "weights": weights, "average_weights": weights}
    facts = {"bandit": bandit, "policy": MCEmpirical(), "risk": risk, "best": bandit.optimal(risk.rho)}
    return PortfolioRuns.at_snapshots(rounds, record, **facts, seed=0, seconds=1.0)
