"""The minimax regret of two coins: its value, the mixture that attains it, and the least favourable prior."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, check_number, shown
from prudent.policies.optimal import TABLED, Optimal
from prudent.theory.coins.bernstein import largest_value
from prudent.theory.coins.checker import check
from prudent.theory.coins.game import GRAIN, CoinGame, Prior
from prudent.theory.coins.search import search

ROUNDING = 1e-11
"""More than rounding can change an end that floats compute: some n operations on numbers of size 1 + ρ."""


@dataclass(frozen=True, eq=False, repr=False)
class Minimax:
    """No policy keeps its regret below `lower` on all pairs of coins; the mixture keeps it at or below `upper` on all.

    The least favourable prior holds pairs of coins (p, q, weight), to be taken in either order with equal probability;
    under it every policy has an expected regret of at least `lower`. The mixture holds shares of policies, each the
    best response to a prior. `check` proves both ends again in exact arithmetic.
    """

    horizon: int
    rho: float
    lower: float
    upper: float
    prior: Prior
    mixture: tuple[tuple[int, Prior], ...]
    coefficients: Array
    game: CoinGame

    def __repr__(self) -> str:
        return f"<Minimax: {self.horizon:,} rounds, rho={self.rho:g}, between {self.lower:.6f} and {self.upper:.6f}>"

    @property
    def scaled(self) -> tuple[float, float]:
        """Both ends times n^{1/3}."""
        return self.lower * self.horizon ** (1 / 3), self.upper * self.horizon ** (1 / 3)

    def pairs(self) -> tuple[tuple[float, float, float], ...]:
        """The least favourable pairs (p, q, weight) with p < q, the heaviest first."""
        total = sum(self.prior.weight)
        there = [(p / GRAIN, q / GRAIN, w / total) for p, q, w in zip(*self.prior, strict=True)]
        return tuple(sorted(there, key=lambda pair: -pair[2]))

    def policies(self) -> tuple[tuple[float, Optimal], ...]:
        """The shares of the mixture and its policies. To play it, draw one of them before the first round, and exchange
        the arms with probability ½."""
        total = sum(share for share, _ in self.mixture)
        return tuple((share / total, Optimal(pairs=prior.pairs())) for share, prior in self.mixture)

    def regret(self, p: ArrayLike, q: ArrayLike) -> Array:
        """The expected regret of the mixture on pairs of coins."""
        first, second = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        for name, coin in (("p", first), ("q", second)):
            if not ((coin >= 0.0) & (coin <= 1.0)).all():
                raise PrudentError(f"Minimax: {name} must hold probabilities in [0, 1], got {shown(coin)}")
        found = self.game.regret(self.coefficients, first.ravel(), second.ravel())
        return found.reshape(first.shape)

    def certificate(self) -> dict[str, Any]:
        """All that a program needs to prove both ends: about a kilobyte."""
        return {
            "horizon": self.horizon,
            "rho": str(self.rho),
            "grain": GRAIN,
            "lower": self.lower,
            "upper": self.upper,
            "prior": list(zip(*self.prior, strict=True)),
            "mixture": [{"weight": share, "prior": list(zip(*p, strict=True))} for share, p in self.mixture],
        }

    def write(self, path: str | Path) -> None:
        """The certificate as a file, for `python -m prudent.theory.coins.checker FILE`."""
        Path(path).write_text(json.dumps(self.certificate()) + "\n", encoding="utf-8")

    def check(self) -> tuple[float, float]:
        """Both ends in exact arithmetic, by the checker: seconds for n = 64, minutes for n = 200."""
        return check(self.certificate())


def minimax(horizon: int, rho: float = 0.0, tolerance: float = 2e-3) -> Minimax:
    """The least worst-case regret of any policy on two coins under the mean-variance (docs: minimax).

    The ends differ by about the share `tolerance`. Time grows like n⁴: a second for n = 64, half a minute for n = 200.

    Examples
    --------
    >>> from prudent import theory
    >>> found = theory.minimax(16)
    >>> found
    <Minimax: 16 rounds, rho=0, between 0.051344 and 0.051407>
    >>> low, high = found.check()
    >>> found.lower <= low <= high <= found.upper
    True
    """
    n = check_integer("minimax", "horizon", horizon, low=2, high=TABLED)
    rho = check_number("minimax", "rho", rho, low=0.0, high=2.0, hint="larger ρ make the problem that of the mean")
    tolerance = check_number(
        "minimax", "tolerance", tolerance, low=1e-5, high=0.5, hint="0.002 is a fifth of a percent"
    )
    found = search(n, rho, tolerance / 2.0)
    assert found.mixture is not None  # since a round was made
    assert found.least_favourable is not None
    shares = np.round(GRAIN * found.mixture).astype(int)
    kept = [(int(share), i) for i, share in enumerate(shares) if share > 0]
    total = sum(share for share, _ in kept)
    coefficients = sum(share / total * found.coefficients[i] for share, i in kept)
    largest = largest_value(found.game.against_first(np.asarray(coefficients)), tolerance / 8.0 * found.upper)[1]
    return Minimax(
        n,
        rho,
        _rounded(found.lower - ROUNDING, math.floor),
        _rounded(largest * (1.0 + tolerance / 8.0) + ROUNDING, math.ceil),
        found.least_favourable,
        tuple((share, found.priors[i]) for share, i in kept),
        np.asarray(coefficients),
        found.game,
    )


def _rounded(end: float, outwards: Any) -> float:
    """Seven digits behind the point, rounded outwards."""
    return float(outwards(end * 1e7) / 1e7)
