"""The probability that an arm's drawn score is the smallest, for policies that declare what they draw.

Beta laws with whole parameters, and a score that is one polynomial of degree two at most in the number drawn: between
the points where the order of scores changes, density times distribution functions is a polynomial in the number, so
that Gauss and Legendre's rule with enough nodes is a finite sum that gives the integral exactly but for rounding.
Normal laws and a score linear in the number drawn: a normal distribution function for two arms, the trapezoidal rule
for more, whose error is stated.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from prudent.arms.quadrature import gauss
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.engine.exact.lattice import Allocation, ArmStates, Lattice
from prudent.policies.contract import Arm
from prudent.policies.posteriors import Beta, Normal

REACH = 9.0
"""Normal numbers lie within so many standard deviations, but for 2·10⁻¹⁹ of them."""

RESOLUTION = 0.7
"""The step of the trapezoidal rule over the scale of the sharpest factor; the error is e^(−2π²/0.7²) = 10⁻¹⁷."""


class DrawnScores:
    """The choices of a policy whose score is that of a number drawn for each arm."""

    def __init__(self, owner: str, ready: Any, lattice: Lattice) -> None:
        self.owner, self.lattice = owner, lattice
        self.law: BetaScores | NormalScores = _laws_of(owner, ready, lattice)

    def at(self, t: int) -> None:
        """Nothing of a drawn score depends on the clock."""

    def shares(self, allocation: Allocation, weights: Array) -> Sequence[Array]:
        """The probability of each arm in the states of an allocation; one that was not pulled yet goes first."""
        if 0 in allocation:
            return [np.asarray(float(arm == allocation.index(0))) for arm in range(len(allocation))]
        parts = [(self.lattice.arms[i], self.lattice.arms[i].part(pulls)) for i, pulls in enumerate(allocation)]
        return [self.law.smallest(arm, parts) for arm in range(len(parts))]

    def of_rows(self, s: int, bottom: int, top: int, most: int) -> tuple[Array, Array]:
        """For two arms of two values: the probabilities of the first one and of the second in its states top, …, bottom
        after s pulls (rows) and in all states of the second one after up to `most` pulls (columns)."""
        first, second = self.lattice.arms
        shape = top - bottom + 1, int(second.first[most + 1])
        if s == 0:
            return np.ones(shape), np.zeros(shape)
        begin = int(first.first[s])
        parts = [(first, slice(begin + bottom, begin + top + 1)), (second, slice(1, shape[1]))]
        one, other = np.zeros(shape), np.ones(shape)
        if most > 0:
            one[:, 1:], other[:, 1:] = (self.law.smallest(arm, parts)[::-1] for arm in (0, 1))
        return one, other


Parts = Sequence[tuple[ArmStates, slice]]


def _laws_of(owner: str, ready: Any, lattice: Lattice) -> "BetaScores | NormalScores":
    kinds = {id(kind): _laws_of_kind(ready, kind) for kind in lattice.kinds}
    drawn = {type(law) for laws in kinds.values() for several in laws for law in several}
    coefficients = (
        {key: _coefficients(ready, kind, kinds[key]) for key, kind in _by_id(lattice)} if len(drawn) == 1 else {}
    )
    if drawn == {Beta}:
        return BetaScores(owner, lattice, kinds, coefficients)
    if drawn == {Normal}:
        return NormalScores(owner, lattice, kinds, coefficients)
    raise PrudentError(
        f"{owner}: it draws from {' and '.join(sorted(law.__name__ for law in drawn))}, and its choices are known"
        ' exactly for one Beta or one Normal number an arm; use engine="auto"'
    )


def _by_id(lattice: Lattice) -> list[tuple[int, ArmStates]]:
    return [(id(kind), kind) for kind in lattice.kinds]


def _laws_of_kind(ready: Any, kind: ArmStates) -> list[Any]:
    """What the policy draws from in each state but the first."""
    return [ready.draws(arm) for arm in _arms(kind)]


def _arms(kind: ArmStates) -> list[Arm]:
    known = zip(kind.pulls[1:].tolist(), kind.mean[1:].tolist(), kind.variance[1:].tolist(), strict=True)
    return [Arm(*each) for each in known]


def _coefficients(ready: Any, kind: ArmStates, laws: Sequence[Any]) -> Array:
    """c₀, c₁, c₂ of the score c₀ + c₁ x + c₂ x² of a number x, in each state but the first."""
    points = [-1.0, 0.0, 1.0]
    below, here, above = np.array([[ready.score(arm, x) for x in points] for arm in _arms(kind)]).T
    return np.column_stack([here, 0.5 * (above - below), 0.5 * (above + below) - here])


class BetaScores:
    """Scores of a beta number, by sums over the nodes of Gauss and Legendre."""

    def __init__(
        self, owner: str, lattice: Lattice, laws: dict[int, list[Any]], coefficients: dict[int, Array]
    ) -> None:
        rows = np.concatenate(list(coefficients.values()))
        size = np.abs(rows).max()
        parameters = np.array([law for each in laws.values() for (law,) in each])
        if (np.ptp(rows, axis=0) > 1e-12 * size).any() or (np.abs(parameters - np.round(parameters)) > 1e-9).any():
            raise PrudentError(
                f"{owner}: its choices are known exactly only if the score is that of the drawn number alone and the"
                ' parameters of its beta laws are whole; use engine="auto"'
            )
        _, slope, bend = rows[0]
        slope, bend = (0.0 if abs(c) <= 1e-12 * size else c for c in (slope, bend))
        # Where two numbers have the same score, x and mirror − x.
        self.mirror = -slope / bend if bend else None
        self.falling = slope < 0.0 if self.mirror is None else bend < 0.0
        self.flat = slope == bend == 0.0
        cuts = {0.0, 1.0} | ({self.mirror / 2.0, self.mirror, self.mirror - 1.0} if self.mirror is not None else set())
        edges = np.array(sorted(cut for cut in cuts if 0.0 <= cut <= 1.0))
        # A density has degree a + b − 2 and a distribution function a + b − 1; the pulls in all a + b are t at most.
        pulls = np.concatenate([kind.pulls[1:] for kind in lattice.kinds])
        degree = lattice.horizon + len(lattice) * int(np.round((parameters.sum(1) - pulls).max()))
        nodes, weights = gauss(degree // 2 + 1)
        halves, middles = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
        self.nodes = (middles[:, None] + halves[:, None] * nodes).ravel()
        node_weights = (halves[:, None] * weights).ravel()
        self.density, self.larger = {}, {}
        for key, several in laws.items():
            a, b = np.round(np.array([law for (law,) in several])).T[:, :, None]
            x = self.nodes[None, :]
            log = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
            self.density[key] = np.exp(log) * node_weights
            self.larger[key] = self._larger(a, b)

    def _larger(self, a: Array, b: Array) -> Array:
        """P(the score of a beta(a, b) number is larger than that of each node)."""
        x = self.nodes[None, :]
        if self.mirror is None:
            return special.betainc(a, b, x) if self.falling else special.betaincc(a, b, x)
        low, high = np.minimum(x, self.mirror - x), np.maximum(x, self.mirror - x)
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        outside = special.betainc(a, b, low) + special.betaincc(a, b, high)
        if not self.falling:
            return outside
        # The smaller of both tails is subtracted from, so that no digit is lost.
        left = special.betainc(a, b, high) - special.betainc(a, b, low)
        right = special.betaincc(a, b, low) - special.betaincc(a, b, high)
        return np.where(special.betainc(a, b, high) < 0.5, left, right)

    def smallest(self, arm: int, parts: Parts) -> Array:
        """The probability that this arm's score is the smallest."""
        if self.flat:
            return np.asarray(float(arm == 0))
        tables = [
            (self.density if i == arm else self.larger)[id(kind)][part.start - 1 : part.stop - 1]
            for i, (kind, part) in enumerate(parts)
        ]
        if len(tables) == 2:
            return np.asarray(tables[0] @ tables[1].T)
        letters = "abcdefgh"[: len(tables)]
        return np.asarray(np.einsum(f"{','.join(x + 'z' for x in letters)}->{letters}", *tables, optimize=True))


