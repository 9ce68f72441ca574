"""Both engines and `identify` against the exact law of each policy, found by enumeration (tests/helpers/exact_laws.py).

    python benchmarks/enumeration.py [runs]

A cell compares the mean pulls of arm 0 (for `identify`: how often arm 0 is the answer) with their exact mean, in
standard errors: z. Of 126 cells one or more are beyond |z| = 4 by chance with probability 0.8 %.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.exact_laws import cells


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40_000
    worst, count = 0.0, 0
    for cell in cells():
        found, z = cell.z(runs, seed=0)
        worst, count = max(worst, abs(z)), count + 1
        print(f"{z:+5.2f}  exact {cell.mean:9.4f}  found {found:9.4f}  {cell.title}", flush=True)
    print(f"{count} cells of {runs:,} runs: the largest |z| is {worst:.2f}")


if __name__ == "__main__":
    main()
