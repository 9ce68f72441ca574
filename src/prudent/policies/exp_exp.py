"""ExpExp, the paper's second algorithm: explore, then exploit."""

from typing import NamedTuple

from prudent.base.errors import PrudentError, check_choice, check_integer, shown
from prudent.policies.binding import bind
from prudent.policies.contract import UNSET, Policy, Setting, policies, strategies
from prudent.policies.helpers import exploring_pulls, need_horizon
from prudent.policies.units import Units, fitted
from prudent.risk.mean_variance import MeanVariance

RULES = {"theorem": 14.0, "appendix": 4.0}


@policies.add("exp-exp", serves="mean-variance")
class ExpExp(NamedTuple):
    """Explore for τ rounds, then pull the arm with the smallest empirical mean-variance to the end ([Sani12], sec. 4).

    The rule gives m = ⌈(n/14)^{2/3}⌉ pulls an arm (`rule="theorem"`, Theorem 2) or ⌈(n/4)^{2/3}⌉ (`"appendix"`), at
    most ⌊n/K⌋; τ = K m. An explicit `tau` gives ⌊τ/K⌋ pulls an arm. `explore` is how the τ rounds are spent, by any
    strategy with a budget: "uniform", or as Remark 2 suggests "successive-rejects" or "ucb-e" [Audibert10], there with
    the smallest empirical mean-variance as the best; its parameters go with it, as in "ucb-e(hardness=50)". Assumes
    rewards in [0, 1], as Theorem 2 does, and a known horizon.

    Examples
    --------
    >>> from prudent import Agent, ExpExp
    >>> agent = Agent(ExpExp(rho=1), arms=["a", "b"], horizon=100, support=(0, 1))
    >>> agent.ask()
    'a'
    """

    rho: float = UNSET
    tau: int = UNSET
    rule: str = "theorem"
    explore: str = "uniform"

    def tuned(self, setting: Setting) -> Policy:
        n_arms = setting.n_arms
        n = need_horizon("exp-exp", setting)
        if self.tau is UNSET:
            each = exploring_pulls(n, n_arms, RULES[self.rule])
        else:
            each = check_integer("exp-exp", "tau", self.tau, low=n_arms, high=n, hint="pull every arm once") // n_arms
        strategy = strategies.parse(self.explore)
        ready: Policy = bind(strategy, setting._replace(budget=each * n_arms, risk=MeanVariance(self.rho)))
        return ready

    def fitted(self, units: Units) -> "ExpExp":
        """With what its strategy assumes of rewards."""
        strategy = strategies.parse(self.explore)
        known = fitted(strategy, units)
        return self if known == strategy else self._replace(explore=strategies.spec(known))

    def check(self) -> None:
        if self.tau is not UNSET:
            check_integer("exp-exp", "tau", self.tau, low=1)
        check_choice("exp-exp", "rule", self.rule, RULES)
        if not isinstance(self.explore, str):
            raise PrudentError(f"exp-exp: explore must be a strategy such as 'uniform', got {shown(self.explore)}")
        if strategies.facts_of(strategies.parse(self.explore)).get("needs") == "delta":
            raise PrudentError(f"exp-exp: explore must be a strategy with a budget, got {shown(self.explore)}")
