"""Numbers and risk measures as people read them."""

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import CVaR, MeanVariance
from prudent.base.text import count, counted, minus, number, risk_name, with_error
from prudent.risk.base import risks


@pytest.mark.parametrize(
    ("mean", "se", "shown"),
    [
        (0.0698123, 0.0001234, "0.06981 ± 0.00012"),
        (0.013536, 0.0000012, "0.0135360 ± 0.0000012"),
        (123.4, 15.2, "123 ± 15"),
        (281.3, 9.6, "281.3 ± 9.6"),
        (281.3, 9.96, "281 ± 10"),
        (1344.0, 104.0, "1,340 ± 100"),
        (1_444_929.4, 31_000.0, "1,445,000 ± 31,000"),
        (0.5, 0.0996, "0.50 ± 0.10"),
        (-2.5, 0.1, "-2.50 ± 0.10"),
        (-0.0001, 0.1, "0.00 ± 0.10"),
        (0.25, 0.0, "0.25"),
        (0.0, 0.0, "0"),
        (0.0, 0.3, "0.00 ± 0.30"),
        (0.01353599999999999422, 3.7e-19, "0.01354"),
        (0.25, 1e-14, "0.25"),
        (0.25, None, "0.25"),
        (None, None, "–"),
        (math.nan, math.nan, "–"),
        (0.25, math.nan, "0.25"),
        (math.inf, math.nan, "∞"),
        (-math.inf, math.inf, "-∞"),
        (0.25, math.inf, "0.25"),
        (1.23456e-17, 1.9e-18, "(1.23 ± 0.19) × 10⁻¹⁷"),
        (3.14159e200, 2.71e199, "(3.14 ± 0.27) × 10²⁰⁰"),
        (5e-324, 5e-324, "(4.9 ± 4.9) × 10⁻³²⁴"),
        (20_000.0, 0.0, "20,000"),
    ],
)
def test_a_mean_has_the_digits_that_its_error_supports(mean, se, shown):
    """Two digits of the error; none where it is zero or rounding."""
    assert with_error(mean, se) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.25, "0.25"),
        (-0.0, "0"),
        (999.96, "1,000"),
        (9999.0, "9,999"),
        (1_444_929.2, "1,444,929"),
        (0.00001234, "0.00001234"),
        (0.000001234, "1.234 × 10⁻⁶"),
        (1e15, "1 × 10¹⁵"),
        (-2.5e300, "-2.5 × 10³⁰⁰"),
    ],
)
def test_numbers_are_written_out_while_that_can_be_read(value, shown):
    assert number(value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0.0, allow_infinity=False))
def test_what_is_shown_is_within_half_a_digit_of_what_it_was(mean, se):
    shown = with_error(mean, se)
    assert not re.search(r"\de", shown)
    numbers, power = re.fullmatch(r"\(?(.*?)\)?(?: × 10(.*))?", shown).groups("⁰")
    scale = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    found, *error = (Decimal(part.replace(",", "")).scaleb(scale) for part in numbers.split(" ± "))
    off, last = abs(found - Decimal(mean)), Decimal("0.0501") * (Decimal(se) if error else abs(Decimal(mean)) / 50)
    assert off <= last
    assert not error or abs(error[0] - Decimal(se)) <= last


def test_counts_are_whole_whatever_their_size():
    assert [count(n) for n in (0, 999, 20_000, 10**15 - 1, 10**15, 2**2000)] == [
        "0", "999", "20,000", "999,999,999,999,999", "1 × 10¹⁵", "1.15 × 10⁶⁰²",
    ]  # fmt: skip
    assert [counted(n, "run") for n in (0, 1, 2, 1000)] == ["0 runs", "1 run", "2 runs", "1,000 runs"]


def test_the_minus_of_pages_leaves_alone_what_is_typed():
    assert minus("-0.5 ± 0.1, (-3) and x = -4") == "−0.5 ± 0.1, (−3) and x = −4"
    for typed in ("mv-lcb(rho=-1)", "gaussian(-1, 2)", "2-3", "fig2-left", "a-1", "1e-5"):
        assert minus(typed) == typed


def test_a_risk_is_called_what_people_call_it():
    names = [risk_name(risk) for risk in (risks.parse("mean"), MeanVariance(1.0), MeanVariance(0.25), CVaR(1.0))]
    assert names == ["mean", "mean-variance(rho=1)", "mean-variance(rho=0.25)", "cvar(alpha=1)"]
    assert [str(risks.parse(name)) for name in ("mean", names[1])] == [
        "mean-variance(rho=inf)", "mean-variance(rho=1.0)",
    ], "what cells are known by is not what is shown"  # fmt: skip
