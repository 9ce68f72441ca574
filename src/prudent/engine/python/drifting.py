"""An environment whose arms drift by a plan: one bandit after the other, for so many rounds each, over and over."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prudent.bandit import Bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, shown
from prudent.engine.python.environments import BLOCK
from prudent.risk.base import RiskMeasure, risks


class Drifting:
    """Each of the bandits for `rounds` rounds, then the next one; after the last the first again.

    Two bandits and half of the horizon make an abrupt change, fifty a gradual one, and seven days a week. It knows the
    costs of the arms in every round, from which `dynamic_regret` follows.

    Examples
    --------
    >>> from prudent import Bandit, Drifting, simulate
    >>> from prudent.results.regret import dynamic_regret
    >>> days, nights = Bandit(["bernoulli(0.7)", "bernoulli(0.4)"]), Bandit(["bernoulli(0.3)", "bernoulli(0.4)"])
    >>> world = Drifting([days, nights], rounds=100)
    >>> world.costs(150, "mean").tolist()
    [-0.3, -0.4]
    >>> runs = simulate(world, "fixed-arm(0)", risk="mean", horizon=200, runs=2, keep="trajectory")
    >>> dynamic_regret(runs, world).round(3).tolist()
    [0.05, 0.05]
    """

    def __init__(self, bandits: Sequence[Bandit], rounds: int) -> None:
        self.bandits = tuple(bandits)
        same = {bandit.names if isinstance(bandit, Bandit) else None for bandit in self.bandits}
        if len(same) != 1 or None in same:
            raise PrudentError(f"Drifting: bandits must be a list of Bandits with the same arms, got {shown(bandits)}")
        self.rounds = check_integer("Drifting", "rounds", rounds, low=1, hint="how long each bandit lasts")
        self.names = self.bandits[0].names
        self._costs: dict[Any, Array] = {}

    def __repr__(self) -> str:
        return f"Drifting([{', '.join(bandit.unnamed for bandit in self.bandits)}], rounds={self.rounds})"

    def reset(self, rng: np.random.Generator) -> None:
        """Before the first round."""
        self.rng, self.t = rng, 0
        self.drawn: dict[tuple[int, int], list[float]] = {}

    def pull(self, arm: int) -> float:
        """A reward of the arm in this round."""
        place = self.t // self.rounds % len(self.bandits)
        self.t += 1
        drawn = self.drawn.setdefault((place, arm), [])
        if not drawn:
            drawn.extend(self.bandits[place].arms[arm].sample(self.rng, BLOCK).tolist())
        return drawn.pop()

    def costs(self, t: int, risk: RiskMeasure | str) -> Array:
        """The cost of every arm in round t, the first of which is 1."""
        place = (t - 1) // self.rounds % len(self.bandits)
        key = place, str(risk)
        if key not in self._costs:
            self._costs[key] = self.bandits[place].costs(risks.make("costs", risk))
        return self._costs[key]
