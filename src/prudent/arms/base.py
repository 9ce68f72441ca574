"""What every reward law knows, and how laws become numbers for kernels. Rewards: larger is better."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from prudent.arms import quadrature, sampling
from prudent.arrays import Array
from prudent.errors import PrudentError
from prudent.parameters import check_parameter
from prudent.registry import Registry, named


class Law(ABC):
    """A distribution of rewards. `mean`, `variance` and `support` are computed when it is made.

    Examples
    --------
    >>> from prudent import Gaussian
    >>> law = Gaussian(mean=1.0, variance=0.25)
    >>> round(law.quantile(0.05), 3), round(law.lower_tail_mean(0.05), 3)
    (0.178, -0.031)
    """

    name: ClassVar[str]
    kind: ClassVar[int]
    mean: float
    variance: float
    support: tuple[float, float]

    @abstractmethod
    def cdf(self, x: float) -> float:
        """P(X ≤ x)."""

    @abstractmethod
    def quantile(self, alpha: float) -> float:
        """The smallest x with P(X ≤ x) ≥ α, for α in (0, 1]; the value at risk of the rewards."""

    @abstractmethod
    def partial_mean(self, x: float) -> float:
        """E[X; X ≤ x], the part of the mean that comes from rewards up to x."""

    def parameters(self) -> tuple[float, ...]:
        """The numbers the sampling kernel of this kind expects; the fields, unless a law says otherwise."""
        return self._fields()

    def parts(self) -> tuple["Law", ...]:
        """The laws a reward may come from, for a mixture."""
        return ()

    def lower_tail_mean(self, alpha: float) -> float:
        """Mean of the worst α-fraction of rewards, (1/α)∫₀^α q(u) du; an atom at the quantile counts by its share."""
        q = self.quantile(alpha)
        if alpha == 1.0:
            return self.mean
        return q + (self.partial_mean(q) - q * self.cdf(q)) / alpha

    def atoms(self) -> tuple[Array, Array] | None:
        """The values of a law on finitely many, ascending, and their probabilities; None for other laws."""
        return None

    def edges(self) -> Array:
        """Points, ascending, that hold all rewards but the rarest (1e-130 below, 1e-16 above), cdf smooth between."""
        atoms = self.atoms()
        return np.unique([self.quantile(float(u)) for u in quadrature.LEVELS]) if atoms is None else atoms[0]

    def expectation(self, function: Callable[[Array], Array], moment: str = "expectation of this function") -> float:
        """E function(X), for a function of arrays; an infinite one is an error that names the `moment`."""
        with np.errstate(over="ignore", invalid="ignore"):
            pieces = self._pieces(function)
            size = np.abs(pieces).sum()
        # Where the integral exists, the outermost pieces add nothing that can be seen.
        endless = self.atoms() is None and np.abs(pieces[[0, -1]]).max() > 1e-4 * size
        if endless or not math.isfinite(size):
            raise PrudentError(f"{self}: its {moment} is infinite; take a risk measure that needs less, such as var")
        return float(pieces.sum())

    def _pieces(self, function: Callable[[Array], Array]) -> Array:
        """Terms that add up to E function(X), in the order of rewards: of atoms, or integrals over quantiles."""
        if (atoms := self.atoms()) is not None:
            return atoms[1] * function(atoms[0])
        return np.concatenate([quadrature.half(self.quantile, function, upper=upper) for upper in (False, True)])

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """`size` independent rewards."""
        rewards = np.empty(size)
        sampling.draw_many(encode([self]), 0, rewards, rng)
        return rewards

    def __str__(self) -> str:
        """The spec from which the registry builds this law again."""
        return f"{self.name}({', '.join(map(str, self._fields()))})"

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def _settle(self, **values: Any) -> None:
        if not math.isfinite(values.get("variance", 0.0)):
            raise PrudentError(f"{self.name}: its variance is too large for a float; measure rewards in larger units")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _level(self, alpha: float) -> float:
        return check_parameter(self.name, "alpha", alpha)


arms: Registry[Law] = Registry(
    "arm", "prudent.arms", "prudent.arms", wanted="a law such as Gaussian(1.0, 0.05)", of=Law, prepare=named
)


def encode(laws: Sequence[Law]) -> sampling.Laws:
    """The laws as the table of numbers kernels read; a mixture's components queue up behind the arms."""
    queue = list(laws)
    start: list[int] = []
    table: list[float] = []
    for law in queue:
        start.append(len(table))
        if parts := law.parts():
            table += [float(len(parts)), float(len(queue))]
            queue += parts
        table += law.parameters()
    kind = np.array([law.kind for law in queue], dtype=np.int64)
    return sampling.Laws(kind, np.array(start, dtype=np.int64), np.array(table))
