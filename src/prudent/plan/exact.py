"""What a trial of 0/1 outcomes achieves with each policy: by recursion over counts (docs: exact), without simulation.

The final statement is "these options differ, and the one named is better". It rests on |z|, the difference of two
shares over its pooled standard error, in steps of a thousandth; with three options, on the smallest |z| of the option
named and another one. Policies look at outcomes, so that z is not normal. But where all options are equally good, the
probability of a state given the number of ones in it depends on the policy alone, not on the common probability. So
there is an exact p-value for each policy: the probability, given the ones, of at least that |z|. The statement is made
if it is at most a critical value: the largest one with which the error is at most the error allowed, whatever the
common probability is. For equal allocation this is the test of Boschloo (1970), which is made from that of Fisher in
the same way.

One pass serves all probabilities, and z and the ones are counted together once.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import special, stats

from prudent import Bandit, MeanVariance, PrudentError
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import check_integer, check_number
from prudent.base.text import number
from prudent.compile.types import kernel
from prudent.engine.exact import ExactResults
from prudent.engine.exact.lattice import Allocation
from prudent.engine.exact.simulation import simulate_exactly
from prudent.plan.elicit import Option
from prudent.plan.race import check_policies, suitable
from prudent.plan.trial import Trial
from prudent.policies.contract import Policy, spec
from prudent.policies.round_robin import RoundRobin

STEP = 0.001
"""Between critical values."""

LARGEST = 10.0
"""A |z| beyond it counts as this."""

MOST_OPTIONS = 3
MOST_ROUNDS = 1_000

COMMON = 1_001
"""Common probabilities, from 0 to 1, of which the one with the largest error counts."""

PATIENCE = 120.0
"""Policies that were not named are left out if they take more seconds, about."""

EQUAL = "equal allocation"

BINARY = ((0.0, 1.0), (-1.0, 0.0))
"""Outcomes, as gains: where smaller is better a 1 counts as −1."""

TIED = 1e-12
"""Costs that differ by less are equal."""

EXACT = 1.0 + 1e-9
"""What is this much larger is not larger, but rounded."""

_BINS = round(LARGEST / STEP) + 1


class Characteristics(NamedTuple):
    """What a trial achieves with each policy, and why others are missing.

    `table` has a row for each policy, those with the fewest outcomes from worse options first: the probability that the
    best option is `named` at the end, the expected number of outcomes from `worse` options, the expected number of ones
    (`total`), the `critical` p-value of the final statement, its `error` at the worst common probability, which is
    `at`, and its `power`, the probability that it is made and true.
    """

    table: pl.DataFrame
    left_out: dict[str, str]
    trial: Trial
    horizon: int
    error: float
    best: str


def characteristics(
    options: Sequence[Option],
    risk: MeanVariance | str,
    horizon: int,
    *,
    policies: Sequence[Policy | str] = (),
    error: float = 0.05,
    larger_is_better: bool = True,
    progress: Callable[[int], Any] | None = None,
) -> Characteristics:
    """What a trial of two or three options with 0/1 outcomes achieves with each policy, computed without simulation.

    Parameters
    ----------
    options, risk, horizon
        As for `advise`; the options are guesses of one probability each, such as "bernoulli(0.3)".
    policies
        Only these; all suitable ones by default. Equal allocation is always added.
    error
        The probability of the final statement, at most, if all options are equally good.
    larger_is_better
        False if an outcome of 1 is the bad one.
    progress
        Called with 1 after each policy.

    Examples
    --------
    >>> from prudent import plan
    >>> options = plan.guesses(["old: bernoulli(0.3)", "new: bernoulli(0.6)"])
    >>> found = plan.characteristics(options, "mean", 40, policies=["bernoulli-thompson"])
    >>> found.table["policy"].to_list(), bool(found.table["power"][1] > 0.4)
    (['bernoulli-thompson(low=0.0, high=1.0)', 'equal allocation'], True)
    """
    trial = Trial.checked(options, risk, horizon, larger_is_better=larger_is_better)
    return characteristics_of(trial, policies, error, progress)


def characteristics_of(
    trial: Trial, policies: Sequence[Policy | str], error: float, progress: Callable[[int], Any] | None = None
) -> Characteristics:
    """The same for a trial that was checked."""
    if len(trial.horizons) > 1:
        raise PrudentError(f"plan: --exact needs one horizon, got {len(trial.horizons)}; give e.g. --horizon 100")
    rounds = check_integer("plan", "horizon", trial.horizons[0], low=len(trial.options), high=MOST_ROUNDS)
    error = check_number("plan", "error", error, low=0.0, high=1.0, open_low=True, hint="for 5 % pass 0.05")
    bandit, rows = _bandit(trial), list[dict[str, Any]]()
    given = check_policies(policies, trial)
    chosen, left_out = (given, {}) if given else suitable(trial, rounds)
    asked: dict[str, Any] = {"risk": trial.risk, "horizon": rounds, "scale": trial.units}
    patience = math.inf if given else PATIENCE
    for policy in [*chosen, RoundRobin()]:
        name = EQUAL if isinstance(policy, RoundRobin) else spec(policy)
        try:
            rows.append({"policy": name, **_row(simulate_exactly(bandit, policy, **asked, patience=patience), error)})
        except PrudentError as problem:
            if given:
                raise
            left_out[name] = str(problem)
        if progress is not None:
            progress(1)
    table = pl.DataFrame(rows).sort("worse", maintain_order=True)
    return Characteristics(table, left_out, trial, rounds, error, bandit.names[bandit.best(trial.risk)])


def readable_rows(found: Characteristics) -> list[dict[str, str]]:
    """The table as people read it."""
    return [
        {
            "policy": row["policy"],
            "names the best": _percent(row["named"]),
            "on worse options": number(row["worse"], 4),
            "critical p": _percent(row["critical"]),
            "error": _percent(row["error"]),
            "power": _percent(row["power"]),
        }
        for row in found.table.to_dicts()
    ]


def in_words(found: Characteristics) -> list[str]:
    """What the columns mean, and who is missing."""
    allowed = _percent(found.error)
    words = [
        f"The best option is {found.best}. Named is the option with the best outcomes at the end.",
        "The final statement is that the options differ and the one named is better. It is made if its exact p-value is"
        " at most the critical one.",
        f"Its error, at most {allowed}, is the probability that it is made although all options are equally good, at"
        " the common probability where that is largest. Its power is the probability that it is made and true.",
    ]
    if found.left_out:
        words.append(f"Not in the table, with --json for the reasons: {', '.join(found.left_out)}.")
    return words


def _percent(share: float) -> str:
    return f"{number(100.0 * share, 3)} %"


def _bandit(trial: Trial) -> Bandit:
    """The options as they are planned with: one probability each."""
    bandit, other = trial.example(), trial.example(1)
    fix = "write 'name: bernoulli(0.3)'"
    if not 2 <= len(bandit) <= MOST_OPTIONS:
        raise PrudentError(f"plan: --exact is for two or three options, got {len(bandit)}; leave it out for more")
    for name, arm, again in zip(bandit.names, bandit.arms, other.arms, strict=True):
        atoms = arm.atoms()
        if atoms is None or len(atoms[0]) != 2 or tuple(atoms[0]) not in BINARY:
            raise PrudentError(f"plan: --exact is for outcomes of 0 and 1, got option {name!r}: {arm}; {fix}")
        if str(arm) != str(again):
            raise PrudentError(
                f"plan: --exact needs one probability for each option, got a range or a pilot for {name!r}; {fix}, and"
                " repeat it with others"
            )
    return bandit


def _row(found: ExactResults, error: float) -> dict[str, float]:
    """The characteristics of one policy."""
    best, n = found.bandit.best(found.risk), found.horizon
    equal, planned = np.zeros((n + 1, _BINS)), np.zeros((n + 1, _BINS))
    named = 0.0
    for allocation, weights in found.layer.items():
        likely = found.probabilities[allocation] * (right := _right(found, allocation, best))
        ones, orders = _ones(allocation, n)
        places = np.broadcast_to(ones, right.shape).ravel(), _steps(found, allocation).ravel()
        named += float(likely.sum())
        _add(planned, *places, likely.ravel())
        _add(equal, *places, (weights * orders).ravel())
    critical, size, common, stated = _critical(equal, error)
    return {
        "named": named,
        "worse": n - found.pulls[best].mean(),
        "total": abs(n * found.reward_mean().mean()),
        "critical": critical,
        "error": size,
        "at": common,
        "power": float(planned[stated].sum()),
    }


def _named(found: ExactResults, allocation: Allocation) -> list[Any]:
    """In each state: whether each option has the smallest cost seen, ties included."""
    costs = []
    for arm, pulls in enumerate(allocation):
        kind = found.lattice.arms[arm]
        part = kind.part(pulls)
        cost = found.risk.stats_cost(kind.mean[part], kind.variance[part]) if pulls > 0 else np.full(1, np.inf)
        costs.append(_along(cost, arm, len(allocation)))
    least = costs[0]
    for cost in costs[1:]:
        least = np.minimum(least, cost)
    return [cost <= least + TIED for cost in costs]


def _right(found: ExactResults, allocation: Allocation, best: int) -> Array:
    """The probability that the best option is named in each state, if ties are broken at random."""
    named = _named(found, allocation)
    return np.asarray(named[best] / sum(each.astype(float) for each in named))


def _steps(found: ExactResults, allocation: Allocation) -> Counts:
    """|z| in each state, as a number of steps."""
    named, many = _named(found, allocation), len(allocation)
    ones = [_along(np.arange(pulls + 1.0), arm, many) for arm, pulls in enumerate(allocation)]
    least: Any = np.full(named[0].shape, LARGEST)
    for i in range(many):
        for j in range(many):
            if i != j:
                z = _absolute_z(ones[i], allocation[i], ones[j], allocation[j])
                least = np.where(named[i], np.minimum(least, z), least)
    # What is a whole number of steps but for rounding counts as that number.
    return np.asarray(np.minimum(least / STEP + 1e-9, _BINS - 1.0), np.int64)


def _along(values: Any, arm: int, many: int) -> Any:
    """An array along the axis of an arm."""
    return np.expand_dims(values, tuple(i for i in range(many) if i != arm))


def _absolute_z(x: Array, n: int, y: Array, m: int) -> Array:
    """|x/n − y/m| over its pooled standard error; 0 where there is none."""
    if n == 0 or m == 0:
        return np.zeros(np.broadcast_shapes(x.shape, y.shape))
    pooled = (x + y) / (n + m)
    variance = pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)
    return np.abs(x / n - y / m) / np.sqrt(np.where(variance > 0.0, variance, np.inf))


def _ones(allocation: Allocation, n: int) -> tuple[Counts, Array]:
    """In each state: the ones of all options, and the probability of that state given the ones, but for the policy."""
    ones: Any = 0
    logs: Any = 0.0
    for arm, pulls in enumerate(allocation):
        own = _along(np.arange(pulls + 1), arm, len(allocation))
        ones, logs = ones + own, logs + _log_choose(pulls, own)
    return ones, np.exp(logs - _log_choose(n, ones))


def _log_choose(n: int, k: Any) -> Any:
    return special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)


@kernel
def _add(ends: Array, ones: Counts, bins: Counts, weights: Array) -> None:
    """Add the weights of states to those with as many ones and the same |z|."""
    for i in range(len(weights)):
        ends[ones[i], bins[i]] += weights[i]


def _critical(equal: Array, error: float) -> tuple[float, float, float, Marks]:
    """The critical p-value, its largest error, where that is, and for which ones and steps the statement is made."""
    n = len(equal) - 1
    common = np.linspace(0.0, 1.0, COMMON)
    chances = stats.binom.pmf(np.arange(n + 1), n, common[:, None])
    # Given the ones, the p-value of a step is the probability of it and those beyond it.
    values = np.cumsum(equal[:, ::-1], axis=1)[:, ::-1]
    levels = np.unique(values[equal > 0.0])

    def errors(level: float) -> Array:
        return np.asarray(chances @ np.where(values <= level * EXACT, equal, 0.0).sum(axis=1))

    low, high = 0, len(levels)  # the first of the levels with too large an error
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if errors(levels[middle]).max() > error * EXACT else (middle + 1, high)
    if low == 0:
        return 0.0, 0.0, math.nan, np.zeros(equal.shape, bool)
    level = float(levels[low - 1])
    found = errors(level)
    return level, float(found.max()), float(common[np.argmax(found)]), values <= level * EXACT
