"""How many rounds until a decision, as a multiple of the least possible? Two arms in turn, level 95 %.

    python benchmarks/decisions.py [runs, 200 by default]

The least possible is log(1/δ)·T, δ = 0.05, T the characteristic time of the two distributions among all on [0, 1]:
1/T = max over shares w of min over x of w K₊(best, x) + (1 − w) K₋(other, x). K₊ is the price of the best arm's looking
as if it cost x or more, K₋ that of the other's looking as if it cost x or less (docs: lower-bounds). Shares may be any
there, while the trial takes the arms in turn. Medians over the runs with standard errors (of 200 bootstrap samples), of

- `leader`: stop when `Agent.leader` has decided;
- `declared`: the same if the two values of coins were declared;
- `two intervals`: stop when the arms' cost intervals are disjoint, the cost of each being what intervals of mean and
  variance say together, with half of its failure each; for a CVaR by the band of [Massart90]. A tenth of the runs;
- `one look`: the best test for which the number of rounds must be known before: the one-sided test of the difference at
  α = 0.05 with known variance, when its power is 50 %.

"more" means more than the rounds simulated.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from prudent import Bernoulli, Beta, CVaR, Deterministic, Law, MeanVariance, Mixture, RiskMeasure
from prudent.base.text import count
from prudent.confidence import betting, tails
from prudent.engine.python.arm import ArmState
from prudent.live.evidence import Evidence, rho_of, tail_of
from prudent.live.stopping import excluded

DELTA, LONGEST = 0.05, 60_000
TIMES = np.unique(np.geomspace(20, LONGEST, 330).astype(int))
FEWER = 10
"""The two intervals, which take long, are looked at in every tenth run."""


def purchases(share: float) -> Law:
    """Most visitors buy nothing, the others for different amounts."""
    return Mixture([Deterministic(0.0), Beta(2.0, 6.0)], [1.0 - share, share])


PAIRS: dict[str, tuple[Law, Law]] = {
    "coins .12, .16": (Bernoulli(0.12), Bernoulli(0.16)),
    "coins .5, .6": (Bernoulli(0.5), Bernoulli(0.6)),
    "Beta(2, 5), (2.6, 5)": (Beta(2.0, 5.0), Beta(2.6, 5.0)),
    "90 %, 86 % zeros": (purchases(0.1), purchases(0.14)),
}
RISKS: list[RiskMeasure] = [*map(MeanVariance, (0.0, 1.0, 10.0, math.inf)), CVaR(0.25)]


def points(law: Law) -> np.ndarray:
    """The distribution as equally probable rewards."""
    return np.array([law.quantile((i + 0.5) / 2_000) for i in range(2_000)])


def heights(risk: RiskMeasure, a: float, x: Any) -> Any:
    """The function of a reward whose mean is smallest at the true a, and is the cost there."""
    if isinstance(risk, CVaR):
        return np.maximum(a - x, 0.0) / risk.alpha - a
    return (x - a) ** 2 - risk.rho * x if math.isfinite(risk.rho) else -x  # type: ignore[attr-defined]


def price(risk: RiskMeasure, x: np.ndarray, cost: float, side: float) -> float:
    """K₊ (side 1) of looking as if the cost were this or more, or K₋ (side −1); by the dual problem."""
    ends = np.linspace(0.0, 1.0, 401)

    def gain(a: float) -> float:
        gap = side * (cost - heights(risk, a, x))
        worst = float((side * (cost - heights(risk, a, ends))).min())
        if gap.mean() <= 0.0:
            return 0.0
        most = 1.0 / -worst if worst < 0.0 else 1e6
        found = minimize_scalar(
            lambda bet: -np.log1p(bet * gap).mean(), bounds=(0.0, most * (1.0 - 1e-9)), method="bounded"
        )
        return float(-found.fun)

    tried = np.linspace(0.0, 1.0, 41)
    values = [side * gain(a) for a in tried]
    place = int(np.argmax(values))
    near = tried[max(place - 1, 0)], tried[min(place + 1, 40)]
    found = minimize_scalar(lambda a: -side * gain(a), bounds=near, method="bounded", options={"xatol": 1e-6})
    return abs(max(values[place], -float(found.fun)))


def least_rounds(risk: RiskMeasure, best: np.ndarray, other: np.ndarray, low: float, high: float) -> float:
    """log(1/δ) times the characteristic time."""
    costs = np.linspace(low, high, 27)[1:-1]
    prices = np.array([(price(risk, best, c, 1.0), price(risk, other, c, -1.0)) for c in costs])
    shares = np.linspace(0.02, 0.98, 193)[:, None]
    return math.log(1.0 / DELTA) / float((shares * prices[:, 0] + (1.0 - shares) * prices[:, 1]).min(1).max())


def one_look(risk: RiskMeasure, laws: tuple[np.ndarray, np.ndarray], gap: float) -> float:
    """Rounds of the test with known variances, by the variance of what each reward adds to the estimated cost."""
    centres = [np.quantile(x, risk.alpha) if isinstance(risk, CVaR) else x.mean() for x in laws]
    spread = sum(heights(risk, float(a), x).var() for a, x in zip(centres, laws, strict=True))
    return 2.0 * norm.isf(DELTA) ** 2 * spread / gap**2


def added_up(arm: ArmState, risk: RiskMeasure, failure: float) -> tuple[float, float]:
    """The cost's interval from those of mean and variance."""
    if not isinstance(risk, MeanVariance):
        x = np.array(arm.rewards)
        return risk.always_bounds(arm.pulls, x.mean(), x.var(), x, failure, 0.0, 1.0)  # type: ignore[return-value]
    part = failure / 2.0 if math.isfinite(risk.rho) else failure
    left, right = betting.mean_bounds(arm.ledger, arm.pulls, part, 0.0, 1.0)
    if not math.isfinite(risk.rho):
        return float(-right), float(-left)
    least, most = betting.variance_bounds(arm.ledger, arm.pulls, part, 0.0, 1.0)
    return float(least - risk.rho * right), float(most - risk.rho * left)