class NormalScores:
    """Scores linear in a normal number, which are normal."""

    def __init__(
        self, owner: str, lattice: Lattice, laws: dict[int, list[Any]], coefficients: dict[int, Array]
    ) -> None:
        self.mean, self.sd = {}, {}
        for key, rows in coefficients.items():
            if (np.abs(rows[:, 2]) > 1e-12 * np.abs(rows).max()).any():
                raise PrudentError(
                    f"{owner}: its choices are known exactly for scores linear in the normal number drawn, not for its"
                    ' square; use engine="auto"'
                )
            place = np.array([law.mean for (law,) in laws[key]])
            self.mean[key] = rows[:, 0] + rows[:, 1] * place
            self.sd[key] = np.abs(rows[:, 1]) * np.array([law.sd for (law,) in laws[key]])
            if (self.sd[key] <= 0.0).any():
                raise PrudentError(
                    f"{owner}: a number that it draws does not enter its score, so that arms tie by rounding; take a"
                    ' policy for this risk, or use engine="auto"'
                )

    def smallest(self, arm: int, parts: Parts) -> Array:
        """The probability that this arm's score is the smallest."""
        means, sds = (
            np.ix_(*(table[id(kind)][part.start - 1 : part.stop - 1] for kind, part in parts))
            for table in (self.mean, self.sd)
        )
        others = [i for i in range(len(parts)) if i != arm]
        if len(others) == 1:
            (other,) = others
            return np.asarray(special.ndtr((means[other] - means[arm]) / np.hypot(sds[arm], sds[other])))
        sharpest = min(float(sds[i].min()) for i in others) / float(sds[arm].max())
        step = RESOLUTION / math.sqrt(1.0 + len(others) / sharpest**2)
        count = math.ceil(REACH / step)
        total: Any = 0.0
        for z in step * np.arange(-count, count + 1):
            product: Any = step * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
            for i in others:
                product = product * special.ndtr((means[i] - means[arm] - z * sds[arm]) / sds[i])
            total = total + product
        return np.asarray(total)
