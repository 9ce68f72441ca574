"""Reward distributions: what an arm pays. Rewards: larger is better.

Every distribution knows its exact mean, variance, support, distribution function, quantile and lower-tail mean, draws
with a NumPy Generator, and draws inside kernels (by the same code).

    base.py              what every reward distribution knows, and how distributions become numbers for kernels
    clipped.py           distributions cut to an interval, with probabilities at its ends
    continuous.py        distributions with a density: Gaussian, beta, uniform, exponential, Student's t
    discrete.py          distributions on finitely many values: Bernoulli, deterministic, empirical
    functions.py         quantiles of beta and Student distributions, and the Laplace transform of beta ones
    mixture.py           mixtures of other distributions
    more_laws.py         distributions drawn from a table: log-normal, gamma, Laplace, Pareto, Poisson
    quadrature.py        integrals over distributions, and their nodes and weights
    quantile_tables.py   a distribution as a table of its quantile function, from which kernels draw
    sampling.py          drawing rewards inside kernels
    truncated.py         Gaussian distributions cut off on one side or both
    user_laws.py         arms from what people bring: a quantile function, a draw, a distribution of scipy.stats
"""

from prudent.arms.base import Law as Law
from prudent.arms.base import arms as arms
from prudent.arms.base import encode as encode
