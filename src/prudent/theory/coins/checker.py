"""Check certificates of minimax regret in whole numbers, with the standard library alone: python checker.py FILE …

A certificate holds n, ρ, a prior (pairs of coins p, q and weights, in units of 1/grain) and a mixture of priors, which
stand for their best responses. Pairs count in both orders, and ties go to the first coin. The program computes

    lower: the least expected regret under the prior, every number rounded down, so that no policy is below it;
    upper: the largest regret of the mixture, from numbers of paths, which are exact, and the Bernstein coefficients of
           a polynomial, rounded up, on squares that are halved as long as it helps.

Numbers of a row (all s₂ of one n₁, s₁) lie side by side in one whole number, a *lane* each, so that Python adds and
compares a row at once. U_t(x) = min over coins of U_{t+1}(a one) + U_{t+1}(a zero), where U_n(x) is the probability of
the sequence, averaged over the prior, times the regret.
"""

import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

Prior = list[tuple[int, int, int]]
Decisions = list[list[list[bytes]]]
EXTRA_BITS = 40


class Lanes:
    """Whole numbers of `width` bits side by side; the highest bit of each is kept free."""

    def __init__(self, size: int, bits: int) -> None:
        self.bytes, self.width = bits // 8 + 1, 8 * (bits // 8 + 1)
        one = sum(1 << (self.width * i) for i in range(size + 1))
        self.ones = [one & ((1 << (self.width * i)) - 1) for i in range(size + 2)]

    def pack(self, numbers: Iterable[int]) -> int:
        return int.from_bytes(b"".join(x.to_bytes(self.bytes, "little") for x in numbers), "little")

    def unpack(self, row: int, size: int) -> list[int]:
        whole = row.to_bytes(self.bytes * size, "little")
        return [int.from_bytes(whole[i : i + self.bytes], "little") for i in range(0, len(whole), self.bytes)]

    def marks(self, row: int, size: int) -> bytes:
        """The lowest byte of each lane."""
        return row.to_bytes(self.bytes * size, "little")[:: self.bytes]

    def mask(self, marks: bytes) -> int:
        """Lanes full of ones where a mark is 1."""
        spread = bytearray(self.bytes * len(marks))
        spread[:: self.bytes] = marks
        one = int.from_bytes(spread, "little")
        return (one << self.width) - one


def last_rows(n: int, rho: Fraction, grain: int, prior: Prior, lanes: Lanes) -> tuple[list[list[int]], int, int]:
    """2^bits U_n, rounded down, and what was added to every regret so that none is below 0: both in units of `unit`."""
    unit, bits = n * n * grain * grain * rho.denominator, n + EXTRA_BITS
    scale = [int(unit * (Fraction(s * (n - s), n * n) - rho * Fraction(s, n))) for s in range(n + 1)]

    def alone(p: int) -> int:
        return int(unit * ((1 - Fraction(1, n)) * Fraction(p * (grain - p), grain * grain) - rho * Fraction(p, grain)))

    best = [min(alone(p), alone(q)) for p, q, _ in prior]
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
    width, decisions = lanes.width, []
    for t in range(n - 1, -1, -1):
        chosen = []
        for n1 in range(t + 1):
            ones = lanes.ones[t - n1 + 1]
            guard, full = ones << (width - 1), (ones << width) - ones
            here, after = layer[n1], layer[n1 + 1]
            marks = []
            for s1 in range(n1 + 1):
                first, second = after[s1] + after[s1 + 1], (here[s1] + (here[s1] >> width)) & full
                at_most = (((second | guard) - first) & guard) >> (width - 1)
                here[s1] = second ^ ((first ^ second) & ((at_most << width) - at_most))
                if decide:
                    marks.append(lanes.marks(at_most, t - n1 + 1))
            chosen.append(marks)
        decisions.append(chosen)
    lower = Fraction(layer[0][0], unit << bits) - Fraction(shift * 2 * sum(w for _, _, w in prior), unit)
    return lower, decisions[::-1]


