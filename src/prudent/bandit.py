"""A bandit: named arms, and what a risk measure says about them."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.arms.base import Law
from prudent.arms.base import arms as registered
from prudent.base.arrays import Array, is_listing
from prudent.base.errors import PrudentError, shown
from prudent.compile.cache import foreign_code
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mixtures import BestMixture, best_mixture

MOST_ARMS = 10**6
"""More arms than this are a mistake: one look at all of them would take seconds."""

ROUNDING = 1e-12
"""The share of it by which a number may be off that was integrated, or that comes from decimals."""

_ULPS = 4.0 * 2.0**-52
"""The share of it by which a number may be off that was computed in a few steps."""

_MAX_COST = 1e150
"""Costs beyond this have no square."""

NO_LAWS = (
    "the laws of these arms are not known, so they have no gaps and no best arm; pass simulate(…, laws=Bandit([…]))"
)


class Bandit:
    """K independent arms.

    Parameters
    ----------
    arms
        Laws, or specs such as `"gaussian(1.0, 0.05)"`.
    names
        What the arms are called; "arm 1", "arm 2", … by default.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, MeanVariance
    >>> bandit = Bandit([Gaussian(1.0, 0.05), "gaussian(0.5, 0.25)"], names=["steady", "wild"])
    >>> bandit.names[bandit.best(MeanVariance(rho=0.0))]
    'steady'
    """

    def __init__(self, arms: Iterable[Law | str], names: Iterable[str] | None = None) -> None:
        if isinstance(arms, (str, Law)):
            raise PrudentError(f"Bandit: arms must be a list of arms, got {shown(arms, str)}; put it in brackets")
        listed = _listed("arms", arms)
        # Each spec is read once, however many arms have it.
        made = {arm: registered.make("Bandit", arm) for arm in dict.fromkeys(a for a in listed if isinstance(a, str))}
        self.arms: tuple[Law, ...] = tuple(
            made[arm] if isinstance(arm, str) else registered.make("Bandit", arm) for arm in listed
        )
        if not self.arms:
            raise PrudentError("Bandit: arms must hold at least one arm, got none; pass e.g. [Gaussian(1.0, 0.05)]")
        self.names = _numbered(len(self)) if names is None else _listed("names", names)
        words = {name for name in self.names if isinstance(name, str)}
        if not len(self.names) == len(words) == len(self):
            raise PrudentError(f"Bandit: names must be {len(self)} different names, got {shown(list(self.names))}")
        # A simulation asks for the same gaps many times.
        self._known_gaps: tuple[RiskMeasure, Array] | None = None

    def __len__(self) -> int:
        return len(self.arms)

    def __repr__(self) -> str:
        named = "" if self.names == _numbered(len(self)) else f", names={list(self.names)}"
        return f"{self.unnamed[:-1]}{named})"

    @property
    def unnamed(self) -> str:
        """The arms as text, from which streams of random numbers are made: results do not depend on names."""
        return f"Bandit([{', '.join(map(str, self.arms))}])"

    @property
    def means(self) -> NDArray[np.float64]:
        """μ_i."""
        return np.array([law.mean for law in self.arms])

    @property
    def variances(self) -> NDArray[np.float64]:
        """σ_i²."""
        return np.array([law.variance for law in self.arms])

    @property
    def mean_differences(self) -> NDArray[np.float64]:
        """Γ_ij = μ_i − μ_j."""
        return self.means[:, None] - self.means

    @property
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds every reward of every arm."""
        return min(law.support[0] for law in self.arms), max(law.support[1] for law in self.arms)

    def costs(self, risk: RiskMeasure | str) -> NDArray[np.float64]:
        """The cost of each arm, smaller is better (MV_i for mean-variance)."""
        risk = risks.make("Bandit", risk)
        costs = np.array([risk.cost(law) for law in self.arms])
        if not (np.abs(costs) <= _MAX_COST).all():
            bad = int(np.argmin(np.abs(costs) <= _MAX_COST))
            why = f"the cost of {self.arms[bad]} under {risk} is {costs[bad]:g}"
            raise PrudentError(f"Bandit: {why}, which cannot be squared; measure rewards in larger units")
        return costs

    def best(self, risk: RiskMeasure | str) -> int:
        """i*, the arm of smallest cost; a tie goes to the lowest number."""
        return int(np.argmin(self.gaps(risk)))

    def gaps(self, risk: RiskMeasure | str) -> NDArray[np.float64]:
        """Δ_i = cost of arm i minus cost of the best; a difference that rounding explains is a tie (`slack_of`)."""
        risk = risks.make("Bandit", risk)
        known = self._known_gaps
        if known is None or known[0] != risk or foreign_code(risk, self.arms):  # others' code may have changed since
            self._known_gaps = known = risk, self._find_gaps(risk)
        return known[1].copy()

    def _find_gaps(self, risk: RiskMeasure) -> Array:
        costs = self.costs(risk)
        slack = slack_of(risk, costs, self.means if risk.by_moments else medians(self))
        gaps: NDArray[np.float64] = costs - costs.min()
        gaps[gaps <= slack + slack[np.argmin(costs)]] = 0.0
        return gaps

    def best_mixture(self, risk: RiskMeasure | str) -> BestMixture:
        """The weights with which arms are drawn at random so that the law of a reward costs least, and that cost.

        If the risk is that of all rewards of a run together, this is what a policy can reach in the long run [Tatli25].
        For a measure that is `quasiconcave`, such as mean-variance and CVaR, it is always the best arm. For others it
        is the best point of a grid, improved until moving a millionth of the weight helps no more.
        """
        risk = risks.make("Bandit", risk)
        return best_mixture(self.arms, risk, self.best(risk))

    def complexity(self, risk: RiskMeasure | str) -> float:
        """Σ_{i≠i*} 1/Δ_i², the paper's proxy for how hard learning is; infinite when the best arm is not unique."""
        gaps = np.delete(self.gaps(risk), self.best(risk))
        with np.errstate(divide="ignore", over="ignore"):
            return float(np.sum(1.0 / gaps**2))


