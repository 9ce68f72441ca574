"""An object of a user as text, which is the same in every process: its class and its parameters."""

import hashlib
import inspect
from functools import partial

import numpy as np

from prudent.base.errors import shown
from prudent.base.own_classes import place_of

MAX_DEPTH = 3
"""Objects within objects that are still described by their parameters."""

MAX_LENGTH = 200
"""Characters of a value that is written out; of a longer one a digest is."""


def described(thing: object, depth: int = 0) -> str:
    """An object as text: the name of its class, and the parameters of its constructor that it keeps under their names
    and that differ from their defaults. Of a function it is the name. The same in every process."""
    if isinstance(thing, partial):
        given = [_value(value, depth) for value in thing.args]
        given += [f"{name}={_value(value, depth)}" for name, value in thing.keywords.items()]
        return f"{described(thing.func, depth)}({', '.join(given)})"
    if inspect.ismethod(thing):
        return f"{described(thing.__self__, depth)}.{thing.__name__}"
    if inspect.isroutine(thing) or isinstance(thing, type):
        return str(thing.__name__)
    try:
        taken = inspect.signature(type(thing)).parameters.values()
    except (TypeError, ValueError):  # classes that are written in C tell nothing
        taken = {}.values()
    pairs = []
    for parameter in taken if depth < MAX_DEPTH else ():
        if hasattr(thing, parameter.name):
            text = _value(getattr(thing, parameter.name), depth)
            if parameter.default is parameter.empty or text != _value(parameter.default, depth):
                pairs.append(f"{parameter.name}={text}")
    name = place_of(type(thing)) or type(thing).__name__
    return f"{name}({', '.join(pairs)})" if pairs else name


def _value(value: object, depth: int) -> str:
    """A parameter as text without an address in memory, which would be another in every process."""
    match value:
        case None | bool() | int() | float() | str() | bytes() | np.generic():
            text = shown(value.item() if isinstance(value, np.generic) else value)
        case np.ndarray():
            text = f"array({value.tolist()})" if value.dtype != object else "array"
        case list() | tuple() | set() | frozenset():
            items = [_value(item, depth + 1) for item in value]
            text = f"[{', '.join(sorted(items) if isinstance(value, (set, frozenset)) else items)}]"
        case dict():
            text = f"{{{', '.join(f'{_value(k, depth + 1)}: {_value(v, depth + 1)}' for k, v in value.items())}}}"
        case _:
            return described(value, depth + 1)
    return text if len(text) <= MAX_LENGTH else f"…{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"
