"""The contracts of a policy, and of a strategy for finding the best arm."""

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from prudent import Bandit, Bernoulli, Deterministic, Gaussian, Law, MeanVariance, RiskMeasure, Uniform
from prudent.arms.base import encode
from prudent.base.arrays import Array
from prudent.base.registry import Registry
from prudent.compile.types import kernel
from prudent.engine.compiled import stepper
from prudent.engine.leap.boxes import leader_bounds, outlook
from prudent.engine.record import COMPLAINTS, FINE, Record, Statistics
from prudent.engine.search_rounds import Found, search
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Arms, Policy, ReadyPolicy, Setting, policies, strategies
from prudent.policies.identification import DELTA
from prudent.policies.learners import Learner, is_learner
from prudent.policies.posteriors import all_drawn
from prudent.policies.scoring import (
    WHAT_A_SCORE_TAKES,
    compares,
    counted,
    declares_draws,
    kept_of,
    own_cost,
    reads_rewards,
    score_inputs,
    score_of,
)
from prudent.policies.units import core
from prudent.risk.base import risks
from prudent.testing.learners import check_learner
from prudent.testing.rules import SEED, answers, check_parameters, check_spec, close, compiles, require

MOST_PULLS = 400
"""Where a search with a confidence may end undecided."""


def check_policy(
    policy: Policy | Learner | str,
    *,
    risk: RiskMeasure | str | None = None,
    arms: Sequence[int] = (2, 3, 5),
    horizon: int = 60,
    rewards: tuple[float, float] = (-math.inf, math.inf),
) -> None:
    """A policy must run on any bandit to the end, and the same compiled as interpreted. A learner must run there too,
    whether rewards come at once or late, and remember nothing of another run.

    Parameters
    ----------
    policy
        An instance of the class to be checked, or a spec; or a learner (docs: worlds).
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
    risk = MeanVariance(1.0) if risk is None else risks.make("check_policy", risk)
    if is_learner(policy):
        check_learner(policy, [Bandit(laws) for laws in _games(arms, rewards)], horizon)
        return
    made: Any = policies.parse(policy) if isinstance(policy, str) else policy
    name = _check_value(made, policies)
    with answers(name, "must bind to a bandit"):
        ready: ReadyPolicy = bind(made, Setting(max(arms), risk, horizon))
    ready = core(ready)
    _check_signature(name, ready)
    if hasattr(ready, "score"):
        _check_scores(name, ready, rewards)
    if hasattr(ready, "score_bound"):
        _check_bound(name, ready, _grid(rewards))
    for laws in _games(arms, rewards):
        bandit = Bandit(laws)
        for rounds in (len(bandit), len(bandit) + 1, horizon):
            with answers(name, f"must bind to {len(bandit)} arms and {rounds} rounds"):
                ready = bind(made, Setting(len(bandit), risk, rounds))
            _check_play(f"{name} on {bandit!r} for {rounds} rounds", ready, bandit, bandit.best(risk), rounds)


def check_strategy(
    strategy: Policy | str,
    *,
    risk: RiskMeasure | str | None = None,
    arms: Sequence[int] = (2, 3, 5),
    budget: int = 60,
    delta: float = 0.1,
) -> None:
    """A strategy must search any bandit within its budget, and the same compiled as interpreted.

    `arms` are the sizes of the bandits, whose rewards lie in [0, 1]. A strategy with a field `delta` is asked for that
    confidence, any other is given the `budget`. The risk is the mean unless given. Whether a confidence is kept is for
    a test of the strategy's own; here the answer must be right where every reward is sure.
    """
    risk = MeanVariance(math.inf) if risk is None else risks.make("check_strategy", risk)
    strategy = strategies.parse(strategy) if isinstance(strategy, str) else strategy
    name = _check_value(strategy, strategies)
    asked = {"delta": delta} if hasattr(strategy, DELTA) else {"budget": budget}
    for laws in _games(arms, (0.0, 1.0)):
        bandit = Bandit(laws)
        setting = Setting.of(bandit, risk)._replace(**asked)
        with answers(name, f"must bind to {len(laws)} arms"):
            ready = bind(strategy, setting)
        _check_signature(name, ready)
        _check_search(f"{name} on {bandit!r}", strategy, ready, bandit, setting)


def _check_value(policy: Any, registry: Registry[Any]) -> str:
    """A policy or strategy is a NamedTuple that its text builds again and that checks its parameters; its text."""
    named = isinstance(policy, tuple) and hasattr(policy, "_fields")
    fix = "write class Mine(NamedTuple) and pass Mine()"
    require(named, repr(policy), f"a {registry.kind} must be a NamedTuple", fix)
    name = registry.spec(policy)
    if name.split("(")[0] in registry:
        check_spec(policy, name, registry)
    check_parameters(name, policy)
    return name


def _check_signature(name: str, ready: ReadyPolicy) -> None:
    """The engine passes arguments by position; `bind` has read the names of a score's."""
    method, wanted = "phase", "(self, arms, t, chosen, rng)"
    if hasattr(ready, "score"):
        method, wanted = "score", f"{WHAT_A_SCORE_TAKES}, in this order"
    taken = inspect.signature(getattr(ready, method)).parameters.values()
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in taken)
    whole = method == "score" or len(taken) == 4
    require(plain and whole, name, f"{method} must take {wanted}", "no defaults, no *args, nothing else")


