"""Choose among the 12 US industry portfolios month by month, 1949 to 2017, under mean, mean-variance and CVaR.

    pip install prudent && pip install --no-deps linearmodels && python examples/returns_industries.py

Each policy plays three histories: months resampled independently, as every simulation here assumes; the months as they
came; and the same months backwards. Were months independent draws of one law, all three would give the same shares.
They do not: means drift, and volatility comes in clusters. Rewards are in tens of percent a month, whose
variances are below 1, as MVTS assumes. A real investor sees all industries, not only the one held, and pays for every
change (docs/portfolios.md has the first): this shows what order does to a bandit, it is no advice.
"""

import math
from pathlib import Path

import numpy as np
from common import options, read
from matplotlib.figure import Figure

from prudent import BCVTS, MVTS, Agent, CVaR, MeanVariance, RiskMeasure
from prudent.figures import COLOURS, MARKERS, save, style

INDUSTRIES = ["NoDur", "Durbl", "Manuf", "Enrgy", "Chems", "BusEq", "Telcm", "Utils", "Shops", "Hlth", "Money", "Other"]
RISKS = {"mean": MeanVariance(math.inf), "mean-variance, ρ = 1": MeanVariance(1.0), "worst 5 %": CVaR(0.05)}
ORDERS = ("resampled", "as they came", "backwards")
STEADIEST = ("Utils", "Telcm", "NoDur")
TEN_YEARS = 120


def load() -> tuple[np.ndarray, np.ndarray]:
    """Months, and returns in tens of percent: a row a month, a column an industry."""
    table = read("linearmodels", "datasets/french/french.csv.bz2")
    return table["dates"].to_numpy().astype("datetime64[M]"), 10.0 * table[INDUSTRIES].to_numpy()


def best(returns: np.ndarray, risk: RiskMeasure) -> str:
    return INDUSTRIES[int(np.argmin([risk.sample_cost(column) for column in returns.T]))]


def ordered(returns: np.ndarray, order: str, seed: int) -> np.ndarray:
    """The history that a run plays; the months of all industries stay together."""
    if order == "resampled":
        return returns[np.random.default_rng(seed).integers(len(returns), size=len(returns))]
    return returns if order == "as they came" else returns[::-1]


def play(policy: tuple, risk: RiskMeasure, history: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    """One run of an agent through a history: the share of each industry, and the cost of the returns received."""
    agent = Agent(policy, n_arms=len(INDUSTRIES), seed=seed, risk=risk)
    chosen = []
    for month in history:
        arm = agent.ask()
        agent.tell(arm, month[arm])
        chosen.append(arm)
    received = history[np.arange(len(history)), chosen]
    return np.bincount(chosen, minlength=len(INDUSTRIES)) / len(history), risk.sample_cost(received)


def draw(dates: np.ndarray, returns: np.ndarray, shares: dict[str, np.ndarray]) -> Figure:
    """How the tails of industries drift, and how often B-CVTS, which minds the tail, held each industry."""
    figure = Figure(figsize=(10.0, 4.2), layout="tight")
    drift, held = figure.subplots(1, 2)
    for i, name in enumerate((*STEADIEST, "Hlth")):
        windows = np.lib.stride_tricks.sliding_window_view(returns[:, INDUSTRIES.index(name)], TEN_YEARS)
        tails = [-10.0 * RISKS["worst 5 %"].sample_cost(window) for window in windows]
        drift.plot(dates[TEN_YEARS - 1 :], tails, color=COLOURS[i], label=name)
    drift.set(ylabel="mean of the worst 5 % of months, %", xlabel="end of ten years")
    drift.legend(fontsize=8)
    for i, (order, runs) in enumerate(shares.items()):
        places, errors = np.arange(len(INDUSTRIES)) + 0.2 * (i - 1), 2.0 * runs.std(0, ddof=1) / math.sqrt(len(runs))
        held.errorbar(places, runs.mean(0), errors, fmt=MARKERS[i], color=COLOURS[i], label=f"months {order}")
    held.set_xticks(range(len(INDUSTRIES)), INDUSTRIES, rotation=60)
    held.set(ylabel="share of months held by B-CVTS", ylim=(0.0, 0.28))
    held.legend(fontsize=8)
    return figure


def main(out: Path, runs: int) -> None:
    dates, returns = load()
    squares = (returns - returns.mean(0)) ** 2
    memory = [np.corrcoef(column[1:], column[:-1])[0, 1] for column in squares.T]
    print(f"{len(returns)} months; squared returns of neighbouring months correlate by {np.mean(memory):.2f}")
    for label, risk in RISKS.items():
        whole, first, second = (best(part, risk) for part in (returns, *np.array_split(returns, 2)))
        print(f"best {label:21} {whole}; in the first half {first}, in the second {second}")
    print(f"{runs} runs each: cost (tens of percent) and shares of months (%), ± standard error")
    policies = {"mean-variance, ρ = 1": MVTS(), "worst 5 %": BCVTS(high=returns.max())}
    for label, policy in policies.items():
        shares = {}
        for order in ORDERS:
            played = [play(policy, RISKS[label], ordered(returns, order, seed), seed) for seed in range(runs)]
            shares[order], costs = (np.array(values) for values in zip(*played, strict=True))
            columns = {"cost": costs} | {name: 100.0 * shares[order][:, INDUSTRIES.index(name)] for name in STEADIEST}
            shown = (f"{k} {x.mean():5.3g} ± {x.std(ddof=1) / math.sqrt(runs):.2g}" for k, x in columns.items())
            print(f"  {label:21} {order:13}", *shown, sep="  ")
    with style():
        print("figure:", *save(draw(dates, returns, shares), out / "returns-industries"))


if __name__ == "__main__":
    main(**options(runs=30))
