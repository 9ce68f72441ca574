"""simulate_portfolio(): many runs of a portfolio policy."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array, Marks
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.base.memory import check_memory
from prudent.engine.jobs import MAX_ROUNDS, Job, rounds_of
from prudent.engine.record import FINE, HALTED
from prudent.portfolio.bandit import PortfolioBandit
from prudent.portfolio.laws import NOTHING, Block
from prudent.portfolio.policies.base import Brief, Explore, Observation, Play, PortfolioPolicy, portfolio_policies
from prudent.portfolio.program import Mix, arms_held, limits
from prudent.portfolio.runs import PortfolioRuns
from prudent.risk.mean_variance import MeanVariance

FEEDBACKS = ("full", "semi-bandit", "bandit")

PROGRESS_SECONDS = 0.5
"""Seconds after which a part of a run is told of."""

FEASIBLE = 1e-8
"""By how much a mix may miss its sum and its limits."""


MOMENTS = ("reward_mean", "best_mean", "reward_variance", "best_variance", "exploration", "gap")
MIXES = ("weights", "average_weights")
"""The fields of `PortfolioRuns` that a run finds at each snapshot, in this order: one number, then one for each arm."""


def simulate_portfolio(
    bandit: PortfolioBandit,
    policy: PortfolioPolicy | str,
    *,
    rho: float = 1.0,
    horizon: int,
    runs: int,
    seed: int = 0,
    upper: ArrayLike | None = None,
    short: bool = False,
    snapshots: Sequence[int] = (),
    workers: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> PortfolioRuns:
    """Let a policy learn a mix of arms for `horizon` rounds, `runs` times.

    Rounds between two decisions are drawn as one block, exactly in law; with Gaussian and empirical laws a longer run
    then costs little more than a short one.

    Parameters
    ----------
    bandit
        The arms and their joint law.
    policy
        A portfolio policy, or its spec such as `"mc-empirical"`.
    rho
        The tolerance for risk.
    upper, short
        Limits of the weights, as in `prudent.portfolio.solve`.
    horizon, runs, seed, snapshots, workers, progress
        As for `simulate`; where a run takes long, `progress` is called with parts of it too, from the threads.

    Examples
    --------
    >>> from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
    >>> bandit = PortfolioBandit(MultivariateGaussian([0.1, 0.2], [[0.04, 0.01], [0.01, 0.09]]))
    >>> simulate_portfolio(bandit, "mc-empirical", rho=0.5, horizon=1_000, runs=5).weights.shape
    (5, 2)
    """
    if not isinstance(bandit, PortfolioBandit):
        raise PrudentError(f"simulate_portfolio: bandit must be a PortfolioBandit, got {shown(bandit)}")
    player = portfolio_policies.make("simulate_portfolio", policy)
    if player.feedback not in FEEDBACKS:
        raise PrudentError(f"{player}: feedback must be one of {', '.join(FEEDBACKS)}, got {player.feedback!r}")
    risk = MeanVariance(rho)
    job = Job.checked("simulate_portfolio", runs, seed, workers, None)
    rounds = rounds_of("simulate_portfolio", horizon, snapshots).tolist()
    brief = Brief(len(bandit), risk.rho, rounds[-1], upper, short)
    best = bandit.optimal(risk.rho, upper=upper, short=short)
    fields = [(name, float, ()) for name in MOMENTS] + [(name, float, len(bandit)) for name in MIXES]
    size = job.runs * len(rounds) * (len(MOMENTS) + len(MIXES) * len(bandit))
    check_memory("simulate_portfolio", size, f"{job.runs:,} runs × {len(rounds):,} snapshots × {len(bandit):,} arms")
    found = np.empty((job.runs, len(rounds)), fields)

    tell = _Teller(progress, rounds[-1])
    place = {end: number for number, end in enumerate(rounds)}

    def play(part: slice, halt: Marks, rng: np.random.Generator) -> int:
        for run in range(part.start, part.stop):
            told = 0
            for t, outcome in one_run(bandit, player, brief, best, rounds, rng):
                if outcome is not None:
                    found[run, place[t]] = outcome
                told = tell(told, t)
                if halt[0]:
                    return HALTED
        return FINE

    cell = f"{bandit!r} | {risk} | {player} | {rounds} | {np.asarray(upper).tolist()} {short}"
    seconds = job.run(cell, str(player), play)
    facts: dict[str, Any] = {"bandit": bandit, "risk": risk, "policy": player, "best": best, "seed": job.seed}
    return PortfolioRuns.at_snapshots(rounds, {name: found[name] for name in MOMENTS + MIXES}, seconds=seconds, **facts)


class _Teller:
    """Tells `progress` of whole runs as they end, and of parts of a run where it takes long."""

    def __init__(self, progress: Callable[[float], object] | None, horizon: int) -> None:
        if progress is not None and not callable(progress):
            raise PrudentError(f"simulate_portfolio: progress must be a function of runs, got {shown(progress)}")
        self.progress, self.horizon, self.when = progress, horizon, time.monotonic()

    def __call__(self, told: int, t: int) -> int:
        """Tell of the rounds since `told`, if it is time; up to which round they were told of."""
        now = time.monotonic()
        if self.progress is None or t == told or (t < self.horizon and now < self.when + PROGRESS_SECONDS):
            return told
        self.when = now
        self.progress((t - told) / self.horizon)
        return t


def one_run(
    bandit: PortfolioBandit, policy: PortfolioPolicy, brief: Brief, best: Mix, ends: list[int], rng: np.random.Generator
) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
    """Play one run; yields the rounds played after each block, and what is found at a snapshot: MOMENTS, then MIXES."""
    law, stretches = bandit.law, policy.play(brief)
    within = limits(brief.arms, brief.upper, brief.short)
    mix = settled = brief.even()
    t, left, gap, held = 0, 0, 0.0, np.zeros(brief.arms)
    seen = received = NOTHING
    for until in ends:
        while t < until:
            if left == 0:
                shown = _observation(policy.feedback, seen, mix) if t > 0 else None
                mix, left, exploring = _decision(policy, stretches, shown, *within)
                settled = settled if exploring else mix
                loss, seen = bandit.cost(mix, brief.rho) - best.cost, NOTHING
            step = min(left, until - t)
            block = law.block(rng, step)
            seen = seen.join(block)
            received = received.join(_sequences(block, mix, best.weights, law.mean))
            gap += step * loss
            held += step * mix
            t, left = t + step, left - step
            if t < until:
                yield t, None
        variances = np.maximum(np.diag(received.scatter), 0.0) / t
        yield t, (*received.mean[:2], *variances, gap / t, settled, held / t)


def spaced(first: int, last: int, count: int) -> list[int]:
    """Rounds evenly spaced in logarithms, for snapshots; fewer than `count` where they fall together."""
    first, last = (check_integer("spaced", "first and last", n, low=1, high=MAX_ROUNDS) for n in (first, last))
    count = check_integer("spaced", "count", count, low=1, high=1_000_000)
    rounds = np.unique(np.geomspace(min(first, last), last, count).round().astype(int))
    return [int(n) for n in rounds]


def _decision(
    policy: PortfolioPolicy, stretches: Play, seen: Observation | None, low: Array, high: Array
) -> tuple[Array, int, bool]:
    """The policy's next mix, for how many rounds, and whether only to explore; checked, since policies are open."""
    try:
        decision = next(stretches) if seen is None else stretches.send(seen)
    except StopIteration:
        raise PrudentError(f"{policy}: play must yield without end, got no more mixes; end it with a loop") from None
    mix, rounds = np.asarray(decision[0], dtype=float), decision[1]
    if mix.shape != low.shape or not abs(mix.sum() - 1.0) <= FEASIBLE:
        raise PrudentError(f"{policy}: a mix must be {low.size} weights that sum to 1, got {mix}")
    if (mix < low - FEASIBLE).any() or (mix > high + FEASIBLE).any():
        raise PrudentError(f"{policy}: a mix must lie within the limits, got {mix}; upper and short set them")
    if not isinstance(rounds, int | np.integer) or rounds < 1:
        raise PrudentError(f"{policy}: rounds must be a whole number at least 1, got {shown(rounds)}")
    return mix, int(rounds), isinstance(decision, Explore)


def _sequences(block: Block, mix: Array, best: Array, mean: Array) -> Block:
    """Three sequences: what the mix earned, what the best mix would have earned, what the mix earns on average."""
    sides = np.vstack([mix, best, np.zeros_like(mix)])
    means = sides @ block.mean
    means[2] = mix @ mean
    held = arms_held(mix, best)
    return Block(block.rounds, means, sides[:, held] @ block.scatter[held][:, held] @ sides[:, held].T)


def _observation(feedback: str, block: Block, mix: Array) -> Observation:
    """What the feedback lets a policy see."""
    if feedback == "bandit":
        return Observation(np.empty(0, dtype=np.int64), block.along(mix))
    if feedback == "full":
        return Observation(np.arange(mix.size), block)
    arms = np.flatnonzero(mix)
    return Observation(arms, Block(block.rounds, block.mean[arms], block.scatter[np.ix_(arms, arms)]))
