"""A policy and the problem it meets: the risk it serves, the rewards it assumes, and how it is made ready."""

import inspect
import math
from typing import Any, NamedTuple

from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, shown
from prudent.base.parameters import UNSET, check_fields, type_hints
from prudent.base.text import page
from prudent.compile.types import as_compiled
from prudent.policies.contract import ANY, Arm, Policy, Setting, policies, spec, strategies
from prudent.policies.helpers import enough_rounds, need_horizon
from prudent.policies.posteriors import LAWS
from prudent.policies.scoring import WHAT_A_SCORE_TAKES, declares_draws, fits, score_names
from prudent.policies.units import core, fitted
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance

UNKNOWN = {
    name: f"{what}, {name}=…, or of an agent its support=(low, high)"
    for name, what in {
        "range": "give the length of the rewards' interval",
        "sd": "give about the largest standard deviation of an arm's rewards",
        "low": "give the smallest reward possible",
        "high": "give the largest reward possible",
        "best": "give the end of the rewards' interval that makes an arm look best",
        "size": "give the p-th root of about the largest E|X|^p of an arm's rewards X, p the order",
        "values": "list all rewards possible, ascending",
    }.items()
}
"""What to ask for where the size of rewards is not known."""


class Rewards(NamedTuple):
    """The rewards a policy is made for: those in an interval, and of these only `values` if there are any."""

    low: float
    high: float
    values: tuple[float, ...]


def serves(policy: Policy) -> str:
    """The risk measure a policy serves, by name; one that is not registered takes its parameters from any."""
    served: str = policies.facts_of(core(policy)).get("serves", ANY)
    return served


def served_risk(policy: Policy) -> RiskMeasure:
    """The risk measure a policy serves, with the policy's parameters where it has them."""
    policy = core(policy)
    own = getattr(policy, "risk", UNSET)
    if own is not UNSET:
        return risks.make(spec(policy), own)
    name = serves(policy) if serves(policy) in risks else MeanVariance.name
    wanted = inspect.signature(risks.get(name).factory).parameters
    given = {field: getattr(policy, field, UNSET) for field in wanted}
    measure: RiskMeasure = risks.get(name).factory(**{key: value for key, value in given.items() if value is not UNSET})
    return measure


def known_risk(owner: str, policy: Policy) -> RiskMeasure:
    """The risk measure a policy serves, if none of it must be guessed: ρ has the unit of rewards, which users know."""
    policy, measure = core(policy), served_risk(policy)
    if serves(policy) == ANY and getattr(policy, "risk", UNSET) is UNSET:
        fix = "pass risk='mean-variance(rho=…)', or risk='mean' if risk does not matter"
        raise PrudentError(f"{owner}: {spec(policy)} serves any risk, and none was given; {fix}")
    own = getattr(policy, "risk", UNSET) is not UNSET
    for name in () if own else measure.grows or ():
        if getattr(policy, name, UNSET) is UNSET and 0.0 < getattr(measure, name) < math.inf:
            fix = f"pass risk='{measure.name}({name}=…)', in your unit ({page('units')})"
            raise PrudentError(f"{owner}: {spec(policy)} needs {name}, which has the unit of rewards; {fix}")
    return measure


def assumed_rewards(policy: Policy) -> Rewards:
    """The rewards that a policy is made for, of which its fields `low`, `high` and `values` tell; see `fitted`."""
    policy = core(policy)
    least, most = (getattr(policy, name, UNSET) for name in ("low", "high"))
    low, high = -math.inf if least is UNSET else least, math.inf if most is UNSET else most
    values: Any = (low, high) if policies.facts_of(policy).get("binary") else getattr(policy, "values", UNSET)
    if values is UNSET:
        return Rewards(low, high, ())
    return Rewards(max(low, min(values)), min(high, max(values)), tuple(values))


def check_rewards(policy: Policy, support: tuple[float, float]) -> None:
    """Refuse rewards in the support that the policy, as fitted, was not made for."""
    policy, (low, high) = core(policy), support
    best = getattr(policy, "best", UNSET)
    if best is not UNSET and low < best < high:
        raise PrudentError(
            f"{spec(policy)}: best must be an end of the rewards' interval, [{low:g}, {high:g}]; give best"
        )
    assumed = assumed_rewards(policy)
    if low < assumed.low or high > assumed.high:
        fields = [name for name in ("low", "high", "values") if hasattr(policy, name)]
        raise PrudentError(
            f"{spec(policy)}: is made for rewards in [{assumed.low:g}, {assumed.high:g}], and these lie in"
            f" [{low:g}, {high:g}]; give {' and '.join(fields)}"
        )


