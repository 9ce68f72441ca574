"""How large rewards are: what policies assume of it, in one place, and the same problem in other units.

A policy that assumes something of rewards has a parameter that says it in the units of the rewards: their `range`, the
largest standard deviation `sd` of an arm, their ends `low` and `high`, the `best` reward possible, the `size` of what
is far from 0, or all `values`. One that is left out is filled in when the policy meets a problem, from what is known
of its rewards: `Units`.

If all rewards are multiplied by a, and with them ρ and these parameters, no policy decides otherwise. So a problem may
be simulated in a unit of its own and its results be multiplied back (`in_its_unit`). That unit is a power of two, which
costs no digit: the same problem in pence and in pounds of 128 pence gives the same numbers, bit for bit.
"""

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from prudent.bandit import Bandit
from prudent.base.errors import AssumptionWarning, PrudentError, check_number, shown
from prudent.base.parameters import UNSET, check_fields
from prudent.compile.cache import is_own
from prudent.risk.base import RiskMeasure, risks

AUTO = "auto"
"""Units from the arms."""

DEGREES = {"range": 1, "sd": 1, "low": 1, "high": 1, "best": 1, "size": 1, "values": 1, "rho": 1, "lam": -1, "limit": 2}
"""By which power of the unit parameters of policies grow; others are numbers without a unit."""


class Units(NamedTuple):
    """What is known of the size of rewards, None where nothing is. The defaults are those of published policies."""

    range: float | None = 1.0
    sd: float | None = 1.0
    low: float | None = 0.0
    high: float | None = 1.0
    values: tuple[float, ...] | None = (0.0, 1.0)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items() if value is not None)

    def times(self, factor: float) -> "Units":
        """For rewards that are larger by a factor."""
        return Units(*(None if value is None else _times(value, factor) for value in self))

    def known(self, parameter: str) -> Any:
        """The value of a policy's parameter; None if it is not known."""
        if parameter == "size":  # no reward is farther from 0
            return None if self.low is None or self.high is None else max(abs(self.low), abs(self.high))
        return getattr(self, {"best": "high"}.get(parameter, parameter), None)


PUBLISHED = Units()
NOTHING = Units(None, None, None, None, None)
"""Where nothing is known."""

_warned: ContextVar[bool] = ContextVar("warned", default=True)

Scale = float | str | Units | None
"""As published on the rewards as they are (None), on rewards divided by a number, or by what the arms say ("auto")."""


def units_of_arms(bandit: Bandit) -> Units:
    """What the arms say. Rewards without bounds are treated as Gaussian: an interval of length 2σ has their tails."""
    low, high = bandit.support
    sd = math.sqrt(bandit.variances.max())
    bounded = math.isfinite(high - low)
    atoms = [law.atoms() for law in bandit.arms]
    values = sorted({float(x) for atom in atoms if atom is not None for x in atom[0]}) if None not in atoms else None
    least, most = (end if math.isfinite(end) else None for end in (low, high))
    # Rewards that are all the same have no size; any will do.
    length = (high - low if bounded else 2.0 * sd) or 1.0
    return Units(length, sd or length / 2.0, least, most, None if values is None else tuple(values))


def units_of_support(support: tuple[float, float]) -> Units:
    """What an interval that rewards cannot leave says: no law on it has a standard deviation above half its length."""
    low, high = (end if math.isfinite(end) else None for end in support)
    length = None if low is None or high is None else high - low
    return Units(length, None if length is None else length / 2.0, low, high, None)


def check_scale(owner: str, given: object) -> Scale:
    """A scale as it is written: a number above 0, "auto", what is known by name, or nothing."""
    hint = 'leave it out for policies as published, or pass "auto" to take it from the arms'
    if given is None or (isinstance(given, str) and given == AUTO):
        return given
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in Units._fields]
        if unknown or not given:
            known = ", ".join(Units._fields)
            raise PrudentError(f"{owner}: scale must hold some of {known}, got {shown(given)}; {hint}")
        given = Units(*(given.get(name) for name in Units._fields))
    if isinstance(given, Units):
        made = given._replace(values=tuple(given.values) if isinstance(given.values, list) else given.values)
        check_fields(owner, made)
        return made
    if isinstance(given, str):
        raise PrudentError(f'{owner}: scale must be a number above 0 or "auto", got {shown(given)}; {hint}')
    return check_number(owner, "scale", given, low=0.0, open_low=True, open_high=True, hint=hint)


def units_of(scale: Scale, bandit: Bandit) -> Units:
    """The units that a scale stands for on these arms."""
    if isinstance(scale, Units):
        return scale
    if isinstance(scale, str):
        return units_of_arms(bandit)
    return PUBLISHED if scale is None else PUBLISHED.times(scale)