def _games(arms: Sequence[int], rewards: tuple[float, float]) -> Iterator[list[Law]]:
    """Arms within the rewards: different ones, coins, constant ones, equal ones."""
    low, high = _bounded(rewards)
    for n in arms:
        places = [low + (high - low) * (i + 1) / (n + 1) for i in range(n)]
        noisy: list[Law] = [Uniform(low, x) for x in places]
        if rewards == (-math.inf, math.inf):
            noisy = [Gaussian(x, 0.1 * (i + 1)) for i, x in enumerate(places)]
        yield noisy
        if (low, high) == (0.0, 1.0):
            yield [Bernoulli(p) for p in reversed(places)]
        yield [Deterministic(x) for x in places]
        yield [Deterministic(high)] * n
        yield [noisy[0]] * n


def _bounded(rewards: tuple[float, float]) -> tuple[float, float]:
    """The interval itself if it is bounded, else a part of it, [0, 1] for all reals."""
    low = rewards[0] if math.isfinite(rewards[0]) else min(0.0, rewards[1] - 1.0)
    return low, rewards[1] if math.isfinite(rewards[1]) else low + 1.0


def _check_thrice(name: str, deed: str, rule: str, run: Callable[[bool], Any]) -> Any:
    """What `run(interpreted)` records must be the same twice interpreted, which is the `rule`, and then compiled."""
    with answers(name, f"must {deed} interpreted"):
        # First, since an arm out of range is an IndexError here and a crash compiled.
        plain, again = run(True), run(True)
    require(_same(plain, again), name, rule)
    with compiles(name):
        compiled = run(False)
    told = f"pulls {plain.pulls.tolist()} interpreted, but {compiled.pulls.tolist()} compiled"
    fix = "compiled integers wrap around at 2**63; `math` gives the same digits both ways, NumPy's functions may not"
    require(_same(plain, compiled), name, f"must {deed} the same compiled, but {told}", fix)
    return plain


def _same(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, one, other))


