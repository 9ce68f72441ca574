"""Draw docs/images/batches.png and print its table in docs/practitioners/live.md: `python docs/batches.py`."""

from pathlib import Path

from matplotlib.figure import Figure

from prudent import Bandit, Gaussian, MeanVariance, simulate
from prudent.base.text import number, with_error
from prudent.results.figures import plot_curves, save, style

IMAGES = Path(__file__).parent / "images"
BANDIT, RISK = Bandit([Gaussian(0.6, 0.05), Gaussian(0.55, 0.1), Gaussian(0.5, 0.02)]), MeanVariance(1.0)
HORIZON, RUNS = 100_000, 400
POLICIES = {
    "MV-UCB": "mv-ucb",
    "sharp MV-LCB": "mv-lcb(c=1, unbiased=True)",
    "Thompson sampling": "mvts",
    "ExpExp": "exp-exp",
}
BATCHES = [1, 3, 10, 30, 100, 300, 1_000, 2_000, 3_000, 5_000, 10_000]
SHOWN = [1, 100, 1_000, 3_000, 10_000]


def regrets(policy: str) -> list[tuple[float, float]]:
    """Regret per round for each batch, and its standard error."""
    settings = {"risk": RISK, "horizon": HORIZON, "runs": RUNS}
    found = [simulate(BANDIT, policy, batch=batch, **settings).summary() for batch in BATCHES]
    return [(summary["regret"], summary["regret_se"]) for summary in found]


def main() -> None:
    curves = []
    print("| policy |", " | ".join(f"B = {batch:,}" for batch in SHOWN), "|")
    for label, policy in POLICIES.items():
        found = regrets(policy)
        curves.append((label, *zip(*found, strict=True)))
        cells = (with_error(*found[BATCHES.index(batch)]) for batch in SHOWN)
        print(f"| `{policy}` |", " | ".join(cells), "|")
    first = [batch / HORIZON * BANDIT.gaps(RISK).mean() for batch in BATCHES]
    print(
        "| first batch shared by all arms |", " | ".join(number(first[BATCHES.index(batch)], 2) for batch in SHOWN), "|"
    )
    figure = Figure(figsize=(6.4, 4.4))
    ax = figure.subplots()
    ax.plot(BATCHES, first, color="black", linestyle="--", linewidth=1.0, label="first batch shared by all arms")
    plot_curves(ax, BATCHES, curves)
    ax.set_ylim(3e-4, 0.3)
    ax.legend(title=ax.get_legend().get_title().get_text(), alignment="left", loc="upper left", ncols=2)
    ax.set_xlabel(f"batch: rounds until rewards are seen, of {HORIZON:,}")
    ax.set_ylabel("regret per round")
    figure.tight_layout()
    for path in save(figure, IMAGES / "batches"):
        if path.suffix == ".svg":
            path.unlink()


if __name__ == "__main__":
    with style():
        main()
