"""Joint laws of the arms' rewards: what one round pays each arm, all drawn together.

A law also draws a whole block of rounds at once, as its mean and scatter: nothing else enters while the mix stays the
same, so a block of a million rounds may cost no more than a block of a hundred.
"""

import hashlib
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prudent.base.arrays import Array, as_array
from prudent.base.csv_columns import read_columns
from prudent.base.errors import PrudentError, check_flag, check_list, check_number, shown
from prudent.portfolio.prices import settled
from prudent.portfolio.program import LARGE, MANY_ARMS, check_moments, moments

PIECE = 4096
"""Rounds drawn one by one are summed in pieces of this many, so that memory stays small."""


class Block(NamedTuple):
    """Several rounds: how many, the mean of their rewards, and the scatter Σ(r − mean)(r − mean)ᵀ."""

    rounds: int
    mean: Array
    scatter: Array

    def join(self, other: "Block") -> "Block":
        """Both blocks as one."""
        if self.rounds == 0:
            return other
        rounds = self.rounds + other.rounds
        step = other.mean - self.mean
        between = self.rounds * (other.rounds / rounds) * np.multiply.outer(step, step)
        return Block(rounds, self.mean + step * (other.rounds / rounds), self.scatter + other.scatter + between)

    def along(self, weights: Array) -> "Block":
        """The rewards of a mix in these rounds."""
        return Block(self.rounds, weights @ self.mean, weights @ self.scatter @ weights)


NOTHING = Block(0, np.zeros(0), np.zeros((0, 0)))
"""No rounds yet, of any number of arms."""


class JointLaw(ABC):
    """A distribution of K rewards; `mean` and `covariance` are settled when it is made, by all of its `content`."""

    name: ClassVar[str]
    content: ClassVar[tuple[str, ...]] = ("mean", "covariance")
    mean: Array
    covariance: Array

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """`size` independent rounds, one row each."""

    def block(self, rng: np.random.Generator, rounds: int) -> Block:
        """The mean and scatter of `rounds` independent rounds."""
        done = NOTHING
        while done.rounds < rounds:
            done = done.join(_moments(self.sample(rng, min(rounds - done.rounds, PIECE))))
        return done

    def __str__(self) -> str:
        """A name that tells this law from every other."""
        parts = (np.ascontiguousarray(getattr(self, part)).tobytes() for part in self.content)
        return f"{self.name}({self.mean.size} arms, {hashlib.blake2b(b'|'.join(parts), digest_size=16).hexdigest()})"

    __repr__ = __str__


class MultivariateGaussian(JointLaw):
    """N(mean, covariance); the covariance may be singular.

    Examples
    --------
    >>> from prudent import MultivariateGaussian
    >>> law = MultivariateGaussian([0.1, 0.2], [[0.04, 0.01], [0.01, 0.09]])
    >>> law.covariance.tolist()
    [[0.04, 0.01], [0.01, 0.09]]
    """

    name = "multivariate-gaussian"

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        self.mean, self.covariance = _location_and_spread(self.name, mean, covariance, "covariance")
        self._root = _root(self.covariance)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return self.mean + rng.standard_normal((size, self.mean.size)) @ self._root.T

    def block(self, rng: np.random.Generator, rounds: int) -> Block:
        """Exact in law: the mean is Gaussian, the scatter Wishart (by Bartlett's decomposition) and independent."""
        arms = self.mean.size
        if rounds <= 2 * arms:
            return super().block(rng, rounds)
        mean = self.mean + self._root @ rng.standard_normal(arms) / math.sqrt(rounds)
        triangle = np.tril(rng.standard_normal((arms, arms)), -1)
        triangle[np.diag_indices(arms)] = np.sqrt(rng.chisquare(rounds - 1.0 - np.arange(arms)))
        spread = self._root @ triangle
        return Block(rounds, mean, spread @ spread.T)


class MultivariateT(JointLaw):
    """Student's t with a common tail: mean + Z √(ν/χ²_ν), Z ~ N(0, scale); the covariance is scale·ν/(ν − 2).

    Examples
    --------
    >>> from prudent import MultivariateT
    >>> law = MultivariateT(4, [0.1, 0.2], [[0.04, 0.01], [0.01, 0.09]])
    >>> law.covariance.round(2).tolist()
    [[0.08, 0.02], [0.02, 0.18]]
    """

    name, content = "multivariate-t", ("degrees", "mean", "scale")

    def __init__(self, degrees: float, mean: ArrayLike, scale: ArrayLike) -> None:
        hint = "with 2 degrees of freedom or fewer there is no covariance"
        self.degrees = check_number(self.name, "degrees", degrees, low=2.0, open_low=True, open_high=True, hint=hint)
        self.mean, self.scale = _location_and_spread(self.name, mean, scale, "scale")
        self.covariance = _frozen(self.scale * self.degrees / (self.degrees - 2.0))
        self._root = _root(self.scale)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        normal = rng.standard_normal((size, self.mean.size)) @ self._root.T
        tail = np.sqrt(self.degrees / rng.chisquare(self.degrees, size))
        return np.asarray(self.mean + normal * tail[:, None])


