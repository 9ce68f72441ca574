"""The contract of a policy."""

import inspect
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent import Bandit, Bernoulli, Deterministic, Gaussian, Law, MeanVariance, RiskMeasure, Uniform
from prudent.arms.base import encode
from prudent.compiled import kernel
from prudent.engine import stepping
from prudent.engine.record import COMPLAINTS, FINE, Record, Statistics
from prudent.policies.base import Arm, Policy, Setting, policies, spec
from prudent.policies.binding import bind
from prudent.policies.scoring import costs_need_rewards, needs_no_clock, rewards_of, score_inputs, score_of
from prudent.testing.rules import SEED, Watched, answers, check_parameters, check_spec, close, compiles, require


def check_policy(
    policy: Policy,
    *,
    risk: RiskMeasure | None = None,
    arms: Sequence[int] = (2, 3, 5),
    horizon: int = 60,
    rewards: tuple[float, float] = (-math.inf, math.inf),
) -> None:
    """A policy must run on any bandit to the end, and the same compiled as interpreted.

    Parameters
    ----------
    policy
        An instance of the class to be checked.
    risk
        What the policy takes its parameters from; mean-variance with ρ = 1 by default.
    arms, horizon
        The sizes of the bandits that are tried, and the longest run.
    rewards
        The interval of rewards the policy is made for. Nothing outside it is tried, so pass (0, 1) for a policy of
        rewards in [0, 1].

    Examples
    --------
    >>> from prudent import UCB1
    >>> from prudent.testing import check_policy
    >>> check_policy(UCB1(), arms=(2,), horizon=20)
    """
    risk = MeanVariance(1.0) if risk is None else risk
    named = isinstance(policy, tuple) and hasattr(policy, "_fields")
    require(named, repr(policy), "a policy must be a NamedTuple", "write class Mine(NamedTuple) and pass Mine()")
    name = spec(policy)
    if name.split("(")[0] in policies:
        check_spec(policy, name, policies)
    check_parameters(name, policy)
    with answers(name, "must bind to a bandit"):
        ready: Any = bind(policy, Setting(max(arms), risk, horizon))
    _check_signature(name, ready)
    if hasattr(ready, "score"):
        _check_scores(name, ready, rewards)
    if hasattr(ready, "score_bound"):
        _check_bound(name, ready, _grid(rewards))
    for laws, rounds in _games(arms, horizon, rewards):
        bandit = Bandit(laws)
        with answers(name, f"must bind to {len(bandit)} arms and {rounds} rounds"):
            ready = bind(policy, Setting(len(bandit), risk, rounds))
        _check_play(f"{name} on {bandit!r} for {rounds} rounds", ready, bandit, bandit.best(risk), rounds)


def _check_signature(name: str, ready: Any) -> None:
    """The engine passes arguments by position; `bind` has read the names of a score's."""
    method, wanted = "phase", "(self, arms, t, chosen, rng)"
    if hasattr(ready, "score"):
        method, wanted = "score", "(self, arm), and then those it needs of t, rng, rewards, in this order"
    taken = inspect.signature(getattr(ready, method)).parameters.values()
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in taken)
    require(
        plain and (method == "score" or len(taken) == 4), name, f"{method} must take {wanted}", "no defaults, no *args"
    )


