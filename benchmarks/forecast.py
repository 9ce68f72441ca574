"""Are forecasts calibrated? `python benchmarks/forecast.py`, some minutes on one core.

Many experiments are simulated whole, on laws drawn at random. A forecast is made of each after a third of its rounds,
and it is seen where the truth at the end lies among the futures: the share of them below it (the probability integral
transform) must be uniform. The table has how often the intervals of 50, 80 and 95 % of all futures held the truth, and
two p-values: of a Kolmogorov-Smirnov test, which sees where futures are too high or too low, and of the worst of the
three shares, which sees where they are too narrow or too wide. A forecast fails if one is below 1 in 1,000.

Laws: Gaussian arms with means N(0.5, 0.2²) and standard deviations from 0.05 to 0.5, evenly on a logarithmic scale;
coins whose rates are uniform; and Beta laws, which are not what the model assumes, with means from 0.2 to 0.8 and as
much weight as 1 to 20 rewards. The last lines are mutants: forecasts that take the arms' means, or their variances, for
the truth. With ρ = 1 the means decide nearly alone, so that the variances matter where ρ = 0.

With `--beside` it is measured instead how many commands a second the service carries out while forecasts are made all
the time, without the rests between them, and without forecasts.
"""

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest, kstest

from prudent import Agent, Bandit, Bernoulli, Beta, Gaussian, simulate
from prudent.arms.base import Law
from prudent.engine.python.arm import ArmState
from prudent.live import forecast as forecasting
from prudent.live.beliefs import draw_beliefs
from prudent.live.evidence import Evidence
from prudent.policies.units import without_warning
from prudent.risk.mean_variance import MeanVariance
from prudent.service.work import forecasts

ARMS = 3
LEVELS = (0.5, 0.8, 0.95)
Rng = np.random.Generator
Array = np.ndarray[Any, Any]


def gaussians(rng: Rng) -> list[Law]:
    """Arms that are what the model assumes."""
    return [Gaussian(rng.normal(0.5, 0.2), np.exp(rng.uniform(np.log(0.05), np.log(0.5))) ** 2) for _ in range(ARMS)]


def coins(rng: Rng) -> list[Law]:
    """Arms with two values."""
    return [Bernoulli(rate) for rate in rng.random(ARMS)]


def betas(rng: Rng) -> list[Law]:
    """Arms that are neither, on a bounded support."""
    means, weights = rng.uniform(0.2, 0.8, ARMS), np.exp(rng.uniform(0.0, np.log(20.0), ARMS))
    return [Beta(mean * weight, (1.0 - mean) * weight) for mean, weight in zip(means, weights, strict=True)]


def exact_means(laws: forecasting.Drawn, arms: list[ArmState]) -> forecasting.Drawn:
    """A mutant: means taken for the truth."""
    return laws._replace(mean=np.repeat([[arm.mean for arm in arms]], len(laws.mean), 0))


def exact_variances(laws: forecasting.Drawn, arms: list[ArmState]) -> forecasting.Drawn:
    """A mutant: variances taken for the truth."""
    return laws._replace(variance=np.repeat([[arm.variance for arm in arms]], len(laws.mean), 0))


class Case(NamedTuple):
    """A policy, and where laws come from."""

    name: str
    policy: str
    laws: Callable[[Rng], list[Law]]
    support: tuple[float, float] | None = None
    mutant: Callable[[forecasting.Drawn, list[ArmState]], forecasting.Drawn] | None = None
    rho: float = 1.0


SHARP = "mv-lcb(c=1, unbiased=True, range=1)"
CASES = [
    Case("Gaussian arms, mv-lcb", SHARP, gaussians),
    Case("Gaussian arms, anytime-mv-lcb", "anytime-mv-lcb(range=1)", gaussians),
    Case("coins, mv-lcb", SHARP, coins, (0.0, 1.0)),
    Case("Beta arms, mv-lcb", SHARP, betas, (0.0, 1.0)),
    Case("mutant: means taken for the truth", SHARP, gaussians, None, exact_means),
    Case("Gaussian arms, mv-lcb, ρ = 0", SHARP, gaussians, rho=0.0),
    Case("mutant: variances for the truth, ρ = 0", SHARP, gaussians, None, exact_variances, 0.0),
]


