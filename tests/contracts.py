"""What the public checks ask of a law, a risk measure and a policy: what `tests/unit/contracts.json` pins.

    python tests/contracts.py

writes the file again, after a change that is meant. A check that asks at other points lets other faults pass.
"""

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pinned import Sections, write
from prudent import MeanCVaR
from prudent.arms.continuous import Gaussian
from prudent.arms.discrete import Bernoulli
from prudent.policies.base import Arm
from prudent.testing import check_arm, check_risk, policies

PINNED = Path(__file__).parent / "unit" / "contracts.json"
TINY = 1e-13
"""A smaller number is rounding."""

Calls = list[tuple[str, str]]


def recorded(base: Any, *methods: str) -> tuple[Any, Calls]:
    """A copy of a law or a risk measure, and the list in which it writes down what these methods are asked."""
    calls: Calls = []

    def telling(method: str) -> Callable[..., Any]:
        honest = getattr(type(base), method)

        def asked(self: Any, *args: Any, **named: Any) -> Any:
            calls.append((method, in_short([*args, *named.values()])))
            return honest(self, *args, **named)

        return asked

    kind = type("Recorded", (type(base),), {"name": "recorded", **{each: telling(each) for each in methods}})
    return dataclass(frozen=True)(kind)(*(getattr(base, field.name) for field in fields(base))), calls


def in_short(args: Iterable[Any]) -> str:
    """Numbers to nine digits, the first and the last of many with how many there are and a digest; else the text."""
    shown = []
    for value in args:
        if isinstance(value, np.random.Generator):
            continue
        try:
            numbers = np.asarray(value, dtype=float).ravel()
        except (TypeError, ValueError):
            shown.append(str(value))
            continue
        each = ["0" if abs(number) < TINY else f"{number:.9g}" for number in numbers.tolist()]
        many = f"{each[0]} … {each[-1]}, {len(each)} numbers, {digest(each)}" if len(each) > 4 else ", ".join(each)
        shown.append(many)
    return f"({'; '.join(shown)})"


def digest(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=6).hexdigest()


def told(calls: Calls) -> list[str]:
    """A line for each method: how often it is asked, the first and the last time, and a digest of all."""
    lines = []
    for method in dict.fromkeys(method for method, _ in calls):
        own = [args for name, args in calls if name == method]
        lines.append(f"{method}: {len(own)} times, first {own[0]}, last {own[-1]}, {digest(own)}")
    return lines


class Bounded(NamedTuple):
    """A score with a bound, which writes down what it is asked."""

    calls: Calls

    def score(self, arm: Arm) -> float:
        self.calls.append(("score", in_short(arm)))
        return arm.mean

    def score_bound(self, low: Arm, high: Arm) -> float:
        self.calls.append(("score_bound", in_short([*low, *high])))
        return high.mean


def contracts() -> Sections:
    """What is asked, by check."""
    found: Sections = {}
    asked = ("quantile", "cdf", "masses", "partial_mean", "lower_tail_mean", "sample")
    for base in (Gaussian(1.0, 4.0), Bernoulli(0.3)):
        law, calls = recorded(base, *asked)
        check_arm(law)
        found[f"check_arm of {base}"] = told(calls)
    base = MeanCVaR(0.1, 0.4)
    measure, calls = recorded(base, "cost", "sample_cost", "estimate", "weigh", "interval", "bounds")
    measure.__class__.compiled = base.compiled  # the recording one cannot be
    check_risk(measure)
    found[f"check_risk of {base}"] = told(calls)
    for rewards in ((-math.inf, math.inf), (0.0, 1.0), (-1.0, math.inf), (-math.inf, 3.0)):
        name = f"check_policy with rewards in {rewards}"
        grid = [in_short([*arm, t]) for arm, t in policies._grid(rewards)]
        found[name] = [f"{len(grid)} statistics, first {grid[0]}, last {grid[-1]}, {digest(grid)}"]
        found[name] += ["arms " + ", ".join(map(str, laws)) for laws in policies._games((2, 3), rewards)]
    bounded = Bounded([])
    policies._check_bound("bounded", bounded, policies._grid((0.0, 1.0)))
    found["check_policy of a score with a bound"] = told(bounded.calls)
    points, kept = policies._samples((-1.0, math.inf))
    samples = zip(points, kept, strict=True)
    found["check_policy with single rewards"] = [
        f"{in_short([*arm, t])} of {in_short([row])}" for (arm, t), row in samples
    ]
    return found


if __name__ == "__main__":
    write(PINNED, contracts())
