"""What could be gained by choosing the next arm by the sum so far, which no sequence does."""

import numpy as np

from prudent.bandit import Bandit, check_bandit
from prudent.errors import PrudentError, check_integer
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.periods import lattice_step
from prudent.risk.tails import CVaR, MeanCVaR

MOST_STATES = 4 * 10**6
"""Thresholds times sums of the largest plan."""


def adaptive_cost(bandit: Bandit, risk: RiskMeasure | str, periods: int) -> float:
    """The least CVaR or mean-CVaR of the sum of rewards when every arm is chosen by the sum so far.

    For w CVaR − (1 − w) mean it is the least over q of w q + min E[w (−S − q)⁺/α − (1 − w) S] [Rockafellar00], and the
    inner minimum is found backwards from the last period; the best q is minus a value of S. A sequence is a plan that
    does not look, so it never costs less. The values of all arms must lie on one lattice.

    Examples
    --------
    >>> from prudent import Bandit, Empirical, adaptive_cost
    >>> bandit = Bandit([Empirical([-10.0] + [7.0] * 9), Empirical([-5.0] + [8.0] * 3)])
    >>> round(adaptive_cost(bandit, "cvar(alpha=0.05)", periods=4), 2)
    3.25
    """
    bandit, risk = check_bandit("adaptive_cost", bandit), risks.make("adaptive_cost", risk)
    periods = check_integer("adaptive_cost", "periods", periods, low=1, hint="over how many rewards?")
    if not isinstance(risk, (CVaR, MeanCVaR)):
        raise PrudentError(f"adaptive_cost: risk must be cvar or mean-cvar, got {risk}; others have no such recursion")
    weight = risk.weight if isinstance(risk, MeanCVaR) else 1.0
    least, step, moves = _moves(bandit, periods)
    reach = max(int(places[-1]) for places, _ in moves)
    sums = periods * least + step * np.arange(periods * reach + 1)
    # Rows are thresholds −q, columns are sums: first those at the end, then of one period less, and so on.
    values = weight / risk.alpha * np.maximum(sums[:, None] - sums, 0.0) - (1.0 - weight) * sums
    for left in range(periods - 1, -1, -1):
        size = left * reach + 1
        values = np.min([sum(p * values[:, j : j + size] for j, p in zip(*move, strict=True)) for move in moves], 0)
    return float((values[:, 0] - weight * sums).min())


def _moves(bandit: Bandit, periods: int) -> tuple[float, float, list[tuple[np.ndarray, np.ndarray]]]:
    """The least reward, the step of the lattice, and per arm by how many steps its rewards exceed the least."""
    atoms = [found for law in bandit.arms if (found := law.atoms()) is not None]
    if len(atoms) == len(bandit):
        least = bandit.support[0]
        rises = [values - least for values, _ in atoms]
        step = lattice_step(np.unique(np.concatenate(rises)))
        if step is not None:
            moves = [(np.rint(rise / step).astype(int), p) for rise, (_, p) in zip(rises, atoms, strict=True)]
            if (periods * max(int(places[-1]) for places, _ in moves) + 1) ** 2 <= MOST_STATES:
                return least, step, moves
    fix = "round the rewards, or take fewer periods"
    raise PrudentError(f"adaptive_cost: the arms must share one lattice, with at most 2,000 different sums; {fix}")
