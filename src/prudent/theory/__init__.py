"""The paper's lemmas and theorems as values with their conditions, as printed and as corrected (docs: theory).

    bound.py               what a theorem says about one bandit: value, conditions, whether it is vacuous
    coins/                 the minimax regret of two coins, with certificates
    divergences.py         the smallest divergence from a distribution to one that is cheap enough
    horizons.py            from which horizon on a result says something about a bandit
    lower_bounds.py        what no policy can beat: the constant of the arms, and the rates
    periods.py             the risk of the sum of several rewards
    sequence_learning.py   learning which sequence is best, and its regret
    sequences.py           the sequence of arms, or the adaptive plan, whose sum of rewards has the least risk
    upper_bounds.py        Lemmas 1 and 2, Theorem 1 and its remarks for MV-LCB, Theorem 2 for ExpExp

Examples
--------
>>> from prudent import Bandit, Bernoulli, theory
>>> bound = theory.lemma2(Bandit([Bernoulli(0.3), Bernoulli(0.5)]), "mean-variance(rho=1)", horizon=1_000)
>>> round(bound.printed, 3), round(bound.corrected, 3)
(0.012, 0.004)
"""

from collections.abc import Sequence
from functools import partial

from numpy.typing import ArrayLike

from prudent.bandit import Bandit
from prudent.base.errors import PrudentError
from prudent.risk.mean_variance import MeanVariance
from prudent.theory.bound import Bound as Bound
from prudent.theory.bound import Condition as Condition
from prudent.theory.bound import largest_pseudo_regret as largest_pseudo_regret
from prudent.theory.bound import largest_regret as largest_regret
from prudent.theory.coins.minimax import Minimax as Minimax
from prudent.theory.coins.minimax import minimax as minimax
from prudent.theory.divergences import least_divergence as least_divergence
from prudent.theory.horizons import Horizons as Horizons
from prudent.theory.horizons import Result
from prudent.theory.horizons import informative_horizons as informative_horizons
from prudent.theory.lower_bounds import CITATION, NAME
from prudent.theory.lower_bounds import AsymptoticBound as AsymptoticBound
from prudent.theory.lower_bounds import asymptotic_bound as asymptotic_bound
from prudent.theory.lower_bounds import lower_bound as lower_bound
from prudent.theory.lower_bounds import lower_bound_rates as lower_bound_rates
from prudent.theory.upper_bounds import corollary as corollary
from prudent.theory.upper_bounds import lemma1 as lemma1
from prudent.theory.upper_bounds import lemma2 as lemma2
from prudent.theory.upper_bounds import pulls_bound as pulls_bound
from prudent.theory.upper_bounds import remark1_rate as remark1_rate
from prudent.theory.upper_bounds import theorem1_expectation as theorem1_expectation
from prudent.theory.upper_bounds import theorem1_high_probability as theorem1_high_probability
from prudent.theory.upper_bounds import theorem1_sharp as theorem1_sharp
from prudent.theory.upper_bounds import theorem2 as theorem2
from prudent.theory.upper_bounds import worst_case as worst_case


def bounds(
    bandit: Bandit,
    risk: MeanVariance | str,
    horizon: int,
    delta: float | None = None,
    support: Sequence[float] | None = None,
    values: ArrayLike | None = None,
) -> list[Bound]:
    """Every result at this bandit, in the paper's order, then the lower bounds.

    `delta` (1/n² by default) is for the results that name a δ, `support` and `values` say which laws there may be, for
    the lower bound of these arms (see `least_divergence`).
    """
    found = [result(bandit, risk, horizon) for result in _results(delta)]
    rates = lower_bound_rates(bandit, risk, horizon)
    return [*found, _lower_bound_if_known(bandit, risk, horizon, support, values), *rates]


def _lower_bound_if_known(
    bandit: Bandit, risk: MeanVariance | str, horizon: int, support: Sequence[float] | None, values: ArrayLike | None
) -> Bound:
    """The lower bound of these arms; without a value if they have no known family and no model was given."""
    try:
        return lower_bound(bandit, risk, horizon, support, values)
    except PrudentError as error:
        if support is not None or values is not None:
            raise
        reason = str(error).partition(": ")[2]
    return Bound(NAME, "expected regret of any policy that learns, as n grows", CITATION, None, None, remark=reason)


def horizons(
    bandit: Bandit, risk: MeanVariance | str, delta: float | None = None
) -> dict[str, tuple[Horizons | None, ...]]:
    """From which n on each result says something, by the name of its bound: as printed, and as corrected."""
    found = {}
    for result in _results(delta):
        found[result(bandit, risk, 1).name] = tuple(
            informative_horizons(result, bandit, risk, printed=printed) for printed in (True, False)
        )
    return found


def _results(delta: float | None) -> list[Result]:
    """The upper bounds as functions of a bandit, a risk and a horizon."""
    likely = lemma1, lemma2, pulls_bound, theorem1_high_probability
    expected = theorem1_expectation, theorem1_sharp, remark1_rate, worst_case, corollary, theorem2
    return [*(partial(result, delta=delta) for result in likely), *expected, partial(theorem2, rule="appendix")]
