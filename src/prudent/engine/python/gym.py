"""A bandit as a Gymnasium environment, for agents of other libraries (the extra `gym`).

    import gymnasium
    env = gymnasium.make("prudent.engine.python.gym:prudent/Bandit-v0", arms=["bernoulli(0.2)", "bernoulli(0.8)"])

The other way round, `prudent.simulate` takes any Gymnasium environment with discrete actions.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from prudent.arms.base import Law
from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, check_integer
from prudent.engine.jobs import MAX_ROUNDS
from prudent.engine.python.environments import Drawn
from prudent.risk.base import RiskMeasure, risks

try:
    import gymnasium
except ImportError:
    fix = "install the extra gym, in a clone: python -m pip install '.[gym]'"
    raise PrudentError(f"prudent.engine.python.gym: gymnasium must be installed; {fix}") from None

NAME = "prudent/Bandit-v0"


class BanditEnv(gymnasium.Env[int, int]):  # type: ignore[misc]
    """One state, an action for each arm, and rewards drawn from the arm's law.

    Parameters
    ----------
    arms
        A `Bandit`, or its arms: laws or specs.
    risk
        With a risk measure, `info["gap"]` tells by how much the pulled arm costs more than the best.
    horizon
        After so many rounds the episode is truncated; by default it goes on.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, arms: Bandit | Iterable[Law | str], risk: RiskMeasure | str | None = None, horizon: int | None = None
    ) -> None:
        self.bandit = arms if isinstance(arms, Bandit) else Bandit(arms)
        self.action_space = gymnasium.spaces.Discrete(len(self.bandit))
        self.observation_space = gymnasium.spaces.Discrete(1)
        self.gaps = None if risk is None else self.bandit.gaps(risks.make("BanditEnv", risk))
        self.horizon = (
            None if horizon is None else check_integer("BanditEnv", "horizon", horizon, low=1, high=MAX_ROUNDS)
        )
        self._drawn = Drawn(self.bandit)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """A new episode; the same seed gives the same rewards."""
        super().reset(seed=seed)
        self._drawn.reset(self.np_random)
        self._rounds = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Pull an arm."""
        if not self.action_space.contains(action):
            last = len(self.bandit) - 1
            raise PrudentError(f"BanditEnv: action must be an arm's number from 0 to {last}, got {action!r}")
        self._rounds += 1
        told = {} if self.gaps is None else {"gap": float(self.gaps[action])}
        return 0, self._drawn.pull(int(action)), False, self._rounds == self.horizon, told


if NAME not in gymnasium.registry:
    gymnasium.register(NAME, entry_point=BanditEnv)
