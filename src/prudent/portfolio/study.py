"""From returns to the frontier and the learned weights: what the command line and the examples run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prudent.errors import PrudentError, check_integer
from prudent.figures import save, style
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights
from prudent.portfolio.runs import PortfolioRuns
from prudent.portfolio.simulation import simulate_portfolio, spaced

LEARNERS = {"full": "mc-empirical", "semi-bandit": "mc-ucb", "bandit": "mc-ete"}
"""The policy for each feedback."""


def learn(
    bandit: PortfolioBandit,
    *,
    rho: float = 1.0,
    feedback: str = "full",
    horizon: int,
    runs: int = 20,
    seed: int = 0,
    upper: ArrayLike | None = None,
    short: bool = False,
    workers: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> PortfolioRuns:
    """Learn the mix with the policy for the feedback, with snapshots for the pictures."""
    if feedback not in LEARNERS:
        raise PrudentError(f"learn: feedback must be one of {', '.join(LEARNERS)}, got {feedback!r}")
    horizon = check_integer("learn", "horizon", horizon, low=1)
    settings = {"upper": upper, "short": short, "workers": workers, "progress": progress}
    snapshots = spaced(100, horizon, 13)
    return simulate_portfolio(
        bandit,
        LEARNERS[feedback],
        rho=rho,
        horizon=horizon,
        runs=runs,
        seed=seed,
        snapshots=snapshots,
        **settings,  # type: ignore[arg-type]
    )


def facts(learned: PortfolioRuns, *, upper: ArrayLike | None = None, short: bool = False) -> dict[str, Any]:
    """The frontier, the best mix and the learned weights, by the arms' names, as JSON takes them."""
    bandit, best = learned.bandit, learned.best
    frontier = bandit.frontier(upper=upper, short=short)
    summary = learned.summary()
    return {
        "arms": list(bandit.names),
        "rho": learned.risk.rho,
        "horizon": learned.horizon,
        "runs": len(learned),
        "seed": learned.seed,
        "best": {
            "weights": dict(zip(bandit.names, best.weights.tolist(), strict=True)),
            "cost": best.cost,
            "mean": best.mean,
            "variance": best.variance,
            "kkt_residual": best.kkt_residual,
        },
        "learned": summary | {"weights": dict(zip(bandit.names, summary["weights"]["mean"], strict=True))},
        "frontier": {name: values.tolist() for name, values in frontier._asdict().items()},
    }


def draw(learned: PortfolioRuns, out: Path, *, upper: ArrayLike | None = None, short: bool = False) -> list[Path]:
    """frontier, weights and regret, each as SVG and PNG."""
    bandit = learned.bandit
    frontiers = [("long only", bandit.frontier())]
    if short or upper is not None:
        asked = ["short selling"] * short + ["upper bounds"] * (upper is not None)
        frontiers.insert(0, ("with " + " and ".join(asked), bandit.frontier(upper=upper, short=short)))
    made = []
    with style():
        figure = Figure(figsize=(6.4, 4.4))
        plot_frontier(figure.subplots(), bandit, frontiers, learned)
        made += save(figure, out / "frontier")
        figure = Figure(figsize=(6.4, 4.0))
        plot_weights(figure.subplots(), learned)
        made += save(figure, out / "weights")
        figure = Figure(figsize=(6.4, 4.0))
        plot_regret(figure.subplots(), [learned])
        made += save(figure, out / "regret")
    return made
