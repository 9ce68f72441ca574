"""Choose among the 12 US industry portfolios month by month, 1949 to 2017, under mean-variance and CVaR.

    python -m pip install . && pip install --no-deps linearmodels && python examples/returns_industries.py

Each policy runs on months that are resampled independently, as every simulation here assumes, and on the months in
their true order. These are not independent, because means drift and volatility comes in clusters. There is one true
history, so it is compared with the spread between resampled ones. Rewards are in tens of percent a month, so the
variances are below 1, as MVTS assumes. A real investor sees all industries, not only the one held
(docs/practitioners/portfolios.md), and pays for every change. This is no investment advice.
"""

import math
from pathlib import Path

import numpy as np
from common import options, read
from matplotlib.figure import Figure

from prudent import BCVTS, MVTS, Agent, CVaR, MeanVariance, RiskMeasure
from prudent.results.figures import COLOURS, save, style

INDUSTRIES = ["NoDur", "Durbl", "Manuf", "Enrgy", "Chems", "BusEq", "Telcm", "Utils", "Shops", "Hlth", "Money", "Other"]
RISKS = {"mean": MeanVariance(math.inf), "mean-variance, ρ = 1": MeanVariance(1.0), "worst 5 %": CVaR(0.05)}
STEADIEST = ("NoDur", "Telcm", "Utils")
SEEDS = 3  # of the policy, for each resampled history
TEN_YEARS = 120


def load() -> tuple[np.ndarray, np.ndarray]:
    """Months, and returns in tens of percent: a row a month, a column an industry."""
    table = read("linearmodels", "datasets/french/french.csv.bz2")
    return table["dates"].to_numpy().astype("datetime64[M]"), 10.0 * table[INDUSTRIES].to_numpy()


def best(returns: np.ndarray, risk: RiskMeasure) -> str:
    return INDUSTRIES[int(np.argmin([risk.sample_cost(column) for column in returns.T]))]


def play(policy: tuple, risk: RiskMeasure, history: np.ndarray, seed: int) -> np.ndarray:
    """One run of an agent through a history: the share of each industry, and last the cost of the returns received."""
    agent = Agent(policy, arms=len(INDUSTRIES), seed=seed, risk=risk, scale=1)
    chosen = []
    for month in history:
        arm = agent.ask()
        agent.tell(arm, month[arm])
        chosen.append(arm)
    received = history[np.arange(len(history)), chosen]
    return np.append(np.bincount(chosen, minlength=len(INDUSTRIES)) / len(history), risk.sample_cost(received))


def compare(policy: tuple, risk: RiskMeasure, returns: np.ndarray, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """What `play` gives: a row for each resampled history, whose months stay whole, and a row for each true run."""
    rng = np.random.default_rng(1)
    histories = [returns[rng.integers(len(returns), size=len(returns))] for _ in range(runs)]
    resampled = [np.mean([play(policy, risk, h, s) for s in range(SEEDS)], axis=0) for h in histories]
    return np.array(resampled), np.array([play(policy, risk, returns, seed) for seed in range(runs)])


def draw(dates: np.ndarray, returns: np.ndarray, resampled: np.ndarray, true: np.ndarray) -> Figure:
    """How the tails of industries drift, and how often B-CVTS, which optimises the tail, held each one."""
    figure = Figure(figsize=(10.0, 4.2), layout="tight")
    drift, held = figure.subplots(1, 2)
    for i, name in enumerate((*STEADIEST, "Hlth")):
        windows = np.lib.stride_tricks.sliding_window_view(returns[:, INDUSTRIES.index(name)], TEN_YEARS)
        tails = [-10.0 * RISKS["worst 5 %"].sample_cost(window) for window in windows]
        drift.plot(dates[TEN_YEARS - 1 :], tails, color=COLOURS[i], label=name)
    drift.set(ylabel="mean of the worst 5 % of months, %", xlabel="end of ten years")
    places, spread = np.arange(len(INDUSTRIES)), 2.0 * resampled.std(0, ddof=1)
    held.errorbar(places, resampled.mean(0), spread, fmt="o", color=COLOURS[0], label="resampled, ± 2 sd of histories")
    error = 2.0 * true.std(0, ddof=1) / math.sqrt(len(true))
    held.errorbar(places + 0.25, true.mean(0), error, fmt="s", color=COLOURS[1], label="in true order, ± 2 se of runs")
    held.set_xticks(places, INDUSTRIES, rotation=60)
    held.set(ylabel="share of months held by B-CVTS", ylim=(0.0, 0.4))
    for ax in (drift, held):
        ax.legend(fontsize=8)
    return figure


def main(out: Path, runs: int) -> None:
    dates, returns = load()
    squares = (returns - returns.mean(0)) ** 2
    memory = [np.corrcoef(column[1:], column[:-1])[0, 1] for column in squares.T]
    print(f"{len(returns)} months; squared returns of neighbouring months correlate by {np.mean(memory):.2f}")
    for label, risk in RISKS.items():
        whole, first, second = (best(part, risk) for part in (returns, *np.array_split(returns, 2)))
        print(f"best {label:21} {whole}; in the first half {first}, in the second {second}")
    print(f"{runs} resampled histories ± sd between them, the true one ± se over {runs} runs; shares of months in %")
    policies = {"mean-variance, ρ = 1": MVTS(), "worst 5 %": BCVTS(high=returns.max())}
    for label, policy in policies.items():
        resampled, true = compare(policy, RISKS[label], returns, runs)
        spread, error = resampled.std(0, ddof=1), true.std(0, ddof=1) / math.sqrt(runs)
        for order, mean, margin in (("resampled", resampled.mean(0), spread), ("in true order", true.mean(0), error)):
            held = [(name, INDUSTRIES.index(name)) for name in STEADIEST]
            shown = ", ".join(f"{name} {100.0 * mean[i]:4.1f} ± {100.0 * margin[i]:3.1f}" for name, i in held)
            print(f"  {label:21} {order:13} cost {mean[-1]:.3f} ± {margin[-1]:.3f}; {shown}")
        away = ((true.mean(0) - resampled.mean(0)) / spread)[:-1]
        most = int(np.abs(away).argmax())
        print(f"    the share farthest off, of {len(away)}: {INDUSTRIES[most]}, by {away[most]:+.1f} sd")
    with style():
        print("figure:", *save(draw(dates, returns, resampled[:, :-1], true[:, :-1]), out / "returns-industries"))


if __name__ == "__main__":
    main(**options(runs=20))
