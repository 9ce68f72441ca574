"""Which numbers public functions refuse, and in which words: the limits that an error names are the pinned ones.

    PIN=1 pytest tests/unit/test_refusals.py

writes `refusals.json` again, after a change that is meant.
"""

import math
import os
import re
import warnings
from pathlib import Path
from typing import Any

from helpers import pinned_texts
from helpers.portfolio_calls import PORTFOLIO_CALLS
from helpers.public_calls import PUBLIC_CALLS
from prudent import Bandit, Bernoulli, MeanVariance, PrudentError, identify, simulate
from prudent.plan.trial import check_settings
from prudent.study import Study

PINNED = Path(__file__).with_name("refusals.json")
NUMBERS = [-1, -0.5, 0, 1, 9, math.inf, 1e308]
COINS = Bandit([Bernoulli(0.4), Bernoulli(0.6), Bernoulli(0.5)])
ASKED = {"risk": MeanVariance(1.0), "runs": 2, "seed": 0, "workers": 1}
ENTRIES: dict[str, tuple[Any, dict[str, Any]]] = {
    **{name: (call, arguments) for name, call, arguments in PUBLIC_CALLS},
    **PORTFOLIO_CALLS,
    "simulate": (lambda **asked: simulate(COINS, "mv-lcb", **asked), {**ASKED, "horizon": 10, "snapshots": [5]}),
    "identify": (lambda **asked: identify(COINS, "successive-rejects", **asked), {**ASKED, "budget": 12}),
    "identify with a confidence": (
        lambda **asked: identify(COINS, "lucb", **asked),
        {**ASKED, "delta": 0.4, "most_pulls": 60},
    ),
    "plan": (
        lambda **asked: check_settings(**{"policies": [], "out": ".", "progress": None, **asked}),
        {"draws": 10, "runs": 5, "seed": 0, "workers": 1, "seconds": 30.0},
    ),
    "Study": (
        lambda **asked: Study({"b": COINS}, ["ucb1"], ["mean"], **asked).cells,
        {"horizons": [10], "runs": 2, "seed": 0},
    ),
}
SINGLE = (bool, int, float, type(None))


def refusals() -> pinned_texts.Sections:
    """For each parameter that takes a number: the words of each refusal, and of what."""
    found = {}
    for name, (call, arguments) in ENTRIES.items():
        for wrong in [each for each, value in arguments.items() if isinstance(value, SINGLE)]:
            said: dict[str, list[str]] = {}
            for value in NUMBERS:
                said.setdefault(answer(call, {**arguments, wrong: value}), []).append(f"{value:g}")
            if set(said) != {"answered"}:
                found[f"{name}, {wrong}"] = [f"{', '.join(values)}: {words}" for words, values in said.items()]
    return found


def answer(call: Any, arguments: dict[str, Any]) -> str:
    """What a call says of its arguments, but for the value that it was given."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(**arguments)
    except PrudentError as error:
        return re.sub(r"got [^;]*", "got this", str(error))
    return "answered"


def test_refusals_are_the_pinned_ones():
    found = refusals()
    if os.environ.get("PIN"):
        pinned_texts.write(PINNED, found)
    then = "If other numbers are meant to be refused: PIN=1 pytest tests/unit/test_refusals.py"
    assert not (changed := pinned_texts.difference(pinned_texts.read(PINNED), found, then)), changed
