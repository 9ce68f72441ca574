"""What the command `portfolio` and the examples show: a mix being learned, the facts about it, and its figures."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prudent.base.errors import PrudentError, check_integer, shown
from prudent.engine.jobs import MAX_ROUNDS
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights
from prudent.portfolio.runs import PortfolioRuns
from prudent.portfolio.simulation import simulate_portfolio, spaced
from prudent.results.figures import save, style

LEARNERS = {"full": "mc-empirical", "semi-bandit": "mc-ucb", "bandit": "mc-ete"}
"""The policy for each feedback."""


def learn(bandit: PortfolioBandit, *, feedback: str = "full", horizon: int, **settings: Any) -> PortfolioRuns:
    """Learn the mix with the policy for the feedback; the settings are those of `simulate_portfolio`."""
    if not isinstance(feedback, str) or feedback not in LEARNERS:
        raise PrudentError(f"learn: feedback must be one of {', '.join(LEARNERS)}, got {shown(feedback)}")
    horizon = check_integer("learn", "horizon", horizon, low=1, high=MAX_ROUNDS)
    rounds = spaced(100, horizon, 13)
    return simulate_portfolio(bandit, LEARNERS[feedback], horizon=horizon, snapshots=rounds, **settings)


def facts(learned: PortfolioRuns, *, upper: ArrayLike | None = None, short: bool = False) -> dict[str, Any]:
    """The frontier, the best mix and the learned weights, by the arms' names, in plain numbers, lists and dicts.

    No number is NaN. An infinite ρ, the mean only, is the float inf.
    """
    names, best, summary = learned.bandit.names, learned.best, learned.summary()
    frontier = learned.bandit.frontier(upper=upper, short=short)
    settings = {"rho": learned.risk.rho, "horizon": learned.horizon, "runs": len(learned), "seed": learned.seed}
    known = {name: getattr(best, name) for name in ("cost", "mean", "variance", "kkt_residual")}
    return {
        "arms": list(names),
        **settings,
        "best": {"weights": dict(zip(names, best.weights.tolist(), strict=True)), **known},
        "learned": summary | {"weights": dict(zip(names, summary["weights"], strict=True))},
        "frontier": {name: values.tolist() for name, values in frontier._asdict().items()},
    }


def remarks(learned: PortfolioRuns, *, chosen: bool, from_prices: int = 0) -> list[str]:
    """What the reader of the answer should know: how prices were read, where ρ comes from, and if it hardly matters.

    `chosen` says that ρ was left to `PortfolioBandit.middle_rho`; `from_prices` counts the returns made from prices.
    """
    bandit, rho, said = learned.bandit, learned.risk.rho, []
    if from_prices:
        said.append(f"Prices were turned into {from_prices:,} simple returns p_t/p_{{t−1}} − 1, the oldest row first.")
    if chosen:
        middle = "halfway between those of the steadiest mix and of the largest mean"
        said.append(f"ρ = {rho:g}, in the unit of the rewards: its best mix has a mean {middle}. Choose with --rho.")
    alone = int(np.argmax(learned.best.weights))
    if math.isfinite(rho) and learned.best.weights[alone] > 1.0 - 1e-9 and alone == np.argmax(bandit.law.mean):
        only = f"{bandit.names[alone]} alone, the arm of the largest mean"
        said.append(f"At ρ = {rho:g} the best mix is {only}: the risk would count only at a smaller ρ.")
    return said


def draw(learned: PortfolioRuns, out: Path, *, upper: ArrayLike | None = None, short: bool = False) -> list[Path]:
    """The frontier, the weights and the regret, each as SVG and PNG."""
    bandit = learned.bandit
    frontiers = [("long only", bandit.frontier())]
    if short or upper is not None:
        asked = ["short selling"] * short + ["upper limits"] * (upper is not None)
        frontiers.insert(0, ("with " + " and ".join(asked), bandit.frontier(upper=upper, short=short)))
    with style():
        figures = {name: Figure(figsize=(6.4, 4.2)) for name in ("frontier", "weights", "regret")}
        frontier, weights, regret = (figure.subplots() for figure in figures.values())
        plot_frontier(frontier, bandit, frontiers, learned)
        plot_weights(weights, learned)
        plot_regret(regret, [learned])
        return [path for name, figure in figures.items() for path in save(figure, out / name)]
