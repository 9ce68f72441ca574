"""Draw the figures of the pages: `python docs/figures.py` writes docs/images/*.png."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import ticker
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from prudent import MVLCB, Bandit, CVaR, Empirical, Gaussian, MeanVariance, identify, period_cost, simulate
from prudent.engine.leap.blocks import MEAN, RESIDUAL, SIZE, prefix_box, sources, split
from prudent.engine.leap.first_passage import advance, make_stacks
from prudent.engine.record import Statistics
from prudent.paper.problems import CONFIGURATION_1, FIGURE_2
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting
from prudent.results.figures import COLOURS, LOWER_BOUND, plot_curves, save, style
from prudent.theory import asymptotic_bound

IMAGES = Path(__file__).parent / "images"
BANDIT = Bandit([Gaussian(1.0, 0.25)])
HORIZON, LEVEL = 4_000, 0.2


def consumed_blocks(rng):
    """The blocks one arm takes on its way to the first passage above LEVEL, and the policy."""
    policy = bind(MVLCB.sharp(0.0), Setting(1, MeanVariance(0.0), HORIZON))
    src = sources(BANDIT.arms)
    arms = Statistics(np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
    scores, stacks = np.full(1, -np.inf), make_stacks(src, 4096)
    advance(policy, src, 0.0, 0, LEVEL, 10**6, 0, arms, scores, stacks, True, rng)
    return policy, src, stacks.behind[0, : stacks.n_behind[0]].copy()


def single_rewards(src, block, rng):
    """A block split down to its rewards."""
    rows = np.empty((int(block[SIZE]) + 2, len(block)))
    rows[0] = block
    top, rewards = 0, []
    while top >= 0:
        if rows[top, SIZE] == 1:
            rewards.append(rows[top, MEAN])
            top -= 1
        else:
            split(src, 0, int(rows[top, SIZE]) // 2, rows, top, rng)
            top += 1
    return rewards


def draw_blocks(ax, rng):
    """The score of one arm against its pulls: blocks as boxes under their bounds, and the path they stand for."""
    policy, src, blocks = consumed_blocks(rng)
    pulls, mean, variance, path = 0, 0.0, 0.0, []
    rewards = []
    for block in blocks:
        size = int(block[SIZE])
        if pulls >= 2 and size > 1:
            score = policy.score(Arm(pulls, mean, variance))
            box = prefix_box(pulls, mean, variance, size, block[MEAN], block[RESIDUAL], 0.0)
            bound = policy.score_bound(Arm(pulls + 1, box[0], box[2]), Arm(pulls + size, box[1], box[3]))
            ax.add_patch(Rectangle((pulls, score), size, bound - score, color=COLOURS[0], alpha=0.25, linewidth=0))
            ax.vlines(pulls, score, bound, color=COLOURS[0], linewidth=0.6)
        for reward in single_rewards(src, block, rng):
            rewards.append(reward)
            pulls += 1
            mean, variance = np.mean(rewards), np.var(rewards)
            path.append(policy.score(Arm(pulls, mean, variance)))
    ax.plot(np.arange(1, len(path) + 1), path, color=COLOURS[1], linewidth=0.8, label="score after every pull")
    ax.axhline(LEVEL, color="black", linewidth=1.0, linestyle="--", label="level λ")
    ax.add_patch(Rectangle((0, 0), 0, 0, color=COLOURS[0], alpha=0.25, label="blocks, up to their bounds"))
    return pulls


def blocks_figure() -> None:
    figure = Figure(figsize=(9.0, 3.8))
    whole, close = figure.subplots(1, 2)
    passage = draw_blocks(whole, np.random.default_rng(4))
    draw_blocks(close, np.random.default_rng(4))
    whole.set_xscale("log")
    whole.set_xlim(8, passage * 1.3)
    whole.set_ylim(-0.6, 0.3)
    whole.set_title("large blocks while the level is far", fontsize=10)
    close.set_xlim(passage - 200, passage + 10)
    close.set_ylim(LEVEL - 0.003, LEVEL + 0.0006)
    close.set_title("small ones near it, single rewards at the passage", fontsize=10)
    for ax in (whole, close):
        ax.set_xlabel("pulls of the arm")
    whole.set_ylabel("score (sharp MV-LCB, ρ = 0)")
    whole.legend(loc="lower right")
    figure.tight_layout()
    save(figure, IMAGES / "leaping-blocks")


def leader_figure() -> None:
    """How far a rival's scores lie from the leader's under Thompson sampling: only candidates are drawn."""
    rng, rounds, bound = np.random.default_rng(5), np.arange(1_000, 1_400), 0.03
    apart = rng.normal(0.5, np.sqrt(1 / rounds + 1 / 24))
    candidate, won = apart < bound, apart < 0.0
    figure = Figure(figsize=(9.0, 3.4))
    ax = figure.subplots()
    edges = [rounds[0], *rounds[candidate], rounds[-1] + 1]
    for k, (start, stop) in enumerate(pairwise(edges)):
        ax.axvspan(start, stop, color=COLOURS[0], alpha=0.16 if k % 2 else 0.06, linewidth=0)
    ax.plot(rounds[~candidate], apart[~candidate], ".", markersize=2.5, color="0.55", label="not drawn: leader pulled")
    in_vain = candidate & ~won
    ax.plot(
        rounds[in_vain], apart[in_vain], "o", markersize=6, mfc="white", color=COLOURS[1], label="candidate in vain"
    )
    ax.plot(rounds[won], apart[won], "o", markersize=6, color=COLOURS[1], label="candidate: rival pulled")
    ax.axhline(bound, color="black", linewidth=1.0, linestyle="--", label="leader's worst place")
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.set_xlim(rounds[0], rounds[-1])
    ax.set_xlabel("round; shaded: blocks of the leader's rewards")
    ax.set_ylabel("rival's score less leader's")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.17), ncols=4, frameon=False, fontsize=9)
    figure.tight_layout()
    save(figure, IMAGES / "leaping-leader")


def scaling_figure() -> None:
    bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    settings = {"risk": MeanVariance(0.0), "workers": 1}
    curves = {"stepping": [], "leaping, exact bounds": [], "leaping, bounds sure to 10⁻¹⁵": []}
    horizons = [10**k for k in range(3, 10)]
    for n in horizons:
        runs = {"stepping": max(1, 10**7 // n)}
        for label, values in curves.items():
            if label == "stepping" and n > 10**8:
                values.append(np.nan)
                continue
            chosen = {"engine": "stepping" if label == "stepping" else "leaping", "horizon": n}
            failure = 1e-15 if "10⁻¹⁵" in label else 0.0
            count = runs.get(label, 200)
            simulate(bandit, MVLCB(), runs=1, bound_failure=failure, **settings, **chosen | {"horizon": 100})
            started = time.perf_counter()
            simulate(bandit, MVLCB(), runs=count, bound_failure=failure, **settings, **chosen)
            values.append((time.perf_counter() - started) / count)
    figure = Figure(figsize=(6.4, 4.2))
    ax = figure.subplots()
    plot_curves(ax, horizons, [(label, values, np.zeros(len(values))) for label, values in curves.items()])
    ax.set_xlabel("rounds n")
    ax.set_ylabel("time a run on one core")
    ax.yaxis.set_major_formatter(ticker.EngFormatter(unit="s"))
    save(figure, IMAGES / "leaping-scaling")


def periods_figure() -> None:
    """Three arms over more and more periods: under CVaR the best one changes, under mean-variance it cannot."""
    arms = {
        "steady: Gaussian(0.5, 0.01)": Gaussian(0.5, 0.01),
        "bold: Gaussian(1, 1)": Gaussian(1.0, 1.0),
        "rare disaster: 1, but −5 once in 50": Empirical([1.0] * 49 + [-5.0]),
    }
    periods = np.unique(np.geomspace(1, 1_000, 60).astype(int))
    figure = Figure(figsize=(9.0, 3.8))
    for ax, risk, title in zip(
        figure.subplots(1, 2), (CVaR(0.05), MeanVariance(1.0)), ("CVaR, worst 5 %", "mean-variance, ρ = 1"), strict=True
    ):
        for (label, law), colour in zip(arms.items(), COLOURS, strict=False):
            costs = [period_cost(law, risk, int(n)).cost / n for n in periods]
            ax.plot(periods, costs, color=colour, label=label)
        ax.set_xscale("log")
        ax.set_xlabel("periods n")
        ax.set_title(title, fontsize=10)
    figure.axes[0].set_ylabel("cost of the sum, per period")
    figure.axes[0].legend(loc="upper right")
    figure.tight_layout()
    save(figure, IMAGES / "risks-periods")


def budget_figure() -> None:
    budgets = [100, 250, 500, 1_000, 2_500, 5_000, 10_000]
    curves = []
    for strategy in ("uniform", "successive-rejects", "sequential-halving", "ucb-e", "ucb-e(hardness=oracle)"):
        settings = {"risk": MeanVariance(1.0), "runs": 10_000}
        found = [identify(CONFIGURATION_1, strategy, budget=budget, **settings) for budget in budgets]
        shares = [searches.error_probability() for searches in found]
        curves.append((strategy, [share.value for share in shares], [share.se for share in shares]))
    figure = Figure(figsize=(6.4, 4.2))
    ax = plot_curves(figure.subplots(), budgets, curves)
    ax.set_xlabel("budget (pulls)")
    ax.set_ylabel("probability of a wrong answer")
    save(figure, IMAGES / "identification-budget")


def lower_bound_figure() -> None:
    """Regret on the arms of Figure 2 for two ρ, and what no policy that learns can beat as n grows."""
    horizons = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    policies = {"mv-lcb": MVLCB(), "sharp mv-lcb": MVLCB.sharp(), "mvts": "mvts"}
    figure = Figure(figsize=(9.0, 4.0))
    for ax, rho in zip(figure.subplots(1, 2, sharey=True), (0.0, 1.0), strict=True):
        curves = []
        for label, policy in policies.items():
            settings = {"risk": MeanVariance(rho), "runs": 300, "seed": 1}
            found = [simulate(FIGURE_2, policy, horizon=n, **settings).summary() for n in horizons]
            curves.append((label, [one["regret"] for one in found], [one["regret_se"] for one in found]))
        plot_curves(ax, horizons, curves)
        bound = asymptotic_bound(FIGURE_2, MeanVariance(rho))
        ax.plot(horizons, [bound.regret(n) for n in horizons], **LOWER_BOUND)
        ax.set_title(f"ρ = {rho:g}", fontsize=10)
        ax.set_xlabel("rounds n")
    figure.axes[0].set_ylabel("regret per round")
    figure.axes[0].legend(title="300 runs, ± 2 standard errors", alignment="left")
    figure.axes[1].get_legend().remove()
    figure.tight_layout()
    save(figure, IMAGES / "lower-bounds")


def results_figure() -> None:
    """The picture that the first cell of docs/researchers/results.md draws."""
    cell = (
        (IMAGES.parent / "researchers/results.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    )
    names: dict[str, Any] = {}
    exec(cell.replace('.savefig("regret.pdf")', ""), names)
    save(names["comparison"].plot(), IMAGES / "results")


if __name__ == "__main__":
    results_figure()
    with style():
        lower_bound_figure()
        periods_figure()
        budget_figure()
        blocks_figure()
        leader_figure()
        scaling_figure()
    for leftover in IMAGES.glob("*.svg"):
        leftover.unlink()
