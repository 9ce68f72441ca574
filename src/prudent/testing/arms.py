"""The contract of a reward law."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np

from prudent import Law
from prudent.arms import sampling
from prudent.arms.base import arms as registered
from prudent.arms.base import encode
from prudent.arms.quadrature import gauss
from prudent.base.arrays import Array
from prudent.testing.rules import SEED, answers, check_value, refuses, require

ERRORS = 6.0
"""How many standard errors a sample's moment may be off: by chance once in 5e8, were the stream not fixed."""

_TAIL = np.array([1e-12, 1e-9, 1e-6, 1e-4, 1e-3])
LEVELS = np.concatenate([_TAIL, np.arange(1, 256) / 256, 1.0 - _TAIL[::-1]])
"""The α at which laws are looked at; every atom above 1/256 is one of their quantiles."""

MISFIT = "do its `parameters` suit the kernel of its `kind`?"


def check_arm(law: Law | str, *, printable: bool = True) -> None:
    """A law's mean, variance, distribution function, quantiles, tail means and draws must tell one story.

    `printable=False` is for a law whose text is a digest and no spec, such as a long `Empirical`.
    """
    law = registered.parse(law) if isinstance(law, str) else law
    require(isinstance(law, Law), repr(law), "an arm must be a Law", "subclass prudent.arms.Law")
    check_value(law, registered if printable else None)
    if not law.has_quantiles:
        with answers(law, "must draw rewards"):
            _check_sample(law)
        return
    with answers(law, "must know its distribution function, quantiles and tail means"):
        quantiles = np.array([law.quantile(float(alpha)) for alpha in LEVELS])
        _check_quantiles(law, quantiles)
        fourth = _check_moments(law, quantiles)
    with answers(law, "must draw rewards"):
        _check_draws(law, quantiles)
        _check_kernels(law, _reach(law, quantiles), fourth)
    for method, alpha in itertools.product(("quantile", "lower_tail_mean"), (0.0, -0.1, 1.1, math.nan)):
        refuses(law, f"{method}({alpha})", partial(getattr(law, method), alpha))


def _check_quantiles(law: Law, quantiles: Array) -> None:
    """quantile is the generalised inverse of cdf, within the support."""
    low, high = law.support
    rounding = 1e-12 * np.abs(quantiles).max()
    require((np.diff(quantiles) >= -rounding).all(), law, "quantile must not decrease", "is it the inverse of cdf?")
    inside = low - rounding <= quantiles.min() and quantiles.max() <= high + rounding
    require(inside, law, f"quantiles must lie in the support {law.support}", "mend quantile or `support`")
    reached = np.array([law.cdf(float(x)) for x in quantiles])
    proper = (np.diff(reached) >= -1e-12).all() and reached.min() >= 0.0 and reached.max() <= 1.0
    require(proper, law, "cdf must rise within [0, 1]", "it is P(X ≤ x)")
    whole = law.cdf(math.nextafter(low, -math.inf)) == 0.0 and law.cdf(high) > 1.0 - 1e-12
    require(whole, law, f"cdf must rise from 0 to 1 over the support {law.support}", "mend cdf or `support`")
    # Steps to either side are for rounding, next to an infinite density. Left of the quantile the level is not reached.
    enough = np.array([law.cdf(float(x)) for x in quantiles + rounding])
    require((enough >= LEVELS - 1e-6).all(), law, "cdf(quantile(α)) must be at least α", "quantile is too small")
    step = 1e-6 * (quantiles[-1] - quantiles[0]) + rounding
    short = np.array([law.cdf(float(x)) for x in np.nextafter(quantiles - step, -math.inf)])
    require((short <= LEVELS + 1e-6).all(), law, "quantile(α) must be the smallest x with cdf(x) ≥ α", "it is larger")
    together = np.abs(np.stack(law.masses(quantiles)) - [reached, 1.0 - reached]).max() <= 1e-12
    require(together, law, "masses(x) must be cdf(x) and 1 minus it", "leave masses out, and cdf is asked")


