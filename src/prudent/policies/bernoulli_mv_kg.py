"""MV-KG: explore as long as it pays, for rewards that are 0 or 1."""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Array, Marks
from prudent.compile.types import helper
from prudent.policies.contract import UNSET, Arms, Setting, policies
from prudent.policies.helpers import choose_only, choose_pulled, need_horizon

_SHRINKAGE, _OPTIMISM, _FLOOR, _BALANCE = 1.75, 1.55, 0.057, 0.665
"""Chosen by random search for the smallest worst case at n = 64 and 256, ρ = 0 (docs: minimax)."""

_NEAR = 1e-9
"""Costs and shares that differ by less are tied, which rounding alone must not decide."""

_LOOKAHEADS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""How many more pulls are considered, in multiples of those that there were."""


class Belief(NamedTuple):
    """What is believed of an arm: its mean, its cost, and the square of the standard error of the cost."""

    mean: float
    cost: float
    error: float


@policies.add("bernoulli-mv-kg", serves="mean-variance", binary=True)
class BernoulliMVKG(NamedTuple):
    """Explore as long as it pays: the knowledge gradient of [Frazier10] for the mean-variance (docs: minimax).

    Another arm w than the one l of least estimated cost is pulled if for some h more pulls of it what they may gain
    exceeds the exploration risk that they add,

        κ (r − h/n) s ψ(D/s) > Γ̂² (h/n) (1 − 2T_w/n − h/n),   ψ(x) = φ(x) − x Φ(−x),

    D the difference of both costs, s² what h pulls take from the squared error of w, r the share of rounds left. And
    even then l is pulled as long as a pull of it tells more, by the risk that it adds if l turns out worse:

        (ε_l T_w / ε_w T_l)^β P(l is better) > P(w is better),   ε² the squared errors,   T_l < n/2.

    Estimates are those after 1.75 more ones and zeros, and ties are broken at random. For ρ = 0 and n = 64, 128 and 256
    the regret on the worst pair of coins is 1.22, 1.12 and 1.08 times the least possible one, that of ExpExp 2.16, 2.13
    and 1.98 times (`benchmarks/minimax_policies.py`); for more rounds the least possible one is not known.
    Assumes rewards that are `high`, a success, or `low`, a failure: 1 or 0; and a known horizon.

    Examples
    --------
    >>> from prudent import Agent, BernoulliMVKG
    >>> agent = Agent(BernoulliMVKG(rho=0), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    low: float = UNSET
    high: float = UNSET

    def tuned(self, setting: Setting) -> "_WhileItPays":
        n = need_horizon("bernoulli-mv-kg", setting)
        return _WhileItPays(self.rho / (self.high - self.low), self.low, self.high, n)


class _WhileItPays(NamedTuple):
    """The same for rewards of 0 and 1 and n rounds; ρ = ∞ counts the mean alone."""

    rho: float
    low: float
    high: float
    horizon: int

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        if arms.pulls.min() == 0:
            choose_pulled(chosen, arms, 0)
        else:
            choose_only(chosen, self.pulled(arms, rng.random() < 0.5))
        return 1

    def chances(self, arms: Arms, t: int, chances: Array) -> None:
        """Ties are broken by a fair coin."""
        chances[:] = 0.0
        for forwards in (True, False):
            first = arms.pulls.min() == 0
            chances[arms.pulls.argmin() if first else self.pulled(arms, forwards)] += 0.5

    def pulled(self, arms: Arms, forwards: bool) -> int:
        """The arm to pull; the first of tied arms, or the last if not `forwards`. Nature must not know which."""
        n_arms = len(arms.pulls)
        leader, best = -1, Belief(0.0, 0.0, 0.0)
        for place in range(n_arms):
            i = place if forwards else n_arms - 1 - place
            if arms.pulls[i] == 0:
                return i
            other = self.believed(arms, i)
            tied = abs(other.cost - best.cost) < _NEAR and arms.pulls[i] > arms.pulls[leader]
            if leader < 0 or other.cost < best.cost - _NEAR or tied:
                leader, best = i, other
        pulled, most = leader, 0.0
        for place in range(n_arms):
            i = place if forwards else n_arms - 1 - place
            if i != leader:
                other = self.believed(arms, i)
                gain = self.gain(other, best, arms.pulls[i], self.horizon - arms.pulls.sum())
                if gain > most and not self.leader_tells_more(other, best, arms.pulls[i], arms.pulls[leader]):
                    pulled, most = i, gain
        return pulled

    def believed(self, arms: Arms, arm: int) -> Belief:
        # Other rewards break the model, and must not break the estimates.
        share = min(1.0, max(0.0, (arms.mean[arm] - self.low) / (self.high - self.low)))
        size = arms.pulls[arm] + 2.0 * _SHRINKAGE
        p = (arms.pulls[arm] * share + _SHRINKAGE) / size
        if math.isinf(self.rho):
            return Belief(p, -p, (p * (1.0 - p) + _FLOOR / size) / size)
        slope = 1.0 - 2.0 * p - self.rho
        return Belief(p, p * (1.0 - p) - self.rho * p, (p * (1.0 - p) * slope * slope + _FLOOR / size) / size)

    def gain(self, other: Belief, best: Belief, pulls: int, left: int) -> float:
        """What the best number of more pulls gains, over the risk that it adds; per pull, which ranks several arms."""
        n, behind, most = float(self.horizon), max(0.0, other.cost - best.cost), 0.0
        squared = 0.0 if math.isinf(self.rho) else (other.mean - best.mean) ** 2
        size = pulls + 2.0 * _SHRINKAGE
        for factor in _LOOKAHEADS:
            more = max(1.0, min(factor * (pulls + 1.0), float(left)))
            moved = math.sqrt(other.error * more / (size + more))
            risk = squared * more / n * max(0.0, 1.0 - (2.0 * pulls + more) / n)
            gain = _OPTIMISM * max(0.0, left - more) / n * moved * _expected_excess(behind / moved) - risk
            most = max(most, gain / more)
        return most

    def leader_tells_more(self, other: Belief, best: Belief, pulls: int, leader_pulls: int) -> bool:
        """Whether a pull of the leader is worth more than one of the other arm, by what each may cost."""
        if leader_pulls >= self.horizon / 2.0:
            return False
        behind = max(0.0, other.cost - best.cost)
        wrong = 0.5 * math.erfc(behind / math.sqrt(2.0 * (other.error + best.error)))
        ratio = best.error / leader_pulls / (other.error / pulls)
        return bool(ratio**_BALANCE * (1.0 - wrong) >= wrong * (1.0 - _NEAR))


@helper
def _expected_excess(x: float) -> float:
    """E max(Z − x, 0) for a standard normal Z."""
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) - 0.5 * x * math.erfc(x / math.sqrt(2.0))
