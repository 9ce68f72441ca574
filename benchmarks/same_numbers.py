"""Did the numbers change? Compare two versions of the code bit for bit.

    python benchmarks/same_numbers.py cells before.json      # in each version: a digest per reference cell and engine
    python benchmarks/same_numbers.py cells after.json
    python benchmarks/same_numbers.py compare before.json after.json
    python benchmarks/same_numbers.py tables OLD/results/paper NEW/results/paper

`tables` compares every Parquet table of two paper folders, column by column; columns of one side only are named, and
are no difference.
"""

import hashlib
import json
import sys
from pathlib import Path

import polars as pl

REFERENCE = Path(__file__).parents[1] / "tests" / "statistical" / "reference.json"


def cells(out: str) -> None:
    """A digest of all arrays that each reference cell leaves, with both engines."""
    from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, simulate

    digests = {}
    for cell in json.loads(REFERENCE.read_text())["cells"]:
        bandit = Bandit([Gaussian(mean, variance) for mean, variance in zip(cell["mu"], cell["var"], strict=True)])
        policy = MVLCB() if cell["algo"] == "mv-lcb" else ExpExp(tau=cell["tau"])
        for engine in ("stepping", "leaping"):
            settings = {"horizon": cell["n"], "runs": 200, "seed": 11, "engine": engine}
            runs = simulate(bandit, policy, risk=MeanVariance(cell["rho"]), **settings)
            arrays = (runs.pulls, runs.mean, runs.variance, runs.twin_mean, runs.twin_variance)
            name = f"{cell['algo']}, {len(cell['mu'])} arms, rho {cell['rho']:g}, n {cell['n']}, {engine}"
            digests[name] = hashlib.blake2b(b"".join(array.tobytes() for array in arrays)).hexdigest()
    Path(out).write_text(json.dumps(digests, indent=1))
    print(f"{len(digests)} cells")


def compare(before: str, after: str) -> int:
    """The cells whose digests differ."""
    old, new = (json.loads(Path(path).read_text()) for path in (before, after))
    changed = [name for name in old if old[name] != new.get(name)]
    print(f"{len(old) - len(changed)} of {len(old)} cells are equal", *changed, sep="\n")
    return len(changed)


def tables(before: str, after: str) -> int:
    """The tables of two paper folders whose shared columns differ."""
    wrong = 0
    for path in sorted(Path(before).glob("*.parquet")):
        old, other = pl.read_parquet(path), Path(after) / path.name
        if not other.exists():
            print(f"{path.name}: missing")
            wrong += 1
            continue
        new = pl.read_parquet(other)
        shared = [name for name in old.columns if name in new.columns]
        equal = old.select(shared).equals(new.select(shared)) and len(shared) > 0
        lost, more = (sorted(set(a.columns) - set(b.columns)) for a, b in ((old, new), (new, old)))
        print(f"{path.name}: {'equal' if equal else 'DIFFERENT'}, {len(shared)} columns; lost {lost}, new {more}")
        wrong += not equal
    return wrong


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    sys.exit({"cells": cells, "compare": compare, "tables": tables}[command](*arguments))
