"""How often live intervals miss if rewards have windows and defaults: `python benchmarks/service_coverage.py`.

First table: one arm. A success is reported after 20 decisions on average, a failure never, so that it is counted as 0
when its window closes. Counting successes at once makes the delay depend on the outcome, and 95 % intervals, valid at
any time for independent rewards, miss nearly always. Counted when the window has closed, they do not.

Second table: experiments with two arms, a policy, sticky units some of which ask again, windows and a default, as the
service runs them. Rewards are counted in the order of the service (tests/service/test_service_coverage.py compares).

Third table: a guardrail on the means of two arms. If both are exactly at its limit, it fires in at most the stated
share of experiments, at all times together. If one is beyond it, how many of its rewards does that take?
Minutes on one core; `--runs` and `--experiments` make it shorter.
"""

import argparse
import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from prudent import Agent, MeanVariance
from prudent.confidence import betting
from prudent.engine.python.arm import ArmState
from prudent.live.evidence import Evidence
from prudent.live.guardrails import Rail, shares
from prudent.live.intervals import intervals

FAILURE, DELAY, DECISIONS = 0.05, 20.0, 5_000
ARMS, MOMENTS, WINDOW = (0.3, 0.6), 200, 40
LOOKS, CHUNK = (10, 20, 40, 80), 500
RISK = MeanVariance(1.0)
NAMES = [f"{what} of arm {i}" for what in ("mean", "variance", "cost") for i in range(2)]
CELLS = [(p, window) for p in (0.05, 0.3) for window in (100, 500, 2_000)]
Array = np.ndarray[Any, Any]


def truth(p: float, window: int) -> float:
    """The mean of what is counted: a success whose report would come after the window is none."""
    return p * (1.0 - (1.0 - 1.0 / DELAY) ** (window - 1))


def in_order(successes: Array, delays: Array, window: int, *, at_once: bool) -> Array:
    """The outcomes of one arm with a decision at every moment, in the order in which they are counted. At the same
    moment windows close first, then come reports."""
    values = (successes & (delays < window)).astype(float)
    if not at_once:
        return values
    made = np.arange(len(values))
    reported = values == 1.0
    return values[np.lexsort((made, reported, np.where(reported, made + delays, made + window)))]


def ever_missed(values: Array, mean: float, failure: float = FAILURE) -> bool:
    """Whether the interval of the mean excludes the true mean after any of these rewards, each 0 or 1."""
    pulls = np.arange(1.0, len(values) + 1.0)[:, None]
    wins = np.cumsum(values)[:, None]
    for won, rate in ((wins, mean), (pulls - wins, 1.0 - mean)):
        wealth = betting.LOG_WEIGHTS + won * betting.THETA - pulls * np.log1p(betting.KAPPA * rate)
        if (np.exp(np.minimum(wealth, 50.0)).sum(-1) >= 2.0 / failure).any():
            return True
    return False


def one_arm(rng: np.random.Generator, p: float, window: int, runs: int, *, at_once: bool) -> int:
    """How many of so many experiments ever miss."""
    missed = 0
    for _ in range(runs):
        successes, delays = rng.random(DECISIONS) < p, rng.geometric(1.0 / DELAY, DECISIONS)
        missed += ever_missed(in_order(successes, delays, window, at_once=at_once), truth(p, window))
    return missed


class Story(NamedTuple):
    """Who asks at each moment, and what would become of each unit with each arm: a success, reported so much later."""

    units: Array
    successes: Array
    delays: Array


def story(rng: np.random.Generator, moments: int, ps: tuple[float, ...]) -> Story:
    """Units ask at random, so that some ask again."""
    shape = moments, len(ps)
    return Story(rng.integers(0, moments, moments), rng.random(shape) < ps, rng.geometric(1.0 / DELAY, shape))


def follow(agent: Agent, told: Story, window: int, *, at_once: bool = False) -> Iterator[tuple[int, float]]:
    """Let the agent live through a story; every reward that it counts, as arm and value, when it has counted it."""
    known: set[int] = set()
    queue: list[tuple[float, bool, int, int, float]] = []  # when, a report?, its moment, arm, value
    for moment, unit in enumerate([*told.units.tolist(), None]):
        while queue and (unit is None or queue[0][0] <= moment):
            _, _, _, arm, value = heapq.heappop(queue)
            agent.tell(arm, value)
            yield arm, value
        if unit is not None and unit not in known:
            known.add(unit)
            arm = agent.ask()
            delay = int(told.delays[unit, arm])
            success = bool(told.successes[unit, arm]) and delay < window
            early = at_once and success
            heapq.heappush(queue, (moment + (delay if early else window), early, moment, arm, float(success)))


