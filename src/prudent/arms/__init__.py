"""Reward laws: what an arm pays. Rewards: larger is better.

Every law knows its exact mean, variance, support, distribution function, quantile and lower-tail mean, draws with a
NumPy Generator, and draws inside kernels (by the same code, see `prudent.arms.sampling`).
"""

from prudent.arms.base import Law as Law
from prudent.arms.base import arms as arms
from prudent.arms.base import encode as encode
