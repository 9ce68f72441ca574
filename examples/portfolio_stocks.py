"""Learn a mix of the 20 US stocks (daily prices) that come inside the package `skfolio`, at most 15 % in each.

    python -m pip install . && pip install --no-deps skfolio && python examples/portfolio_stocks.py

Days are resampled independently, which ignores that returns depend on the past (volatility comes in clusters, means
drift), and the 20 were chosen among survivors: the weights show how fast a mix is learned, they are no advice.
"""

from pathlib import Path

import numpy as np
from common import options, read

from prudent import EmpiricalJoint, PortfolioBandit
from prudent.portfolio import report


def main(out: Path, horizon: int, runs: int) -> None:
    prices = read("skfolio", "datasets/data/sp500_dataset.csv.gz").drop("Date")
    names, values = prices.columns, prices.to_numpy()
    returns = 100.0 * (values[1:] / values[:-1] - 1.0)  # percent a day
    kept = np.isfinite(returns).all(1)
    bandit = PortfolioBandit(EmpiricalJoint(returns[kept], names))
    learned = report.learn(bandit, rho=10.0, horizon=horizon, runs=runs, upper=0.15)
    print(f"{kept.sum():,} days, {len(names)} stocks; {learned}")
    print(f"regret {learned.regret().mean():.3g}, pseudo-regret {learned.pseudo_regret().mean():.3g}")
    for name, best, found in zip(names, learned.best.weights, learned.weights.mean(0), strict=True):
        if max(best, found) > 0.005:
            print(f"  {name:5s} best {best:.3f}  learned {found:.3f}")
    report.draw(learned, out / "portfolio-stocks", upper=0.15)
    print(f"figures are in {out}")


if __name__ == "__main__":
    main(**options(horizon=10**6, runs=40))
