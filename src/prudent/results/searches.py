"""What searches for the best arm leave, and how they are judged."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError
from prudent.policies.contract import Policy, strategies
from prudent.results.runs import Results, averages
from prudent.results.tails import Share, share_of

NO_ARM = -1
"""The answer "no arm meets the conditions"."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Searches(Results):
    """Many searches for the best arm of one bandit. `pulls` is (run, arm); methods give one value per run.

    `recommended` is the arm found, or −1 for "no arm meets the conditions"; where `decided` is false the search reached
    `most_pulls` and recommends what looked best then.

    Examples
    --------
    >>> from prudent import Bandit, Bernoulli, identify
    >>> bandit = Bandit([Bernoulli(0.1), Bernoulli(0.9)])
    >>> found = identify(bandit, "successive-rejects", risk="mean", budget=200, runs=3)
    >>> found.recommended.tolist(), found.pulls.shape
    ([1, 1, 1], (3, 2))
    """

    bandit: Bandit
    policy: Policy
    budget: int | None
    delta: float | None
    most_pulls: int
    recommended: Counts
    decided: Marks
    pulls: Counts

    def __repr__(self) -> str:
        return f"<Searches: {strategies.spec(self.policy)}, {self.setting()}, {len(self)} runs, seed {self.seed}>"

    def setting(self) -> str:
        """`budget 1,000` or `delta 0.05`."""
        return f"delta {self.delta:g}" if self.delta is not None else f"budget {self.budget:,}"

    def wrong(self) -> Marks:
        """Whether a decided run gave a wrong answer; every arm of smallest cost is a right one."""
        right = np.full(len(self.bandit) + 1, False)  # the last place is NO_ARM's
        able = [i for i, fits in enumerate(self._feasible()) if fits]
        if able:
            right[able] = Bandit([self.bandit.arms[i] for i in able]).gaps(self.risk) == 0.0
        else:
            right[NO_ARM] = True
        wrong: Marks = self.decided & ~right[self.recommended]
        return wrong

    def error_probability(self, level: float = 0.95) -> Share:
        """The share of runs that gave a wrong answer; an undecided one gave none."""
        return share_of("error_probability", int(self.wrong().sum()), len(self), level)

    def simple_regret(self) -> Array:
        """The true cost of the recommended arm minus that of the best."""
        if hasattr(self.policy, "feasible"):
            raise PrudentError(
                f"simple_regret: {strategies.spec(self.policy)} may answer with no arm or one beyond its limit, which"
                " have no regret; use error_probability()"
            )
        return self.bandit.gaps(self.risk)[self.recommended]

    def stopping_time(self) -> Counts:
        """The pulls of all arms together."""
        total: Counts = self.pulls.sum(1)
        return total

    def measures(self) -> dict[str, NDArray[Any]]:
        """One value per run: the pulls of all arms together and, where it is defined, the simple regret."""
        values: dict[str, NDArray[Any]] = {"stopping_time": self.stopping_time()}
        return values if hasattr(self.policy, "feasible") else values | {"simple_regret": self.simple_regret()}

    def summary(self) -> dict[str, Any]:
        """Means and standard errors, flat (`averages`), as the command line prints them."""
        return {
            "strategy": strategies.spec(self.policy),
            "seconds": self.seconds,
            "error_probability": self.error_probability()._asdict(),
            "undecided": float((~self.decided).mean()),
            "simple_regret": None,
            "simple_regret_se": None,
            **averages(self.measures()),
            **averages({"pulls": self.pulls}),
            "recommended": [float((self.recommended == arm).mean()) for arm in range(len(self.bandit))],
            "no_arm": float((self.recommended == NO_ARM).mean()),
        }

    def _feasible(self) -> Marks:
        everything: Marks = np.full(len(self.bandit), True)
        return self.policy.feasible(self.bandit) if hasattr(self.policy, "feasible") else everything
