"""Blocks of samples, drawn as a whole and split only when a decision needs it.

A block is a row (size, mean, residual sum of squares, count of each atom…): what a policy can see of `size` rewards
drawn one after the other. Splitting a block draws its first part given the whole, so that a block split down to single
rewards has the law of rewards drawn one by one.

Gaussian arms: mean ~ N(μ, σ²/m), residual ~ σ² χ²_{m−1}. Given both, with u the part of the residual between the two
halves and r₁, r₂ the parts within, (u², r₁, r₂)/r ~ Dirichlet(1/2, (m₁−1)/2, (m₂−1)/2), the sign of u is fair, and the
means differ by u √(m/(m₁ m₂)): an orthogonal change of coordinates of m normal deviates.
Arms with finitely many values (Bernoulli, empirical, mixtures of these): the atoms' counts are multinomial; given the
whole, those of the first part are multivariate hypergeometric, since every order of the rewards is equally likely.
Deterministic arms: nothing is random.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from prudent.arms.base import Law
from prudent.arms.continuous import Gaussian
from prudent.base.arrays import Array, Counts
from prudent.compile.types import inlined, kernel, simpler_for
from prudent.engine.leap.hypergeometric import hypergeometric

MAX_ATOMS = 64
"""Beyond this many different values a block costs about as much as its rewards."""

SIZE, MEAN, RESIDUAL, ATOMS = range(4)

Row = Array


class Sources(NamedTuple):
    """Where blocks come from: per arm its mean and variance, and its atoms (value, probability) if it has any."""

    mean: Array
    variance: Array
    n_atoms: Counts
    value: Array
    probability: Array


class GaussianSources(Sources):
    """Where blocks come from if all arms are Gaussian: kernels for these are compiled without atoms."""

    __slots__ = ()


def sources(laws: Sequence[Law]) -> Sources | None:
    """The arms as sources of blocks, or None if some arm cannot be drawn in blocks."""
    atoms = [_atoms(law) for law in laws]
    if any(pairs is None for pairs in atoms):
        return None
    found = [pairs for pairs in atoms if pairs is not None]
    widest = max(len(values) for values, _ in found)
    value, probability = np.zeros((len(laws), widest)), np.zeros((len(laws), widest))
    for i, (values, shares) in enumerate(found):
        value[i, : len(values)], probability[i, : len(values)] = values, shares
    form = Sources if widest else GaussianSources
    return form(
        np.array([law.mean for law in laws]),
        np.array([law.variance for law in laws]),
        np.array([len(values) for values, _ in found], dtype=np.int64),
        value,
        probability,
    )


def _atoms(law: Law) -> tuple[Array, Array] | None:
    """The values of a law and their probabilities; none for a Gaussian, None for a law without blocks."""
    if isinstance(law, Gaussian):
        return np.empty(0), np.empty(0)
    atoms = law.atoms()
    return None if atoms is None or len(atoms[0]) > MAX_ATOMS else atoms


@kernel
def gaussian_block(mean: float, variance: float, size: int, rng: Generator) -> tuple[float, float]:
    """Mean and residual of `size` new Gaussian rewards."""
    block_mean = mean + math.sqrt(variance / size) * rng.standard_normal()
    return block_mean, variance * rng.chisquare(size - 1.0) if size > 1 else 0.0


@kernel
def gaussian_split(
    total: float, mean: float, residual: float, size: int, rng: Generator
) -> tuple[float, float, float, float]:
    """Cut a Gaussian block after `size` rewards: mean and residual of the first part, then of the second."""
    rest = total - size
    z = rng.standard_normal()
    c1 = rng.chisquare(size - 1.0) if size > 1 else 0.0
    c2 = rng.chisquare(rest - 1.0) if rest > 1 else 0.0
    scale = residual / (z * z + c1 + c2)
    u = z * math.sqrt(scale / total)
    return mean - u * math.sqrt(rest / size), scale * c1, mean + u * math.sqrt(size / rest), scale * c2


@kernel
def fresh(src: Sources, arm: int, size: int, rows: Array, to: int, rng: Generator) -> None:
    """Write a block of `size` new rewards of the arm into rows[to]."""
    row = rows[to]
    row[SIZE] = size
    atoms = src.n_atoms[arm]
    if atoms == 0:
        row[MEAN], row[RESIDUAL] = gaussian_block(src.mean[arm], src.variance[arm], size, rng)
        return
    left, share = size, 1.0
    for j in range(atoms - 1):
        p = src.probability[arm, j]
        count = rng.binomial(left, min(p / share, 1.0)) if left > 0 and p > 0.0 else 0
        row[ATOMS + j] = count
        left -= count
        share -= p
    row[ATOMS + atoms - 1] = left
    _moments(src, arm, row)


@simpler_for(fresh, GaussianSources)
def _fresh_gaussian(src: Sources, arm: int, size: int, rows: Array, to: int, rng: Generator) -> None:
    rows[to, SIZE] = size
    rows[to, MEAN], rows[to, RESIDUAL] = gaussian_block(src.mean[arm], src.variance[arm], size, rng)


@kernel
def split(src: Sources, arm: int, size: int, rows: Array, at: int, rng: Generator) -> None:
    """Cut the block in rows[at] after `size` rewards: the first part goes on top, to rows[at + 1], the second stays."""
    first, second = rows[at + 1], rows[at]
    total = second[SIZE]
    first[SIZE], second[SIZE] = size, total - size
    atoms = src.n_atoms[arm]
    if atoms == 0:
        parts = gaussian_split(total, second[MEAN], second[RESIDUAL], size, rng)
        first[MEAN], first[RESIDUAL], second[MEAN], second[RESIDUAL] = parts
        return
    pool, wanted = int(total), size
    for j in range(atoms):
        count = int(second[ATOMS + j])
        taken = hypergeometric(count, pool - count, wanted, rng)
        first[ATOMS + j], second[ATOMS + j] = taken, count - taken
        pool -= count
        wanted -= taken
    _moments(src, arm, first)
    _moments(src, arm, second)


@simpler_for(split, GaussianSources)
def _split_gaussian(src: Sources, arm: int, size: int, rows: Array, at: int, rng: Generator) -> None:
    first, second = rows[at + 1], rows[at]
    total = second[SIZE]
    first[SIZE], second[SIZE] = size, total - size
    parts = gaussian_split(total, second[MEAN], second[RESIDUAL], size, rng)
    first[MEAN], first[RESIDUAL], second[MEAN], second[RESIDUAL] = parts


@kernel
def _moments(src: Sources, arm: int, row: Row) -> None:
    """Mean and residual of a block from its atoms' counts."""
    mean = 0.0
    for j in range(src.n_atoms[arm]):
        if row[ATOMS + j] == row[SIZE]:  # Without rounding, or equal arms would not tie.
            row[MEAN], row[RESIDUAL] = src.value[arm, j], 0.0
            return
        mean += row[ATOMS + j] * src.value[arm, j]
    mean /= row[SIZE]
    residual = 0.0
    for j in range(src.n_atoms[arm]):
        residual += row[ATOMS + j] * (src.value[arm, j] - mean) ** 2
    row[MEAN], row[RESIDUAL] = mean, residual


