"""Philox4x32-10 [Salmon11] under the names of a NumPy Generator's methods, as plain Python that kernels compile.

It is a function of a key and a counter, so a stream needs no memory of what was drawn before. The key stands for the
seed and the cell. The counter holds the run, the round (from 0), whose stream it is, and how many blocks of the stream
were taken. So rewards and scores depend neither on the number of runs nor on which thread computes them.

Normals come in pairs. The second of a pair is left for the next call in an even round and in the odd one after it:
then neighbouring threads, each with an arm of its own, compute pairs in the same rounds.
"""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from prudent.base.arrays import Array
from prudent.compile.types import compilable, helper

FIRST, SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
FIRST_STEP, SECOND_STEP = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
HALF = np.uint64(32)
SPARE_BITS, GRID = np.uint64(11), 2.0**-53
"""A uniform number has 53 bits of 64."""

SCORES, REWARDS, TWINS = 0, 1 << 24, 2 << 24
"""Whose stream it is; the arm's number is added for scores and twins."""


def key_of(seed: int, cell: str) -> int:
    """The key of a cell's streams."""
    return int.from_bytes(hashlib.blake2b(f"{seed} | {cell}".encode(), digest_size=8).digest(), "little")


@helper
def philox(key: Any, block: Any, t: Any, run: Any, owner: Any) -> tuple[Any, Any]:
    """128 random bits, as two unsigned numbers; the key has 64, each part of the counter 32."""
    k0, k1 = np.uint32(key), np.uint32(key >> HALF)
    c0, c1, c2, c3 = np.uint32(block), np.uint32(t), np.uint32(run), np.uint32(owner)
    for _ in range(10):
        one, two = FIRST * np.uint64(c0), SECOND * np.uint64(c2)
        # Back to 32 bits at every step, since Numba widens, and GPUs multiply 32 bits by 32 at once.
        c0, c1 = np.uint32(np.uint32(two >> HALF) ^ c1 ^ k0), np.uint32(two)
        c2, c3 = np.uint32(np.uint32(one >> HALF) ^ c3 ^ k1), np.uint32(one)
        k0, k1 = np.uint32(k0 + FIRST_STEP), np.uint32(k1 + SECOND_STEP)
    return (np.uint64(c1) << HALF) | np.uint64(c0), (np.uint64(c3) << HALF) | np.uint64(c2)


@helper
def sine_and_cosine(u: float) -> tuple[float, float]:
    """Those of 2πu, u in [0, 1): Taylor series for the nearest quarter of a turn, right to the last digit or two."""
    quarter = int(4.0 * u + 0.5)
    x = 0.5 * math.pi * (4.0 * u - quarter)
    y = x * x
    sine = -1.0 / 6227020800 + y * (1.0 / 1307674368000)
    sine = 1.0 / 362880 + y * (-1.0 / 39916800 + y * -sine)
    sine = x * (1.0 + y * (-1.0 / 6 + y * (1.0 / 120 + y * (-1.0 / 5040 + y * sine))))
    cosine = 1.0 / 479001600 + y * (-1.0 / 87178291200 + y * (1.0 / 20922789888000))
    cosine = -1.0 / 720 + y * (1.0 / 40320 + y * (-1.0 / 3628800 + y * cosine))
    cosine = 1.0 + y * (-0.5 + y * (1.0 / 24 + y * cosine))
    if quarter & 1:
        sine, cosine = cosine, -sine
    return (-sine, -cosine) if quarter & 2 else (sine, cosine)


class Philox(NamedTuple):
    """A stream. `taken[0]` counts its blocks; `spare[at]` is a normal left from the call before, NaN if there is none.

    Inside kernels made by `stream_of`.
    """

    key: Any
    t: Any
    run: Any
    owner: Any
    taken: Any
    spare: Array
    at: int

    def bits(self) -> tuple[Any, Any]:
        block = self.taken[0]
        self.taken[0] = block + 1
        return philox(self.key, block, self.t, self.run, self.owner)

    def random(self) -> float:
        bits, _ = self.bits()
        return float(bits >> SPARE_BITS) * GRID

    def standard_exponential(self) -> float:
        return -math.log(1.0 - self.random())

    def standard_normal(self) -> float:
        left = self.spare[self.at]
        if not math.isnan(left):
            self.spare[self.at] = math.nan
            return left
        one, two = self.bits()
        radius = math.sqrt(-2.0 * math.log(1.0 - float(one >> SPARE_BITS) * GRID))
        sine, cosine = sine_and_cosine(float(two >> SPARE_BITS) * GRID)
        self.spare[self.at] = radius * sine
        return radius * cosine

    def standard_gamma(self, shape: float) -> float:
        """[Marsaglia00]; a shape below 1 takes a draw for one above, times U^(1/shape)."""
        share = 1.0
        if shape < 1.0:
            share = math.exp(-self.standard_exponential() / shape)
            shape += 1.0
        d = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.standard_normal()
            v = 1.0 + c * x
            if v > 0.0:
                u, y, v = 1.0 - self.random(), x * x, v * v * v
                if u < 1.0 - 0.0331 * y * y or math.log(u) < 0.5 * y + d * (1.0 - v + math.log(v)):
                    return share * d * v

    def chisquare(self, df: float) -> float:
        return 2.0 * self.standard_gamma(0.5 * df)

    def standard_t(self, df: float) -> float:
        return self.standard_normal() / math.sqrt(self.chisquare(df) / df)

    def beta(self, a: float, b: float) -> float:
        one = self.standard_gamma(a)
        return one / (one + self.standard_gamma(b))

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        return loc + scale * self.standard_normal()

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * self.random()

    def exponential(self, scale: float = 1.0) -> float:
        return scale * self.standard_exponential()

    def gamma(self, shape: float, scale: float = 1.0) -> float:
        return scale * self.standard_gamma(shape)

    def integers(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low))

    def binomial(self, n: int, p: float) -> int:
        """By halves: the k-th smallest of n uniforms is a beta, and says on which side of p so many of them are."""
        count = 0
        while n > 30:
            k = 1 + n // 2
            middle = self.beta(float(k), float(n + 1 - k))
            if p < middle:
                n, p = k - 1, p / middle
            else:
                n, p, count = n - k, (p - middle) / (1.0 - middle), count + k
        for _ in range(n):
            count += self.random() < p
        return count


compilable(Philox)
