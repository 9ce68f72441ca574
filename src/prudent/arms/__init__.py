"""Reward laws: what an arm pays. Rewards: larger is better.

Every law knows its exact mean, variance, support, distribution function, quantile and lower-tail mean, draws with a
NumPy Generator, and draws inside kernels (by the same code, see `prudent.arms.sampling`).
"""

from prudent.arms.base import Law, encode, registry
from prudent.arms.continuous import Beta, Exponential, Gaussian, StudentT, TruncatedGaussian, Uniform
from prudent.arms.discrete import Bernoulli, Deterministic, Empirical
from prudent.arms.mixture import Mixture

__all__ = [
    "Bernoulli",
    "Beta",
    "Deterministic",
    "Empirical",
    "Exponential",
    "Gaussian",
    "Law",
    "Mixture",
    "StudentT",
    "TruncatedGaussian",
    "Uniform",
    "encode",
    "registry",
]
