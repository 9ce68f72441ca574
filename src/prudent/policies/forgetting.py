"""Learners that forget, for arms that drift: any policy of scores, on its last rewards or on discounted ones.

With `ucb1` these are SW-UCB and D-UCB [GarivierMoulines11]; with `mv-lcb` or `mv-imed` their kin for the mean-variance.
"""

import math
from collections import deque
from typing import Any

import numpy as np

from prudent.base.errors import PrudentError, check_integer, check_number
from prudent.policies.binding import attitudes, bind, served_risk
from prudent.policies.contract import UNSET, Arm, Policy, Setting, policies, spec
from prudent.policies.scoring import compares, own_cost, reads_rewards, score_of
from prudent.policies.ties import below


class Forgetting:
    """A policy of scores as a learner that takes what it knows of the arms from `known`.

    A policy that is tuned for a horizon is tuned for the `memory`, the rounds that count, if there are fewer. A learner
    is not told the risk by which it is judged, so its policy must say what it cares for, as `mv-lcb(rho=1)`.
    """

    def __init__(self, policy: Policy | str, memory: float) -> None:
        self.memory = memory
        owner = type(self).__name__
        self.policy = policies.make(owner, policy)
        for name in (attitudes() | {"risk"}) & set(getattr(self.policy, "_fields", ())):
            if getattr(self.policy, name) is UNSET:
                fix = f"write {spec(self.policy)}({name}=…)"
                raise PrudentError(f"{owner}: {name} of the policy must be given, as a learner is told no risk; {fix}")
        ready = bind(self.policy, Setting(2, served_risk(self.policy), 100))
        if not hasattr(ready, "score") or reads_rewards(type(ready)):
            why = "must score arms by the mean and the variance of their rewards"
            raise PrudentError(f"{owner}: policy {why}, got {spec(self.policy)}; take ucb1, mv-lcb or mv-imed, say")

    def start(self, n_arms: int, horizon: int) -> None:
        """Before the first round."""
        rounds = int(min(horizon, self.memory))
        self.ready: Any = bind(self.policy, Setting(n_arms, served_risk(self.policy), rounds))

    def known(self) -> tuple[list[Arm], float]:
        """What is remembered of each arm, and the number of the coming round as far as rounds are remembered."""
        raise NotImplementedError

    def ask(self, rng: np.random.Generator) -> int:
        """The arm with the smallest score, −∞ if nothing is remembered of it; ties to the lowest number."""
        arms, t = self.known()
        best_cost, best, least = math.inf, 0, math.inf
        if compares(type(self.ready)):
            best_cost = min((own_cost(self.ready, arm, None) for arm in arms if arm.pulls > 0), default=math.inf)
        for i, arm in enumerate(arms):
            known: Any = (self.ready, arm, best_cost, t, rng, None)
            score = score_of(*known) if arm.pulls > 0 else -math.inf
            if i == 0 or below(score, arm, least, arms[best]):
                best, least = i, score
        return best


class SlidingWindow(Forgetting):
    """A policy that remembers the last `window` rewards of all arms together.

    `SlidingWindow("ucb1", window=τ)` is SW-UCB with ξ = 2 [GarivierMoulines11]: the mean of what an arm paid within the
    window plus √(2 log min(t, τ)/N), N its pulls there.

    Examples
    --------
    >>> from prudent import Bandit, SlidingWindow, simulate
    >>> coins = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
    >>> runs = simulate(coins, SlidingWindow("ucb1", window=100), risk="mean", horizon=300, runs=5)
    >>> runs.engine
    'interpreted'
    """

    def __init__(self, policy: Policy | str, window: int) -> None:
        self.window = check_integer("SlidingWindow", "window", window, low=1, hint="rounds that are remembered")
        super().__init__(policy, self.window)

    def start(self, n_arms: int, horizon: int) -> None:
        super().start(n_arms, horizon)
        self.recent: deque[tuple[int, float]] = deque()
        self.rewards: list[deque[float]] = [deque() for _ in range(n_arms)]
        self.told = 0

    def known(self) -> tuple[list[Arm], float]:
        arms = [Arm(len(some), float(np.mean(some)), float(np.var(some))) if some else NOTHING for some in self.rewards]
        return arms, min(self.told + 1, self.window)

    def tell(self, arm: int, reward: float) -> None:
        """A reward; the oldest one is forgotten."""
        self.told += 1
        self.recent.append((arm, reward))
        self.rewards[arm].append(reward)
        if len(self.recent) > self.window:
            self.rewards[self.recent.popleft()[0]].popleft()


class Discounted(Forgetting):
    """A policy for which a reward counts `discount` times as much with every round that has passed since.

    `Discounted("ucb1", discount=γ)` is D-UCB with ξ = 1/2 [GarivierMoulines11]: the discounted mean plus
    √(2 log n/N), N the discounted number of an arm's pulls and n that of all.

    Examples
    --------
    >>> from prudent import Bandit, Discounted, simulate
    >>> coins = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
    >>> runs = simulate(coins, Discounted("mv-imed(rho=1)", 0.99), risk="mean-variance(rho=1)", horizon=300, runs=5)
    >>> int(runs.pulls.sum())
    1500
    """

    def __init__(self, policy: Policy | str, discount: float) -> None:
        hint = "1 forgets nothing, 0.99 remembers about 100 rounds"
        self.discount = check_number("Discounted", "discount", discount, low=0.0, high=1.0, open_low=True, hint=hint)
        super().__init__(policy, math.inf if self.discount == 1.0 else math.ceil(1.0 / (1.0 - self.discount)))

    def start(self, n_arms: int, horizon: int) -> None:
        super().start(n_arms, horizon)
        self.weight, self.mean, self.spread = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)

    def known(self) -> tuple[list[Arm], float]:
        rows: Any = zip(self.weight.tolist(), self.mean.tolist(), self.spread.tolist(), strict=True)
        arms: list[Any] = [Arm(weight, mean, spread / weight) if weight else NOTHING for weight, mean, spread in rows]
        return arms, float(self.weight.sum())

    def tell(self, arm: int, reward: float) -> None:
        """A reward, which counts in full; all others count a little less."""
        self.weight *= self.discount
        self.spread *= self.discount
        self.weight[arm] += 1.0
        gap = reward - self.mean[arm]
        self.mean[arm] += gap / self.weight[arm]
        self.spread[arm] += gap * (reward - self.mean[arm])


NOTHING = Arm(0, 0.0, 0.0)
