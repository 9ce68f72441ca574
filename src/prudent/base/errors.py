"""The one error type users meet, and the checks that raise it.

A message names the owner and parameter, what is allowed, what was given, and the likely fix; each is a field of the
error, so that the command line and the pages need not search its text.
"""

import difflib
import math
import numbers
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

LONGEST_SHOWN = 200
"""Characters of what was given that a message repeats."""

LONGEST_LINE = 1_000
"""Characters of a line of a message; what is longer quotes input that nobody wants to read again."""


_FORM = re.compile(
    r"(?:(?P<owner>[^:;\n]{1,80}): )?"
    r"(?:(?P<parameter>\S+) must (?P<allowed>[^;]+?)(?:, got (?P<got>[^;]+?))?|(?P<what>[^;]+))"
    r"(?:; (?P<fix>[^;]+))?"
)
"""The form of a message. A text with more semicolons than one might be cut at a wrong one, and is kept whole."""


class AssumptionWarning(UserWarning):
    """A policy meets rewards that it was not made for; its result may have little to do with what is known of it."""


Spelling = Callable[[Mapping[str, str]], str]
"""How a door writes arguments to pass: `group='variant'` in Python, `--group variant` on the command line."""


def in_python(arguments: Mapping[str, str]) -> str:
    """`group='variant', outcome='revenue'`."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


class PrudentError(ValueError):
    """Bad input, rejected before anything is computed. Lines of its message are never long, whatever was given.

    The parts of the message are fields: the `owner` refuses what was `got` for its `parameter`, because that must be
    `allowed`; `fix` is the likely remedy, in which `{}` stands for `arguments` to pass. Where these parts do not say
    what is wrong, `what` does. A text alone is taken apart where it has the form of a message.

    Examples
    --------
    >>> from prudent import Bernoulli, PrudentError
    >>> try:
    ...     Bernoulli(1.5)
    ... except PrudentError as error:
    ...     print(error)
    ...     print(error.parameter, "=", error.got)
    bernoulli: success must lie in [0, 1], got 1.5; pass a probability
    success = 1.5
    """

    def __init__(
        self,
        what: str = "",
        *,
        owner: str = "",
        parameter: str = "",
        allowed: str = "",
        got: str = "",
        fix: str = "",
        arguments: Mapping[str, str] | None = None,
    ) -> None:
        if len(what) <= LONGEST_LINE and not (owner or parameter or fix) and (form := _FORM.fullmatch(what)):
            what, owner, parameter, allowed, got, fix = (
                form[part] or "" for part in ("what", "owner", "parameter", "allowed", "got", "fix")
            )
        self.what, self.owner, self.parameter, self.allowed = what, owner, parameter, allowed
        self.got, self.fix, self.arguments = got, fix, dict(arguments or {})
        super().__init__(self.message())

    def message(self, spelling: Spelling = in_python, *, owner: bool = True) -> str:
        """The message as one door writes it: `spelling` puts the arguments of the fix in its words, and `owner=False`
        leaves out who refuses."""
        text = self.what or f"{self.parameter} must {self.allowed}" + (f", got {self.got}" if self.got else "")
        before = f"{self.owner}: " if owner and self.owner else ""
        after = self.fix.replace("{}", spelling(self.arguments), 1) if self.arguments else self.fix
        return shortened(f"{before}{text}; {after}" if after else f"{before}{text}")


def check_number(
    owner: str,
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    hint: str = "",
) -> float:
    """`value` as a float within the stated interval, whose ends are closed unless said otherwise.

    Minus infinity is always refused; plus infinity is let through by the few callers that leave the upper end open
    to it (ρ = ∞ means "mean only"). Where it would be a mistake upstream, call `check_finite` or `check_positive`.
    """
    number = as_float(owner, name, value)
    open_low = open_low or low == -math.inf
    above = number > low if open_low else number >= low
    below = number < high if open_high else number <= high
    if not (above and below):  # NaN is neither
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        allowed = f"{left}{pretty(low)}, {pretty(high)}{right}"
        raise PrudentError(owner=owner, parameter=name, allowed=f"lie in {allowed}", got=shown(value, str), fix=hint)
    return number


def check_finite(owner: str, name: str, value: object, *, low: float = -math.inf, hint: str = "") -> float:
    """`value` as a finite float, at least `low`."""
    return check_number(owner, name, value, low=low, high=math.inf, open_high=True, hint=hint)


def check_positive(owner: str, name: str, value: object, *, hint: str = "") -> float:
    """`value` as a finite float above zero."""
    return check_number(owner, name, value, low=0.0, open_low=True, open_high=True, hint=hint)


def check_integer(owner: str, name: str, value: object, *, low: int, high: int | None = None, hint: str = "") -> int:
    """`value` as an int in [low, high]; a float with an integer value (1e4) is accepted."""
    try:
        whole = int(value) if isinstance(value, float) and value.is_integer() else operator.index(_single(value))
    except TypeError:
        got = shown(value)
        raise PrudentError(owner=owner, parameter=name, allowed="be a whole number", got=got, fix=hint) from None
    if is_flag(value) or whole < low or (high is not None and whole > high):
        allowed = "be a whole number " + (f"at least {low}" if high is None else f"from {low} to {_short(high)}")
        raise PrudentError(owner=owner, parameter=name, allowed=allowed, got=shown(value, str), fix=hint)
    return whole


def check_choice(owner: str, name: str, value: object, allowed: Iterable[str], *, hint: str = "") -> str:
    """`value` if it is one of the words that are allowed."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        hint = hint or (near(value, words) if isinstance(value, str) else "")
        allowed_words = f"be one of {', '.join(words)}"
        raise PrudentError(owner=owner, parameter=name, allowed=allowed_words, got=shown(value), fix=hint)
    return value


