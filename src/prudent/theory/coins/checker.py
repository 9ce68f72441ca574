"""Check certificates of minimax regret in whole numbers, with the standard library alone: python checker.py FILE …

A certificate holds n, ρ, a prior (pairs of coins p, q and weights, in units of 1/grain) and a mixture of priors, which
stand for their best responses. Pairs count in both orders, and ties go to the first coin. Weights are above 0, so that
both are averages; other files are refused. The program computes

    lower: the least expected regret under the prior, every number rounded down, so that no policy is below it;
    upper: the largest regret of the mixture, from exact numbers of paths and the Bernstein coefficients of a
           polynomial, rounded up, on squares that are halved as long as it helps.

Numbers of a row (all s₂ of one n₁, s₁) lie side by side in one whole number, a *lane* each, so that Python adds and
compares a row at once. U_t(x) = min over coins of U_{t+1}(a one) + U_{t+1}(a zero), where U_n(x) is the probability of
the sequence, averaged over the prior, times the regret.
"""

import json
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import comb, inf, nextafter
from pathlib import Path
from typing import Any

Prior = list[tuple[int, int, int]]
Decisions = dict[tuple[int, int, int], bytes]
EXTRA_BITS, MOST = 40, 2**40


def read(given: Any) -> tuple[int, Fraction, int, Prior, list[tuple[int, Prior]]]:
    """n, ρ, the grain, the prior and the mixture of a certificate; a ValueError if it is not one."""

    def whole(x: Any, low: int, high: int) -> int:
        if type(x) is not int or not low <= x <= high:
            raise ValueError(f"{str(x)[:40]} stands where a whole number from {low} to {high} belongs")
        return x

    def pairs(rows: Any) -> Prior:
        return [(whole(p, 0, grain), whole(q, 0, grain), whole(weight, 1, MOST)) for p, q, weight in rows]

    n, grain = whole(given["horizon"], 1, 1000), whole(given["grain"], 1, MOST)
    if not re.fullmatch(r"[0-2](\.[0-9]{1,20})?(e-[0-9]{2})?", given["rho"]) or Fraction(given["rho"]) > 2:
        raise ValueError("rho must be a decimal from 0 to 2, as text")
    prior, mixture = pairs(given["prior"]), [(whole(x["weight"], 1, MOST), pairs(x["prior"])) for x in given["mixture"]]
    if not (-inf < given["lower"] <= given["upper"] < inf and prior and mixture and all(own for _, own in mixture)):
        raise ValueError("the ends must be finite, the lower one first; priors and the mixture must not be empty")
    return n, Fraction(given["rho"]), grain, prior, mixture


class Lanes:
    """Whole numbers of `width` bits side by side; the highest bit of each is kept free."""

    def __init__(self, size: int, bits: int) -> None:
        self.bytes, self.width = bits // 8 + 1, 8 * (bits // 8 + 1)
        self.ones = [sum(1 << (self.width * i) for i in range(lanes)) for lanes in range(size + 2)]

    def pack(self, numbers: Iterable[int]) -> int:
        return int.from_bytes(b"".join(x.to_bytes(self.bytes, "little") for x in numbers), "little")

    def unpack(self, row: int, size: int) -> list[int]:
        whole = row.to_bytes(self.bytes * size, "little")
        return [int.from_bytes(whole[i : i + self.bytes], "little") for i in range(0, len(whole), self.bytes)]

    def mask(self, marks: bytes) -> int:
        """Lanes full of ones where a mark is 1."""
        spread = bytearray(self.bytes * len(marks))
        spread[:: self.bytes] = marks
        return int.from_bytes(spread, "little") * ((1 << self.width) - 1)