def check_arms(policy: Policy, bandit: Bandit) -> None:
    """The same for the rewards of these arms, of which a policy for two values takes no others, even between them."""
    check_rewards(policy, bandit.support)
    if not policies.facts_of(policy).get("binary"):
        return
    assumed, paid = assumed_rewards(policy).values, values_paid(bandit)
    if paid is None or not paid <= set(assumed):
        others = "other rewards" if paid is None else f"also {min(paid - set(assumed)):g}"
        raise PrudentError(
            f"{spec(policy)}: is made for rewards that are {' or '.join(f'{x:g}' for x in assumed)}, and these arms pay"
            f" {others}; give low and high if there are two, else take a policy for any rewards, such as prudent"
        )


def values_paid(bandit: Bandit) -> frozenset[float] | None:
    """All rewards that arms with finitely many values may pay; None if one has more."""
    atoms = [law.atoms() for law in bandit.arms]
    return None if None in atoms else frozenset(float(x) for each in atoms if each is not None for x in each[0])


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
    if core(given) is not given:
        return given.remembering(setting)  # type: ignore[attr-defined]
    ready = _informed(owner, given, setting)
    if hasattr(ready, "tuned"):
        ready = ready.tuned(setting)
    if not (hasattr(ready, "score") or hasattr(ready, "phase")):
        raise PrudentError(f"policy must be a NamedTuple with a method score or phase, got {shown(given)}")
    if hasattr(ready, "score"):
        _check_score(given, ready)
        enough_rounds(spec(given), setting)
    ready = _as_annotated(ready)
    if hasattr(ready, "score") and declares_draws(type(ready)):
        _check_draws(given, ready)
    return as_compiled(ready)


def _check_score(given: Policy, ready: object) -> None:
    """What a score needs is read off its own names, so it must be written in the class, with those names."""
    kind: Any = type(ready)
    names = score_names(kind) if "score" in vars(kind) else ()
    declared = declares_draws(kind)
    if not (names[:1] == ("arm",) and len(names) in (2, 3) if declared else fits(names)):
        drawn = "(self, arm), and then one or two numbers, one for each law that draws returns"
        raise PrudentError(
            f"{spec(given)}: score must take {drawn if declared else WHAT_A_SCORE_TAKES}, in this order,"
            f" and be written in the class itself; got ({', '.join(names)})"
        )
    if "counts" in names and not hasattr(ready, "values"):
        raise PrudentError(f"{spec(given)}: its score asks for counts, so it needs a field values, an ascending array")
    if "best_cost" in names:
        by_moments = hasattr(ready, "risk") and (ready.risk.by_moments or "rewards" in names)
        if not (hasattr(ready, "rho") or by_moments):
            raise PrudentError(
                f"{spec(given)}: its score asks for best_cost, so it needs a field rho, or a field risk; a risk that"
                " takes more than mean and variance needs a score that asks for rewards too"
            )


def _check_draws(given: Policy, ready: Any) -> None:
    """A number from each law goes to the score."""
    kind: Any = type(ready)
    laws, wanted = ready.draws(Arm(4, 0.5, 0.25)), len(score_names(kind)) - 1
    if not (isinstance(laws, tuple) and all(isinstance(law, LAWS) for law in laws) and len(laws) == wanted):
        fix = "write return (normal(…),) for one, and import the laws from prudent.policies.posteriors"
        raise PrudentError(
            f"{spec(given)}: draws must return a tuple of {wanted} laws, one for each number that its score takes after"
            f" arm, got {shown(laws)}; {fix}"
        )


def _informed(owner: str, given: object, setting: Setting) -> Any:
    """The policy with what it takes from the setting; what it cannot take must have been given."""
    risk, ready = setting.risk, fitted(given, setting.units)
    fitting = serves(ready) in (risk.name, ANY)
    for name, value in ready._asdict().items():
        if name == "risk":
            ready = ready._replace(risk=risks.make(spec(ready), risk if value is UNSET else value).compiled())
        elif name in ("budget", "delta") and getattr(setting, name) is not None:
            if value is not UNSET:
                raise PrudentError(f"{strategies.spec(given)}: give {name} to identify, not to the strategy")
            ready = ready._replace(**{name: getattr(setting, name)})
        elif name == "delta" and value is UNSET:  # at n = 1 it would be 1, yet the single pull is forced anyway
            ready = ready._replace(delta=min(0.5, need_horizon(owner, setting) ** -2.0))
        elif value is UNSET and fitting and hasattr(risk, name):
            ready = ready._replace(**{name: getattr(risk, name)})
        elif value is UNSET and name in UNKNOWN:
            raise PrudentError(f"{spec(given)}: {name} is not known here; {UNKNOWN[name]}")
        elif value is UNSET and name in attitudes():
            wanted = "a risk" if serves(ready) == ANY else serves(ready)
            raise PrudentError(
                f"{spec(given)}: serves {wanted}, and {name} cannot be taken from {risk}; give it: {name}=…,"
                " or take a policy for that risk (`prudent policies`)"
            )
    return ready


def attitudes() -> set[str]:
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