class Unknown:
    """Arms of which only the names are known, such as those of an environment (docs: worlds)."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Unknown({list(self.names)})"

    @property
    def means(self) -> Array:
        raise PrudentError(NO_LAWS)

    def gaps(self, risk: RiskMeasure | str) -> Array:
        """Of laws, which are not known."""
        raise PrudentError(NO_LAWS)

    def best(self, risk: RiskMeasure | str) -> int:
        """Of laws, which are not known."""
        raise PrudentError(NO_LAWS)


def slack_of(risk: RiskMeasure, costs: Array, centres: Array) -> Array:
    """How much of the costs of laws around the `centres` may be rounding: 0.28 − 0.59 and 0.24 − 0.55 differ as floats
    only.

    A cost has two parts. What a constant reward at the centre would cost is known to a few units in the last place of
    that cost and of the centre: rewards near 10⁹ have no digits below 10⁻⁷. The rest is what the spread of rewards
    adds, often by an integral; it does not grow if all rewards are shifted, and neither does its error. So a share of
    the whole cost would not do: it would call differences of 0.001 a tie near 10⁹.
    """
    with np.errstate(all="ignore"):
        flat, beside = (_constant_costs(risk, at) for at in (centres, centres * (1.0 + _ULPS)))
        # Moments have closed forms, or are integrated to nearly all digits.
        integrated = (1e-2 * ROUNDING if risk.by_moments else ROUNDING) * np.abs(costs - flat)
        slack = _ULPS * (np.abs(costs) + np.abs(flat)) + np.abs(beside - flat) + integrated
    return np.where(np.isfinite(slack), slack, ROUNDING * np.abs(costs))


def _constant_costs(risk: RiskMeasure, rewards: Array) -> Array:
    if risk.by_moments:
        return risk.stats_cost(rewards, np.zeros(len(rewards)))
    return np.array([risk.weigh(rewards[i : i + 1], np.ones(1)) for i in range(len(rewards))])


def check_bandit(owner: str, given: object) -> Bandit:
    """The bandit, or an error that names the parameter."""
    if not isinstance(given, Bandit):
        raise PrudentError(f"{owner}: bandit must be one such as Bandit(['bernoulli(0.5)']), got {shown(given)}")
    return given


def _numbered(count: int) -> tuple[str, ...]:
    """The names of arms that were given none."""
    return tuple(f"arm {i + 1}" for i in range(count))


def medians(bandit: Bandit) -> Array:
    """Of each arm; every law has one."""
    return np.array([law.quantile(0.5) for law in bandit.arms])


def _listed(name: str, given: object) -> tuple[Any, ...]:
    """What a list holds, which may not be endless."""
    if not is_listing(given):
        raise PrudentError(f"Bandit: {name} must be a list, got {shown(given)}")
    listed = tuple(islice(given, MOST_ARMS + 1))
    if len(listed) > MOST_ARMS:
        raise PrudentError(f"Bandit: {name} must be at most {MOST_ARMS:,}, got more; take fewer arms")
    return listed