def last_rows(n: int, rho: Fraction, grain: int, prior: Prior, lanes: Lanes) -> tuple[list[list[int]], int, int]:
    """2^bits U_n, rounded down, and what was added to every regret so that none is below 0: both in units of `unit`."""
    unit, bits = n * n * grain * grain * rho.denominator, n + EXTRA_BITS
    scale = [int(unit * (Fraction(s * (n - s), n * n) - rho * Fraction(s, n))) for s in range(n + 1)]

    slope, bend = int(n * n * grain * rho * rho.denominator), n * (n - 1) * rho.denominator  # of what a coin costs
    best = [min(bend * x * (grain - x) - slope * x for x in pair[:2]) for pair in prior]
    shift = max(best) - min(scale)
    rows = [[[0] * (n - n1 + 1) for _ in range(n1 + 1)] for n1 in range(n + 1)]
    for (p, q, weight), low in zip(prior, best, strict=True):
        gained = [weight * (x - low + shift) for x in scale]
        powers = [
            [[(x**s * (grain - x) ** (k - s) << bits) // grain**k for s in range(k + 1)] for k in range(n + 1)]
            for x in (p, q)
        ]
        for one, other in (powers, powers[::-1]):
            for n1 in range(n + 1):
                for s1, first in enumerate(one[n1]):
                    row = rows[n1][s1]
                    for s2, second in enumerate(other[n - n1]):
                        row[s2] += first * second * gained[s1 + s2] >> bits
    return [[lanes.pack(row) for row in of_n1] for of_n1 in rows], unit * 2 * sum(w for _, _, w in prior), shift


def best_response(n: int, rho: Fraction, grain: int, prior: Prior, decide: bool) -> tuple[Fraction, Decisions]:
    """A lower bound of the least expected regret, and (if `decide`) which coin is tossed in every state."""
    bits = n + EXTRA_BITS
    largest = 2 * sum(w for _, _, w in prior) * 4 * n * n * grain * grain * (rho.numerator + rho.denominator)
    lanes = Lanes(n, bits + largest.bit_length())
    layer, unit, shift = last_rows(n, rho, grain, prior, lanes)
    width, decisions = lanes.width, Decisions()
    for t in range(n - 1, -1, -1):
        for n1 in range(t + 1):
            ones = lanes.ones[t - n1 + 1]
            guard, full = ones << (width - 1), (ones << width) - ones
            here, after = layer[n1], layer[n1 + 1]
            for s1 in range(n1 + 1):
                first, second = after[s1] + after[s1 + 1], (here[s1] + (here[s1] >> width)) & full
                at_most = (((second | guard) - first) & guard) >> (width - 1)
                here[s1] = second ^ ((first ^ second) & ((at_most << width) - at_most))
                if decide:
                    decisions[t, n1, s1] = at_most.to_bytes(lanes.bytes * (t - n1 + 1), "little")[:: lanes.bytes]
    lower = Fraction(layer[0][0], unit << bits) - Fraction(shift * 2 * sum(w for _, _, w in prior), unit)
    return lower, decisions


def paths(n: int, decisions: Decisions, lanes: Lanes) -> list[list[int]]:
    """The number of sequences of results that lead to each state of the last layer."""
    layer = [[0] * (n1 + 1) for n1 in range(n + 1)]
    layer[0][0] = 1
    for t in range(n):
        for n1 in range(t, -1, -1):
            for s1 in range(n1, -1, -1):
                here = layer[n1][s1]
                first = here & lanes.mask(decisions[t, n1, s1])
                second = here - first
                layer[n1][s1] = second + (second << lanes.width)
                layer[n1 + 1][s1] += first
                layer[n1 + 1][s1 + 1] += first
    return layer


def coefficients(n: int, rho: Fraction, grain: int, mixture: list[tuple[int, Prior]]) -> list[list[float]]:
    """Those of the mixture's regret against the first coin in the Bernstein basis, rounded up to floats."""
    shares = sum(weight for weight, _ in mixture)
    unit = n * n * rho.denominator
    scale = [s * (n - s) * rho.denominator - rho.numerator * n * s for s in range(n + 1)]
    shift = -min(scale)
    lanes = Lanes(n, 3 * n + 2 + (shares * (max(scale) + shift)).bit_length())
    table = [[0] * (n1 + 1) for n1 in range(n + 1)]
    for weight, prior in mixture:
        own = paths(n, best_response(n, rho, grain, prior, True)[1], lanes)
        table = [[x + weight * y for x, y in zip(*both, strict=True)] for both in zip(table, own, strict=True)]
    sums = [0] * (n + 1)
    for n1 in range(n + 1):  # homogeneous: times (p + 1 − p) once a step, and (q + 1 − q) as often at once
        elevated = lanes.pack([comb(n1, i) for i in range(n1 + 1)])
        sums = [sums[i] + (sums[i - 1] if i else 0) for i in range(n + 1)] if n1 else sums
        for s1 in range(n1 + 1):
            counts = lanes.unpack(table[n1][s1], n - n1 + 1)
            paid = lanes.pack([x * (scale[s1 + s2] + shift) for s2, x in enumerate(counts)])
            sums[s1] += paid * elevated
    rows, alone = [lanes.unpack(row, n + 1) for row in sums], [(x + shift) / unit - 1e-13 for x in scale]  # > rounding
    ways = [2 * shares * unit * comb(n, i) for i in range(n + 1)]
    return [[(rows[i][j] + rows[j][i]) / (ways[i] * comb(n, j)) - alone[i] for j in range(n + 1)] for i in range(n + 1)]


def largest_value(square: list[list[float]], target: float) -> float:
    """The largest coefficient, once squares above the target have been halved, in whole numbers of 2⁻⁵⁷."""
    n = len(square) - 1
    lanes = Lanes(n, 62)
    keep = (lanes.ones[n + 1] << (lanes.width - 1)) - lanes.ones[n + 1]
    rows = [lanes.pack([int((x + 4.0) * 2.0**57) + 1 for x in row]) for row in square]  # regret is above −4
    waiting, splits = [(-(2**61), 0, rows)], 0
    while -waiting[0][0] > (target + 4.0) * 2.0**57 and splits < 8000:
        turned = zip(*(lanes.unpack(row, n + 1) for row in heappop(waiting)[2]), strict=True)
        rows = [lanes.pack(column) for column in turned]
        lower, upper = [rows[0]], [rows[-1]]
        for _ in range(n):
            rows = [(a + b + lanes.ones[n + 1] >> 1) & keep for a, b in pairwise(rows)]
            lower.append(rows[0])
            upper.append(rows[-1])
        for half in (lower, upper[::-1]):
            splits += 1
            heappush(waiting, (-max(max(lanes.unpack(row, n + 1)) for row in half), splits, half))
    return -waiting[0][0] / 2.0**57 - 4.0


def check(certificate: dict[str, Any]) -> tuple[float, float]:
    """The lower and the upper end that the certificate proves."""
    n, rho, grain, prior, mixture = read(certificate)
    lower, _ = best_response(n, rho, grain, prior, False)
    upper = largest_value(coefficients(n, rho, grain, mixture), certificate["upper"])
    return nextafter(float(lower), -inf), upper


if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            given = json.loads(Path(path).read_text(encoding="utf-8"))
            low, high = check(given)
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: {error}")
        except (ArithmeticError, LookupError, RecursionError, TypeError):
            sys.exit(f"{path}: it does not have the form of a certificate")
        said = "as claimed" if low >= given["lower"] and high <= given["upper"] else "NOT as claimed"
        print(f"n = {given['horizon']}, rho = {given['rho']}: {low:.7f} <= minimax regret <= {high:.7f} ({said})")
        if said != "as claimed":
            sys.exit(1)
