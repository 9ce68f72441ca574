"""The contract of a policy, whole.

A policy is a `NamedTuple` of parameters with one of two methods, written as plain Python that Numba can compile:

`score(self, arm, …)` gives one arm's score from its statistics; the arm with the smallest score is pulled, ties go to
    the lowest number, an arm never pulled goes first. What else it needs it asks for by name, in this order: `t`,
    `rng`, and `rewards`, the arm's rewards so far in ascending order (keeping them sorted costs O(pulls) a round).
    Asking for neither `t` nor `rng` declares that the score needs no clock: then only the pulled arm is rescored.
`phase(self, arms, t, chosen, rng)` plays in phases: mark in `chosen` (a boolean per arm, all true at first, then as
    the policy left it) which arms to pull, and return how many times each; they are pulled in turn.

`t` is the round about to be played, from 1. Optional: `tuned(self, horizon, n_arms)` returns the policy with what
depends on them filled in; a field left UNSET takes the value of that name from the risk measure the policy `serves`,
and a field `risk` the measure itself; a field `arm` holds an arm's number; `check(self)` refuses bad parameters.

A score of `arm` alone lets runs leap (docs/leaping.md) if the policy also bounds it: `score_bound(self, low, high)`
returns at least every score of an arm whose pulls, mean and variance lie between those of `low` and `high`. For a score
that is monotone in each of the three, `return corner_bound(self, low, high)` will do.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from prudent.compiled import SCORE_INPUTS, compilable, helper, score_inputs
from prudent.errors import PrudentError, check_finite, check_number, check_positive
from prudent.registry import Registry
from prudent.risk import RiskMeasure
from prudent.risk import registry as risk_registry

Policy: TypeAlias = tuple[Any, ...]
P = TypeVar("P", bound=type)

UNSET: Any = None
"""A parameter to be filled in when the policy meets its problem."""

FOREVER = 2**62
"""As many repetitions as there are rounds left."""

registry = Registry("policy", "prudent.policies", parts=risk_registry)
_names: dict[type, str] = {}
_serves: dict[type, str] = {}
_rewards: dict[type, tuple[float, float]] = {}

MEAN, ANY = "mean", "any risk"
"""What a policy without a risk measure of its own serves."""


class Arm(NamedTuple):
    """What is known of one arm: pulls, mean, variance (divided by the pulls)."""

    pulls: int
    mean: float
    variance: float


class Arms(NamedTuple):
    """What is known of all arms, an array each."""

    pulls: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


def policy(name: str, *, serves: str, rewards: tuple[float, float] = (-math.inf, math.inf)) -> Callable[[P], P]:
    """Register a policy class under `name`, and check its parameters when it is made.

    It `serves` a risk measure, given by name, or the MEAN, or ANY. It makes no sense for rewards outside `rewards`, nor
    outside what its own fields `low`, `high`, `support` or `best` (an end) say. The class's docstring names its paper
    in brackets, as [Sani12], and says what it assumes in a sentence that begins with "Assumes".
    """

    def register(cls: P) -> P:
        _serves[cls], _rewards[cls] = serves, rewards
        return enrol(cls, name, registry)

    return register


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def enrol(cls: P, name: str, book: Registry) -> P:
    """Put a `NamedTuple` class into a registry under `name`, and check its parameters when it is made."""
    if hasattr(cls, "check"):
        make = cls.__new__

        @functools.wraps(make)
        def checked(kind: type, *args: Any, **kwargs: Any) -> Any:
            # The registry and JSON give lists; as tuples, a policy equals the one it was written from.
            made = make(kind, *map(_frozen, args), **{name: _frozen(value) for name, value in kwargs.items()})
            made.check()
            return made

        cls.__new__ = checked  # type: ignore[assignment, method-assign]
    _names[cls] = name
    return book.add(name, cls)


def serves(given: Policy) -> str:
    """The risk measure a policy minds, by name; a class of the user's own takes its parameters from any."""
    return _serves.get(type(given), ANY)


