"""Outcomes that are far from all others, such as a typing error, or the time at which waiting ended."""

import math

import numpy as np

from prudent.base.arrays import Array

ODD = 4.0
"""How many times smaller the variance must be without some outcomes for them to be odd."""

FAR, FAR_OF_FEW = 2.0, 10.0
"""And how many times as far from the median they must be as all others; of fewer than `FEWEST` outcomes."""

FEWEST = 10

ODD_SHARE, EQUAL_SHARE, AT_LEAST = 0.02, 0.1, 3
"""The share of outcomes that may be odd together, and of those that are all the same, such as time-outs; but `AT_LEAST`
so many, unless they are a quarter of all."""


def odd_ones(x: Array) -> tuple[Array, Array]:
    """Outcomes that are far from all others, as a group, since two that are alike hide each other; and the others."""
    size = len(x)
    far = np.abs(x - np.median(x))
    order = np.argsort(-far, kind="stable")
    equal = int((x == x[order[0]]).sum()) if size else 0
    most = min(max(AT_LEAST, math.ceil(ODD_SHARE * size)), size // 4)
    counts = np.arange(1, most + 1)
    if most < equal <= EQUAL_SHARE * size:
        counts = np.append(counts, equal)
    if not len(counts):
        return x[:0], x
    # The variance of the rest for every number of outcomes left out: sums that begin with those near the median.
    left = (x - np.median(x))[order][::-1]
    sizes = size - counts
    variance = np.cumsum(left**2)[sizes - 1] / sizes - (np.cumsum(left)[sizes - 1] / sizes) ** 2
    nearest, farther = far[order][counts - 1], far[order][counts]
    enough = FAR if size >= FEWEST else FAR_OF_FEW
    found = (variance > 0.0) & (x.var() > ODD * variance) & (nearest >= enough * farther)
    if not found.any():
        return x[:0], x
    ratio = np.where(found, nearest / np.where(farther > 0.0, farther, 1.0), 0.0)
    count = int(counts[ratio.argmax()])
    return np.sort(x[order[:count]]), np.sort(x[order[count:]])
