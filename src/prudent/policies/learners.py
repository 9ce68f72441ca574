"""Learners: policies with a memory of their own, written as plain classes.

A learner has two methods. `ask(rng)` returns the arm of the coming round, by its number from 0. `tell(arm, reward)`
reports a reward. If it has `start(n_arms, horizon)`, that is called before the first round; in an agent without a
horizon it is None. A simulation gives every run a fresh copy of the learner as it was passed.
"""

import copy
import inspect
import operator
from typing import Protocol, SupportsIndex, TypeGuard, TypeVar

import numpy as np

from prudent.base.description import described
from prudent.base.errors import PrudentError, shown

T = TypeVar("T")

METHODS = {"ask": "rng", "tell": "arm, reward", "start": "n_arms, horizon"}
"""What each method is given."""


class Learner(Protocol):
    """What every learner has; `start` is optional."""

    def ask(self, rng: np.random.Generator) -> int: ...
    def tell(self, arm: int, reward: float) -> None: ...


def asks_and_tells(thing: object) -> bool:
    """Whether a class, or a thing, has the methods of a learner."""
    return all(callable(getattr(thing, name, None)) for name in ("ask", "tell"))


def is_learner(thing: object) -> TypeGuard["Learner"]:
    """Whether it can be asked and told. An error if it is a class, which must be made first."""
    if isinstance(thing, (str, tuple)):
        return False
    methods = asks_and_tells(thing)
    if methods and isinstance(thing, type):
        raise PrudentError(f"a learner must be made first: pass {thing.__name__}(), not {thing.__name__}")
    return methods


def chosen_arm(owner: str, given: SupportsIndex, n_arms: int) -> int:
    """What a learner chose, as the number of an arm."""
    try:
        arm = operator.index(given)
    except TypeError:
        arm = -1
    if not 0 <= arm < n_arms:
        allowed = f"a number from 0 to {n_arms - 1}"
        raise PrudentError(f"{owner}: ask must return the arm's number, {allowed}, got {shown(given)}")
    return arm


def fresh(thing: T) -> T:
    """A copy of a learner or an environment, which knows nothing of other runs."""
    try:
        return copy.deepcopy(thing)
    except Exception as error:  # copying may raise anything
        fix = "give its class a __deepcopy__ that leaves out what cannot be copied"
        raise PrudentError(f"{described(thing)}: each run needs a copy of it, and {error}; {fix}") from error


def started(learner: T, n_arms: int, horizon: int | None) -> T:
    """A fresh copy of the learner, told what it is to do. An error if a method does not take what it is given."""
    for name, given in METHODS.items():
        if hasattr(learner, name):
            _check_takes(learner, name, given)
    copied = fresh(learner)
    if hasattr(copied, "start"):
        copied.start(n_arms, horizon)
    return copied


def _check_takes(learner: object, name: str, given: str) -> None:
    try:
        inspect.signature(getattr(learner, name)).bind(*given.split(", "))
    except TypeError as error:
        fix = f"write it as def {name}(self, {given})"
        raise PrudentError(f"{described(learner)}: {name} does not take what it is given ({error}); {fix}") from None
    except ValueError:  # what is written in C tells nothing
        return