def core(policy: Any) -> Any:
    """The policy inside one that forgets (prudent.policies.forgetting), which has all that is assumed; else itself."""
    return policy.policy if hasattr(policy, "remembering") else policy


def fitted(policy: Any, units: Units) -> Any:
    """The policy with what it assumes of rewards filled in where it was left out, also in its parts."""
    if hasattr(policy, "fitted"):
        policy = policy.fitted(units)
    missing = [name for name in policy._fields if name in (*Units._fields, "best", "size")]
    found = {name: units.known(name) for name in missing if getattr(policy, name) is UNSET}
    return policy._replace(**{name: value for name, value in found.items() if value is not None}) if found else policy


@contextmanager
def without_warning() -> Iterator[None]:
    """In here policies run as published on purpose."""
    token = _warned.set(False)
    try:
        yield
    finally:
        _warned.reset(token)


def warn_of_size(owner: str, policy: object, bandit: Bandit, other: str = 'scale="auto" (--scale auto), or ') -> None:
    """Say so if what a fitted policy assumes of rewards does not hold on these arms; `other` is another fix than its
    parameter."""
    if _warned.get() and (text := doubt(owner, policy, bandit, other)):
        warnings.warn(text, AssumptionWarning, stacklevel=3)


def doubt(owner: str, policy: object, bandit: Bandit, other: str) -> str:
    """Why what a fitted policy assumes of rewards does not hold on these arms, and the fix; empty if it does."""
    policy = core(policy)
    unused = getattr(policy, "assumes_nothing", False)
    if unused or all(getattr(policy, name, UNSET) is UNSET for name in ("range", "sd")):
        return ""
    try:
        has, wide = units_of_arms(bandit), 1.0 + 1e-9
    except PrudentError as error:  # of heavy tails
        return f"{owner} assumes rewards of a limited size; {error}"
    kinds = {"range": "rewards in an interval of length", "sd": "standard deviations of at most"}
    for name, words in kinds.items():
        assumed, true = getattr(policy, name, UNSET), has.known(name)
        if assumed is not UNSET and true > assumed * wide:
            unbounded = name == "range" and not math.isfinite(math.fsum(map(abs, bandit.support)))
            is_so = "rewards without bounds, with tails as on an interval of " if unbounded else ""
            said = f"{owner} assumes {words} {assumed:g}, and these arms have {is_so}{true:.3g}"
            return f"{said}; pass {other}{name}={true:.3g} with the policy"
    return ""


class InUnit(NamedTuple):
    """A problem in a unit of its own."""

    unit: float
    bandit: Bandit
    risk: RiskMeasure
    policy: Any


def in_its_unit(bandit: Bandit, risk: RiskMeasure, policy: object, size: float) -> InUnit:
    """The same problem in a unit next to its size; unchanged where a part cannot be converted."""
    unit = power_of_two(size)
    laws, other_risk = [law.times(1.0 / unit) for law in bandit.arms], risk.times(1.0 / unit)
    other_policy = times(policy, 1.0 / unit)
    if other_risk is None or other_policy is None or None in laws:
        return InUnit(1.0, bandit, risk, policy)
    return InUnit(unit, Bandit([law for law in laws if law is not None]), other_risk, other_policy)


def size_of(policy: object, risk: RiskMeasure, support: tuple[float, float]) -> float:
    """About how large rewards are where there are no arms to look at; 1 if nothing tells."""
    told = [support[1] - support[0], *(getattr(core(policy), name, UNSET) for name in ("range", "sd"))]
    told.append(getattr(risk, "rho", UNSET))
    return next((size for size in told if size is not UNSET and 0.0 < size < math.inf), 1.0)


def power_of_two(size: float) -> float:
    """The power of two next to a size, from below; 1 for a size that is 0 or not finite."""
    return 2.0 ** (math.frexp(size)[1] - 1) if 0.0 < size < math.inf else 1.0


def times(policy: Any, factor: float) -> Any:
    """The policy that decides on rewards times a factor as this one does on rewards; None for one that is not ours."""
    if not is_own(type(policy)) or "ucb-e" in str(getattr(policy, "explore", "")):  # whose parameters are in a text
        return None
    if core(policy) is not policy:
        inner = times(core(policy), factor)
        return None if inner is None else policy._replace(policy=inner)
    changed = {}
    for name, value in policy._asdict().items():
        if value is UNSET:
            continue
        if name == "risk":
            changed[name] = risks.make("policy", value).times(factor)
            if changed[name] is None:
                return None
        elif name in DEGREES:
            changed[name] = _times(value, factor ** DEGREES[name])
        elif name == "b":  # of mv-ucb, in the unit of its cost
            changed[name] = value * factor ** (1 if policy.rho == math.inf else 2)
    return policy._replace(**changed)


def _times(value: Any, factor: float) -> Any:
    return tuple(x * factor for x in value) if isinstance(value, tuple) else value * factor