@inlined
def prefix_box(
    pulls: int,
    mean: float,
    variance: float,
    size: float,
    block_mean: float,
    residual: float,
    log_failure: float,
) -> tuple[float, float, float, float]:
    """Bounds on an arm's (mean, variance) after any prefix of a block: (mean low, high, variance low, high).

    Write s for the pulls before, k for the prefix's length out of m, b and r for the block's mean and residual, g for
    b minus the present mean, e for the prefix's sum minus k b. By Cauchy-Schwarz |e| ≤ √(r k(m−k)/m); so the mean
    stays within ½√(r m/(s(s+m))) of its line, reached at k = s m/(2s+m). The sum of squares about the present mean only
    grows, up to r + m g².

    With log_failure = log(1/η) > 0 the block must be Gaussian: then its residuals point in a uniform direction of
    d = m−1 dimensions. A coordinate of that exceeds x with probability at most e^(−d x²/2), which shrinks e; a prefix's
    share of r follows Beta(k/2, (d−k)/2), which exceeds k/d + x with probability at most e^(−d x²) (Chernoff, Pinsker).
    With η/3m for each side of e and for the share, all hold for all m prefixes but for probability η.
    """
    after = pulls + size
    gap = block_mean - mean
    swing = 0.5 * math.sqrt(residual * size / (pulls * float(after)))  # as whole numbers they overflow from 3e9 on
    end = gap * size / after
    squares = pulls * variance
    highest = (squares + residual + size * gap * gap) / (pulls + 1.0)
    if 0.0 < 4.0 * log_failure < size:
        d = size - 1.0
        log_term = log_failure + math.log(3.0 * size)
        shrink = min(1.0, math.sqrt(2.0 * log_term / d))
        swing *= shrink
        base = squares + residual * math.sqrt(log_term / d) + abs(gap) * shrink * math.sqrt(residual * size)
        # (base + k·step)/(s + k) is monotone in k: the largest is at one end.
        step = residual / d + gap * gap
        highest = min(highest, max((base + step) / (pulls + 1.0), (base + size * step) / after))
    return mean + min(0.0, end) - swing, mean + max(0.0, end) + swing, squares / after, highest
