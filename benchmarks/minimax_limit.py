"""The limit that the minimax regret of two coins may have: `python benchmarks/minimax_limit.py 0.1 0.05 0.025`.

With many rounds only differences of order n^(−1/3) between the costs matter, and n^(2/3) pulls of the worse arm, so
that rewards become Brownian motions of unit noise. x₁ and x₂ are the scaled pulls, d the scaled difference of the
costs. A policy stops with one arm and pays the pulls of the other, and |d| if it is wrong. All that is seen of the
difference is Z = I · (its estimate), I = x₁x₂/(x₁ + x₂): a Brownian motion with drift d in the clock I.

For each step h of the pulls the program prints the least expected cost if d = ± 1.6 with equal probability, which is a
lower bound of the minimax cost c₀ with pulls in steps of h, and c₀/3, the constant of coins: the arms (p, 1 − p) have
the noise √(p(1 − p)) |1 − 2p| and the price (1 − 2p)², and the largest product is 1/3, at p(1 − p) = 1/12.
"""

import math
import sys

import numpy as np

from prudent.compile.types import helper, kernel

DIFFERENCE, FURTHEST, LARGEST = 1.6, 1.5, 6.0
"""|d|, the pulls after which an arm is given up for good, and the largest |Z| of the grid."""
NODES = np.array([-2.8569700138728056, -1.3556261799742659, 0.0, 1.3556261799742659, 2.8569700138728056])
WEIGHTS = np.array([0.011257411327720691, 0.22207592200561263, 8.0 / 15.0, 0.22207592200561263, 0.011257411327720691])


@helper
def between(values, place):
    """A cubic through the four values around a place."""
    place = min(max(place, 1.0), len(values) - 3.001)
    i = int(place)
    u, a, b, c, d = place - i, values[i - 1], values[i], values[i + 1], values[i + 2]
    return b + 0.5 * u * (c - a + u * (2.0 * a - 5.0 * b + 4.0 * c - d + u * (3.0 * (b - c) + d - a)))


@kernel
def expected(values, z, gained, dear, rule):
    """E of the values at Z after so much more information; `dear` is P(d > 0)."""
    total, (nodes, weights), step = 0.0, rule, 2.0 * LARGEST / (len(values) - 1)
    for sign in (-1.0, 1.0):
        believed = dear if sign > 0.0 else 1.0 - dear
        for q in range(5):
            moved = z + sign * DIFFERENCE * gained + nodes[q] * math.sqrt(gained)
            total += believed * weights[q] * between(values, (moved + LARGEST) / step)
    return total


@kernel
def least_cost(step, most, points, rule):
    """The least expected cost of pulls in steps, each arm pulled at least once."""
    width = 2.0 * LARGEST / (points - 1)
    layer, following = np.zeros((most + 2, points)), np.zeros((most + 2, points))
    for both in range(2 * most, 1, -1):
        for k1 in range(max(1, both - most), min(most, both - 1) + 1):
            x1, x2 = step * k1, step * (both - k1)
            known = x1 * x2 / (x1 + x2)
            first = (x1 + step) * x2 / (x1 + step + x2) - known
            second = x1 * (x2 + step) / (x1 + x2 + step) - known
            for place in range(points):
                z = place * width - LARGEST
                dear = 1.0 / (1.0 + math.exp(-2.0 * DIFFERENCE * z))  # the first arm costs more
                cost = min(x2 + DIFFERENCE * dear, x1 + DIFFERENCE * (1.0 - dear))
                if k1 < most:
                    cost = min(cost, expected(following[k1 + 1], z, first, dear, rule))
                if both - k1 < most:
                    cost = min(cost, expected(following[k1], z, second, dear, rule))
                layer[k1, place] = cost
        layer, following = following, layer
    return expected(following[1], 0.0, step / 2.0, 0.5, rule)


if __name__ == "__main__":
    for given in sys.argv[1:] or ("0.1", "0.05"):
        found = least_cost(float(given), round(FURTHEST / float(given)), 641, (NODES, WEIGHTS))
        print(f"h = {given}: c0 = {found:.4f}, c = {found / 3.0:.4f}", flush=True)
