"""Hypergeometric draws inside kernels, exact for populations up to 2⁵³ (Numba offers none)."""

import math

from numpy.random import Generator

from prudent.compile.types import kernel


@kernel
def hypergeometric(good: int, bad: int, draws: int, rng: Generator) -> int:
    """How many good ones are among `draws` taken without replacement from good + bad.

    Symmetries reduce to good ≤ bad and draws ≤ half; then inversion from the mode outwards where the spread is small,
    the ratio of uniforms [Stadlober90] where it is large.
    """
    total = good + bad
    few_good = min(good, bad)
    few_draws = min(draws, total - draws)
    if few_good == 0 or few_draws == 0:
        x = 0
    else:
        mean = few_draws * (few_good / total)
        spread = math.sqrt(mean * (1.0 - few_good / total) * ((total - few_draws) / max(total - 1, 1)))
        x = _inversion(few_good, total, few_draws, rng) if spread < 12.0 else _ratio(few_good, total, few_draws, rng)
    if draws > few_draws:
        x = few_good - x
    return x if good <= bad else draws - x


@kernel
def _inversion(good: int, total: int, draws: int, rng: Generator) -> int:
    """Walk outwards from the mode, taking each value's probability off a uniform number."""
    # The law is symmetric in good and draws; the smaller one keeps the logarithms small, and so exact.
    good, draws = min(good, draws), max(good, draws)
    mode = int((draws + 1.0) * ((good + 1.0) / (total + 2.0)))
    top = math.exp(_log_choose(draws, mode) + _log_choose(total - draws, good - mode) - _log_choose(total, good))
    low, high = max(0, draws - (total - good)), min(good, draws)
    while True:
        u = rng.random() - top
        if u <= 0.0:
            return mode
        down, up, p_down, p_up = mode, mode, top, top
        while down > low or up < high:
            if up < high:
                p_up *= (good - up) / (up + 1.0) * ((draws - up) / (total - good - draws + up + 1.0))
                up += 1
                u -= p_up
                if u <= 0.0:
                    return up
            if down > low:
                p_down *= down / (good - down + 1.0) * ((total - good - draws + down) / (draws - down + 1.0))
                down -= 1
                u -= p_down
                if u <= 0.0:
                    return down
            if p_up + p_down < 1e-300:
                break
        # Rounding left a sliver of u uncovered: draw again.


@kernel
def _ratio(good: int, total: int, draws: int, rng: Generator) -> int:
    """Ratio of uniforms around the mean; the hat holds for every hypergeometric law [Stadlober90]."""
    p = good / total
    mean = draws * p
    variance = mean * (1.0 - p) * ((total - draws) / (total - 1.0))
    centre = mean + 0.5
    width = 1.7155277699214135 * math.sqrt(variance + 0.5) + 0.8989161620588988
    mode = int((draws + 1.0) * ((good + 1.0) / (total + 2.0)))
    end = min(min(good, draws) + 1.0, math.floor(centre + 16.0 * math.sqrt(variance + 0.5)))
    while True:
        u = 1.0 - rng.random()
        x = centre + width * (rng.random() - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = int(x)
        step = float(k - mode)
        log_ratio = -(
            _log_rise(mode, step)
            + _log_rise(good - mode, -step)
            + _log_rise(draws - mode, -step)
            + _log_rise(total - good - draws + mode, step)
        )
        if 2.0 * math.log(u) <= log_ratio:
            return k


@kernel
def _log_rise(a: float, step: float) -> float:
    """log((a + step)! / a!) without the cancellation of two log-factorials."""
    b = a + step
    if a < 20.0 or b < 20.0:
        return math.lgamma(b + 1.0) - math.lgamma(a + 1.0)
    tail = _stirling(b) - _stirling(a)
    return (a + 0.5) * math.log1p(step / a) + step * math.log(b) - step + tail


@kernel
def _stirling(a: float) -> float:
    """The tail of Stirling's series for log a!, to double precision from a = 20 on."""
    r = (1.0 / a) ** 2  # a may be a whole number, whose square would wrap around
    return (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / a


@kernel
def _log_choose(n: float, k: float) -> float:
    """log of n over k, stable for large n and small k."""
    k = min(k, n - k)
    return _log_rise(n - k, k) - math.lgamma(k + 1.0)
