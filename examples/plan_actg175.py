"""Plan a trial from a pilot, then see whether the plan was right: ACTG 175, four treatments of HIV [Hammer96].

    pip install prudent && pip install --no-deps lifelines && python examples/plan_actg175.py [PILOTS]

A few patients of each treatment are the pilot; `prudent.plan` recommends a policy for the trial to come. That trial is
then played on patients the pilot did not hold, by the recommended policy, by every other and by uniform randomisation
(round-robin). Outcomes are changes of the CD4 count after 20 weeks in units of 200 cells, and ρ = 1: who plans would
give up 40 cells of the mean for a variance smaller by (89 cells)².

Assumes that patients of an arm are independent draws, with replacement, from those the trial gave it, and that an
outcome is known before the next patient comes. No medical advice.

[Hammer96] Hammer et al. A trial comparing nucleoside monotherapy with combination therapy. N. Engl. J. Med. 335, 1996.
"""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from prudent import Bandit, Empirical, MeanVariance
from prudent.plan import Advice, Pilot, advise, tolerance
from prudent.study import Study, run
from prudent.study.compare import compare

ARMS = ("zidovudine", "zidovudine + didanosine", "zidovudine + zalcitabine", "didanosine")
UNIT = 200.0
RISK = MeanVariance(tolerance(less_mean=0.2, less_variance=0.2))
PATIENTS, IN_PILOT, LEVEL = 1000, 50, 0.95


def outcomes() -> list[np.ndarray]:
    """Those of every treatment; the file is inside lifelines, which is not imported."""
    found = importlib.util.find_spec("lifelines")
    if found is None or not found.submodule_search_locations:
        sys.exit("the data is inside lifelines, which is not installed: pip install --no-deps lifelines")
    table = pl.read_csv(Path(found.submodule_search_locations[0]) / "datasets" / "ACTG175.csv", null_values="NA")
    change = (table["cd420"] - table["cd40"]).to_numpy() / UNIT
    return [change[table["arms"].to_numpy() == arm] for arm in range(len(ARMS))]


def plan_and_check(
    out: Path, seed: int, *, policies: Sequence[str] = (), draws: int = 100, runs: int = 1000
) -> tuple[Advice, pl.DataFrame]:
    """The plan from one pilot, and on the other patients: recommended − other, the intervals all at once."""
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(each) for each in outcomes()]
    options = [Pilot(name, tuple(each[:IN_PILOT])) for name, each in zip(ARMS, shuffled, strict=True)]
    advice = advise(options, RISK, PATIENTS, out / "plan", policies=policies, draws=draws, seed=seed)
    others = Bandit([Empirical(each[IN_PILOT:]) for each in shuffled], ARMS)
    names = advice.policies["policy"].to_list()
    table = run(Study({"others": others}, names, [RISK], [PATIENTS], runs, seed=seed), out / "others").table()
    level = 1.0 - (1.0 - LEVEL) / (len(names) - 1)
    rivals = [compare(table, names[0], name, level=level).with_columns(policy=pl.lit(name)) for name in names[1:]]
    return advice, pl.concat(rivals)


def main(pilots: int = 1, out: Path = Path("results/plan-actg175")) -> None:
    for seed in range(pilots):
        advice, rivals = plan_and_check(out / str(seed), seed)
        print(f"pilot {seed}, {IN_PILOT} patients a treatment: take {advice.recommended}", *advice.reasons, sep="\n  ")
        print(f"  Regret of {advice.recommended} minus that of … on {PATIENTS:,} other patients, {LEVEL:.0%} together:")
        for row in rivals.iter_rows(named=True):
            print(f"    {row['policy']:28} {row['difference']:8.4f}  in [{row['low']:.4f}, {row['high']:.4f}]")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
