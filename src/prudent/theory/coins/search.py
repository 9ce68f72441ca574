"""The search for the minimax policy and the least favourable prior, by best responses and a linear program.

Every prior's least expected regret is at most the minimax value, and every mixture's largest regret is at least that.
Each round answers a prior by its best response, lets a linear program mix all responses so far, adds the coins where
the mixture is worst, and takes the prior from the program's dual.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from prudent.base.arrays import Array
from prudent.theory.coins.game import GRAIN, CoinGame, Prior

POINTS, FIRST_POINTS = 41, 6
"""Coins on the grid, denser towards 0 and 1; four times as many are looked at for the worst pair. The first prior has
few, because its response may stay in the mixture."""
MOST_ROUNDS = 100


def coins(points: int) -> Array:
    """A grid of coins, in whole units."""
    return np.unique(np.round(GRAIN * np.sin(np.linspace(0.0, np.pi / 2.0, points)) ** 2)) / GRAIN


@dataclass
class Search:
    """What is known after some rounds: pairs of coins, responses with their priors, and both ends."""

    game: CoinGame
    p: Array
    q: Array
    priors: list[Prior] = field(default_factory=list)
    coefficients: list[Array] = field(default_factory=list)
    regrets: list[Array] = field(default_factory=list)
    lower: float = -np.inf
    upper: float = np.inf
    least_favourable: Prior | None = None
    mixture: Array | None = None

    def run(self, tolerance: float) -> None:
        """Search until the ends differ by this share."""
        few = coins(FIRST_POINTS)
        weights = np.asarray(np.isin(self.p, few) & np.isin(self.q, few), float)
        best = weights
        fine = coins(4 * POINTS)
        for round_ in range(MOST_ROUNDS):
            prior = Prior.of(self.p, self.q, weights)
            response = self.game.respond(prior)
            self._keep(prior, response.coefficients)
            if response.value > self.lower:
                self.lower, self.least_favourable, best = response.value, prior, weights
            value, mixture, weights = self._mixed()
            mixed = sum(share * each for share, each in zip(mixture, self.coefficients, strict=True) if share > 0.0)
            surface = self.game.surface(np.asarray(mixed), fine)
            if surface.max() < self.upper:
                self.upper, self.mixture = float(surface.max()), mixture
            if self.upper - self.lower <= tolerance * self.upper:
                break
            added = self._add(fine, surface, value)
            weights, best = np.append(weights, np.zeros(added)), np.append(best / best.sum(), np.zeros(added))
            if round_ % 2:  # the dual alone jumps from round to round
                weights = (weights + best) / 2.0

    def _keep(self, prior: Prior, coefficients: Array) -> None:
        self.priors.append(prior)
        self.coefficients.append(coefficients)
        self.regrets.append(self.game.regret(coefficients, self.p, self.q))

    def _mixed(self) -> tuple[float, Array, Array]:
        """The least worst regret of a mixture on the pairs, its weights, and those of the pairs in the dual."""
        regrets = np.array(self.regrets).T
        pairs, policies = regrets.shape
        found = linprog(
            np.append(np.zeros(policies), 1.0),
            A_ub=np.column_stack([regrets, -np.ones(pairs)]),
            b_ub=np.zeros(pairs),
            A_eq=np.append(np.ones(policies), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, None)] * policies + [(None, None)],
            method="highs",
        )
        dual = np.maximum(-found.ineqlin.marginals, 0.0)
        return float(found.fun), np.maximum(found.x[:-1], 0.0), dual / dual.sum()

    def _add(self, grid: Array, surface: Array, value: float) -> int:
        """Add the pairs where the surface has a peak above a value; returns how many."""
        padded = np.pad(surface, 1, constant_values=-np.inf)
        size, peak = len(grid), np.triu(surface > value)
        for i in range(3):
            for j in range(3):
                peak &= surface >= padded[i : i + size, j : j + size]
        known = set(zip(self.p, self.q, strict=True))
        new = np.array([(grid[i], grid[j]) for i, j in np.argwhere(peak) if (grid[i], grid[j]) not in known])
        if len(new):
            p, q = new.T
            self.regrets = [
                np.append(old, self.game.regret(each, p, q))
                for old, each in zip(self.regrets, self.coefficients, strict=True)
            ]
            self.p, self.q = np.append(self.p, p), np.append(self.q, q)
        return len(new)


def search(horizon: int, rho: float, tolerance: float) -> Search:
    """The search, finished."""
    first, second = np.triu_indices(len(grid := coins(POINTS)), 1)
    found = Search(CoinGame(horizon, rho), grid[first], grid[second])
    found.run(tolerance)
    return found
