"""JSON, for every command and file."""

import hashlib
import json
import math
from typing import Any

from prudent.base.errors import PrudentError, shown


def to_json(value: Any, **layout: Any) -> str:
    """The value as JSON, which knows no infinity and no NaN.

    An infinity becomes the text "inf" or "-inf", which Python's float() reads; what is not defined (NaN) becomes null.
    """
    try:
        return json.dumps(value, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(_plain(value), allow_nan=False, **layout)


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    return value


def sealed(form: str, version: int, parts: dict[str, object]) -> str:
    """Strict JSON of some parts, every float exactly, that says what it is, with a digest of the whole."""
    text = json.dumps({"format": form, "version": version, **parts}, allow_nan=False)
    return f'{text[:-1]}, "digest": "{digest_of(text)}"}}'


def unsealed(form: str, version: int, text: str | bytes) -> dict[str, Any]:
    """The parts that were sealed, or an error if anything was altered or lost since.

    Other ways to write the same may come between: spaces, another order of members, 1 instead of 1.0. The digest helps
    against accidents and careless hands; whoever alters a part on purpose can compute it, so parts are checked besides.
    """
    try:
        parts = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise PrudentError(f"cannot be read as JSON: {error}; is it cut short?") from None
    if not isinstance(parts, dict) or parts.pop("format", None) != form:
        raise PrudentError(f"not a {form}; pass what to_json or save gave")
    if (written := parts.pop("version", None)) != version:
        raise PrudentError(f"version must be {version}, got {shown(written)}; read it with the prudent that wrote it")
    if (digest := parts.pop("digest", None)) != digest_of(text):
        said = f"digest must be that of all the rest, got {shown(digest)}"
        raise PrudentError(f"{said}; something was altered or lost since, so take a copy as it was written")
    return parts


def digest_of(text: str | bytes) -> str:
    """The digest of all members of an object but its own."""
    parts = json.loads(text, parse_int=_number)
    parts.pop("digest", None)
    try:
        same = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return ""  # of a number that no float holds, which was not written here
    return hashlib.sha256(same.encode()).hexdigest()


def _number(digits: str) -> float | str:
    """A whole number as a float, if it is one exactly; some programs write 1.0 as 1, and 1e16 as its digits."""
    number = float(digits)
    return number if math.isfinite(number) and int(number) == int(digits) else digits


def _refuse(constant: str) -> None:
    raise PrudentError(f"{constant} is no JSON")
