"""Learners: policies with a memory of their own, written as plain classes.

A learner has two methods. `ask(rng)` returns the arm of the coming round, by its number from 0. `tell(arm, reward)`
reports a reward. If it has `start(n_arms, horizon)`, that is called before the first round; in an agent without a
horizon it is None. A simulation gives every run a fresh copy of the learner as it was passed.
"""

import copy
import hashlib
import inspect
import operator
from functools import partial
from typing import Any, Protocol

import numpy as np

from prudent.errors import PrudentError, shown

DEEPEST = 3
"""Objects within objects that are still described by their parameters."""

LONGEST = 200
"""Characters of a value that is written out; of a longer one a digest is."""


class Learner(Protocol):
    """What every learner has; `start` is optional."""

    def ask(self, rng: np.random.Generator) -> int: ...
    def tell(self, arm: int, reward: float) -> None: ...


def is_learner(thing: Any) -> bool:
    """Whether it can be asked and told. An error if it is a class, which must be made first."""
    if isinstance(thing, (str, tuple)):
        return False
    methods = all(callable(getattr(thing, name, None)) for name in ("ask", "tell"))
    if methods and isinstance(thing, type):
        raise PrudentError(f"a learner must be made first: pass {thing.__name__}(), not {thing.__name__}")
    return methods


def chosen_arm(owner: str, given: Any, n_arms: int) -> int:
    """What a learner chose, as the number of an arm."""
    try:
        arm = operator.index(given)
    except TypeError:
        arm = -1
    if not 0 <= arm < n_arms:
        allowed = f"a number from 0 to {n_arms - 1}"
        raise PrudentError(f"{owner}: ask must return the arm's number, {allowed}, got {shown(given)}")
    return arm


def fresh(thing: Any) -> Any:
    """A copy of a learner or an environment, which knows nothing of other runs."""
    try:
        return copy.deepcopy(thing)
    except Exception as error:  # copying may raise anything
        fix = "give its class a __deepcopy__ that leaves out what cannot be copied"
        raise PrudentError(f"{described(thing)}: each run needs a copy of it, and {error}; {fix}") from error


def started(learner: Any, n_arms: int, horizon: int | None) -> Any:
    """A fresh copy of the learner, told what it is to do."""
    copied = fresh(learner)
    if hasattr(copied, "start"):
        copied.start(n_arms, horizon)
    return copied


def described(thing: Any, depth: int = 0) -> str:
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
    for parameter in taken if depth < DEEPEST else ():
        if hasattr(thing, parameter.name):
            text = _value(getattr(thing, parameter.name), depth)
            if parameter.default is parameter.empty or text != _value(parameter.default, depth):
                pairs.append(f"{parameter.name}={text}")
    name = type(thing).__name__
    return f"{name}({', '.join(pairs)})" if pairs else name


def _value(value: Any, depth: int) -> str:
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
    return text if len(text) <= LONGEST else f"…{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"
