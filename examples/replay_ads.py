"""Try policies offline on logged ads: 10,000 impressions of the Open Bandit Dataset [Saito21], 34 ads, 46 clicks.

    python -m pip install . && pip install --no-deps obp && python examples/replay_ads.py

Replay [Li11] asks the agent at every logged impression. If the agent names the ad that was shown, it receives the
logged outcome; otherwise the ask is withdrawn. The outcomes it receives are a fair sample of its own rounds, because
the log chose uniformly at random among all ads. So it did, too, among `eligible` ads, which are the one shown and
others drawn at random. With m eligible ads one event in m is kept. Assumes uniform logging and visitors independent
of each other. With a finite log the policy is judged by its first kept rounds, where it knows little, and their
number is random.
"""

import math
from pathlib import Path

import numpy as np
from common import options, read
from matplotlib.figure import Figure

from prudent import Agent, MeanVariance
from prudent.results.figures import COLOURS, MARKERS, save, style

ADS = 34
ELIGIBLE = (3, ADS)
POLICIES = {
    "every ad in turn": "round-robin",
    "Thompson, mean": "bernoulli-thompson",
    "Thompson, ρ = ½": "bernoulli-mvts(rho=0.5)",
}


def load(logger: str) -> tuple[np.ndarray, np.ndarray]:
    """The ad shown and whether it was clicked, in the order of time; `random` gave every ad the same chance."""
    table = read("obp", f"dataset/obd/{logger}/men/men.csv").sort("timestamp")
    return table["item_id"].to_numpy(), table["click"].to_numpy()


def replay(policy: str, shown: np.ndarray, clicks: np.ndarray, eligible: int, seed: int) -> np.ndarray:
    """Which events the agent kept; an ask for another ad is withdrawn, as if the visitor had not come."""
    rng = np.random.default_rng([seed, eligible])
    agent = Agent(policy, arms=ADS, seed=seed, support=(0, 1), risk=MeanVariance(math.inf))
    kept = np.zeros(len(shown), bool)
    for event, (ad, click) in enumerate(zip(shown.tolist(), clicks.tolist(), strict=True)):
        others = 1 + rng.choice(ADS - 1, eligible - 1, replace=False)
        asked = agent.ask(among=[ad, *((ad + others) % ADS).tolist()])
        if asked == ad:
            agent.tell(ad, click)
            kept[event] = True
        else:
            agent.withdraw(asked)
    return kept


def judged(weights: np.ndarray, clicks: np.ndarray) -> tuple[float, float, float]:
    """Click rate in %, its standard error, and the effective number of events, (Σw)²/Σw².

    w is the share of passes that kept an event: passes share one log, and more of them do not make it longer. The
    error takes the log's own click rate, for a sample without a click is not a sure one.
    """
    size = weights.sum() ** 2 / (weights**2).sum()
    rate = clicks.mean()
    return 100.0 * np.average(clicks, weights=weights), 100.0 * math.sqrt(rate * (1.0 - rate) / size), size


def draw(clicks: np.ndarray, kept: dict[tuple[str, int], np.ndarray], deployed: float) -> Figure:
    """Click rates with two standard errors, and how these shrink with the log."""
    figure = Figure(figsize=(10.0, 4.0), layout="tight")
    rates, errors = figure.subplots(1, 2)
    for i, eligible in enumerate(ELIGIBLE):
        found = [judged(kept[label, eligible], clicks) for label in POLICIES]
        places = np.arange(len(POLICIES)) + 0.1 * (2 * i - 1)
        look = {"color": COLOURS[i], "label": f"{eligible} eligible ads"}
        rates.errorbar(places, [f[0] for f in found], [2.0 * f[1] for f in found], fmt=MARKERS[i], **look)
        sizes = [len(clicks) // part for part in (8, 4, 2, 1)]
        weights = kept["Thompson, mean", eligible]
        errors.plot(sizes, [judged(weights[:n], clicks[:n])[1] for n in sizes], f"{MARKERS[i]}-", **look)
    rates.axhline(100.0 * clicks.mean(), color="grey", linestyle="--", label="whole log")
    rates.set_xticks(range(len(POLICIES)), POLICIES)
    rates.set(ylabel="click rate, %")
    gap = deployed - 100.0 * clicks.mean()
    errors.axhline(gap, color="grey", linestyle="--", label="gain of the shop's own policy")
    errors.set(xscale="log", yscale="log", ylabel="standard error of the click rate, %")
    errors.set_xlabel("logged events")
    errors.set_xticks(sizes, [f"{n:,}" for n in sizes], minor=False)
    errors.minorticks_off()
    errors.yaxis.set_major_formatter("{x:g}")
    for ax in (rates, errors):
        ax.legend(fontsize=8)
    return figure


def main(out: Path, runs: int, events: int) -> None:
    shown, clicks = (column[:events] for column in load("random"))
    deployed = load("bts")[1]
    for label, log in (("uniform log", clicks), ("the shop's own Thompson sampling", deployed)):
        error = 100.0 * log.std() / math.sqrt(len(log))
        print(f"{label}: {len(log):,} events, {log.sum()} clicks, {100.0 * log.mean():.2f} ± {error:.2f} %")
    kept = {}
    for eligible in ELIGIBLE:
        for label, policy in POLICIES.items():
            passes = [replay(policy, shown, clicks, eligible, seed) for seed in range(runs)]
            weights = kept[label, eligible] = np.mean(passes, axis=0)
            rate, error, size = judged(weights, clicks)
            accepted = f"kept {100.0 * weights.mean():4.1f} %, effectively {size:5.0f} events"
            print(f"  {eligible:2} eligible  {label:18} {accepted}   clicks {rate:.2f} ± {error:.2f} %")
    with style():
        print("figure:", *save(draw(clicks, kept, 100.0 * deployed.mean()), out / "replay-ads"))


if __name__ == "__main__":
    main(**options(runs=2, events=10_000))