def experiments(rng: np.random.Generator, number: int, moments: int, window: int) -> dict[str, int]:
    """How many of so many experiments with two arms ever miss: a mean at any reward, a variance or a cost at some
    times."""
    means = np.array([truth(p, window) for p in ARMS])
    missed: set[tuple[str, int]] = set()
    for start in range(0, number, CHUNK):
        seen: list[tuple[int, int, ArmState]] = []
        for experiment in range(start, min(start + CHUNK, number)):
            seed = int(rng.integers(2**31))
            agent = Agent("mv-lcb(c=1)", 2, moments, seed, risk=RISK, support=(0, 1))
            values: list[list[float]] = [[], []]
            for arm, value in follow(agent, story(rng, moments, ARMS), window):
                values[arm].append(value)
                if sum(map(len, values)) in LOOKS:
                    seen += [(experiment, *known) for known in enumerate(agent.copy()._arms)]
            seen += [(experiment, *known) for known in enumerate(agent._arms)]
            missed |= {(f"mean of arm {i}", experiment) for i in range(2) if ever_missed(np.array(values[i]), means[i])}
        known = intervals(Evidence([arm for _, _, arm in seen], RISK, (0.0, 1.0)), FAILURE)
        for (experiment, i, _), found in zip(seen, known, strict=True):
            variance = means[i] * (1.0 - means[i])
            for name, true in (("variance", variance), ("cost", variance - means[i])):
                ends = getattr(found, name)
                if ends is not None and not ends.low <= true <= ends.high:
                    missed.add((f"{name} of arm {i}", experiment))
    return {name: sum(own == name for own, _ in missed) for name in NAMES}


def first_fired(values: Array, limit: float, failure: float) -> int | None:
    """After how many rewards of an arm, each 0 or 1, its mean is surely above the limit."""
    kappa, pulls = betting.KAPPA, np.arange(1.0, len(values) + 1.0)[:, None]
    wealth = betting.LOG_WEIGHTS + np.cumsum(values)[:, None] * np.log1p(kappa) - pulls * np.log1p(kappa * limit)
    fired = np.exp(np.minimum(wealth, 50.0)).sum(-1) >= 1.0 / failure
    return int(np.argmax(fired)) + 1 if fired.any() else None


def rails(rng: np.random.Generator, p: float, runs: int, limit: float = 0.1, error: float = 0.01) -> list[int | None]:
    """Of two arms, of which the second is at the limit: after how many rewards of either a guardrail fires."""
    found = []
    part = error * shares([Rail("mean", above=limit)], 2, 0, "first")[0]
    for _ in range(runs):
        both = [first_fired(rng.random(DECISIONS // 2) < rate, limit, part) for rate in (p, limit)]
        found.append(min((count for count in both if count is not None), default=None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--experiments", type=int, default=10_000)
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    print(f"One arm, {DECISIONS:,} decisions, {given.runs:,} experiments: the 95 % interval of the mean ever misses")
    print(f"{'p':>5} {'window':>7} {'at once':>9} {'when closed':>12}")
    for p, window in CELLS:
        once, closed = (one_arm(rng, p, window, given.runs, at_once=flag) for flag in (True, False))
        print(f"{p:5} {window:7,} {once / given.runs:9.1%} {closed / given.runs:12.1%}", flush=True)
    print(f"Two arms, a policy, sticky units, {given.experiments:,} experiments, each interval at 95 %: ever missed")
    for name, count in experiments(rng, given.experiments, MOMENTS, WINDOW).items():
        print(f"{name:>20} {count / given.experiments:8.2%}", flush=True)
    print(
        f"A guardrail on the mean, above 0.1, error 1 %, {DECISIONS:,} decisions on two arms: ever fired, after rewards"
    )
    for p, number in ((0.1, given.experiments), (0.15, given.runs), (0.2, given.runs)):
        counts = [count for count in rails(rng, p, number) if count is not None]
        median = f"{np.median(counts):,.0f}" if p > 0.1 else "-"
        print(f"{p:5} {number:7,} experiments {len(counts) / number:8.2%} {median:>8}", flush=True)


if __name__ == "__main__":
    main()
