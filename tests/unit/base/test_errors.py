"""Messages name the owner, the parameter, what is allowed, what was given and the fix."""

import math
import pickle
import re

import numpy as np
import pytest

from prudent import PrudentError
from prudent.base.errors import (
    as_float,
    check_choice,
    check_finite,
    check_flag,
    check_integer,
    check_list,
    check_number,
    check_positive,
    pretty,
    shown,
)
from prudent.base.parameters import PARAMETERS, check_parameter
from prudent.cli.trouble import in_options


def message_of(call: object) -> str:
    with pytest.raises(PrudentError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


def test_an_error_is_a_value_error() -> None:
    assert issubclass(PrudentError, ValueError)


def test_the_parts_of_a_message_are_fields_also_in_another_process() -> None:
    with pytest.raises(PrudentError) as caught:
        check_number("mv-lcb", "delta", 5, low=0.0, high=1.0, hint="for a 5 % failure rate pass 0.05")
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.owner, error.parameter, error.allowed, error.got) == ("mv-lcb", "delta", "lie in [0, 1]", "5")
        assert str(error) == f"mv-lcb: {error.message(owner=False)}"
        assert error.message(owner=False) == "delta must lie in [0, 1], got 5; for a 5 % failure rate pass 0.05"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("simulate: floor must be at most 0.5, got 0.9", ("simulate", "floor", "be at most 0.5", "0.9", "")),
        ("floor must be a number; pass 0.1", ("", "floor", "be a number", "", "pass 0.1")),
        ("evaluate: the log is empty; wait", ("evaluate", "", "", "", "wait")),
        ("the log is empty", ("", "", "", "", "")),
    ],
)
def test_a_message_that_is_written_out_has_the_same_fields(text: str, fields: tuple[str, ...]) -> None:
    error = PrudentError(text)
    assert (error.owner, error.parameter, error.allowed, error.got, error.fix) == fields
    assert str(error) == text


def test_a_text_of_another_form_stays_whole() -> None:
    """Which semicolon ends what was given cannot be known here."""
    error = PrudentError("simulate: policy must be a spec, got 'a; b'; name it")
    assert (error.what, error.fix) == ("simulate: policy must be a spec, got 'a; b'; name it", "")


def test_arguments_of_a_fix_are_written_as_each_door_takes_them() -> None:
    """What a user wrote is no place for them, although it holds the same mark."""
    error = PrudentError(
        "a column is called {}", fix="give {}, not {}", arguments={"group": "my {} x", "top_share": "1"}
    )
    assert str(error) == "a column is called {}; give group='my {} x', top_share='1', not {}"
    assert error.message(in_options) == "a column is called {}; give --group 'my {} x' --top-share 1, not {}"


@pytest.mark.parametrize(("value", "number"), [(1, 1.0), (0.5, 0.5), (np.float32(0.5), 0.5), (np.int64(3), 3.0)])
def test_numbers_of_all_kinds_become_floats(value: float, number: float) -> None:
    assert as_float("x", "y", value) == number
    assert type(as_float("x", "y", value)) is float


@pytest.mark.parametrize("value", ["1", b"1", True, False, None, [1.0], 1j, {}, np.True_, np.ones(1)])
def test_what_is_no_number_is_named(value: object) -> None:
    assert message_of(lambda: as_float("mv-lcb", "c", value)) == f"mv-lcb: c must be a number, got {value!r}"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (10**400, "a whole number of about 401 digits"),
        (-(10**4_000), "a whole number of about 4,001 digits"),
        ([10**5_000], "a list that cannot be written here"),
        (Broken(), "a Broken that cannot be written here"),
        (np.zeros((2, 2)), "array([[0., 0.], [0., 0.]])"),
        ("x\ny", r"'x\ny'"),
        ("x" * 300, f"'{'x' * 199}… (302 characters)"),
    ],
)
def test_a_message_is_one_line_whatever_was_given(value: object, words: str) -> None:
    assert shown(value) == words
    assert message_of(lambda: as_float("o", "n", value)) == f"o: n must be a number, got {words}"


@pytest.mark.parametrize("flag", [True, False, np.True_, np.False_])
def test_flags(flag: bool) -> None:
    assert check_flag("o", "n", flag) is bool(flag)


@pytest.mark.parametrize("value", [0, 1, "True", "", None, [], np.array([True]), 1.0])
def test_what_is_no_flag(value: object) -> None:
    assert message_of(lambda: check_flag("o", "n", value)) == f"o: n must be True or False, got {value!r}"


@pytest.mark.parametrize(
    ("limits", "good", "bad", "allowed"),
    [
        ({}, [-1e300, 0.0, math.inf], [-math.inf, math.nan], "(−∞, ∞]"),
        ({"low": 0.0}, [0.0, math.inf], [-1e-9, math.nan], "[0, ∞]"),
        ({"low": 0.0, "open_high": True}, [0.0, 1e300], [math.inf], "[0, ∞)"),
        ({"low": 0.0, "high": 1.0}, [0.0, 1.0], [1.1, -0.1], "[0, 1]"),
        ({"low": 0.0, "high": 1.0, "open_low": True, "open_high": True}, [0.5], [0.0, 1.0], "(0, 1)"),
    ],
)
def test_intervals(limits: dict[str, float], good: list[float], bad: list[float], allowed: str) -> None:
    for value in good:
        assert check_number("owner", "name", value, **limits) == value
    for value in bad:
        told = message_of(lambda value=value: check_number("owner", "name", value, **limits, hint="do this"))
        assert told == f"owner: name must lie in {allowed}, got {value}; do this"


