"""Strategies for a fixed confidence: as few pulls as it takes to be wrong with probability δ at most."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError, check_finite, check_number, pretty
from prudent.compile.types import kernel
from prudent.policies.contract import UNSET, Arms, Setting, strategies
from prudent.policies.helpers import cheapest
from prudent.policies.identification import DELTA
from prudent.policies.ties import arm_of, below
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.tails import VaR

_PROBE_PULLS = 100_000
"""An interval still infinite after so many rewards will not decide a search."""


_LEAST_DELTA = 1e-60
"""The smallest failure that lucb can divide over as many rounds as there can be, and square."""


@strategies.add("lucb", needs=DELTA)
class LUCB(NamedTuple):
    """In each round pull the cheapest arm and its strongest rival, the one that could cost least [Kalyanakrishnan12].

    Stops when the most the cheapest arm may cost is below the least any other may. Where the paper has Hoeffding's
    bound for means, here stand the risk measure's own intervals, at round t with failure 4δ/(5 K t⁴) for each of K
    arms: the paper's rate, with the bound two-sided. Added up over rounds, arms and up to t pulls of an arm this is
    0.962 δ. Round 1 pulls every arm once. Assumes rewards in the bandit's support, and what the measure's `bounds`
    assume.

    Examples
    --------
    >>> from prudent import LUCB, Bandit, Uniform, identify
    >>> bandit = Bandit([Uniform(0, 1), Uniform(1, 2)])
    >>> found = identify(bandit, LUCB(), risk="var(alpha=0.5)", delta=0.1, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    delta: float = UNSET
    risk: RiskMeasure = UNSET

    def tuned(self, setting: Setting) -> "_LUCB":
        fix = "what is smaller is lost in rounding when it is divided over the rounds"
        check_number("lucb", "delta", self.delta, low=_LEAST_DELTA, high=1.0, open_high=True, hint=fix)
        if setting.bandit is not None:
            _check_bounds(setting.risk, setting.bandit, self.delta)
        return _LUCB(self.risk, self.delta, *setting.support)


class _LUCB(NamedTuple):
    risk: Any
    delta: float
    low: float
    high: float

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        rounds = t - 1
        chosen[:] = rounds == 0
        if rounds == 0:
            return 1
        n_arms = len(arms.pulls)
        failure = 0.8 * self.delta / (n_arms * float(rounds) ** 4)
        leader, rival = cheapest(arms), -1
        most, least = math.inf, math.inf
        for i in range(n_arms):
            pulls = arms.pulls[i]
            low, high = self.risk.bounds(
                pulls, arms.mean[i], arms.variance[i], arms.rewards[i, :pulls], failure, self.low, self.high
            )
            if i == leader:
                most = high
            elif rival < 0 or below(low, arm_of(arms, i), least, arm_of(arms, rival)):
                rival, least = i, low
        chosen[leader] = True
        chosen[rival] = True
        return int(most >= least)


def _check_bounds(risk: RiskMeasure, bandit: Bandit, delta: float) -> None:
    """Refuse a measure that gives no interval for these arms, or only infinite ones."""
    bounds = getattr(risk, "bounds", None)
    if bounds is None:
        raise PrudentError(f"lucb: {risk.name} has no confidence interval (bounds); take a strategy with a budget")
    low, high = bandit.support
    for law, name in zip(bandit.arms, bandit.names, strict=True):
        rewards = np.linspace(law.quantile(0.01), law.quantile(0.99), _PROBE_PULLS)
        ends = bounds(_PROBE_PULLS, law.mean, law.variance, rewards, delta, low, high)
        if not all(map(math.isfinite, ends)):
            raise PrudentError(
                f"lucb: the interval of {risk} for {name} is not finite even after {_PROBE_PULLS:,} rewards, with"
                f" support ({pretty(low)}, {pretty(high)}); take arms with bounded rewards, or a strategy with a budget"
            )


@strategies.add("va-lucb", needs=DELTA)
class VALUCB(NamedTuple):
    """The largest mean among arms of variance ≤ limit, or the news that there is none (Algorithm 1 of [Hou22]).

    Means lie within b√(log(2Kt⁴/δ)/2s) of the truth after s pulls, unbiased variances within b times that, at round t,
    which starts at K when every arm has 2 pulls. An arm whose variance is surely above the limit is dropped. Each
    round pulls the best mean among the others, and their largest upper bound besides if it reaches the best mean's
    lower bound. Stops when nothing reaches the lower bound of the best arm that is surely below the limit. The paper's
    stopping times count pulls. Assumes rewards in an interval of length b = `range`, which the paper has as 1.

    Examples
    --------
    >>> from prudent import VALUCB, Bandit, Bernoulli, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, VALUCB(limit=0.2), risk="mean", delta=0.1, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    limit: float = 0.2
    range: float = UNSET
    delta: float = UNSET
    risk: RiskMeasure = UNSET

    def check(self) -> None:
        check_finite("va-lucb", "limit", self.limit, low=0.0, hint="the largest variance allowed; on [0, 1] up to 0.25")

    def tuned(self, setting: Setting) -> "VALUCB":
        low, high = setting.support
        if high - low > self.range * (1.0 + 1e-9):
            got = f"({pretty(low)}, {pretty(high)})"
            fix = f"pass range={high - low:g}" if math.isfinite(high - low) else "take arms with bounded rewards"
            raise PrudentError(f"va-lucb: the support must be at most range = {self.range:g} long, got {got}; {fix}")
        if not _mean_only(setting.risk):
            raise PrudentError(
                f"va-lucb: seeks the largest mean within its limit, got the risk {setting.risk}; pass"
                " mean-variance(rho=inf), which is the mean"
            )
        return self

    def feasible(self, bandit: Bandit) -> Marks:
        return bandit.variances <= self.limit

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        rounds = t - 1
        chosen[:] = rounds == 0
        if rounds == 0:
            return 2
        # By name, since reading them from the tuple in the loop would count references every time.
        pulls, mean, variances, alive = arms.pulls, arms.mean, arms.variance, arms.alive
        n_arms = len(pulls)
        log_term = math.log(2.0 * n_arms * float(n_arms + rounds - 2) ** 4 / self.delta)
        leader, safe, rival = -1, -1, -1
        safe_low, rival_high, other_high = -math.inf, -math.inf, -math.inf
        for i in range(n_arms):
            if not alive[i]:
                continue
            radius = self.range * math.sqrt(log_term / (2.0 * pulls[i]))
            variance = variances[i] * pulls[i] / (pulls[i] - 1)
            if variance - self.range * radius > self.limit:
                alive[i] = False
                continue
            arm = arm_of(arms, i)
            if leader < 0 or below(-mean[i], arm, -mean[leader], arm_of(arms, leader)):
                leader = i
            better = safe < 0 or below(-mean[i], arm, -mean[safe], arm_of(arms, safe))
            if variance + self.range * radius <= self.limit and better:
                safe, safe_low = i, mean[i] - radius
        for i in range(n_arms):
            if alive[i]:
                high = mean[i] + self.range * math.sqrt(log_term / (2.0 * pulls[i]))
                if i != safe:
                    other_high = max(other_high, high)
                if i != leader and below(-high, arm_of(arms, i), -rival_high, arm_of(arms, max(rival, 0))):
                    rival, rival_high = i, high
        if leader < 0 or (safe >= 0 and other_high < safe_low):
            return 0
        chosen[leader] = True
        if rival_high >= mean[leader] - self.range * math.sqrt(log_term / (2.0 * pulls[leader])):
            chosen[rival] = True
        return 1


def _mean_only(risk: RiskMeasure) -> bool:
    return isinstance(risk, MeanVariance) and math.isinf(risk.rho)


PRIOR_WEIGHT = 50.0
"""How many rewards the prior of the bounds is worth; every number is valid, and this one is good for some hundreds."""


@strategies.add("qlucb", needs=DELTA)
class QLUCB(NamedTuple):
    """In each round pull the arm of largest lower bound on the α-quantile, and the largest upper bound of the others.

    This is QLUCB of [Howard22], with ε = 0. Stops when that lower bound reaches that upper bound. The bounds hold for
    all times at once with probability 1 − δ/K: of s rewards S lie at or below the quantile, ties decided by coins so
    that each does with probability α. Then B(a + S, b + s − S)/B(a, b)/(α^S (1 − α)^(s−S)) is a martingale of mean 1,
    and by Ville's inequality stays below K/δ. With a = 50α and b = 50(1 − α) this leaves S between two ranks, and the
    quantile between the rewards there. Of equal bounds that of the arm with fewer pulls counts. Assumes nothing about
    the rewards; the risk must be `var`.

    Examples
    --------
    >>> from prudent import QLUCB, Bandit, Uniform, identify
    >>> bandit = Bandit([Uniform(0, 1), Uniform(1, 2)])
    >>> found = identify(bandit, QLUCB(), risk="var(alpha=0.5)", delta=0.1, runs=3)
    >>> found.recommended.tolist()
    [1, 1, 1]
    """

    delta: float = UNSET
    alpha: float = UNSET

    def tuned(self, setting: Setting) -> "QLUCB":
        if not isinstance(setting.risk, VaR) or setting.risk.alpha != self.alpha or self.alpha == 1.0:
            fix = "pass var(alpha=…) with alpha below 1, or take lucb"
            raise PrudentError(f"qlucb: seeks the largest quantile, got the risk {setting.risk}; {fix}")
        return self

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        n_arms = len(arms.pulls)
        chosen[:] = arms.pulls == 0
        if chosen.any():
            return 1
        low, high = np.empty(n_arms), np.empty(n_arms)
        for i in range(n_arms):
            least, most = quantile_ranks(self.alpha, arms.pulls[i], math.log(n_arms / self.delta))
            low[i] = arms.rewards[i, least - 1] if least > 0 else -math.inf
            high[i] = arms.rewards[i, most] if most < arms.pulls[i] else math.inf
        leader = _first_of_largest(low, arms.pulls, -1)
        rival = _first_of_largest(high, arms.pulls, leader)
        if low[leader] >= high[rival]:
            arms.alive[:] = False
            arms.alive[leader] = True
            return 0
        chosen[leader] = True
        chosen[rival] = True
        return 1


@kernel
def _first_of_largest(bounds: Array, pulls: Counts, other: int) -> int:
    """The arm of largest bound but for one; of equal ones that with fewer pulls."""
    best = -1
    for i in range(len(bounds)):
        if i == other:
            continue
        if best < 0 or bounds[i] > bounds[best] or (bounds[i] == bounds[best] and pulls[i] < pulls[best]):
            best = i
    return best


@kernel
def quantile_ranks(alpha: float, pulls: int, limit: float) -> tuple[int, int]:
    """The smallest and the largest S for which the log of the martingale, convex in S, is below the limit."""
    return furthest(alpha, pulls, limit, -1), furthest(alpha, pulls, limit, pulls + 1)


@kernel
def furthest(alpha: float, pulls: int, limit: float, bad: int) -> int:
    """Of the S between αs and one that is not below the limit, the last that is."""
    good = int(alpha * pulls)
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if log_martingale(alpha, pulls, middle) < limit:
            good = middle
        else:
            bad = middle
    return good


@kernel
def log_martingale(alpha: float, pulls: int, below: int) -> float:
    """log of B(a + S, b + s − S)/B(a, b)/(α^S (1 − α)^(s−S)), a = 50α, b = 50(1 − α)."""
    a, b = PRIOR_WEIGHT * alpha, PRIOR_WEIGHT * (1.0 - alpha)
    mixed = math.lgamma(a + below) + math.lgamma(b + pulls - below) - math.lgamma(PRIOR_WEIGHT + pulls)
    prior = math.lgamma(a) + math.lgamma(b) - math.lgamma(PRIOR_WEIGHT)
    return mixed - prior - below * math.log(alpha) - (pulls - below) * math.log1p(-alpha)
