"""The certificates of minimax regret and their table: `python docs/minimax.py` writes docs/paper/certificates/*.json.

It also writes the table of docs/paper/minimax.md. `python docs/minimax.py 64 100` makes those of some horizons only,
`python docs/minimax.py draw` the pictures docs/images/minimax-*.png.
"""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from prudent import MVLCB, Bandit, simulate
from prudent.results.figures import COLOURS, save, style
from prudent.theory import Minimax, minimax

IMAGES = Path(__file__).parent / "images"
PAPER = Path(__file__).parent / "paper"
CERTIFICATES, PAGE = PAPER / "certificates", PAPER / "minimax.md"
HORIZONS, RISK_HORIZONS = (4, 8, 16, 32, 64, 100, 128, 200), (8, 16, 32, 64, 100)
RHOS = (0.1, 0.25, 0.5, 1.0, 2.0)
BEGIN, END = "<!-- table of certificates -->\n", "<!-- end -->"


def path_of(horizon: int, rho: float) -> Path:
    """Where a certificate is kept."""
    return CERTIFICATES / f"minimax-{horizon}-rho-{rho:g}.json"


def table() -> str:
    """A row for each certificate."""
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in CERTIFICATES.glob("*.json")]
    lines = [
        "| ρ | n | no policy is below | the mixture is at most | times n^{1/3} | policies | least favourable pairs |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for each in sorted(kept, key=lambda it: (float(it["rho"]), it["horizon"])):
        n, total = each["horizon"], sum(weight for _, _, weight in each["prior"])
        heaviest = sorted(each["prior"], key=lambda pair: -pair[2])[:3]
        pairs = ", ".join(f"({p / 4096:.2f}, {q / 4096:.2f}) {w / total:.0%}" for p, q, w in heaviest)
        scaled = " – ".join(f"{each[end] * n ** (1 / 3):.4f}" for end in ("lower", "upper"))
        lines.append(
            f"| {float(each['rho']):g} | [{n}](certificates/{path_of(n, float(each['rho'])).name})"
            f" | {each['lower']:.6f} | {each['upper']:.6f} | {scaled} | {len(each['mixture'])} | {pairs} |"
        )
    return "\n".join(lines).replace("n^{1/3}", "n<sup>1/3</sup>") + "\n"


def make(horizon: int, rho: float) -> Minimax:
    """Find the value, check it in exact arithmetic and write the certificate with the ends that were proved."""
    found = minimax(horizon, rho)
    low, high = found.check()
    assert found.lower <= low <= high <= found.upper, (horizon, rho, low, high)
    found.write(path_of(horizon, rho))
    return found


def lattice() -> Figure:
    """States of one coin, with the shares that a state gives on, and the two coins of a state."""
    figure = Figure(figsize=(6.4, 3.2))
    ax = figure.subplots()
    for pulls in range(5):
        for ones in range(pulls + 1):
            ax.plot(pulls, ones - pulls / 2.0, "o", color=COLOURS[0], markersize=16, zorder=3)
            ax.annotate(f"{ones}:{pulls - ones}", (pulls, ones - pulls / 2.0), ha="center", va="center", color="white",
                        fontsize=7, zorder=4)  # fmt: skip
            if pulls < 4:
                for one in (0, 1):
                    share = (ones + 1 if one else pulls - ones + 1) / (pulls + 1)
                    end = (pulls + 1, ones + one - (pulls + 1) / 2.0)
                    ax.plot((pulls, end[0]), (ones - pulls / 2.0, end[1]), color="0.7", linewidth=0.5 + 2.0 * share)
    ax.set_xlabel("tosses of a coin")
    ax.set_yticks([])
    ax.set_xticks(range(5))
    ax.set_title("Ones and zeros of one coin; a state of the game is a pair of these, one for each coin")
    return figure


def maps() -> Figure:
    """The regret of three policies on all pairs of coins."""
    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    coins, grid = Bandit(["bernoulli(0.5)", "bernoulli(0.5)"]), np.linspace(0.0, 1.0, 81)
    least = minimax(64)
    surfaces = {"minimax": least.regret(grid[:, None], grid[None, :])}
    for name, policy in (("ExpExp", "exp-exp"), ("MV-LCB", MVLCB())):
        played = simulate(coins, policy, risk="mean-variance(rho=0)", horizon=64, engine="exact").risk_surface(81)
        surfaces[name] = (played.regret + played.regret.T) / 2.0
    for ax, (name, regret) in zip(figure.subplots(1, 3, sharey=True), surfaces.items(), strict=True):
        drawn = ax.pcolormesh(grid, grid, regret, vmin=0.0, vmax=0.08, shading="nearest")
        ax.set_title(f"{name}: at most {regret.max():.3f}")
        ax.set_xlabel("p of one coin")
        ax.set_aspect("equal")
    figure.axes[0].set_ylabel("p of the other coin")
    figure.colorbar(drawn, ax=figure.axes, label="regret, n = 64", extend="max")
    return figure


def values() -> Figure:
    """The minimax regret against n, and the n^(−1/3) line."""
    figure = Figure(figsize=(6.4, 3.6))
    ax = figure.subplots()
    for i, rho in enumerate((0.0, 0.25, 1.0)):
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in CERTIFICATES.glob(f"*-rho-{rho:g}.json")]
        ends = sorted((each["horizon"], each["lower"], each["upper"]) for each in kept)
        n, low, high = np.array(ends).T
        ax.loglog(n, (low + high) / 2.0, "o-", color=COLOURS[i], label=f"ρ = {rho:g}", markersize=4)
    line = np.array([4.0, 200.0])
    ax.loglog(line, 0.13 * line ** (-1 / 3), ":", color="0.3", label="0.13 n$^{-1/3}$")
    ax.set_xlabel("rounds n")
    ax.set_ylabel("minimax regret")
    ax.legend()
    return figure


def draw() -> None:
    """All pictures."""
    with style():
        for name, figure in (("lattice", lattice()), ("maps", maps()), ("values", values())):
            save(figure, IMAGES / f"minimax-{name}", ["png"])


if __name__ == "__main__":
    if sys.argv[1:] == ["draw"]:
        draw()
        sys.exit()
    wanted = [int(given) for given in sys.argv[1:]]
    CERTIFICATES.mkdir(exist_ok=True)
    for rho, horizons in [(0.0, HORIZONS), *((rho, RISK_HORIZONS) for rho in RHOS)]:
        for horizon in horizons:
            if not wanted or horizon in wanted:
                print(make(horizon, rho), flush=True)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
