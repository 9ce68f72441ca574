"""Whatever a public function is given, it answers: with an error in words, or with a result that is no NaN."""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.public_calls import HOSTILE, PUBLIC_CALLS
from prudent import PrudentError, regret, theory
from prudent.confidence import always

CASES = [(name, call, arguments, wrong) for name, call, arguments in PUBLIC_CALLS for wrong in arguments]


def holds_nan(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(holds_nan, value))
    return isinstance(value, (float, np.ndarray)) and bool(np.isnan(value).any())


@pytest.mark.parametrize(
    ("call", "arguments", "wrong"), [case[1:] for case in CASES], ids=[f"{name}-{wrong}" for name, *_, wrong in CASES]
)
def test_a_wrong_argument_is_an_error_in_words(call: Callable[..., Any], arguments: dict[str, Any], wrong: str) -> None:
    with contextlib.suppress(PrudentError):  # a file that is not there
        call(**arguments)  # compiles what must be compiled
    for value in HOSTILE:
        if wrong in ("function", "result") and callable(value):
            continue  # what a function of the user's raises is the user's
        try:
            answer = call(**{**arguments, wrong: value})
        except PrudentError as error:
            told = str(error)
            assert told
            assert "\n" not in told, told
        else:
            assert not holds_nan(answer) or holds_nan(value), (value, answer)


def test_every_public_function_of_these_modules_is_tried() -> None:
    tried = {name.rpartition(".")[2].split()[0] for name, *_ in CASES}
    for module in (regret, always, theory):
        names = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
        own = {name for name in names if getattr(module, name).__module__.startswith(module.__name__)}
        checks = {"checked_ends", "counts", "check_quickly"}
        # Asked at every reward, with numbers that were checked when they came.
        inner = {"mean_above", "mean_below", "log_capital", "kl"}
        assert own - tried <= {"horizons", *checks, *inner}, own - tried
