"""How long does the Bayes recursion of two coins take on a GPU, and how far from the CPU's is its value?

    python benchmarks/exact_gpu.py [rounds …]

For uniform priors and ρ = 0. Seconds are those on the wall after compiling, the tables of the prior included; values in
numbers of 64 and 32 bits where both fit. Up to 1,000 rounds one core of the CPU computes the value too, in processor
time. States are those of all rounds, (n + 4 choose 4).
"""

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from prudent import MeanVariance
from prudent.engine.gpu import coins
from prudent.policies.coin_table import least_costs
from prudent.policies.optimal import costs_of_totals, factors

MOST_ON_CPU = 1_000


def main() -> None:
    for play in (on_cpu, on_gpu(np.float64), on_gpu(np.float32)):
        value(play, 20)
    for n in [int(word) for word in sys.argv[1:]] or [400, 1_000]:
        digits = [each for each in (np.float64, np.float32) if coins.bytes_of(n, each) < 130e9]
        for each in digits:
            started = time.perf_counter()
            found = value(on_gpu(each), n)
            say(n, f"GPU, {np.dtype(each).itemsize * 8} bits", found, time.perf_counter() - started)
        if n <= MOST_ON_CPU:
            started = time.process_time()
            found = value(on_cpu, n)
            say(n, "CPU, one core", found, time.process_time() - started)


def on_cpu(n: int, *given: Any) -> float:
    return min(least_costs(n, *given))


def on_gpu(digits: type) -> Callable[..., float]:
    return lambda *given: coins.least_cost(*given, digits=digits)


def value(play: Callable[..., float], n: int) -> float:
    costs = costs_of_totals(MeanVariance(0.0), n, 0.0, 1.0)
    return play(n, *factors(n, (1.0, 1.0), ()), costs)


def say(n: int, where: str, found: float, seconds: float) -> None:
    speed = math.comb(n + 4, 4) / seconds
    print(f"n = {n:5,}  {where:14} {found:.10f}  {seconds:8.2f} s  {speed:.2e} states/s", flush=True)


if __name__ == "__main__":
    main()