def _check_scores(name: str, ready: ReadyPolicy, rewards: tuple[float, float]) -> None:
    """No NaN on a grid of statistics, no memory, and the same numbers compiled."""
    points, kept = _grid(rewards), np.empty((0, 0))
    if reads_rewards(type(ready)):
        points, kept = _samples(rewards)
    if "counts" in score_inputs(type(ready)):
        kept = np.array([counted(ready.values, kept[i, : arm.pulls]) for i, (arm, _) in enumerate(points)])
    best_costs = _best_costs(ready, points, kept)
    tables: list[list[float]] = []
    for _ in range(2):
        rng = np.random.default_rng(SEED)
        tables.append([])
        for i, (arm, t) in enumerate(points):
            with answers(name, f"score must answer for {arm} at t={t}"):
                value = score_of(ready, arm, best_costs[i], t, rng, kept_of(ready, kept, i, arm.pulls))
            require(not math.isnan(value), name, f"score is NaN for {arm} at t={t}", "0/0, ∞ − ∞ or log 0 inside?")
            tables[-1].append(value)
    require(tables[0] == tables[1], name, "score must depend on its arguments alone", "keep nothing between calls")
    statistics = Statistics(*(np.array(column) for column in zip(*(arm for arm, _ in points), strict=True)))
    compiled = np.empty(len(points))
    with compiles(name):
        clocks, rng = np.array([t for _, t in points]), np.random.default_rng(SEED)
        _score_table(ready, statistics, best_costs, clocks, kept, compiled, rng)
    for (arm, t), plain, other in zip(points, tables[0], compiled, strict=True):
        rule = f"score of {arm} at t={t} is {plain:g} interpreted, but {other:g} compiled"
        require(close(other, plain), name, rule, "compiled integers wrap around at 2**63: compute in floats")
    if compares(type(ready)):
        _check_falling(name, ready, points, kept)
    if declares_draws(type(ready)):
        _check_degree(name, ready, [arm for arm, _ in points])
        _check_rates(name, ready, points)


def _check_degree(name: str, ready: ReadyPolicy, arms: list[Arm]) -> None:
    """A score of one number drawn is a polynomial of degree two at most, one of two numbers of degree one."""
    rng = np.random.default_rng(SEED)
    for arm in arms:
        one, other = (np.array(all_drawn(ready.draws(arm), rng)) for _ in range(2))
        scores = np.array([ready.score(arm, *(one + step / 3.0 * (other - one)).tolist()) for step in range(4)])
        differences = np.diff(scores, 3 if len(one) == 1 else 2)
        if np.isfinite(scores).all():
            rule = f"score of {arm} is {scores.tolist()} for numbers drawn at equal distances, from {one} to {other}"
            straight = bool((abs(differences) <= 1e-9 * (1e-9 + abs(scores).max())).all())
            require(straight, name, rule, "a score of other powers takes rng, and draws by itself (`drawn`)")


def _best_costs(ready: ReadyPolicy, points: list[tuple[Arm, int]], kept: Array) -> Array:
    """The smallest cost of all arms that an arm may be compared with: its own, or one below it."""
    if not compares(type(ready)):
        return np.zeros(len(points))
    costs = [own_cost(ready, arm, kept_of(ready, kept, i, arm.pulls)) for i, (arm, _) in enumerate(points)]
    below: Array = np.resize([0.0, 0.1, 3.0], len(points))
    return np.array(costs) - below


def _check_falling(name: str, ready: ReadyPolicy, points: list[tuple[Arm, int]], kept: Array) -> None:
    """A score must not rise when the smallest cost of all arms does: engines do not compute those that cannot win."""
    for i, (arm, _) in enumerate(points):
        seen = kept_of(ready, kept, i, arm.pulls)
        own = own_cost(ready, arm, seen)
        bests = [own - 3.0, own - 0.1, own - 1e-3, own]
        scores = [score_of(ready, arm, best, 1, None, seen) for best in bests]
        falls = all(after <= before or close(after, before, 1e-9) for before, after in itertools.pairwise(scores))
        rule = f"score of {arm} is {scores} for best_cost {bests}, but must not rise when best_cost does"
        require(falls, name, rule, "an arm that is closer to the best is the better candidate")


