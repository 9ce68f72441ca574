"""Print the table of half-widths in docs/live.md: `python docs/widths.py`."""

import math

import numpy as np

from prudent import Beta, Uniform
from prudent.confidence.always import mean_bounds, variance_bounds

COUNTS = (100, 1_000, 10_000, 100_000)
FAILURE = 0.05


def maurer_pontil(n: int, variance: float, failure: float) -> float:
    """Empirical Bernstein on [0, 1] for one n [Maurer09, Theorem 4], both sides."""
    log = math.log(4.0 / failure)
    return math.sqrt(2.0 * variance * log / n) + 7.0 * log / (3.0 * (n - 1))


def half(bounds: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return (bounds[1] - bounds[0]) / 2.0


def main() -> None:
    uniform, beta, n = Uniform(0.0, 1.0), Beta(12.0, 12.0), np.array(COUNTS)
    rows = {
        "uniform law, here": half(mean_bounds(n, uniform.mean, uniform.variance, FAILURE, 0.0, 1.0)),
        "Maurer–Pontil with δ/n(n+1)": [maurer_pontil(m, uniform.variance, FAILURE / (m * (m + 1))) for m in COUNTS],
        "Maurer–Pontil, for one fixed n only": [maurer_pontil(m, uniform.variance, FAILURE) for m in COUNTS],
        "beta(12, 12), variance 0.01, here": half(mean_bounds(n, beta.mean, beta.variance, FAILURE, 0.0, 1.0)),
        "variance of a uniform law, here": half(variance_bounds(n, uniform.mean, uniform.variance, FAILURE, 0.0, 1.0)),
    }
    for name, widths in rows.items():
        print(f"| {name} |", " | ".join(f"{width:.4f}" for width in widths), "|")


if __name__ == "__main__":
    main()
