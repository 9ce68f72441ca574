"""The contract of a risk measure. Every one is a cost: smaller is better, and it prices rewards, not losses."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prudent.arms import Law
from prudent.errors import PrudentError
from prudent.registry import Registry

registry = Registry("risk", "prudent.risks")


class RiskMeasure(ABC):
    """A cost of reward laws. Subclass it, give it a `name`, and add it to `prudent.risk.registry`."""

    name: ClassVar[str]

    @abstractmethod
    def cost(self, law: Law) -> float:
        """The exact cost of a law."""

    @abstractmethod
    def sample_cost(self, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
        """The cost of observed rewards, taken as a law that gives each its weight (equal by default)."""

    def stats_cost(self, mean: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
        """The cost where mean and variance determine it; element by element."""
        raise PrudentError(f"{self.name}: mean and variance do not determine this cost; use sample_cost(rewards)")

    def __str__(self) -> str:
        """The spec from which the registry builds this measure again."""
        return f"{self.name}({', '.join(f'{f.name}={getattr(self, f.name)}' for f in fields(self))})"  # type: ignore[arg-type]


def check_sample(owner: str, rewards: ArrayLike, weights: ArrayLike | None) -> tuple[Any, Any]:
    """Rewards and weights as arrays; weights sum to 1."""
    x = _numbers(owner, "rewards", rewards)
    if x.size == 0 or not np.isfinite(x).all():
        raise PrudentError(f"{owner}: rewards must be one or more finite numbers, got {x.size} values")
    w = np.full(x.size, 1.0) if weights is None else _numbers(owner, "weights", weights)
    if w.size != x.size or not np.isfinite(w).all() or w.min() < 0.0 or w.sum() <= 0.0:
        raise PrudentError(f"{owner}: weights must be {x.size} finite numbers ≥ 0, not all 0; give one per reward")
    return x, w / w.sum()


def _numbers(owner: str, name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=float).ravel()
    except (TypeError, ValueError):
        raise PrudentError(f"{owner}: {name} must be numbers, got {values!r}") from None
