"""Plan a trial from a pilot, then see whether the plan was right: ACTG 175, four treatments of HIV [Hammer96].

    python -m pip install . && pip install --no-deps lifelines && python examples/plan_actg175.py

A few patients of each treatment are the pilot, and `prudent.plan` recommends a policy for the trial to come. That trial
is then simulated on patients who were not in the pilot, with the recommended policy, with every other policy and with
uniform randomisation (round-robin). Outcomes are changes of the CD4 count after 20 weeks in units of 200 cells. With
ρ = 1 the planner would give up 24 cells of the mean for a standard deviation of 130 cells instead of 147.

Assumes that patients of an arm are independent draws, with replacement, from those the trial gave it, and that an
outcome is known before the next patient comes. No medical advice.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from common import options, read
from matplotlib.figure import Figure

from prudent import Bandit, Empirical, MeanVariance
from prudent.plan import Advice, Pilot, advise
from prudent.results.figures import COLOURS, save, style
from prudent.study import Study, run
from prudent.study.compare import compare

ARMS = ("zidovudine", "zidovudine + didanosine", "zidovudine + zalcitabine", "didanosine")
UNIT = 200.0
RISK = MeanVariance(1.0)
PATIENTS, IN_PILOT, LEVEL = 1000, 50, 0.95


def outcomes() -> list[np.ndarray]:
    """Those of every treatment."""
    table = read("lifelines", "datasets/ACTG175.csv")
    change = (table["cd420"] - table["cd40"]).to_numpy() / UNIT
    return [change[table["arms"].to_numpy() == arm] for arm in range(len(ARMS))]


def plan_and_check(
    out: Path, seed: int, *, policies: Sequence[str] = (), draws: int = 100, runs: int = 1000
) -> tuple[Advice, pl.DataFrame]:
    """The plan from one pilot, and on the other patients: recommended − other, the intervals all at once."""
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(each) for each in outcomes()]
    treatments = [Pilot(name, tuple(each[:IN_PILOT])) for name, each in zip(ARMS, shuffled, strict=True)]
    asked = {"policies": policies, "draws": draws, "seed": seed, "begin": False}
    advice = advise(treatments, RISK, PATIENTS, out / "plan", **asked)
    others = Bandit([Empirical(each[IN_PILOT:]) for each in shuffled], ARMS)
    names = [*advice.policies["policy"].to_list(), "round-robin"]  # all begin from nothing, as `simulate` does
    study = Study({"others": others}, names, [RISK], [PATIENTS], runs, seed=seed, scale=advice.trial.units)
    table = run(study, out / "others").table()
    level = 1.0 - (1.0 - LEVEL) / (len(names) - 1)
    rivals = [compare(table, names[0], name, level=level).with_columns(policy=pl.lit(name)) for name in names[1:]]
    return advice, pl.concat(rivals)


def draw(advice: Advice, rivals: pl.DataFrame) -> Figure:
    """The recommended policy against every other, on the patients outside the pilot."""
    figure = Figure(figsize=(7.0, 4.6), layout="tight")
    ax, rows = figure.subplots(), rivals.sort("difference", descending=True)
    reach = (rows["difference"] - rows["low"], rows["high"] - rows["difference"])
    ax.errorbar(rows["difference"], range(len(rows)), xerr=reach, fmt="o", color=COLOURS[0], markersize=4.0)
    ax.axvline(0.0, color="0.6", linewidth=1.0)
    ax.set_yticks(range(len(rows)), rows["policy"])
    ax.grid(visible=False, axis="y")
    ax.set_xlabel(f"← {advice.recommended} better          difference of regrets          {advice.recommended} worse →")
    ax.set_title(f"{advice.recommended} against each other policy; {LEVEL:.0%} intervals for all together", fontsize=10)
    return figure


def main(out: Path, pilots: int) -> None:
    for seed in range(pilots):
        advice, rivals = plan_and_check(out / "plan-actg175" / str(seed), seed)
        print(f"pilot {seed}, {IN_PILOT} patients a treatment: take {advice.recommended}", *advice.reasons, sep="\n  ")
        print(f"  Regret of {advice.recommended} minus that of … on {PATIENTS:,} other patients, {LEVEL:.0%} together:")
        for row in rivals.iter_rows(named=True):
            print(f"    {row['policy']:28} {row['difference']:8.4f}  in [{row['low']:.4f}, {row['high']:.4f}]")
        with style():
            print("figure:", *save(draw(advice, rivals), out / f"plan-actg175-{seed}"))


if __name__ == "__main__":
    main(**options(pilots=1))