def check_list(owner: str, name: str, value: Any, wanted: str) -> list[Any]:
    """The members of `value`, which may be a list, a tuple, an array or the like, but no text and no mapping."""
    try:
        if isinstance(value, (str, bytes, bytearray, Mapping)):
            raise TypeError
        return list(value)
    except TypeError:  # arrays of no dimension can be iterated, until one tries
        raise PrudentError(owner=owner, parameter=name, allowed=f"be {wanted}", got=shown(value)) from None


def check_flag(owner: str, name: str, value: object) -> bool:
    """`value` as a bool. Nothing else is taken for one, because every text but the empty one would be true."""
    if not is_flag(value):
        raise PrudentError(owner=owner, parameter=name, allowed="be True or False", got=shown(value))
    return bool(value)


def is_flag(value: object) -> bool:
    """Whether it is Python's or NumPy's True or False."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def as_float(owner: str, name: str, value: object) -> float:
    """`value` as a float, or an error that names the parameter."""
    if isinstance(value, float):  # the quick way for nearly all values
        return float(value)
    try:
        complex_number = isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real)
        if isinstance(value, (str, bytes, bytearray)) or is_flag(value) or complex_number:
            raise TypeError
        return float(_single(value))
    except (TypeError, ValueError, OverflowError):
        raise PrudentError(owner=owner, parameter=name, allowed="be a number", got=shown(value)) from None


def shown(value: object, text: Callable[[object], str] = repr) -> str:
    """What was given, in one line of a message: not cut short unless it is very long, and never an error of its own."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a whole number of about {int(value.bit_length() * math.log10(2.0)) + 1:,} digits"
    try:
        written = " ".join(text(value).split()) if not isinstance(value, str) else text(value)
    except Exception:  # somebody's broken __repr__, or a list of whole numbers of thousands of digits
        return f"a {type(value).__name__} that cannot be written here"
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}… ({len(written):,} characters)"


def shortened(text: str) -> str:
    """The text without the middle of lines that are too long."""
    half = LONGEST_LINE // 2
    lines = text.split("\n")
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:half]} … {line[-half:]}" for line in lines)


def pretty(number: float) -> str:
    """A bound as people write it: ∞ instead of inf, 1 instead of 1.0."""
    return {math.inf: "∞", -math.inf: "−∞"}.get(number, f"{number:g}")


def near(word: str, known: Iterable[str]) -> str:
    """A hint for a word that is not known: the nearest that are, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}"


def _single(value: object) -> Any:
    """The value, unless it is an array of some dimension: NumPy takes one of a single number for that number."""
    if getattr(value, "shape", ()) != ():
        raise TypeError
    return value


def _short(whole: int) -> str:
    return str(whole) if abs(whole) < 10**16 else f"{float(whole):.3g}"