def _check_moments(law: Law, quantiles: Array) -> float:
    """The law's moments against integrals of its distribution function F; returns the fourth, about the mean.

    With I(x) = ∫_{−∞}^x F: E[X; X ≤ x] = x F(x) − I(x) and ∫₀^α q = α q(α) − I(q(α)), atoms or not.
    """
    # Even steps cross the gaps between the quantiles of a law with far modes.
    edges = np.unique(np.concatenate([quantiles, np.linspace(quantiles[0], quantiles[-1], 129)]))
    pieces, rough = _integrals(law, edges, nodes=8), _integrals(law, edges, nodes=7)
    slack = np.abs(pieces - rough).sum(1)
    slack += 2.0 * LEVELS[0] * _reach(law, quantiles) ** np.array([1, 2, 4])  # rewards rarer than the outermost levels
    integral = np.concatenate([[0.0], np.cumsum(pieces[0])])
    mean = float(edges[-1] - integral[-1])
    variance = float((edges[0] - law.mean) ** 2 + pieces[1].sum())
    near = 1e-4 * math.sqrt(max(variance, 0.0)) + 1e-9 * np.abs(edges).max() + slack[0]
    require(abs(law.mean - mean) <= near, law, f"mean is {law.mean:g}, but that of cdf is {mean:g}", "mend one of them")
    told = f"variance is {law.variance:g}, but that of cdf is {variance:g}"
    require(abs(law.variance - variance) <= 1e-4 * variance + near**2 + slack[1], law, told, "mend one of them")
    _check_tails(law, quantiles, integral[np.searchsorted(edges, quantiles)], near)
    return float((edges[0] - law.mean) ** 4 + pieces[2].sum())


def _integrals(law: Law, edges: Array, nodes: int) -> Array:
    """∫F, ∫2(x−μ)(1−F), ∫4(x−μ)³(1−F) from each edge to the next, by Gauss–Legendre.

    Between neighbouring quantiles F is smooth or constant, unless it has thousands of steps; two numbers of nodes
    show then how far to trust the sum.
    """
    points, weights = gauss(nodes)
    half = 0.5 * np.diff(edges)[:, None]
    x, area = edges[:-1, None] + half * (1.0 + points), half * weights
    below = law.masses(x.ravel())[0].reshape(x.shape)
    gap = x - law.mean
    return np.array([(area * f).sum(1) for f in (below, 2.0 * gap * (1.0 - below), 4.0 * gap**3 * (1.0 - below))])


def _check_tails(law: Law, quantiles: Array, integral: Array, near: float) -> None:
    """partial_mean and lower_tail_mean against I at the quantiles; below 1e-4 rounding would speak."""
    seen = LEVELS >= 1e-4
    levels, at, up_to = LEVELS[seen], quantiles[seen], integral[seen]
    partial_means = np.array([law.partial_mean(float(q)) - q * law.cdf(float(q)) for q in at])
    require((np.abs(partial_means + up_to) <= near).all(), law, "partial_mean(x) must be E[X; X ≤ x]", "is x included?")
    tails = np.array([law.lower_tail_mean(float(alpha)) for alpha in levels])
    agrees = (np.abs(levels * (tails - at) + up_to) <= near).all()
    require(agrees, law, "lower_tail_mean(α) must be (1/α)∫₀^α quantile", "an atom at the quantile counts by its share")
    rises = (np.diff(tails) >= -near).all() and tails[-1] <= law.mean + near and law.lower_tail_mean(1.0) == law.mean
    require(rises, law, "lower_tail_mean must rise to the mean at α = 1", "it averages the worst α-fraction")