def test_finite_and_positive() -> None:
    assert check_finite("o", "n", -5) == -5.0
    assert check_positive("o", "n", 1e-300) == 1e-300
    assert "(−∞, ∞), got inf" in message_of(lambda: check_finite("o", "n", math.inf))
    assert "[2, ∞), got 1" in message_of(lambda: check_finite("o", "n", 1, low=2.0))
    for bad in (0, -1, math.inf, math.nan):
        assert f"(0, ∞), got {bad}" in message_of(lambda bad=bad: check_positive("o", "n", bad))


@pytest.mark.parametrize(("value", "whole"), [(3, 3), (1e4, 10_000), (np.int32(3), 3), (np.float64(2.0), 2), (0, 0)])
def test_whole_numbers(value: float, whole: int) -> None:
    assert check_integer("o", "n", value, low=0) == whole
    assert type(check_integer("o", "n", value, low=0)) is int


@pytest.mark.parametrize("value", [1.5, math.nan, math.inf, "3", None, [3], 1j])
def test_what_is_not_whole(value: object) -> None:
    told = message_of(lambda: check_integer("o", "n", value, low=0, hint="count them"))
    assert told == f"o: n must be a whole number, got {value!r}; count them"


def test_whole_numbers_out_of_range() -> None:
    assert message_of(lambda: check_integer("o", "n", 0, low=1)) == "o: n must be a whole number at least 1, got 0"
    told = message_of(lambda: check_integer("o", "n", 4, low=1, high=3, hint="fix"))
    assert told == "o: n must be a whole number from 1 to 3, got 4; fix"
    assert "got True" in message_of(lambda: check_integer("o", "n", True, low=0))


def test_bounds_read_as_people_write_them() -> None:
    assert [pretty(x) for x in (1.0, 0.25, 1e6, math.inf, -math.inf)] == ["1", "0.25", "1e+06", "∞", "−∞"]


INTERVALS = {
    "rho": "[0, ∞]", "alpha": "(0, 1]", "lam": "(0, ∞)", "delta": "(0, 1)", "failure": "(0, 1)", "level": "(0, 1)",
    "range": "(0, ∞)", "sd": "(0, ∞)", "low": "(−∞, ∞)", "high": "(−∞, ∞)",
}  # fmt: skip
"""ρ may be 0 and infinite, α is a share of up to all rewards, and a probability of failure is never 0 or 1."""


def test_every_parameter_has_its_interval() -> None:
    assert set(INTERVALS) == set(PARAMETERS)
    for name, interval in INTERVALS.items():
        with pytest.raises(PrudentError, match=re.escape(f"it: {name} must lie in {interval}, got nan")):
            check_parameter("it", name, math.nan)


@pytest.mark.parametrize(("given", "meant"), [(5, "0.05"), (99.5, "0.995"), (1.5, "0.015")])
def test_percent_are_recognised_between_one_and_a_hundred(given: float, meant: str) -> None:
    with pytest.raises(PrudentError, match=f"for a {given:g} % failure rate pass {meant}$"):
        check_parameter("it", "delta", given)


@pytest.mark.parametrize("given", [0, 1, 100, 150, -1])
def test_what_is_no_percentage_is_told_what_the_parameter_means(given: float) -> None:
    with pytest.raises(PrudentError, match=f"got {given}; δ is a probability of failure, such as 0.05$"):
        check_parameter("it", "delta", given)


@pytest.mark.parametrize(
    "value", [5, None, True, ["auto"], np.array(["auto"]), np.array(["auto", "gpu"]), "x" * 10_000]
)
def test_a_word_that_is_not_one_of_those_allowed_is_refused(value: object) -> None:
    told = message_of(lambda: check_choice("simulate", "engine", value, ("auto", "gpu")))
    assert told.startswith("simulate: engine must be one of auto, gpu, got ")
    assert len(told) < 400


def test_a_word_that_is_allowed_comes_back_and_a_near_one_gets_a_hint() -> None:
    assert check_choice("simulate", "engine", "gpu", ("auto", "gpu")) == "gpu"
    assert message_of(lambda: check_choice("simulate", "engine", "gpus", ("auto", "gpu"))).endswith("did you mean gpu?")


@pytest.mark.parametrize("value", [5, None, True, "ab", b"ab", {"a": 1}, np.array(0.5), np.float64(1.0), object()])
def test_what_is_no_list_is_refused(value: object) -> None:
    told = message_of(lambda: check_list("evaluate", "quantiles", value, "a list of levels"))
    assert told.startswith("evaluate: quantiles must be a list of levels, got ")


@pytest.mark.parametrize(
    "value", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3), iter([1, 2]), {1: "a", 2: "b"}.keys()]
)
def test_what_can_be_read_one_by_one_is_a_list(value: object) -> None:
    assert check_list("evaluate", "quantiles", value, "a list of levels") == [1, 2]


def test_no_line_of_a_message_is_long_whatever_is_quoted() -> None:
    told = str(PrudentError(f"owner: first {'x' * 10_000}; the fix\nsecond"))
    first, second = told.splitlines()
    assert first.startswith("owner: first x")
    assert first.endswith("x; the fix")
    assert len(first) < 1_010
    assert second == "second"
