"""Does the unit of rewards decide anything? Three options in euros, 200 rounds, ρ = 55 €, in units of 1, 30, 60, 450 €.

    python benchmarks/units.py [--runs 1000]

Regret in €² of every policy for the mean-variance, ± two standard errors: with `scale="auto"` it is the same in every
unit, up to chance; as published it is not. The last column is the largest difference over its standard error.
"""

import argparse
import math
import warnings

from prudent import Bandit, simulate
from prudent.base.errors import AssumptionWarning
from prudent.base.text import with_error
from prudent.policies.binding import serves
from prudent.policies.contract import policies

OPTIONS = [(40.0, 900.0), (55.0, 8100.0), (38.0, 100.0)]
UNITS = (1.0, 30.0, 60.0, 450.0)


def regret(policy: str, unit: float, scale: str | None, runs: int) -> tuple[float, float]:
    """In €², with its standard error."""
    bandit = Bandit([f"gaussian({mean / unit!r}, {variance / unit**2!r})" for mean, variance in OPTIONS])
    found = simulate(bandit, policy, risk=f"mean-variance(rho={55.0 / unit!r})", horizon=200, runs=runs, scale=scale)
    values = found.regret() * unit**2
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", AssumptionWarning)
    names = [name for name in policies.names() if serves(policies.parse(name)) == "mean-variance"]
    for scale in ("auto", None):
        print("\nscale=auto" if scale else "\nas published", *(f"{unit:g} €" for unit in UNITS), "worst", sep="\t")
        for name in names:
            if {"low", "high"} & set(policies.parse(name)._fields):
                continue  # made for two values
            found = [regret(name, unit, scale, runs) for unit in UNITS]
            worst = max(abs(a - b) / math.hypot(c, d) for a, c in found for b, d in found if (a, c) != (b, d))
            print(name, *(with_error(mean, 2.0 * error) for mean, error in found), f"{worst:.1f}", sep="\t")


if __name__ == "__main__":
    main()
