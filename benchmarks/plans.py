"""Does a plan hold? Eleven pilots of different shape, five of them real: the promise, the check, and an independent
resampling of the file.

    .venv/bin/python benchmarks/plans.py [--trials 40] [--seconds 10] [--only NAME]

The third column is made here with NumPy alone, but for the agent, which is that of the printed lines: the truth of each
trial is the file resampled with replacement, the agent begins with the pilot, and outcomes are drawn from that truth.
Real data come inside lifelines and linearmodels (examples/common.py). The last line counts the averages that agree:
plan and resampling differ by no more than three standard errors of both and `NEAR`, however wide the promised interval.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from prudent.plan import Pilot, advise, lines_to_run, write_report

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from common import read

ROUNDS = 300

NEAR = {"found_best": 0.05, "outcome": 0.05}
"""What may differ beside chance: five percentage points; this share of the standard deviation of outcomes."""


def real(package: str, file: str, group: str, outcome: str, values: dict[Any, str]) -> dict[str, np.ndarray]:
    """Outcomes by group; groups of other values are left out."""
    table = read(package, file)
    return {
        name: table.filter(table[group] == value)[outcome].to_numpy().astype(float) for value, name in values.items()
    }


def pilots() -> dict[str, tuple[dict[str, np.ndarray], float, bool]]:
    """Outcomes of each option, ρ, and whether larger is better."""
    rng = np.random.default_rng(7)

    def zeros(share: float, size: float) -> np.ndarray:
        return np.where(rng.random(2_000) < share, rng.lognormal(math.log(size), 0.8, 2_000), 0.0).round(2)

    def profits(sold: float) -> np.ndarray:
        """Of 10,000 visitors 95 % leave nothing, 2 % send back, and some buy: the frequent value is in the middle."""
        part, size = rng.random(10_000), rng.lognormal(3.6, 0.8, 10_000)
        return np.where(part < sold, size, np.where(part > 0.98, -0.6 * size, 0.0)).round(2)

    insured = {0: "without", 1: "with insurance"}
    drugs = real("linearmodels", "datasets/meps/meps.csv.bz2", "private", "drugexp", insured)
    drugs = {name: x[:400] for name, x in drugs.items()}
    aid = {0: "none", 1: "aid"}
    arrests = real("lifelines", "datasets/rossi.csv", "fin", "arrest", aid)
    priors = real("lifelines", "datasets/rossi.csv", "wexp", "prio", {0: "no experience", 1: "experience"})
    cancer = real("lifelines", "datasets/gbsg2.csv", "tgrade", "time", {"I": "I", "II": "II", "III": "III"})
    table = read("lifelines", "datasets/ACTG175.csv")
    change = (table["cd420"] - table["cd40"]).to_numpy().astype(float)
    hiv = {name: change[table["arms"].to_numpy() == arm][:100] for arm, name in ((1, "didanosine"), (2, "zalcitabine"))}
    waits = {
        name: np.minimum(rng.gamma(2.0, size, 200), 300.0).round(1) for name, size in (("east", 60.0), ("west", 75.0))
    }
    days = np.linspace(0.0, 1.0, 150)
    return {
        "many zeros": ({"a": zeros(0.05, 60.0), "b": zeros(0.06, 65.0), "c": zeros(0.05, 70.0)}, math.inf, True),
        "profits and returns": ({"a": profits(0.02), "b": profits(0.03)}, math.inf, True),
        "heavy tails (drug costs)": (drugs, 2_000.0, False),
        "counts (prior arrests)": (priors, 5.0, False),
        "0 and 1 (arrests)": (arrests, 1.0, False),
        "waiting times with time-outs": (waits, 100.0, False),
        "three values": ({k: rng.choice(3, 90, p=p).astype(float) for k, p in
                          (("a", (0.2, 0.5, 0.3)), ("b", (0.3, 0.2, 0.5)))}, 3.0, True),
        "nearly equal means (ACTG 175)": (hiv, 100.0, True),
        "one outlier": ({"a": rng.normal(30, 8, 60), "b": np.append(rng.normal(33, 8, 59), 98_765.43)}, 55.0, True),
        "tiny groups (breast cancer)": ({name: x[:7] for name, x in cancer.items()}, 500.0, True),
        "drift within the file": ({"a": rng.normal(30, 6, 150), "b": rng.normal(20 + 20 * days, 6)}, 20.0, True),
    }  # fmt: skip


def resampled(advice: Any, files: dict[str, np.ndarray], trials: int) -> np.ndarray:
    """Success and mean outcome of trials of the printed agent, the truth being the file resampled."""
    begin = lines_to_run(advice).partition("for person in")[0]
    rho, sign = advice.trial.rho, advice.trial.outcome.sign
    found = np.empty((trials, 2))
    for number in range(trials):
        rng = np.random.default_rng([99, number])
        truth = {name: rng.choice(x, len(x)) for name, x in files.items()}
        names: dict[str, Any] = {}
        exec(begin.replace("horizon=", f"seed={number}, horizon="), names)
        agent, received = names["agent"], []
        for _ in range(advice.horizon):
            option = agent.ask()
            received.append(float(rng.choice(truth[option])))
            agent.tell(option, received[-1])
        cost = {k: -sign * x.mean() if math.isinf(rho) else x.var() - rho * sign * x.mean() for k, x in truth.items()}
        seen = {each.arm: each for each in agent.estimates()}
        guess = {
            k: -sign * e.mean if math.isinf(rho) else e.variance * e.pulls / (e.pulls - 1) - rho * sign * e.mean
            for k, e in seen.items()
        }
        found[number] = min(guess, key=guess.get) == min(cost, key=cost.get), np.mean(received)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(f"{'pilot':31} {'verdict':12} {'best option found: plan':24} {'check':>10} {'resampled':>11}"
          f"   {'mean outcome: plan':24} {'check':>9} {'resampled':>17}")  # fmt: skip
    agreed = asked = 0
    for name, (files, rho, larger) in pilots().items():
        if given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            options = [Pilot(option, tuple(x.tolist())) for option, x in files.items()]
            about = {"larger_is_better": larger, "seconds": given.seconds}
            advice = advise(options, f"mean-variance(rho={rho})", ROUNDS, folder, **about)
            write_report(advice, folder)
            again = resampled(advice, files, given.trials)
        mean, error = again.mean(0), again.std(0, ddof=1) / math.sqrt(given.trials)
        row = f"{name:31} {advice.verdict.kind:12}"
        for place, (what, scale, digits) in enumerate((("found_best", 100.0, 0), ("outcome", 1.0, 2))):
            promise, check = advice.promises[what].times(scale), getattr(advice.check, what) * scale
            row += f" {promise.mean:7.{digits}f} ({promise.low:.{digits}f} to {promise.high:.{digits}f})".ljust(26)
            row += f"{check:8.{digits}f} {scale * mean[place]:8.{digits}f} ± {2 * scale * error[place]:.{digits}f}   "
            room = NEAR[what] * (scale if what == "found_best" else advice.promises["deviation"].mean)
            gap = abs(promise.mean - scale * mean[place])
            agrees = gap <= 3.0 * math.hypot(promise.error, scale * error[place]) + room
            row += " " if agrees else "*"
            agreed, asked = agreed + agrees, asked + 1
        print(row, *(f"  ! {text}" for text in advice.cautions), sep="\n", flush=True)
    print(f"{agreed} of {asked} averages agree with resampling; * marks the others.")


if __name__ == "__main__":
    main()