def disjoint(ends: list[Any]) -> bool:
    return ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0]


def excluded_by(arms: list[ArmState], risk: RiskMeasure, binary: bool) -> bool:
    return any(excluded(Evidence(arms, risk, (0.0, 1.0), binary), 2, DELTA))


RULES: dict[str, Callable[[list[ArmState], RiskMeasure], bool]] = {
    "leader": lambda arms, risk: excluded_by(arms, risk, False),
    "declared": lambda arms, risk: excluded_by(arms, risk, True),
    "two intervals": lambda arms, risk: disjoint([added_up(arm, risk, DELTA / 2.0) for arm in arms]),
}


def states_at(rewards: list[np.ndarray], risk: RiskMeasure, times: np.ndarray) -> list[list[ArmState]]:
    """What is kept of the arms at these times."""
    found, tail = [], tail_of(risk)
    for x in rewards:
        ledgers, kept = betting.entered(x, times, 0.0, 1.0, rho_of(risk)), tails.no_bets()
        own, start = [], 0
        for n, ledger in zip(times.tolist(), ledgers, strict=True):
            arm = ArmState(None, n, float(x[:n].mean()), float(x[:n].var()), ledger=ledger)
            if tail is not None:
                for t in range(start, n):
                    tails.include(kept, t, float(x[t]), 0.0, 1.0, *tail)
                arm.tail, arm.rewards, start = kept.copy(), x[:n].tolist(), n
            own.append(arm)
        found.append(own)
    return [list(arms) for arms in zip(*found, strict=True)]


def stopped(rewards: list[np.ndarray], risk: RiskMeasure, rule: str, guess: float) -> float:
    """After how many rounds the rule decides first, by bisection over the times; the first guess is doubled until it
    has decided."""
    last = int(np.searchsorted(TIMES, guess))
    while True:
        last = min(last, len(TIMES) - 1)
        known = states_at(rewards, risk, TIMES[: last + 1])
        if RULES[rule](known[last], risk):
            break
        if last == len(TIMES) - 1:
            return math.inf
        last = int(np.searchsorted(TIMES, 2 * TIMES[last]))
    early, late = -1, last
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (early, middle) if RULES[rule](known[middle], risk) else (middle, late)
    return 2.0 * float(TIMES[late])


def median(times: list[float], least: float) -> str:
    """With its standard error, and over the least possible."""
    if not times:
        return "–"
    middle = float(np.median(times))
    if math.isinf(middle):
        return "more"
    rng = np.random.default_rng(0)
    again = np.minimum(rng.choice(times, (200, len(times))), 4.0 * LONGEST)
    return f"{count(round(middle))} ± {count(round(float(np.median(again, axis=1).std())))} ({middle / least:.1f})"


def main(runs: int) -> None:
    print("| arms | risk | least possible |", " | ".join([*RULES, "one look"]), "|")
    print("|---|---|---|" + "---|" * (len(RULES) + 1))
    for name, laws in PAIRS.items():
        x = tuple(points(law) for law in laws)
        for risk in RISKS:
            costs = [risk.cost(law) for law in laws]
            if abs(costs[0] - costs[1]) < 1e-9:
                continue
            best = int(np.argmin(costs))
            least = least_rounds(risk, x[best], x[1 - best], min(costs), max(costs))
            times: dict[str, list[float]] = {rule: [] for rule in RULES}
            rng = np.random.default_rng(1)
            for run in range(runs):
                rewards = [law.sample(rng, LONGEST) for law in laws]
                for rule, found in times.items():
                    if (rule == "declared" and not name.startswith("coins")) or (
                        rule == "two intervals" and run % FEWER
                    ):
                        continue
                    found.append(stopped(rewards, risk, rule, (8.0 if rule == "two intervals" else 1.5) * least))
            cells = [median(each, least) for each in times.values()]
            cells.append(f"{count(round(alone := one_look(risk, x, costs[1] - costs[0])))} ({alone / least:.1f})")
            print(f"| {name} | {risk} | {count(round(least))} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