def transforms(case: Case, experiments: int, horizon: int, draws: int) -> Array:
    """For each experiment the shares of futures below the truth: of the regret and of the cost at the end."""
    rng, third, found = np.random.default_rng(2026), horizon // 3, []
    risk = MeanVariance(case.rho)
    agent = Agent(case.policy, ARMS, horizon, risk=risk, support=case.support)
    for number in range(experiments):
        laws = case.laws(rng)
        settings: dict[str, Any] = {"risk": risk, "horizon": horizon, "runs": 1, "seed": number, "workers": 1}
        with without_warning():
            played = simulate(Bandit(laws), agent.policy, snapshots=[third], **settings)
        then = played.at(third)
        rows = zip(then.pulls[0].tolist(), then.mean[0].tolist(), then.variance[0].tolist(), strict=True)
        arms = [ArmState(None, *row) for row in rows]
        allowed = draw_beliefs(Evidence(arms, risk, agent.support), draws, rng, forecasting.WEIGHT)
        allowed = allowed if case.mutant is None else case.mutant(allowed, arms)
        seen = forecasting.futures(
            agent._ready, Evidence(arms, risk, agent.support), horizon - third, allowed, leaping=False, seed=number
        )
        cost = float(played.cost()[0])
        truths = cost - min(map(risk.cost, laws)), cost
        found.append([share_below(part[:, -1], truth, rng) for part, truth in zip(seen[1:3], truths, strict=True)])
    return np.array(found)


def share_below(futures: Array, truth: float, rng: Rng) -> float:
    """Uniform if the truth is one of the futures; among equals its place is drawn."""
    below, same = int((futures < truth).sum()), int((futures == truth).sum())
    return float((below + rng.random() * (same + 1)) / (len(futures) + 1))


def covered(shares: Array) -> list[float]:
    """How often intervals of futures, with equal tails, held the truth."""
    return [float((abs(shares - 0.5) <= 0.5 * level).mean()) for level in LEVELS]


def held_by_chance(shares: Array) -> float:
    """The probability of shares as far from their levels as the worst of these."""
    times = [round(share * len(shares)) for share in covered(shares)]
    return min(float(binomtest(k, len(shares), level).pvalue) for k, level in zip(times, LEVELS, strict=True))


def beside(turns: int = 5, seconds: float = 4.0) -> None:
    """Commands a second with and without forecasts, in turns."""
    from service import SPEC, asks_and_tells, serving

    forecasts.REST, forecasts.GROWTH, forecasts.LEAST = 0.0, 0.0, 1
    SPEC["horizon"] = 40_000
    rates: dict[bool, list[float]] = {False: [], True: []}
    wanted, ended = threading.Event(), threading.Event()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "a.db") as service:

        def look() -> None:
            while not ended.wait(0.1):
                view = service.view("shop")
                if wanted.is_set():
                    service.forecasts.of(view.experiment.id, view.state)

        asyncio.run(asks_and_tells(service, seconds))
        view = service.view("shop")
        service.forecasts.of(view.experiment.id, view.state, 300.0)  # compiles
        threading.Thread(target=look, daemon=True).start()
        for _ in range(turns):
            for on, found in rates.items():
                wanted.set() if on else wanted.clear()
                time.sleep(0.0 if on else 2.0)  # the last forecast ends
                found.append(asyncio.run(asks_and_tells(service, seconds)) / seconds)
        ended.set()
    without, with_them = (float(np.median(found)) for found in rates.values())
    print(f"commands a second without forecasts {without:,.0f}, with {with_them:,.0f}: {with_them / without:.2f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--horizon", type=int, default=1500)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--beside", action="store_true", help="measure the service instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose names contain this")
    given = parser.parse_args()
    if given.beside:
        beside()
        return
    print(f"{given.experiments} experiments of {given.horizon} rounds, {given.draws} futures each")
    print(f"{'':<40}{'':<8}{'50 %':>9}{'80 %':>9}{'95 %':>9}{'p, KS':>11}{'p, shares':>11}")
    for case in (case for case in CASES if given.only in case.name):
        began = time.perf_counter()
        both = transforms(case, given.experiments, given.horizon, given.draws)
        for what, shares in zip(("regret", "cost"), both.T, strict=True):
            held = "".join(f"{100 * share:>7.1f} %" for share in covered(shares))
            tests = f"{kstest(shares, 'uniform').pvalue:>11.2g}{held_by_chance(shares):>11.2g}"
            print(f"{case.name:<40}{what:<8}{held}{tests}", flush=True)
        print(f"{'':<40}{time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
