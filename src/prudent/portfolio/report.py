"""What the command `portfolio` and the examples show: a mix being learned, the facts about it, and its figures."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prudent.engine.scaffold import LONGEST
from prudent.errors import PrudentError, check_integer, shown
from prudent.figures import save, style
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights
from prudent.portfolio.runs import PortfolioRuns
from prudent.portfolio.simulation import simulate_portfolio, spaced

LEARNERS = {"full": "mc-empirical", "semi-bandit": "mc-ucb", "bandit": "mc-ete"}
"""The policy for each feedback."""


def learn(bandit: PortfolioBandit, *, feedback: str = "full", horizon: int, **settings: Any) -> PortfolioRuns:
    """Learn the mix with the policy for the feedback; the settings are those of `simulate_portfolio`."""
    if not isinstance(feedback, str) or feedback not in LEARNERS:
        raise PrudentError(f"learn: feedback must be one of {', '.join(LEARNERS)}, got {shown(feedback)}")
    horizon = check_integer("learn", "horizon", horizon, low=1, high=LONGEST)
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