def _check_scores(name: str, ready: Any, rewards: tuple[float, float]) -> None:
    """No NaN on a grid of statistics, no memory, and the same numbers compiled."""
    points, kept = _grid(rewards), np.empty((0, 0))
    if "rewards" in score_inputs(type(ready)):
        points, kept = _samples(rewards)
    tables: list[list[float]] = []
    for _ in range(2):
        rng = np.random.default_rng(SEED)
        tables.append([])
        for i, (arm, t) in enumerate(points):
            with answers(name, f"score must answer for {arm} at t={t}"):
                value = score_of(ready, arm, t, rng, rewards_of(ready, kept, i, arm.pulls))
            require(not math.isnan(value), name, f"score is NaN for {arm} at t={t}", "0/0, ∞ − ∞ or log 0 inside?")
            tables[-1].append(value)
    require(tables[0] == tables[1], name, "score must depend on its arguments alone", "keep nothing between calls")
    statistics = Statistics(*(np.array(column) for column in zip(*(arm for arm, _ in points), strict=True)))
    compiled = np.empty(len(points))
    with compiles(name, ready):
        clocks = np.array([t for _, t in points])
        _score_table(ready, statistics, clocks, kept, compiled, np.random.default_rng(SEED))
    for (arm, t), plain, other in zip(points, tables[0], compiled, strict=True):
        rule = f"score of {arm} at t={t} is {plain:g} interpreted, but {other:g} compiled"
        require(close(other, plain), name, rule, "compiled integers wrap around at 2**63: compute in floats")


def _check_bound(name: str, ready: Any, points: list[tuple[Arm, int]]) -> None:
    """No score within a box of statistics exceeds `score_bound` of its corners: leaping relies on it."""
    rng = np.random.default_rng(SEED)
    for _ in range(2_000):
        corners = np.sort([points[i][0] for i in rng.integers(0, len(points), 2)], axis=0)
        low, high = (Arm(int(pulls), float(mean), float(variance)) for pulls, mean, variance in corners)
        pulls, *rest = corners[0] + rng.choice([0.0, rng.random(), 1.0], 3) * (corners[1] - corners[0])
        arm = Arm(int(pulls), *map(float, rest))
        with answers(name, f"score_bound must answer for {low} and {high}"):
            score, bound = ready.score(arm), ready.score_bound(low, high)
        rule = f"score_bound of {low} and {high} is {bound:g}, but the score of {arm} between them is {score:g}"
        require(score <= bound or close(score, bound, 1e-12), name, rule, "take the worst corner for each statistic")


def _grid(rewards: tuple[float, float]) -> list[tuple[Arm, int]]:
    """Statistics an arm may have, and clocks it may have them at."""
    low, high = _unit(rewards)
    means = [
        mean for mean in (low - 2.0, low, 0.5 * (low + high), high, high + 2.0) if rewards[0] <= mean <= rewards[1]
    ]
    most = (0.5 * (rewards[1] - rewards[0])) ** 2
    variances = [variance for variance in (0.0, 1e-9, 0.05, 0.25, 4.0) if variance <= most]
    pulls = (2, 3, 10, 1_000, 1_000_000)
    seen = [Arm(1, mean, 0.0) for mean in means] + [Arm(*each) for each in itertools.product(pulls, means, variances)]
    return [(arm, arm.pulls * factor + 1) for arm in seen for factor in (1, 40)]


def _samples(rewards: tuple[float, float]) -> tuple[list[tuple[Arm, int]], NDArray[np.float64]]:
    """Statistics with the rewards they come from, in ascending order, a row each; and clocks."""
    low, high = _unit(rewards)
    shapes = [np.full(1, 0.5), np.zeros(1), np.ones(3), np.array([0.0, 1.0]), np.linspace(0.0, 1.0, 11) ** 2]
    shapes += [np.linspace(0.2, 0.3, 200), np.repeat([0.0, 0.5, 1.0], 50)]
    samples = [low + (high - low) * shape for shape in shapes]
    kept = np.full((2 * len(samples), max(map(len, samples))), math.nan)
    points = []
    for i, sample in enumerate(samples + samples):
        kept[i, : len(sample)] = sample
        arm = Arm(len(sample), float(sample.mean()), float(sample.var()))
        points.append((arm, arm.pulls * (1 if i < len(samples) else 40) + 1))
    return points, kept


