"""How a broken rule is told, and the rules that laws, risk measures, policies and strategies share."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.errors import NumbaError

from prudent import Law, PrudentError, RiskMeasure
from prudent.base.parameters import check_fields
from prudent.base.registry import Registry
from prudent.compile.announce import refusal
from prudent.policies.contract import policies, strategies

SEED = 2012


class ConformanceError(AssertionError):
    """A contract is broken; the message says which rule and the likely fix."""


def require(kept: object, subject: object, rule: str, fix: str = "") -> None:
    """The subject keeps the rule, or the error says how to."""
    if not kept:
        raise ConformanceError(f"{subject}: {rule}; {fix}" if fix else f"{subject}: {rule}")


@contextmanager
def answers(subject: object, rule: str) -> Iterator[None]:
    """Whatever is raised inside breaks the rule."""
    try:
        yield
    except ConformanceError:
        raise
    except Exception as error:
        raise ConformanceError(f"{subject}: {rule}, but raised {type(error).__name__}: {error}") from error


def refuses(subject: object, asked: str, call: Callable[[], object]) -> None:
    """The call raises PrudentError."""
    try:
        call()
    except PrudentError:
        return
    except Exception as error:
        found = f"raised {type(error).__name__}: {error}"
    else:
        found = "was accepted"
    raise ConformanceError(f"{subject}: {asked} must raise PrudentError, but {found}; see prudent.base.errors")


def check_value(thing: Law | RiskMeasure, registry: Registry[Any] | None) -> None:
    """Hashable, immutable, and built again by its own text."""
    with answers(repr(thing), "must be printable and hashable"):
        text = str(thing)
        hash(thing)
    for name, value in list(vars(thing).items()):
        try:
            setattr(thing, name, value)
        except AttributeError:
            continue
        raise ConformanceError(f"{text}: must not change, yet {name} can be set; use @dataclass(frozen=True)")
    if registry is not None and thing.name in registry:
        check_spec(thing, text, registry)


def check_spec(thing: object, text: str, registry: Registry[object]) -> None:
    """The text of a registered thing builds it again."""
    with answers(text, "its text must be a spec that the registry reads"):
        again = registry.parse(text)
    require(again == thing, text, f"its text must build it again, but built {again!r}", "print every parameter in full")


def close(a: float, b: float, near: float = 1e-9) -> bool:
    """Equal up to rounding, or up to `near`; an infinite number is close to itself alone."""
    return bool(a == b or abs(a - b) <= near * (1.0 + abs(b)) < math.inf)


def check_parameters(name: str, subject: object) -> None:
    """Whoever checks parameters accepts its own; NaN, which would travel far, is stopped for all by `check_fields`."""
    registered = any(registry.entry_of(subject) for registry in (policies, strategies))
    if hasattr(subject, "check") or registered:
        with answers(name, "check must accept what it belongs to"):
            check_fields(name, subject)


@contextmanager
def compiles(name: str) -> Iterator[None]:
    """It must run compiled; where Numba refuses it, one line says why."""
    with answers(name, "must run compiled"):
        try:
            yield
        except NumbaError as error:
            raise ConformanceError(f"{name}: {refusal(error)}") from error