def _check_draws(law: Law, quantiles: Array, size: int = 20_000) -> None:
    """Draws stay in the support, repeat with the stream, and follow the distribution function."""
    rewards, again = (law.sample(np.random.default_rng(SEED), size) for _ in range(2))
    require(np.array_equal(rewards, again), law, "equal streams must give equal draws", "draw from `rng` alone")
    inside = ((rewards >= law.support[0]) & (rewards <= law.support[1])).all()
    require(inside, law, f"draws must lie in the support {law.support}", MISFIT)
    error = _error(size, math.sqrt(law.variance), _reach(law, quantiles)) + 1e-9 * abs(law.mean)
    told = f"draws must have mean {law.mean:g}, but have {rewards.mean():g}"
    require(abs(rewards.mean() - law.mean) <= error, law, told, MISFIT)
    # Dvoretzky–Kiefer–Wolfowitz: shares are further off with probability 1e-9 at most, whatever the law.
    far = math.sqrt(math.log(2.0 / 1e-9) / (2.0 * size))
    places = quantiles + 1e-12 * np.abs(quantiles).max()
    shares = np.searchsorted(np.sort(rewards), places, side="right") / size
    off = np.abs(shares - [law.cdf(float(x)) for x in places]).max()
    require(off <= far, law, f"draws must follow cdf, but their shares are off by {off:.3f}", MISFIT)


def _check_sample(law: Law, size: int = 100_000) -> None:
    """Where quantiles are not known: draws have the mean and the variance, by the spread of the draws themselves."""
    rewards = law.sample(np.random.default_rng(SEED), size)
    inside = ((rewards >= law.support[0]) & (rewards <= law.support[1])).all()
    require(inside, law, f"draws must lie in the support {law.support}", "mend `draw` or `support`")
    squares = (rewards - law.mean) ** 2
    for what, found, wanted in (("mean", rewards, law.mean), ("variance", squares, law.variance)):
        told = f"draws must have {what} {wanted:g}, but have {found.mean():g}"
        error = _error(size, float(found.std()), float(np.ptp(found))) + 1e-9 * abs(wanted)
        require(abs(found.mean() - wanted) <= error, law, told, f"mend `draw` or `{what}`")


def _check_kernels(law: Law, reach: float, fourth: float, size: int = 10, blocks: int = 8_000) -> None:
    """Compiled draws are the interpreted ones, and blocks have the moments of `size` draws."""
    laws, draw = encode([law]), sampling.draw
    interpreted: Any = getattr(draw, "py_func", draw)
    streams = np.random.default_rng(SEED), np.random.default_rng(SEED)
    same = all(draw(laws, 0, streams[0]) == interpreted(laws, 0, streams[1]) for _ in range(200))
    require(same, law, "compiled and interpreted draws must be equal", MISFIT)
    means, variances = np.array([sampling.draw_block(laws, 0, size, streams[0]) for _ in range(blocks)]).T
    share = (size - 1) / size
    spread = share * math.sqrt(max(fourth - law.variance**2 * (size - 3) / (size - 1), 0.0) / size)
    for what, found, wanted, error in (
        ("mean", means, law.mean, _error(blocks, math.sqrt(law.variance / size), reach / size)),
        ("variance", variances, law.variance * share, _error(blocks, spread, reach**2 / size)),
    ):
        told = f"the {what} of a block must be {wanted:g} on average, but is {found.mean():g}"
        require(abs(found.mean() - wanted) <= error + 1e-9 * abs(wanted) + 1e-18 * law.mean**2, law, told, MISFIT)


def _reach(law: Law, quantiles: Array) -> float:
    """How far rewards lie apart: as far as the quantiles, unless all but the rarest rewards are equal."""
    return float(quantiles[-1] - quantiles[0]) or law.support[1] - law.support[0]


def _error(size: int, deviation: float, reach: float) -> float:
    """What an average may be off; the second term is Bernstein's, for rare values that reach far."""
    return ERRORS * (deviation / math.sqrt(size) + reach / size)
