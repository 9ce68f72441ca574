"""Whatever a public function is given, it answers: with an error in words, or with a result that is no NaN."""

import contextlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from helpers.public_calls import COINS, HOSTILE, LOG, PUBLIC_CALLS
from prudent import PrudentError, evaluate, identify, theory
from prudent.confidence import anytime
from prudent.results import regret
from prudent.risk.base import risks

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
        if wrong in ("function", "result", "progress", "delay") and callable(value):
            continue  # what a function of the user's raises is the user's
        try:
            answer = call(**{**arguments, wrong: value})
        except PrudentError as error:
            told = str(error)
            assert told
            assert "\n" not in told, told
            assert len(told) < 1_100, f"{told[:300]}… ({len(told):,} letters)"
        else:
            assert not holds_nan(answer) or holds_nan(value), (value, answer)


def test_a_cost_is_finite_or_refused_whatever_the_parameters_and_the_law() -> None:
    laws = ["bernoulli(0.3)", "gaussian(0, 1)", "exponential(1)", "uniform(-1.7e308, 1.7e308)", "gaussian(0, 1.7e308)"]
    laws += ["deterministic(1.7e308)", "deterministic(-1.7e308)", "empirical([-1.7e308, 1])", "empirical([5e-324, 1])"]
    tried = 0
    for entry in risks.entries():
        if not entry.factory.__module__.startswith("prudent."):
            continue
        for name in [*entry.parameters, None]:
            for value in (5e-324, 1e-300, 1e-9, 0.5, 1.0, 1e154, 1.7e308, -1.7e308) if name else (None,):
                for law in laws:
                    with contextlib.suppress(PrudentError):
                        cost = entry.factory(**{name: value} if name else {}).cost(law)
                        assert math.isfinite(cost), (entry.name, name, value, law)
                        tried += 1
    assert tried > 500


def test_a_frame_that_is_not_computed_yet_is_a_log_and_only_its_columns_are_read() -> None:
    def refuse(_: Any) -> Any:
        raise AssertionError

    lazy = pl.LazyFrame({**LOG, "other": [1] * 40}).with_columns(pl.col("other").map_elements(refuse, pl.Int64))
    assert evaluate(lazy, "A", support=(0, 1)).rows == evaluate(LOG, "A", support=(0, 1)).rows
    for wrong in (lazy.select("none"), pl.scan_csv("no-such-file.csv"), pl.LazyFrame({"arm": ["A"]})):
        with pytest.raises(PrudentError, match=r"^evaluate: (log cannot be (?:collected|read)|the log has no column)"):
            evaluate(wrong, "A")


def test_a_mistake_deep_in_a_sum_of_failures_is_refused_before_the_first_round() -> None:
    with pytest.raises(PrudentError, match=r"lucb: delta must lie in \[1e-60, 1\), got 1e-300"):
        identify(COINS, "lucb", risk="variance", delta=1e-300, runs=2)


def test_every_public_function_of_these_modules_is_tried() -> None:
    tried = {name.rpartition(".")[2].split()[0] for name, *_ in CASES}
    for module in (regret, anytime, theory):
        names = [name for name, value in vars(module).items() if inspect.isfunction(value) and name[0] != "_"]
        own = {name for name in names if getattr(module, name).__module__.startswith(module.__name__)}
        checks = {"checked_ends", "counts", "check_quickly", "dynamic_regret"}  # the last in test_drifting
        # Asked at every reward, with numbers that were checked when they came.
        inner = {"mean_above", "mean_below", "log_capital", "kl"}
        inner |= {"gains", "mean_limits", "mean_variance_limits"}  # the bounds, at several gains at once
        assert own - tried <= {"horizons", *checks, *inner}, own - tried
