"""A policy and the problem it meets: the risk it serves, the rewards it assumes, and how it is made ready."""

import inspect
import math
from typing import Any, NamedTuple

from prudent.compiled import as_compiled
from prudent.errors import PrudentError, shown
from prudent.parameters import UNSET, check_fields, type_hints
from prudent.policies.base import ANY, Policy, Setting, policies, spec, strategies
from prudent.policies.helpers import enough_rounds, need_horizon
from prudent.policies.scoring import SCORE_INPUTS, score_inputs
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance


class Rewards(NamedTuple):
    """The rewards a policy is made for: those in an interval, and of these only `values` if there are any."""

    low: float
    high: float
    values: tuple[float, ...]


def serves(policy: Policy) -> str:
    """The risk measure a policy serves, by name; one that is not registered takes its parameters from any."""
    served: str = policies.facts_of(policy).get("serves", ANY)
    return served


def served_risk(policy: Policy) -> RiskMeasure:
    """The risk measure a policy serves, with the policy's parameters where it has them."""
    own = getattr(policy, "risk", UNSET)
    if own is not UNSET:
        return risks.make(spec(policy), own)
    name = serves(policy) if serves(policy) in risks else MeanVariance.name
    wanted = inspect.signature(risks.get(name).factory).parameters
    given = {field: getattr(policy, field, UNSET) for field in wanted}
    measure: RiskMeasure = risks.get(name).factory(**{key: value for key, value in given.items() if value is not UNSET})
    return measure


def assumed_rewards(policy: Policy) -> Rewards:
    """What the policy's facts and its fields `low`, `high` and `values` say of rewards."""
    values = tuple(getattr(policy, "values", policies.facts_of(policy).get("values", ())))
    low, high = policies.facts_of(policy).get("rewards", (-math.inf, math.inf))
    least, most = (min(values), max(values)) if values else (low, high)
    return Rewards(max(low, least, getattr(policy, "low", low)), min(high, most, getattr(policy, "high", high)), values)


def check_rewards(policy: Policy, support: tuple[float, float], *, live: bool = False) -> None:
    """Refuse rewards in the support that the policy was not made for, or was not told of.

    Live, a policy left with a default `range` shorter than the support is refused too, because its widths would be too
    narrow and nothing would show it. A simulation may go beyond a policy's proofs on purpose.
    """
    low, high = support
    if low < getattr(policy, "best", low) < high:
        raise PrudentError(
            f"{spec(policy)}: best must be an end of the rewards' interval, [{low:g}, {high:g}]; give best"
        )
    assumed = assumed_rewards(policy)
    if low < assumed.low or high > assumed.high:
        fields = [name for name in ("low", "high", "values") if hasattr(policy, name)]
        fix = f"give {' and '.join(fields)}" if fields else "rescale the rewards, or take another policy"
        raise PrudentError(
            f"{spec(policy)}: is made for rewards in [{assumed.low:g}, {assumed.high:g}], and these lie in"
            f" [{low:g}, {high:g}]; {fix}"
        )
    default, length = policy._field_defaults.get("range", UNSET), high - low
    if live and default is not UNSET and policy._asdict()["range"] == default and (1.0 + 1e-9) * default < length:
        raise PrudentError(
            f"{spec(policy)}: range is {default:g}, its default, shorter than the agent's support {support};"
            f" pass range={length:g}"
        )


def bind(given: Policy, setting: Setting) -> Any:
    """The policy ready to run: every parameter a number, its methods known to the compiler."""
    if isinstance(given, type):
        raise PrudentError(f"policy must be made first: pass {given.__name__}(), not {given.__name__}")
    if not hasattr(given, "_fields"):
        raise PrudentError(f"policy must be a NamedTuple with a method score or phase, got {shown(given)}")
    entry = policies.entry_of(given) or strategies.entry_of(given)
    owner = entry.name if entry else type(given).__name__
    if entry or hasattr(given, "check"):  # again, since _replace goes past the check when it was made
        check_fields(owner, given)
    ready = _informed(owner, given, setting)
    if hasattr(ready, "tuned"):
        ready = ready.tuned(setting)
    if not (hasattr(ready, "score") or hasattr(ready, "phase")):
        raise PrudentError(f"policy must be a NamedTuple with a method score or phase, got {shown(given)}")
    if hasattr(ready, "score"):
        _check_score(given, ready)
        enough_rounds(spec(given), setting)
    return as_compiled(_as_annotated(ready))


def _check_score(given: Policy, ready: Any) -> None:
    """What a score needs is read off its own names, so it must be written in the class, with those names."""
    names = score_inputs(type(ready)) if "score" in vars(type(ready)) else ()
    if names[:1] != SCORE_INPUTS[:1] or names != tuple(name for name in SCORE_INPUTS if name in names):
        raise PrudentError(
            f"{spec(given)}: score must take (self, arm), and then those it needs of t, rng, rewards, in this order,"
            f" and be written in the class itself; got ({', '.join(names)})"
        )


def _informed(owner: str, ready: Any, setting: Setting) -> Any:
    """The policy with what it takes from the setting; what it cannot take must have been given."""
    risk = setting.risk
    fitting = serves(ready) in (risk.name, ANY)
    for name, value in ready._asdict().items():
        if name == "risk":
            ready = ready._replace(risk=risks.make(spec(ready), risk if value is UNSET else value).compiled())
        elif name in ("budget", "delta") and getattr(setting, name) is not None:
            if value is not UNSET:
                raise PrudentError(f"{strategies.spec(ready)}: give {name} to identify, not to the strategy")
            ready = ready._replace(**{name: getattr(setting, name)})
        elif name == "delta" and value is UNSET:  # at n = 1 it would be 1, yet the single pull is forced anyway
            ready = ready._replace(delta=min(0.5, need_horizon(owner, setting) ** -2.0))
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
    return {name for entry in risks.entries() for name in entry.parameters}


def _as_annotated(ready: Any) -> Any:
    """Fields cast to their annotated types, so that c=1 and c=1.0 compile to the same code."""
    hints = type_hints(type(ready))
    for name, value in ready._asdict().items():
        if value is UNSET:
            raise PrudentError(f"{spec(ready)}: {name} is not set; pass a value")
        if hints.get(name) in (int, float):
            ready = ready._replace(**{name: hints[name](value)})
    return ready