def check_rewards(given: Policy, low: float, high: float) -> None:
    """Refuse rewards in [low, high] that the policy was not made for, or not told of."""
    told: Any = given
    least, most = _rewards.get(type(given), (-math.inf, math.inf))
    support = getattr(told, "support", (least, most))
    least = max(least, getattr(told, "low", least), min(support))
    most = min(most, getattr(told, "high", most), max(support))
    if low < getattr(told, "best", low) < high:
        raise PrudentError(
            f"{spec(given)}: best must be an end of the rewards' interval, [{low:g}, {high:g}]; give best"
        )
    if low < least or high > most:
        fields = [name for name in ("low", "high", "support") if hasattr(told, name)]
        fix = f"give {' and '.join(fields)}" if fields else "rescale the rewards, or take another policy"
        raise PrudentError(
            f"{spec(given)}: is made for rewards in [{least:g}, {most:g}], and these lie in [{low:g}, {high:g}]; {fix}"
        )


def spec(given: Policy) -> str:
    """The policy as text: its name and the parameters that differ from their defaults."""
    cls: Any = type(given)
    defaults = cls._field_defaults
    shown = [
        f"{field}={value}"
        for field, value in zip(cls._fields, given, strict=True)
        if field not in defaults or value != defaults[field]
    ]
    name = _names.get(cls, cls.__name__)
    return f"{name}({', '.join(shown)})" if shown else name


def bind(given: Policy, risk: RiskMeasure, horizon: int | None, n_arms: int) -> Policy:
    """The policy ready to play: every parameter a number, its methods known to the compiler."""
    ready: Any = given
    if isinstance(given, type):
        raise PrudentError(f"policy must be made first: pass {given.__name__}(), not {given.__name__}")
    if hasattr(ready, "check"):  # again, since _replace goes past the check at the door
        ready.check()
    ready = _informed(ready, risk)
    if hasattr(ready, "tuned"):
        ready = ready.tuned(horizon, n_arms)
    if not (hasattr(ready, "_fields") and (hasattr(ready, "score") or hasattr(ready, "phase"))):
        raise PrudentError(f"policy must be a NamedTuple with a method score or phase, got {given!r}")
    if hasattr(ready, "score"):
        _check_score(given, type(ready))
    if hasattr(ready, "score") and horizon is not None and horizon < n_arms:
        raise PrudentError(
            f"{spec(given)}: horizon must be at least the number of arms, {n_arms}, got {horizon}; it pulls each once"
        )
    ready = as_annotated(ready)
    cls: Any = type(ready)
    compilable(cls)
    return ready  # type: ignore[no-any-return]


def _check_score(given: Policy, cls: Any) -> None:
    """What a score needs is read off its own names, so it must be written in the class, with those names."""
    names = score_inputs(cls) if "score" in vars(cls) else ()
    if names[:1] != SCORE_INPUTS[:1] or names != tuple(name for name in SCORE_INPUTS if name in names):
        raise PrudentError(
            f"{spec(given)}: score must take (self, arm), and then those it needs of t, rng, rewards, in this order,"
            f" and be written in the class itself; got ({', '.join(names)})"
        )


def _informed(ready: Any, risk: RiskMeasure) -> Any:
    """The policy with what it takes from the risk measure; what it cannot take must have been given."""
    fitting = serves(ready) in (risk.name, ANY)
    for name in getattr(ready, "_fields", ()):
        value = getattr(ready, name)
        if name == "risk":
            measure = risk if value is UNSET else value
            measure = risk_registry.parse(measure) if isinstance(measure, str) else measure
            if not isinstance(measure, RiskMeasure):
                raise PrudentError(f"{spec(ready)}: risk must be a risk measure or its name, got {measure!r}")
            ready = ready._replace(risk=measure.compiled())
        elif value is UNSET and fitting and hasattr(risk, name):
            ready = ready._replace(**{name: getattr(risk, name)})
        elif value is UNSET and name in _attitudes():
            wanted = "a risk" if serves(ready) == ANY else serves(ready)
            raise PrudentError(
                f"{spec(ready)}: serves {wanted}, and {name} cannot be taken from {risk}; give it: {name}=…,"
                " or take a policy for that risk (`prudent policies`)"
            )
    return ready


