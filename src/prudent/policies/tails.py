"""Tails of standard laws, for prudent.policies.posteriors and the engine that thins (prudent.engine.leap.drawn)."""

import math

from numpy.random import Generator

from prudent.compile.types import helper

_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


@helper
def normal_tail(z: float) -> float:
    """P(Z > z) of a standard normal Z."""
    return 0.5 * math.erfc(z * math.sqrt(0.5))


@helper
def hazard(z: float) -> float:
    """The density of a standard normal at z over its tail: minus the slope of the tail's logarithm."""
    return z + 1.0 / z if z > 25.0 else math.exp(-0.5 * z * z - _HALF_LOG_2_PI) / normal_tail(z)


@helper
def normal_above(least: float, rng: Generator) -> float:
    """A standard normal given that it exceeds `least` [Robert95]."""
    if least < 0.45:
        z = rng.standard_normal()
        while z <= least:
            z = rng.standard_normal()
        return float(z)
    rate = 0.5 * (least + math.sqrt(least * least + 4.0))
    z = least + rng.standard_exponential() / rate
    while rng.random() >= math.exp(-0.5 * (z - rate) * (z - rate)):
        z = least + rng.standard_exponential() / rate
    return float(z)


@helper
def gamma_divergence(ratio: float) -> float:
    """κ − 1 − log κ."""
    return ratio - 1.0 - math.log(ratio)


@helper
def gamma_log_density(shape: float, x: float) -> float:
    """The logarithm of a gamma law's density, with digits where the shape is large."""
    peak = 0.5 * math.log(shape) - _HALF_LOG_2_PI - _log_gamma_rest(shape)
    return peak - shape * gamma_divergence(x / shape) - math.log(x)


@helper
def beta_divergence(p: float, x: float) -> float:
    """kl(p, x) of Bernoulli laws, both inside (0, 1)."""
    return p * math.log(p / x) + (1.0 - p) * math.log((1.0 - p) / (1.0 - x))


@helper
def beta_log_density(a: float, b: float, x: float) -> float:
    """The logarithm of a beta law's density."""
    total = a + b
    rest = _log_gamma_rest(total) - _log_gamma_rest(a) - _log_gamma_rest(b)
    peak = 0.5 * math.log(a / total * b) - _HALF_LOG_2_PI + rest
    return peak - total * beta_divergence(a / total, x) - math.log(x * (1.0 - x))


@helper
def _log_gamma_rest(a: float) -> float:
    """log Γ(a) less (a − ½) log a − a + ½ log 2π; by Stirling's series where that is exact."""
    if a < 20.0:
        return math.lgamma(a) - (a - 0.5) * math.log(a) + a - _HALF_LOG_2_PI
    r = 1.0 / (a * a)
    return (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / a