class EmpiricalJoint(JointLaw):
    """One of the observed rows, each equally likely: rows are resampled independently, keeping the arms' dependence
    within a round and ignoring any dependence from one round to the next. Covariances are divided by the rows.

    Examples
    --------
    >>> from prudent import EmpiricalJoint
    >>> law = EmpiricalJoint([[0.1, 0.3], [0.2, -0.1], [0.0, 0.1]], names=["bonds", "shares"])
    >>> law.mean.round(3).tolist()
    [0.1, 0.1]
    """

    name, content = "empirical-joint", ("rows",)

    def __init__(self, rows: ArrayLike, names: Sequence[str] | None = None) -> None:
        table = as_array(self.name, "rows", rows)
        if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
            raise PrudentError(f"{self.name}: rows must be a table of 2 or more rounds × arms, got shape {table.shape}")
        self.names = arm_names(self.name, names, table.shape[1])
        if broken := self._named(~np.isfinite(table).all(0)):
            raise PrudentError(f"{self.name}: values are missing or infinite in {broken}; drop those rows")
        if constant := self._named(table.min(0) == table.max(0)):
            raise PrudentError(f"{self.name}: constant column {constant}; is it a return? leave it out")
        self.rows = _frozen(table)
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean = _frozen(table.mean(0))
            self._centred = table - self.mean
            self.covariance = _frozen(self._centred.T @ self._centred / len(table))
        if wild := self._named(~(np.diag(self.covariance) < LARGE)):
            raise PrudentError(f"{self.name}: the variance is not finite in {wild}; give rewards in a larger unit")

    @classmethod
    def from_csv(
        cls, path: str | Path, columns: Sequence[str] | None = None, prices: bool | None = None
    ) -> "EmpiricalJoint":
        """The named columns of a CSV file with a header line; by default all that have a name and hold numbers.

        Columns of `prices`, the oldest in the first row, are turned into simple returns p_t/p_{t−1} − 1. Unless that is
        said, columns that look like prices are an error (`prudent.portfolio.prices`).
        """
        asked = prices if prices is None else check_flag(cls.name, "prices", prices)
        found = {name: np.array(values) for name, values in read_columns(path, columns).items()}
        rows = settled(cls.name, found, asked)
        return cls(np.transpose(list(rows.values())), list(rows))

    def _named(self, marked: Any) -> str:
        return ", ".join(itertools.compress(self.names, marked))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return self.rows[rng.integers(len(self.rows), size=size)]

    def block(self, rng: np.random.Generator, rounds: int) -> Block:
        """Exact in law: how often each row was drawn is multinomial."""
        if 4 * rounds <= len(self.rows):
            return super().block(rng, rounds)
        counts = rng.multinomial(rounds, np.full(len(self.rows), 1.0 / len(self.rows)))
        step = counts @ self._centred / rounds
        scatter = (self._centred * counts[:, None]).T @ self._centred - rounds * np.outer(step, step)
        return Block(rounds, self.mean + step, scatter)


def arm_names(owner: str, names: Sequence[str] | None, arms: int) -> tuple[str, ...]:
    """The names of the arms: those given, or "arm 1", "arm 2", …"""
    if names is None:
        return tuple(f"arm {i + 1}" for i in range(arms))
    given = tuple(check_list(owner, "names", names, f"{arms} names, one per arm"))
    if len(given) != arms or not all(isinstance(name, str) for name in given):
        raise PrudentError(f"{owner}: names must be {arms} names, one per arm, got {shown(names)}")
    return given


def _moments(rows: Array) -> Block:
    if len(rows) == 1:
        return Block(1, rows[0], np.zeros((rows.shape[1], rows.shape[1])))
    mean = rows.mean(0)
    centred = rows - mean
    return Block(len(rows), mean, centred.T @ centred)


def _root(covariance: Array) -> Array:
    """L with L Lᵀ = C, for singular C too: the symmetric root, or of many arms Cholesky's factor where there is one.

    Both are unique, so that draws agree on every machine; single eigenvectors have signs that depend on the processor.
    """
    if len(covariance) > MANY_ARMS:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(covariance), dtype=float)
    values, vectors = np.linalg.eigh(covariance)
    values[values < len(values) * np.finfo(float).eps * values[-1]] = 0.0  # rounding, which a root would magnify
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


def _location_and_spread(owner: str, mean: ArrayLike, spread: ArrayLike, called: str) -> tuple[Array, Array]:
    location, matrix = moments(owner, mean, called, spread)
    return _frozen(location), _frozen(check_moments(owner, location, called, matrix)[0])


def _frozen(values: Array) -> Array:
    values = np.array(values)
    values.setflags(write=False)
    return values
