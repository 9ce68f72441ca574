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
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
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
    digests |= roads()
    Path(out).write_text(json.dumps(digests, indent=1))
    print(f"{len(digests)} cells")


def roads() -> dict[str, str]:
    """A digest for every loop over rounds, with each kind of rewards and policies that it treats in its own way."""
    from prudent import Agent, Bandit, identify, simulate

    arms = {
        "gaussian": Bandit(["gaussian(1, 0.05)", "gaussian(0.5, 0.25)", "gaussian(0.9, 0.1)"]),
        "bernoulli": Bandit(["bernoulli(0.5)", "bernoulli(0.6)", "bernoulli(0.4)"]),
        "mixed": Bandit(["beta(2, 3)", "bernoulli(0.4)", "uniform(0, 1)", "student-t(degrees=5)"]),
    }
    policies = ("mv-lcb", "exp-exp(tau=30)", "ucb1", "thompson", "mv-imed", "cvar-ucb", "npts")
    ways = (
        *({}, {"batch": 7}, {"keep": 3}, {"common": True}, {"engine": "leaping"}, {"snapshots": (1, 100), "batch": 3}),
        {"scale": "auto", "snapshots": (7, 150)},
    )
    digests = {}
    for name, policy, (number, way) in product(arms, policies, enumerate(ways)):
        settings = {"risk": "mean-variance(rho=1)", "horizon": 300, "runs": 60, "seed": 5, "engine": "stepping", **way}
        if policy == "cvar-ucb":
            settings["risk"] = "cvar(alpha=0.2)"
        elif policy in ("ucb1", "thompson", "npts"):
            settings["risk"] = "mean"
        digests[f"{name}, {policy}, way {number}"] = of_result(partial(simulate, arms[name], policy, **settings))
        if not way:
            python = settings | {"engine": "interpreted", "runs": 3, "workers": 1, "horizon": 60}
            digests[f"{name}, {policy}, interpreted"] = of_result(partial(simulate, arms[name], policy, **python))
    for name, way in product(("gaussian", "bernoulli"), ({"budget": 300}, {"delta": 0.1, "most_pulls": 2_000})):
        strategies = ("successive-rejects", "uniform") if "budget" in way else ("lucb", "va-lucb", "qlucb")
        for strategy, risk in product(strategies, ("mean", "mean-variance(rho=1)", "var(alpha=0.5)")):
            asked = partial(identify, arms[name], strategy, risk=risk, runs=30, **way)
            digests[f"{name}, {strategy}, {risk}"] = of_result(asked)
    for policy, told in product(("mv-lcb", "exp-exp", "ucb1", "thompson", "mv-imed"), (12, 60)):
        risk = "mean" if policy in ("ucb1", "thompson") else "mean-variance(rho=1)"
        for support, rewards in (((0, 1), (0.0, 1.0, 1.0)), ((-2, 3), (0.3, -0.25, 1.7, 0.11))):
            agent = Agent(policy, arms=["a", "b", "c"], horizon=400, risk=risk, support=support, seed=3)
            for number in range(told):
                agent.tell(agent.ask(), rewards[number % len(rewards)])
            digests[f"forecast of {policy} after {told} on {support}"] = of_result(partial(agent.forecast, 200))
    return digests


def of_result(make) -> str:
    """A digest of all arrays and numbers of a result; the class of the error where it is refused."""
    from prudent import PrudentError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = make()
    except PrudentError as error:
        return f"{type(error).__name__}: {error}"
    return hashlib.blake2b(b"".join(parts_of(result))).hexdigest()


def parts_of(value, above=()) -> Iterator[bytes]:
    """The bytes of everything in a result that does not depend on the time it took."""
    if isinstance(value, (np.ndarray, np.generic)):
        yield value.tobytes()
    elif isinstance(value, (bool, int, float, str)) or value is None:
        yield repr(value).encode()
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in ("seconds", "bandit", "policy", "risk") and not name.startswith("_"):
                yield from parts_of(part, above)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from parts_of(part, above)
    elif is_dataclass(value) and not isinstance(value, type) and all(value is not each for each in above):
        yield from parts_of({each.name: getattr(value, each.name) for each in fields(value)}, (*above, value))


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