def paths(n: int, decisions: Decisions, lanes: Lanes) -> list[list[int]]:
    """The number of sequences of results that lead to each state of the last layer."""
    layer = [[0] * (n1 + 1) for n1 in range(n + 1)]
    layer[0][0] = 1
    for t in range(n):
        for n1 in range(t, -1, -1):
            for s1 in range(n1, -1, -1):
                here = layer[n1][s1]
                first = here & lanes.mask(decisions[t][n1][s1])
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
        _, decisions = best_response(n, rho, grain, prior, True)
        for total, own in zip(table, paths(n, decisions, lanes), strict=True):
            for s1, row in enumerate(own):
                total[s1] += weight * row
    sums = [0] * (n + 1)
    for n1 in range(n + 1):  # homogeneous: times (p + 1 − p) once a step, and (q + 1 − q) as often at once
        elevated = lanes.pack([comb(n1, i) for i in range(n1 + 1)])
        sums = [sums[i] + (sums[i - 1] if i else 0) for i in range(n + 1)] if n1 else sums
        for s1 in range(n1 + 1):
            counts = lanes.unpack(table[n1][s1], n - n1 + 1)
            paid = lanes.pack([x * (scale[s1 + s2] + shift) for s2, x in enumerate(counts)])
            sums[s1] += paid * elevated
    rows = [lanes.unpack(row, n + 1) for row in sums]
    found = []
    for i in range(n + 1):
        both = [(rows[i][j] + rows[j][i]) / (2 * shares * unit * comb(n, i) * comb(n, j)) for j in range(n + 1)]
        found.append([x - (scale[i] + shift) / unit + 1e-13 for x in both])  # more than rounding
    return found


def largest_value(square: list[list[float]], target: float) -> float:
    """The largest coefficient, once squares above the target have been halved, in whole numbers of 2⁻⁵⁷."""
    n = len(square) - 1
    lanes = Lanes(n, 62)
    keep = (lanes.ones[n + 1] << (lanes.width - 1)) - lanes.ones[n + 1]
    rows = [lanes.pack([int((x + 4.0) * 2.0**57) + 1 for x in row]) for row in square]  # regret is above −4
    waiting: list[tuple[int, int, list[int]]] = []
    whole, splits = int((target + 4.0) * 2.0**57), 0

    def look_at(rows: list[int]) -> None:
        heappush(waiting, (-max(max(lanes.unpack(row, n + 1)) for row in rows), splits, rows))

    look_at(rows)
    while -waiting[0][0] > whole and splits < 4000:
        _, _, rows = heappop(waiting)
        splits += 2
        rows = [lanes.pack(column) for column in zip(*(lanes.unpack(row, n + 1) for row in rows), strict=True)]
        lower, upper = [rows[0]], [rows[-1]]
        for _ in range(n):
            rows = [(a + b + lanes.ones[n + 1] >> 1) & keep for a, b in pairwise(rows)]
            lower.append(rows[0])
            upper.append(rows[-1])
        look_at(lower)
        splits += 1
        look_at(upper[::-1])
    return -waiting[0][0] / 2.0**57 - 4.0


def check(certificate: dict[str, Any]) -> tuple[float, float]:
    """The lower and the upper end that the certificate proves."""
    n, rho, grain = certificate["horizon"], Fraction(certificate["rho"]), certificate["grain"]
    lower, _ = best_response(n, rho, grain, certificate["prior"], False)
    mixture = [(part["weight"], part["prior"]) for part in certificate["mixture"]]
    return float(lower) - 1e-16, largest_value(coefficients(n, rho, grain, mixture), certificate["upper"])


if __name__ == "__main__":
    for path in sys.argv[1:]:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
        low, high = check(given)
        fine = low >= given["lower"] and high <= given["upper"]
        said = "as claimed" if fine else "NOT as claimed"
        print(f"n = {given['horizon']}, rho = {given['rho']}: {low:.7f} <= minimax regret <= {high:.7f} ({said})")
        if not fine:
            sys.exit(1)
