"""Learn a mix of the 12 US industry portfolios (monthly returns) that come inside the package `linearmodels`.

    python -m pip install . && pip install --no-deps linearmodels && python examples/portfolio_industries.py

Months are resampled independently, which ignores that returns depend on the past (volatility comes in clusters, means
drift): the weights show how fast a mix is learned, they are no advice.
"""

from pathlib import Path

from common import options, read

from prudent import EmpiricalJoint, PortfolioBandit
from prudent.portfolio import report

INDUSTRIES = ["NoDur", "Durbl", "Manuf", "Enrgy", "Chems", "BusEq", "Telcm", "Utils", "Shops", "Hlth", "Money", "Other"]


def main(out: Path, horizon: int, runs: int) -> None:
    returns = 100.0 * read("linearmodels", "datasets/french/french.csv.bz2")[INDUSTRIES].to_numpy()  # percent a month
    bandit = PortfolioBandit(EmpiricalJoint(returns, INDUSTRIES))
    for feedback in ("full", "semi-bandit", "bandit"):
        learned = report.learn(bandit, rho=5.0, feedback=feedback, horizon=horizon, runs=runs)
        found = ", ".join(f"{n} {w:.2f}" for n, w in zip(INDUSTRIES, learned.weights.mean(0), strict=True) if w > 0.005)
        print(f"{learned.policy}: regret {learned.regret().mean():.3g} over {horizon:,} rounds; {found}")
        report.draw(learned, out / "portfolio-industries" / feedback)
    best = ", ".join(f"{n} {w:.2f}" for n, w in zip(INDUSTRIES, learned.best.weights, strict=True) if w > 0.005)
    print(f"best mix: cost {learned.best.cost:.3g}; {best}")
    print(f"figures are in {out}")


if __name__ == "__main__":
    main(**options(horizon=10**5, runs=40))