def _check_bound(name: str, ready: ReadyPolicy, points: list[tuple[Arm, int]]) -> None:
    """No score within a box of statistics exceeds `score_bound` of its corners: leaping relies on it."""
    rng, clocked = np.random.default_rng(SEED), "t" in score_inputs(type(ready))
    for low, high, arm, clocks in _boxes(points, rng):
        with answers(name, f"score_bound must answer for {low} and {high}"):
            best_cost = own_cost(ready, arm, None) if compares(type(ready)) else 0.0
            scores = [score_of(ready, arm, best_cost, t, None, None) for t in (clocks if clocked else clocks[:1])]
            bound = ready.score_bound(low, high, clocks[0]) if clocked else ready.score_bound(low, high)
        rule = f"score_bound of {low} and {high} is {bound:g}, but the score of {arm} between them is {scores[0]:g}"
        fits = scores[0] <= bound or close(scores[0], bound, 1e-12)
        require(fits, name, rule, "take the worst corner for each statistic")
        rule = (
            f"score of {arm} is {scores[0]:g} at t={clocks[0]} and {scores[-1]:g} at t={clocks[1]}, but must not rise"
        )
        falls = scores[-1] <= scores[0] or close(scores[-1], scores[0], 1e-9)
        require(falls, name, rule, "leave score_bound out, and the policy does not leap")


def _check_rates(name: str, ready: ReadyPolicy, points: list[tuple[Arm, int]]) -> None:
    """What is drawn must be bounded by the laws at the corners of a box of statistics: leaping relies on it."""
    rng = np.random.default_rng(SEED)
    for low, high, arm, _ in _boxes(points, rng):
        _, first, deviation, _ = outlook(ready, arm)
        share = first + 2.0 * rng.random() * deviation
        inside, bounds = leader_bounds(ready, arm, arm, share), leader_bounds(ready, low, high, share)
        what = f"how often its first number takes its part above {share:g}, mean and deviation of its normal part"
        rule = f"a score of {arm} has {inside} ({what}), but from {low} to {high} the corners have {bounds} at most"
        fits = all(one <= most + 1e-9 * abs(most) for one, most in zip(inside, bounds, strict=True))
        require(fits, name, rule, "the laws must move one way with each of pulls, mean and variance")


def _boxes(points: list[tuple[Arm, int]], rng: np.random.Generator) -> Iterator[tuple[Arm, Arm, Arm, tuple[int, int]]]:
    """Random boxes of statistics: the least, the largest, some between them, and two clocks, the earlier first."""
    for _ in range(2_000):
        (one, t), (other, later) = (points[i] for i in rng.integers(0, len(points), 2))
        corners = np.sort([one, other], axis=0)
        low, high = (Arm(int(pulls), float(mean), float(variance)) for pulls, mean, variance in corners)
        pulls, *rest = corners[0] + rng.choice([0.0, rng.random(), 1.0], 3) * (corners[1] - corners[0])
        yield low, high, Arm(int(pulls), *map(float, rest)), (min(t, later), max(t, later))


def _grid(rewards: tuple[float, float]) -> list[tuple[Arm, int]]:
    """Statistics an arm may have, and clocks it may have them at."""
    low, high = _bounded(rewards)
    places = (low - 2.0, low, 0.5 * (low + high), high, high + 2.0)
    means = [mean for mean in places if rewards[0] <= mean <= rewards[1]]
    most = (0.5 * (rewards[1] - rewards[0])) ** 2
    variances = [variance for variance in (0.0, 1e-9, 0.05, 0.25, 4.0) if variance <= most]
    each = itertools.product((2, 3, 10, 1_000, 1_000_000), means, variances)
    seen = [Arm(1, mean, 0.0) for mean in means] + list(itertools.starmap(Arm, each))
    return [(arm, arm.pulls * factor + 1) for arm in seen for factor in (1, 40)]


def _samples(rewards: tuple[float, float]) -> tuple[list[tuple[Arm, int]], Array]:
    """Statistics with the rewards they come from, in ascending order, a row each; and clocks."""
    low, high = _bounded(rewards)
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
    policy: ReadyPolicy, arms: Statistics, best_costs: Array, t: Any, kept: Array, scores: Array, rng: Generator
) -> None:
    for i in range(len(scores)):
        arm = Arm(arms.pulls[i], arms.mean[i], arms.variance[i])
        scores[i] = score_of(policy, arm, best_costs[i], t[i], rng, kept_of(policy, kept, i, arms.pulls[i]))


def _check_play(name: str, ready: ReadyPolicy, bandit: Bandit, best: int, rounds: int) -> None:
    """Play is the same interpreted and compiled, with the same stream."""
    rule = "equal streams must give equal games; draw from `rng` alone, keep no state"
    _check_thrice(name, "play", rule, partial(_play, name, ready, bandit, best, rounds))