def _attitudes() -> set[str]:
    """The names of all parameters of risk measures; a policy's field of such a name describes an attitude to risk."""
    return {name for risk in risk_registry.names() for name in inspect.signature(risk_registry.get(risk)).parameters}


def as_annotated(ready: Any) -> Any:
    """Fields cast to their annotated types, so that c=1 and c=1.0 compile to the same code."""
    hints = get_type_hints(type(ready))
    for name, value in zip(ready._fields, ready, strict=True):
        if value is UNSET:
            raise PrudentError(f"{spec(ready)}: {name} is not set; pass a value")
        if hints[name] in (int, float):
            ready = ready._replace(**{name: hints[name](value)})
    return ready


@helper
def mean_variance(mean: float, variance: float, rho: float) -> float:
    """σ² − ρ μ; −μ when ρ is infinite."""
    return -mean if math.isinf(rho) else variance - rho * mean


@helper
def corner_bound(scorer: Any, low: Arm, high: Arm) -> float:
    """The largest score at the corners of the box: a bound for every score monotone in pulls, in mean, in variance."""
    bound = -math.inf
    for pulls in (low.pulls, high.pulls):
        for mean in (low.mean, high.mean):
            for variance in (low.variance, high.variance):
                bound = max(bound, scorer.score(Arm(pulls, mean, variance)))
    return bound


@helper
def cheapest(arms: Arms, rho: float) -> int:
    """The arm of smallest empirical mean-variance among those pulled; ties to the lowest number."""
    best, best_cost = 0, math.inf
    for i in range(len(arms.pulls)):
        cost = mean_variance(arms.mean[i], arms.variance[i], rho)
        if arms.pulls[i] > 0 and cost < best_cost:
            best, best_cost = i, cost
    return best


@helper
def choose_only(chosen: NDArray[np.bool_], arm: int) -> None:
    """Leave one arm chosen."""
    chosen[:] = False
    chosen[arm] = True


def check_rho(owner: str, rho: Any) -> None:
    """ρ is UNSET or at least 0; ∞ means "mean only"."""
    if rho is not UNSET:
        check_number(owner, "rho", rho, low=0.0, hint="ρ is a tolerance for risk; leave it out to take the risk's")


def check_width(owner: str, c: Any, reward_range: Any) -> None:
    """The constant and the range of rewards in a confidence width."""
    check_finite(owner, "c", c, low=0.0, hint="5 is the paper's constant, 1 is enough with the unbiased variance")
    check_positive(owner, "range", reward_range, hint="pass the largest minus the smallest possible reward")


def check_delta(owner: str, delta: Any) -> None:
    """δ is UNSET or a probability strictly between 0 and 1."""
    if delta is not UNSET:
        percent = isinstance(delta, (int, float)) and 1 <= delta < 100
        hint = f"for a {delta:g} % failure rate pass {delta / 100:g}" if percent else ""
        check_number(owner, "delta", delta, low=0.0, high=1.0, open_low=True, open_high=True, hint=hint)


def usual_delta(owner: str, delta: float, horizon: int | None) -> float:
    """δ as given, else 1/n²; at n = 1 that would be 1, yet the single pull is forced anyway."""
    return min(0.5, need_horizon(owner, horizon) ** -2.0) if delta is UNSET else delta


def need_horizon(owner: str, horizon: int | None) -> int:
    """The horizon, for a policy that cannot play without one."""
    if horizon is None:
        raise PrudentError(f"{owner}: needs the horizon; pass horizon=…, or take an anytime policy")
    return horizon
