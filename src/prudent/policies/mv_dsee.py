"""MV-DSEE: exploration and exploitation in a sequence fixed in advance."""

import math
from typing import NamedTuple

from numpy.random import Generator

from prudent.base.arrays import Marks
from prudent.base.errors import check_choice, check_positive
from prudent.policies.contract import FOREVER, UNSET, Arms, Setting, policies
from prudent.policies.helpers import cheapest, choose_only, choose_pulled

RULES = ("two-thirds", "log")


@policies.add("mv-dsee", serves="mean-variance")
class MVDSEE(NamedTuple):
    """Deterministic sequencing of exploration and exploitation [Vakili16].

    Round t explores, with the arms in turn, if fewer than f(t) rounds have explored so far; otherwise it pulls the arm
    with the smallest V̂ − ρ μ̂. Each arm is pulled once first. f(t) = a t^{2/3} (`rule="two-thirds"`) has regret
    O(n^{2/3}) on every problem; f(t) = a log t (`rule="log"`) has O(log n) if `a` is large enough for the gaps of the
    problem, which are usually unknown.

    When to explore depends only on t, so exploitation is one phase as long as f allows, with the arm that was best when
    it began, and a run leaps in O(K f(n)). The paper estimates from the rounds of exploration only; here all rewards
    count. Assumes rewards with light tails (sub-Gaussian, as their squares less their mean must be sub-exponential).

    Examples
    --------
    >>> from prudent import MVDSEE, Agent
    >>> agent = Agent(MVDSEE(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    a: float = 1.0
    rule: str = "two-thirds"

    def tuned(self, setting: Setting) -> "_Sequence":
        return _Sequence(self.rho, self.a, self.rule == "log")

    def check(self) -> None:
        check_positive("mv-dsee", "a", self.a)
        check_choice("mv-dsee", "rule", self.rule, RULES)


class _Sequence(NamedTuple):
    """MV-DSEE with its f. Since f is concave, ⌈f(t)⌉ of the first t rounds explore, or all of them."""

    rho: float
    a: float
    logarithmic: bool

    def wanted(self, t: float, n_arms: int) -> float:
        """f(t), and at least one exploration of each arm."""
        return max(float(n_arms), self.a * (math.log(t) if self.logarithmic else t ** (2.0 / 3.0)))

    def phase(self, arms: Arms, t: int, chosen: Marks, rng: Generator) -> int:
        if arms.pulls.min() == 0:
            choose_pulled(chosen, arms, 0)
            return 1
        n_arms = len(arms.pulls)
        explored = min(t - 1, math.ceil(self.wanted(t - 1.0, n_arms)))
        if explored < self.wanted(float(t), n_arms):
            choose_only(chosen, explored % n_arms)
            return 1
        choose_only(chosen, cheapest(arms))
        # The next exploration is in the first round s with f(s) > explored; the inverse of f finds it up to rounding.
        ratio = explored / self.a
        inverse = math.exp(min(ratio, 40.0)) if self.logarithmic else ratio * math.sqrt(ratio)
        if inverse > 2.0**53:  # no horizon is longer
            return FOREVER
        s = math.floor(inverse)
        while s > t and self.wanted(float(s), n_arms) > explored:
            s -= 1
        while self.wanted(float(s), n_arms) <= explored:
            s += 1
        return max(1, int(s) - t)
