"""Experiments as the terminal has them: files and words to read, and numbers, times and states to show."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prudent.base.errors import PrudentError
from prudent.base.text import minus, number


def read_spec(path: Path) -> dict[str, Any]:
    """The experiment that a file describes; what `prudent plan --json` printed holds it inside."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except ValueError as error:  # no JSON, no UTF-8, or a whole number of thousands of digits
        raise PrudentError(f"trial: {path} is not JSON: {error}") from None
    found = found.get("experiment", found) if isinstance(found, dict) else found
    if not isinstance(found, dict):
        raise PrudentError(f"trial: {path} must hold an object of JSON, such as experiment.json of a plan")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def metric(text: str) -> tuple[str, float]:
    """`latency=120` as a name and a number."""
    name, equals, value = text.rpartition("=")
    try:
        given = float(value)
    except ValueError:
        given = float("nan")
    if not (equals and name and abs(given) < float("inf")):
        raise PrudentError(f"trial: --metric must be a name and a number, such as latency=120, got {text!r}")
    return name, given


def state(found: dict[str, object]) -> str:
    """`running`, or `frozen to control`."""
    frozen = found.get("frozen_to")
    return f"{found['status']} to {frozen}" if frozen is not None else str(found["status"])


def time_of(at: int) -> str:
    """Milliseconds since 1970 as people write a time."""
    return f"{datetime.fromtimestamp(at // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def within(arm: dict[str, Any], what: str) -> str:
    """`0.31 [0.25, 0.38]`: an estimate and its interval, as far as there are any."""
    ends = arm[f"{what}_interval"]
    if ends is None:
        return minus(number(arm[what]))
    return f"{minus(number(arm[what]))} [{', '.join(_ends(ends))}]"


def rows_in(path: Path, kind: str) -> int:
    """How many decisions a file of them has."""
    if kind == "parquet":
        import polars as pl  # slow to import, and not needed for other files

        return int(pl.scan_parquet(path).select(pl.len()).collect().item())
    with path.open("rb") as lines:
        return sum(1 for _ in lines) - (kind == "csv")


def apart_by(arm: dict[str, Any], what: str) -> str:
    """`−0.02 to 0.11`: where the difference of an arm from the control lies."""
    ends = arm[f"{what}_difference"]
    return "–" if ends is None else " to ".join(_ends(ends))


def _ends(interval: list[Any]) -> tuple[str, str]:
    low, high = interval
    return "−∞" if low is None else minus(number(low, 3)), "∞" if high is None else minus(number(high, 3))


def until(token: dict[str, Any]) -> str:
    """How long a token is valid."""
    if token.get("revoked") is not None:
        return f"revoked {time_of(token['revoked'])}"
    return "it is revoked" if token.get("expires") is None else time_of(token["expires"])


def sentences(found: dict[str, Any]) -> Iterator[str]:
    """What the estimates of an experiment say, and what needs attention."""
    if found.get("past_horizon"):
        yield found["past_horizon"]
    if found["leader"] is not None:
        yield found["leader"]["sentence"]
    elif found["why"]:
        yield f"There are no intervals: {found['why']}."
    if any(arm.get("best") is not None for arm in found.get("arms", ())):
        yield found["posterior"]
    if found["summary"]["rewards"]:
        yield found["summary"]["sentence"]
    if found["answered"] is not None and found["answered"]["less"] is not None:
        yield found["answered"]["sentence"]
    for arm in found.get("changed", ()):  # services of older versions do not say it
        yield f"{arm['sentence']} Nothing that is said of it here takes this into account."
    for rail in found["rails"]:
        yield f"Guardrail {rail['rail'] + 1} has acted on {rail['arm']}."