@kernel
def _score_table(
    policy: Any,
    arms: Statistics,
    t: NDArray[np.int64],
    kept: NDArray[np.float64],
    scores: NDArray[np.float64],
    rng: Any,
) -> None:
    for i in range(len(scores)):
        arm = Arm(arms.pulls[i], arms.mean[i], arms.variance[i])
        scores[i] = score_of(policy, arm, t[i], rng, rewards_of(policy, kept, i, arms.pulls[i]))


def _games(arms: Sequence[int], horizon: int, rewards: tuple[float, float]) -> Iterator[tuple[Sequence[Law], int]]:
    """Arms within the rewards, and rounds to play: different arms, the shortest games, constant and equal arms."""
    low, high = _unit(rewards)
    for n in arms:
        places = [low + (high - low) * (i + 1) / (n + 1) for i in range(n)]
        noisy: list[Law] = [Uniform(low, x) for x in places]
        if rewards == (-math.inf, math.inf):
            noisy = [Gaussian(x, 0.1 * (i + 1)) for i, x in enumerate(places)]
        yield from ((noisy, rounds) for rounds in (n, n + 1, horizon))
        if (low, high) == (0.0, 1.0):
            yield [Bernoulli(p) for p in reversed(places)], horizon
        yield [Deterministic(x) for x in places], horizon
        yield [Deterministic(high)] * n, horizon
        yield [noisy[0]] * n, horizon


def _unit(rewards: tuple[float, float]) -> tuple[float, float]:
    """The interval itself if it is bounded, else a part of it, [0, 1] for all reals."""
    low = rewards[0] if math.isfinite(rewards[0]) else min(0.0, rewards[1] - 1.0)
    return low, rewards[1] if math.isfinite(rewards[1]) else low + 1.0


def _check_play(name: str, ready: Any, bandit: Bandit, best: int, rounds: int) -> None:
    """Interpreted play keeps the rules; compiled play is the same, with the same stream."""
    clock_free = hasattr(ready, "score") and needs_no_clock(type(ready))
    with answers(name, "must play interpreted"):
        # First, since an arm out of range is an IndexError here and a crash compiled.
        plain = _play(name, ready, bandit, best, rounds, clock_free, interpreted=True)
        again = _play(name, ready, bandit, best, rounds, clock_free, interpreted=True)
    require(_same(plain, again), name, "equal streams must give equal games", "draw from `rng` alone, keep no state")
    with compiles(name, ready):
        compiled = _play(name, ready, bandit, best, rounds, clock_free)
    told = f"pulls {plain.pulls[:, -1].tolist()} interpreted, but {compiled.pulls[:, -1].tolist()} compiled"
    fix = "compiled integers wrap around at 2**63; `math` gives the same digits both ways, NumPy's functions may not"
    require(_same(plain, compiled), name, f"must play the same compiled, but {told}", fix)
    if clock_free:
        rescored = _play(name, ready, bandit, best, rounds, clock_free=False)
        require(_same(plain, rescored), name, "a score without t must not change with time", "take t as an argument")


def _play(
    name: str, ready: Any, bandit: Bandit, best: int, rounds: int, clock_free: bool, interpreted: bool = False
) -> Record:
    """Three runs, with a snapshot after each arm could be pulled once."""
    snapshots = np.unique([len(bandit), rounds])
    record = Record.empty(3, len(snapshots), len(bandit))
    problem = encode(bandit.arms), best, snapshots, record, np.random.default_rng(SEED)
    scores = hasattr(ready, "score")
    loop: Any = stepping.step_scores if scores else stepping.step_phases
    if interpreted:
        loop = loop.py_func
        ready = ready if scores else Watched(name, ready)
    room = rounds if scores or costs_need_rewards(ready) else 0
    status = loop(ready, clock_free, room, *problem) if scores else loop(ready, room, *problem)
    require(status == FINE, name, COMPLAINTS.get(status, ""))
    require((record.pulls.sum(-1) == snapshots).all(), name, "each round must pull one arm")
    return record


def _same(one: Record, other: Record) -> bool:
    return all(map(np.array_equal, one, other))