def _play(name: str, ready: ReadyPolicy, bandit: Bandit, best: int, rounds: int, interpreted: bool) -> Record:
    """Three runs, with a snapshot after each arm could be pulled once."""
    snapshots = np.unique([len(bandit), rounds])
    record = Record.empty(3, len(snapshots), len(bandit))
    problem = encode(bandit.arms), best, snapshots, record, np.zeros(1, np.bool_), np.random.default_rng(SEED)
    watched: Any = Watched(name, ready) if interpreted and not hasattr(core(ready), "score") else ready
    status = stepper(watched, rounds, interpreted=interpreted)(*problem)
    require(status == FINE, name, COMPLAINTS.get(status, ""))
    require((record.pulls.sum(-1) == snapshots).all(), name, "each round must pull one arm")
    return record


def _check_search(name: str, strategy: object, ready: ReadyPolicy, bandit: Bandit, setting: Setting) -> None:
    """Every search ends within the budget, with an arm that was pulled, and with the best where rewards are sure."""
    rule = "equal streams must give equal searches; keep nothing between calls"
    found: Found = _check_thrice(name, "search", rule, partial(_search, name, ready, bandit, setting))
    if setting.budget is not None:
        within = f"may pull {setting.budget} times, its budget, and asks for more"
        require(found.decided.all(), name, within, "return 0 when it is spent")
    known = all(pulls[arm] > 0 for pulls, arm in zip(found.pulls, found.recommended, strict=True) if arm >= 0)
    require(known, name, "recommends an arm it never pulled", "pull every arm that is left alive")
    if all(isinstance(law, Deterministic) for law in bandit.arms) and not hasattr(strategy, "feasible"):
        right = bandit.gaps(setting.risk)[found.recommended] == 0.0
        rule = f"rewards are sure, yet it recommends arm {found.recommended[0] + 1}"
        require((right | ~found.decided).all(), name, rule, "strike out the arms of largest cost")


def _search(name: str, ready: ReadyPolicy, bandit: Bandit, setting: Setting, interpreted: bool) -> Found:
    """Three searches."""
    found, laws = Found.empty(3, len(bandit)), encode(bandit.arms)
    most = MOST_PULLS if setting.budget is None else setting.budget
    risk, loop = getattr(ready, "risk", setting.risk.compiled()), search
    if interpreted:
        ready, loop = Watched(name, ready), search.py_func  # type: ignore[attr-defined, assignment]
    rest = np.zeros(1, np.bool_), np.random.default_rng(SEED)
    status = loop(ready, risk, not risk.by_moments, laws, most, found, *rest)
    require(status == FINE, name, COMPLAINTS.get(status, ""))
    return found


class Watched:
    """A policy of phases that is caught when it writes where it should only read."""

    def __init__(self, name: str, policy: ReadyPolicy) -> None:
        self.name, self.policy = name, policy

    def __getattr__(self, field: str) -> Any:
        return getattr(self.policy, field)

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Generator) -> int:
        """The policy's phase, watched."""
        before = Arms._make(array.copy() for array in arms)
        repeats = self.policy.phase(arms, t, chosen, rng)
        kept = all(map(partial(np.array_equal, equal_nan=True), before._replace(alive=arms.alive), arms))
        require(kept, self.name, "phase must not change the arms' statistics", "write to `chosen` and `alive` only")
        revived = (arms.alive & ~before.alive).any()
        require(not revived, self.name, "an arm struck out must stay out", "never set `alive` to true")
        whole = isinstance(repeats, (int, np.integer)) and not isinstance(repeats, bool)
        require(whole, self.name, f"phase must return a whole number of repetitions, not {repeats!r}", "return int(…)")
        require(repeats >= 0, self.name, f"phase must return 0 or more repetitions, not {repeats}", "0 means done")
        fix = "mark at least one arm in `chosen`, or return 0"
        require(repeats == 0 or chosen.any(), self.name, f"phase chose no arm at t={t}", fix)
        return int(repeats)
