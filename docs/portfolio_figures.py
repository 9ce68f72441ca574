"""Draw the figures of the portfolio page and print its slopes: `python docs/portfolio_figures.py`."""

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio import spaced
from prudent.portfolio.figures import plot_frontier, plot_regret, plot_weights
from prudent.results.figures import plot_curves, save, style
from prudent.results.rates import bootstrap_slope

IMAGES = Path(__file__).parent / "images"
LEARNERS = ("mc-empirical", "mc-ucb", "mc-ete")


def five_arms():
    """The page's problem: five correlated Gaussian arms, of which the best mix holds three."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(10, 5))
    return PortfolioBandit(MultivariateGaussian(rng.uniform(0.0, 1.0, 5), factors.T @ factors / 10))


def hardest(policy, horizons, runs):
    """Regret where, for each n, two means differ by 1/√n and only the mean counts."""
    regrets = []
    for n in horizons:
        bandit = PortfolioBandit(MultivariateGaussian([1.0 / math.sqrt(n), 0.0], np.eye(2)))
        regrets.append(simulate_portfolio(bandit, policy, rho=math.inf, horizon=n, runs=runs).pseudo_regret())
    return regrets


def write(axes, name):
    for path in save(axes.figure, IMAGES / name):
        if path.suffix == ".svg":
            path.unlink()


def main(runs=100):
    bandit, rounds = five_arms(), spaced(100, 10**6, 17)
    settings = {"rho": 1.0, "horizon": 10**6, "runs": runs}
    learned = [simulate_portfolio(bandit, policy, snapshots=rounds, **settings) for policy in LEARNERS]
    single = f"single-arm(arm={bandit.best_arm(1.0)})"
    baselines = [simulate_portfolio(bandit, policy, snapshots=rounds, **settings) for policy in (single, "even")]
    print("best mix", bandit.optimal(1.0).weights.round(3), "cost", round(bandit.optimal(1.0).cost, 4))
    for result in (*learned, *baselines):
        print(result, f"{result.seconds:.1f} s", f"{result.regret().mean():.3g}")
        for since in (10**3, 10**4):
            true, pseudo = (result.regret_slope(since=since, pseudo=kind) for kind in (False, True))
            print("  since", since, *(f"{x:.3f}" for x in true), "pseudo", *(f"{x:.3f}" for x in pseudo))
    with style():
        write(
            plot_regret(Figure(figsize=(6.4, 4.4)).subplots(), [*learned, *baselines], since=1000), "portfolio-regret"
        )
        write(plot_weights(Figure(figsize=(6.4, 4.0)).subplots(), learned[1]), "portfolio-weights")
        kinds = {"long only": {}, "at most 0.4 each": {"upper": 0.4}, "with short selling": {"short": True}}
        frontiers = [(label, bandit.frontier(**limits)) for label, limits in kinds.items()]
        write(plot_frontier(Figure(figsize=(6.4, 4.4)).subplots(), bandit, frontiers, learned[1]), "portfolio-frontier")
        horizons, curves = [10**k for k in (2, 3, 4, 5, 6)], []
        for policy in LEARNERS[:2]:
            regrets = np.array(hardest(policy, horizons, runs))
            fit = bootstrap_slope(horizons, list(regrets))
            label = f"{policy}: slope {fit}"
            print(label)
            curves.append((label, regrets.mean(1), regrets.std(1) / math.sqrt(runs)))
        ax = plot_curves(Figure(figsize=(6.4, 4.0)).subplots(), horizons, curves)
        ax.set_xlabel("rounds n; the means differ by 1/√n")
        ax.set_ylabel("pseudo-regret per round, mean only")
        write(ax, "portfolio-hardest")


if __name__ == "__main__":
    main()
