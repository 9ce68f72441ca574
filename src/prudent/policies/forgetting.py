"""Policies that forget, for arms that drift: any policy of scores, on its last rewards or on discounted ones.

With `ucb1` these are SW-UCB and D-UCB [GarivierMoulines11]; with `mv-lcb` or `mv-imed` their kin for the mean-variance.
What is remembered of an arm has the form of what is known of one: how many rewards count, their mean and variance.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from prudent.base.errors import PrudentError, check_integer, check_number
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import UNSET, Policy, Setting, policies, spec
from prudent.policies.scoring import score_inputs
from prudent.policies.units import fitted

if TYPE_CHECKING:
    Scored = Policy | str
else:

    class Scored:
        """A policy or its spec, as a field of another policy."""

        @staticmethod
        def check_given(owner: str, value: object) -> Any:
            """The policy."""
            return policies.make(owner, value)


class Remembering(NamedTuple):
    """A policy of scores made ready, and how it forgets: by a discount, or after `window` rounds if that is not 0."""

    policy: Any  # a ReadyPolicy with a score
    discount: float
    window: int

    def remembering(self, setting: Setting) -> "Remembering":
        """It is ready."""
        return self


@policies.add("discounted")
class Discounted(NamedTuple):
    """A policy for which a reward counts γ times as much with every round that has passed since [GarivierMoulines11].

    Every round of any arm discounts the rewards of all arms, as in the paper: γ = `discount`, or 2^(−1/`half_life`). An
    arm that is not pulled is forgotten, and tried again in the end. `discounted(ucb1, …)` is D-UCB with ξ = 1/2: the
    discounted mean plus √(2 log n/N), N the discounted number of an arm's pulls and n that of all. The pulls that
    other policies see are these numbers too, and the horizon for which they are tuned is at most 1/(1 − γ). Without
    either parameter γ = 1 − 1/(4√n), which the paper takes for one change in n rounds.

    The policy must score arms by the mean and the variance of their rewards, or by counts. Assumes what that policy
    assumes, but of the latest rewards only.

    Examples
    --------
    >>> from prudent import Bandit, Discounted, simulate
    >>> coins = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
    >>> runs = simulate(coins, Discounted("ucb1", half_life=100), risk="mean", horizon=300, runs=5)
    >>> runs.engine
    'stepping'
    """

    policy: Scored = "ucb1"
    discount: float = UNSET
    half_life: float = UNSET

    def check(self) -> None:
        if self.discount is not UNSET and self.half_life is not UNSET:
            got = f"got {self.discount:g} and {self.half_life:g}; half_life=500 halves in 500 rounds"
            raise PrudentError(f"discounted: pass one of discount and half_life, {got}")
        if self.half_life is not UNSET:
            hint = "the rounds in which a reward comes to count half"
            check_number("discounted", "half_life", self.half_life, low=0.0, open_low=True, open_high=True, hint=hint)
        if self.discount is not UNSET:
            hint = "1 forgets nothing, 0.99 remembers about 100 rounds"
            check_number("discounted", "discount", self.discount, low=0.0, high=1.0, open_low=True, hint=hint)
        _check_scores("discounted", self.policy)

    def fitted(self, units: Any) -> "Discounted":
        return self._replace(policy=fitted(self.policy, units))

    def remembering(self, setting: Setting) -> Remembering:
        """The policy bound to a problem."""
        if self.discount is not UNSET:
            factor = float(self.discount)
        elif self.half_life is not UNSET:
            factor = 2.0 ** (-1.0 / self.half_life)
        else:
            factor = 1.0 - 0.25 / math.sqrt(_rounds("discounted", setting, "half_life"))
        rounds = math.inf if factor == 1.0 else math.ceil(1.0 / (1.0 - factor))
        return Remembering(_bound(self.policy, setting, rounds), factor, 0)


@policies.add("sliding-window")
class SlidingWindow(NamedTuple):
    """A policy that remembers the last `window` rewards, of all arms together [GarivierMoulines11].

    `sliding-window(ucb1, window=τ)` is SW-UCB with ξ = 2: the mean of what an arm paid within the window plus
    √(2 log min(t, τ)/N), N its pulls there. An arm without a pull there is tried again. The horizon for which other
    policies are tuned is at most τ. Left out, τ = 2√(n log n), which the paper takes for one change in n rounds.

    The policy must score arms by the mean and the variance of their rewards, or by counts. Assumes what that policy
    assumes, but of the last rewards only.

    Examples
    --------
    >>> from prudent import Bandit, SlidingWindow, simulate
    >>> coins = Bandit(["bernoulli(0.3)", "bernoulli(0.6)"])
    >>> runs = simulate(coins, SlidingWindow("ucb1", window=100), risk="mean", horizon=300, runs=5)
    >>> runs.engine
    'stepping'
    """

    policy: Scored = "ucb1"
    window: int = UNSET

    def check(self) -> None:
        hint = "rounds that are remembered"
        if self.window is not UNSET:
            check_integer("sliding-window", "window", self.window, low=1, high=10**7, hint=hint)
        _check_scores("sliding-window", self.policy)

    def fitted(self, units: Any) -> "SlidingWindow":
        return self._replace(policy=fitted(self.policy, units))

    def remembering(self, setting: Setting) -> Remembering:
        """The policy bound to a problem."""
        if self.window is UNSET:
            n = _rounds("sliding-window", setting, "window")
            window = math.ceil(2.0 * math.sqrt(n * math.log(n + 1.0)))
        else:
            window = int(self.window)
        return Remembering(_bound(self.policy, setting, window), 1.0, window)


def _rounds(owner: str, setting: Setting, name: str) -> int:
    """The horizon, from which the published memory follows."""
    if setting.horizon is None:
        raise PrudentError(f"{owner}: {name} must be given without a horizon, in rounds; pass {name}=500, say")
    return setting.horizon


def _bound(policy: Any, setting: Setting, rounds: float) -> Any:
    """The wrapped policy for the problem, tuned for the rounds that are remembered, if there are fewer."""
    least = min(math.inf if setting.horizon is None else setting.horizon, max(rounds, setting.n_arms))
    ready = bind(policy, setting._replace(horizon=None if least == math.inf else int(least)))
    if not hasattr(ready, "score") or "rewards" in score_inputs(type(ready)):
        raise _no_score(policy)
    return ready


def _check_scores(owner: str, policy: Any) -> None:
    """Refuse a policy whose past cannot be forgotten, as far as it is known before it meets a problem."""
    policy = policies.make(owner, policy)
    if hasattr(policy, "remembering"):
        raise PrudentError(f"{owner}: policy must not forget by itself, got {spec(policy)}; one of both is enough")
    try:
        ready = bind(policy, Setting(2, served_risk(policy), 100))
    except PrudentError:  # something is not given yet, and is asked for when the policy meets a problem
        return
    if not hasattr(ready, "score") or "rewards" in score_inputs(type(ready)):
        raise _no_score(policy)


def _no_score(policy: Any) -> PrudentError:
    why = "must score arms by the mean and the variance of their rewards, or by counts"
    return PrudentError(f"a policy that forgets {why}, got {spec(policy)}; take ucb1, mv-lcb or mv-imed, say")
