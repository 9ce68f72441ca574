"""Strategies for a fixed confidence: as few pulls as it takes to be wrong with probability δ at most."""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.arrays import Marks
from prudent.bandit import Bandit
from prudent.errors import PrudentError, check_finite, check_number, pretty
from prudent.identification import DELTA
from prudent.policies.base import UNSET, Arms, Setting, strategies
from prudent.policies.helpers import cheapest
from prudent.policies.ties import arm_of, below
from prudent.risk.base import RiskMeasure
from prudent.risk.mean_variance import MeanVariance

PROBE = 100_000
"""An interval still infinite after so many rewards will not decide a search."""


LEAST = 1e-60
"""The smallest failure that lucb can divide over as many rounds as there can be, and square."""


@strategies.add("lucb", needs=DELTA)
class LUCB(NamedTuple):
    """In each round pull the cheapest arm and its strongest rival, the one that could cost least [Kalyanakrishnan12].

    Stops when the most the cheapest arm may cost is below the least any other may. Where the paper has Hoeffding's
    bound for means, here stand the risk measure's own intervals, at round t with failure 4δ/(5 K t⁴) for each of K
    arms: the paper's rate, with the bound two-sided. Added up over rounds, arms and up to t pulls of an arm this is
    0.97 δ. Round 1 pulls every arm once. Assumes rewards in the bandit's support, and what the measure's `bounds`
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
        check_number("lucb", "delta", self.delta, low=LEAST, high=1.0, open_high=True, hint=fix)
        if setting.bandit is not None:
            _check_bounds(setting.risk, setting.bandit, self.delta)
        return _LUCB(self.risk, self.delta, *setting.support)


class _LUCB(NamedTuple):
    risk: Any
    delta: float
    low: float
    high: float

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Any) -> int:
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
        rewards = np.linspace(law.quantile(0.01), law.quantile(0.99), PROBE)
        ends = bounds(PROBE, law.mean, law.variance, rewards, delta, low, high)
        if not all(map(math.isfinite, ends)):
            raise PrudentError(
                f"lucb: the interval of {risk} for {name} is not finite even after {PROBE:,} rewards, with support"
                f" ({pretty(low)}, {pretty(high)}); take arms with bounded rewards, or a strategy with a budget"
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

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Any) -> int:
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
