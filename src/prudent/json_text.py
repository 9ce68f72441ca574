"""JSON, for every command and file."""

import json
import math
from typing import Any


def to_json(value: Any, **layout: Any) -> str:
    """The value as JSON, which knows no infinity and no NaN.

    An infinity becomes the text "inf" or "-inf", which Python's float() reads; what is not defined (NaN) becomes null.
    """
    try:
        return json.dumps(value, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(_plain(value), allow_nan=False, **layout)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    return value
