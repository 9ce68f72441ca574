"""Numbers and risk measures as people read them: in every table, sentence and page."""

import math
import re
from decimal import Decimal

RELEASED = "2026-11-19"
"""When this version was released, for citations."""

ROUNDING = 1e-12
"""A standard error of at most this share of its mean is rounding: every run had the same value."""

MIN_PLACE, MAX_PLACE = -5, 15
"""Numbers from 10⁻⁵ on and below 10¹⁵ are written out; others are written as 1.5 × 10⁻⁷."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def page(name: str) -> str:
    """How to read a page of the documentation, such as `leaping`: the pages come with the package."""
    return f"prudent docs {name}"


def count(number: int) -> str:
    """`1,444,929`."""
    return f"{number:,}" if abs(number) < 10**MAX_PLACE else _times_ten(f"{Decimal(number):.2e}")


def counted(number: int, thing: str) -> str:
    """`1 run`, `2 runs`, `1,000 runs`."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Seconds as people say them: `0.5 s`, `90 min`, `3 days`."""
    for unit, size in (("years", 365.25 * 86_400.0), ("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size * (2.0 if size > 3600.0 else 1.0):
            many = seconds / size
            return f"{number(float(f'{many:.3g}'), 3)} {unit}" if many < 1e6 else f"a million {unit} or more"
    return f"{number(seconds, 2)} s"


def number(value: float | None, digits: int = 4) -> str:
    """`0.0135`, `1,445`, `1.5 × 10⁻⁷`: as many significant digits, and all of those before the point."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0.0 else "-∞"
    place = _place(value, digits)
    if not MIN_PLACE <= place < MAX_PLACE:
        return _times_ten(f"{value:.{digits - 1}e}")
    return _trimmed(f"{value + 0.0:,.{max(0, digits - 1 - place)}f}")


def with_error(mean: float | None, error: float | None) -> str:
    """`0.0135360 ± 0.0000012`: two digits of the error, and the mean to the same place.

    The mean alone where there is no error, or one that is only rounding.
    """
    if mean is None or error is None or not (math.isfinite(mean) and math.isfinite(error)):
        return number(mean)
    if error <= ROUNDING * abs(mean):
        return number(mean)
    exact = Decimal(mean), Decimal(error)
    place = max(_place(value, 2) for value in exact)
    if MIN_PLACE <= place < MAX_PLACE:
        return _to_one_place(*exact)
    return f"({_to_one_place(*(value.scaleb(-place) for value in exact))}) × 10{_raised(place)}"


def minus(text: str) -> str:
    """The text with real minus signs before numbers, for pages and pictures; what is typed keeps its hyphens."""
    return re.sub(r"(?<![\w.)=])(?<!\w\()-(?=[\d∞])", "−", text)


def risk_name(risk: object) -> str:
    """A risk measure, or its spec, as people know it: `mean`, not `mean-variance(rho=inf)`, and `rho=1` for `rho=1.0`.

    Studies know their cells by the spec, which is another thing and stays.
    """
    spec = str(risk)
    return "mean" if spec == "mean-variance(rho=inf)" else re.sub(r"(?<=\d)\.0(?=[,)\]])", "", spec)


def _place(value: float | Decimal, digits: int) -> int:
    """The power of ten of the first digit, once rounded to so many; 0 for 0."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2]) if value else 0


def _to_one_place(mean: Decimal, error: Decimal) -> str:
    last = Decimal(1).scaleb(_place(error, 2) - 1)
    decimals = max(0, -int(last.logb()))
    shown = [f"{_rounded(value, last):,.{decimals}f}" for value in (mean, error)]
    return " ± ".join(shown)


def _rounded(value: Decimal, last: Decimal) -> Decimal:
    """To a multiple of `last`; no minus before a zero."""
    return (value / last).to_integral_value() * last or Decimal(0)


def _times_ten(written: str) -> str:
    mantissa, _, power = written.partition("e")
    return f"{_trimmed(mantissa)} × 10{_raised(int(power))}"


def _raised(power: int) -> str:
    return str(power).translate(RAISED)


def _trimmed(written: str) -> str:
    """Without zeros at the end, after the point."""
    return written.rstrip("0").rstrip(".") if "." in written else written
