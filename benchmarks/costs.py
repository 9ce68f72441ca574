"""Every measure of random laws of every kind against sums over their densities.

    python benchmarks/costs.py [laws of each kind, 300 by default] [kinds, all by default]

Two thirds of the laws and half of the measures have extreme parameters; two measures of one's own are among them. `off`
is the largest difference, relative to the cost plus the spread of rewards; `none` counts laws without the moment that
the measure needs, all of them refused; `beyond` counts costs that floats cannot hold, refused with that reason; `edge`
counts Student laws that barely have the moment, whose cost is finite but beyond the reference (the tests compare these
with closed forms); `wrong` counts the others. The tests demand the same of fewer laws.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.random_laws import KINDS
from helpers.reference_costs import Verdict, sweep

SEED = 2012


def line(kind: str, name: str, verdicts: list[Verdict]) -> str:
    outcomes = [verdict.outcome for verdict in verdicts]
    off = max(verdict.off for verdict in verdicts)
    numbers = "".join(f"{outcomes.count(outcome):8d}" for outcome in ("refused", "beyond", "edge", "wrong"))
    return f"{kind:20s}{name:22s}{len(verdicts):6d}{off:10.1e}{numbers}"


def main(number: int, kinds: list[str]) -> int:
    print(f"{'law':20s}{'measure':22s}{'laws':>6s}{'off':>10s}{'none':>8s}{'beyond':>8s}{'edge':>8s}{'wrong':>8s}")
    wrong: list[str] = []
    for kind in kinds:
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            found = sweep(kind, number, SEED)
        for name, verdicts in found.items():
            print(line(kind, name, verdicts))
            wrong += [v.text for v in verdicts if v.outcome == "wrong"]
        print(f"{kind}: {time.perf_counter() - start:.0f} s", flush=True)
    print(*wrong, f"{len(wrong)} wrong", sep="\n")
    return len(wrong) > 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(int(given[0]) if given else 300, given[1:] or KINDS))
