"""Plan a trial on the outcomes of a real one: ACTG 175, four treatments of HIV, 2,139 patients [Hammer96].

    python -m pip install . && pip install --no-deps lifelines && python examples/trial_actg175.py

The outcome is the change of the CD4 count after 20 weeks. The treatment of best mean is not the one of best tail, so it
matters which risk a policy optimises. Assumes what a simulation assumes: patients of an arm are drawn independently,
with replacement, from those the trial gave it, and the outcome is known before the next patient comes. No medical
advice: one early marker, in units of 200 cells, of treatments long since replaced.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from common import options, read
from matplotlib.figure import Figure

from prudent import (
    BCVTS,
    MVLCB,
    MVTS,
    Bandit,
    CVaR,
    CVaRUCB,
    Empirical,
    MeanVariance,
    RiskMeasure,
    RoundRobin,
    Thompson,
    simulate,
)
from prudent.results.figures import COLOURS, MARKERS, label_points, plot_curves, save, style

ARMS = ("zidovudine", "zidovudine + didanosine", "zidovudine + zalcitabine", "didanosine")
UNIT = 200.0  # cells/mm³; the variances are then below 1, as MVTS assumes
MEAN, STEADY, TAIL = MeanVariance(math.inf), MeanVariance(1.0), CVaR(0.1)
LEVELS = np.geomspace(0.02, 1.0, 12)


def load() -> Bandit:
    """An arm per treatment, whose law is that of its patients' outcomes."""
    table = read("lifelines", "datasets/ACTG175.csv")
    change, arm = ((table["cd420"] - table["cd40"]) / UNIT).to_numpy(), table["arms"].to_numpy()
    return Bandit([Empirical(change[arm == i]) for i in range(len(ARMS))], ARMS)


def resampled(law: Empirical, risk: RiskMeasure, draws: int) -> tuple[float, float]:
    """Minus the cost of a law, in cells, and its standard error by the bootstrap."""
    rng = np.random.default_rng(0)
    costs = [risk.sample_cost(law.sample(rng, law.values.size)) for _ in range(draws)]
    return -UNIT * risk.cost(law), UNIT * float(np.std(costs, ddof=1))


def allocated(bandit: Any, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and worst-10 % mean, in cells, of patients of whom these shares get each arm; a row is a run."""
    outcomes = np.concatenate([law.values for law in bandit.arms])
    sizes = [law.values.size for law in bandit.arms]
    tails = [-TAIL.sample_cost(outcomes, np.repeat(share / sizes, sizes)) for share in shares]
    return UNIT * shares @ bandit.means, UNIT * np.array(tails)


def draw(bandit: Bandit, points: dict[str, tuple[np.ndarray, np.ndarray]], draws: int) -> Figure:
    """What each treatment does to its worst patients; what each policy does to all and to the worst tenth.

    A treatment has the same colour and marker on both sides; policies are black.
    """
    figure = Figure(figsize=(10.5, 4.4), layout="tight")
    curves, plane = figure.subplots(1, 2)
    lines = [[resampled(law, CVaR(level), draws) for level in LEVELS] for law in bandit.arms]
    labelled = [(name, *np.transpose(line)) for name, line in zip(ARMS, lines, strict=True)]
    plot_curves(curves, 100.0 * LEVELS, labelled, log=False).set_xscale("log")
    curves.set(
        xlabel="p: share of the patients with the worst outcomes, %", ylabel="their mean change of CD4, cells/mm³"
    )
    curves.set_title("each treatment: mean of its worst p %; p = 100 is everyone", fontsize=10)
    curves.set_xticks([2, 5, 10, 20, 50, 100])
    curves.xaxis.set_major_formatter("{x:g}")
    curves.minorticks_off()
    ends = np.transpose(allocated(bandit, np.eye(len(ARMS))))
    reached = np.array([(means.mean(), tails.mean()) for means, tails in points.values()])
    for i, end in enumerate(ends):
        plane.plot(*end, MARKERS[i], color=COLOURS[i])
    plane.plot(*reached.T, "k.")
    plane.set(xlim=(-70, 95), ylim=(-215, -150))
    plane.set(xlabel="mean change of CD4 of all, cells/mm³", ylabel="mean change of the worst 10 %")
    plane.set_title("each policy (black), and everyone on one treatment", fontsize=10)
    figure.draw_without_rendering()  # the layout is settled here, and labels are placed for it
    label_points(plane, np.vstack([ends, reached]), [*(f"all on {name}" for name in ARMS), *points], color="0.2")
    return figure


def main(out: Path, runs: int) -> None:
    bandit: Any = load()
    low, high = bandit.support
    horizon = sum(law.values.size for law in bandit.arms)
    print(f"{horizon:,} patients; change of CD4 after 20 weeks, cells/mm³ ± standard error (bootstrap)")
    tails = {name: resampled(law, TAIL, runs) for name, law in zip(ARMS, bandit.arms, strict=True)}
    for name, law in zip(ARMS, bandit.arms, strict=True):
        (mean, mean_se), (tail, tail_se) = resampled(law, MEAN, runs), tails[name]
        print(f"  {name:25} mean {mean:6.1f} ± {mean_se:.1f}   worst 10 % {tail:6.1f} ± {tail_se:4.1f}")
    bold, steady, safe = (ARMS[bandit.best(risk)] for risk in (MEAN, STEADY, TAIL))
    print(f"best mean: {bold}; best mean-variance (ρ = 1): {steady}; best worst 10 %: {safe}")
    margin, error = tails[safe][0] - tails[bold][0], math.hypot(tails[safe][1], tails[bold][1])
    print(f"worst 10 %, {safe} minus {bold}: {margin:.1f} ± {error:.1f}")
    policies = {
        "uniform randomisation": (RoundRobin(), TAIL),
        "Thompson, mean": (Thompson(), MEAN),
        "sharp MV-LCB, mean-variance": (MVLCB.sharp()._replace(range=high - low), STEADY),
        "MVTS, mean-variance": (MVTS(), STEADY),
        "CVaR-UCB, worst 10 %": (CVaRUCB(high=high), TAIL),
        "B-CVTS, worst 10 %": (BCVTS(high=high), TAIL),
    }
    print(f"{runs} trials of {horizon:,} patients; share on the arm that is best for the policy's risk")
    points = {}
    for label, (policy, risk) in policies.items():
        shares = simulate(bandit, policy, risk=risk, horizon=horizon, runs=runs).pulls / horizon
        points[label] = allocated(bandit, shares)
        measured = (*points[label], 100.0 * shares[:, bandit.best(risk)])
        mean, tail, share = (f"{x.mean():6.1f} ± {x.std(ddof=1) / math.sqrt(runs):.2f}" for x in measured)
        print(f"  {label:28} mean {mean}   worst 10 % {tail}   share {share} %")
    with style():
        print("figure:", *save(draw(bandit, points, runs), out / "trial-actg175"))


if __name__ == "__main__":
    main(**options(runs=400))
