"""Hand-written Numba loops, to compare both engines with; nothing in them is general."""

import math

import numpy as np
from numba import njit


@njit(nogil=True)
def mv_lcb(means, deviations, rho, delta, n, runs, rng):
    """MV-LCB on Gaussian arms, sums of rewards and of squares, only the pulled arm rescored."""
    k = len(means)
    pulls, mean, variance = np.empty(k, np.int64), np.empty(k), np.empty(k)
    scores = np.empty(k)
    total = 0
    log_term = math.log(1.0 / delta)
    for _ in range(runs):
        pulls[:] = 0
        mean[:] = 0.0
        variance[:] = 0.0
        scores[:] = -np.inf
        for _ in range(n):
            best = 0
            for i in range(1, k):
                if scores[i] < scores[best]:
                    best = i
            x = means[best] + deviations[best] * rng.standard_normal()
            pulls[best] += 1
            s = pulls[best]
            d = x - mean[best]
            mean[best] += d / s
            variance[best] += (d * (x - mean[best]) - variance[best]) / s
            scores[best] = variance[best] - rho * mean[best] - (5.0 + rho) * math.sqrt(log_term / (2.0 * s))
        total += pulls[0]
    return total


@njit(nogil=True)
def ucb1(means, deviations, n, runs, rng):
    """UCB1 on Gaussian arms; every arm rescored in every round."""
    k = len(means)
    pulls, sums = np.empty(k, np.int64), np.empty(k)
    total = 0
    for _ in range(runs):
        pulls[:] = 0
        sums[:] = 0.0
        for t in range(1, n + 1):
            best, best_score = 0, -np.inf
            for i in range(k):
                score = np.inf if pulls[i] == 0 else sums[i] / pulls[i] + math.sqrt(2.0 * math.log(t) / pulls[i])
                if score > best_score:
                    best, best_score = i, score
            pulls[best] += 1
            sums[best] += means[best] + deviations[best] * rng.standard_normal()
        total += pulls[0]
    return total
