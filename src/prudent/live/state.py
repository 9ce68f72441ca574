"""What an agent keeps, and how it becomes JSON and comes back.

Every error in a text is an error in words: unreadable, not an agent's, of another version, altered since it was
written, a part missing or too many, a value out of its range.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray

from prudent.base.errors import PrudentError, check_finite, check_integer, check_number, shown
from prudent.base.json_text import sealed, unsealed
from prudent.base.own_classes import check_names_no_file
from prudent.base.parameters import check_support
from prudent.engine.python.arm import ArmState, check_moments, check_rewards, checked_ledger, checked_tail
from prudent.engine.python.propensities import Share
from prudent.live.evidence import are_two_values, rho_of
from prudent.live.labels import check_names
from prudent.policies.contract import FOREVER, Policy, policies, spec
from prudent.policies.units import Units, fitted
from prudent.risk.base import RiskMeasure, risks

FORMAT, VERSION = "prudent agent", 8

MAX_ROUNDS = 2**52
"""No experiment has more rounds. It is half of what floats count exactly, so that there is room to go on."""

OWN = "register a risk measure of your own in a package"
"""What helps where a state names a class in a file."""


class State(NamedTuple):
    """An agent, whole."""

    policy: Any  # a Policy, or a Learner
    risk: RiskMeasure | str
    horizon: int | None
    support: tuple[float, float]
    larger_is_better: bool
    arms: list[ArmState]
    rng: np.random.Generator
    floor: Share | None
    cap: Share | None
    declared: bool = False  # that rewards are one of the two ends of the support
    control: Any = None  # the name or number of the arm with which others are compared
    latest: Sequence[tuple[int, float]] = ()  # the last rewards, if the policy remembers a window of them


def write(state: State) -> str:
    """The state as strict JSON, every float exactly, with a digest of the whole."""
    bits: Any = state.rng.bit_generator.state
    # As text, since other readers of JSON, such as a database, would round integers of 128 bits.
    large = {name: str(value) for name, value in bits["state"].items()}
    parts = {
        "policy": describe(state.policy),
        "risk": str(state.risk),
        "horizon": state.horizon,
        "support": _plain(state.support),
        "larger_is_better": state.larger_is_better,
        "arms": [{**asdict(arm), "ledger": _numbers(arm.ledger), "tail": _numbers(arm.tail)} for arm in state.arms],
        "generator": {**large, "has_uint32": bits["has_uint32"], "uinteger": bits["uinteger"]},
        "floor": _pairs(state.floor),
        "cap": _pairs(state.cap),
        "declared": state.declared,
        "control": state.control,
        "latest": [list(pair) for pair in state.latest],
    }
    return sealed(FORMAT, VERSION, parts)


def read(text: str | bytes, policy: Policy | None) -> State:
    """The state that was written. A `policy` given is taken if it is the one described."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise PrudentError(f"must be text, got {shown(text)}; pass what to_json gave, or a path to load")
    described, risk, horizon, support, larger, arms, generator, floor, cap, *others = _entries(
        "state", unsealed(FORMAT, VERSION, text), _STATE
    )
    check_names_no_file("state", risk, OWN)
    ends = check_support("state", _unplain(support))
    about = _policy(described, policy), risk, horizon, ends, larger
    made = _arms(arms, ends, rho_of(risks.make("state", risk)))
    declared, control, latest = others
    if declared and not (all(map(math.isfinite, ends)) and are_two_values(made, ends)):
        raise PrudentError("declared must be false, since rewards are not one of the two ends of the support")
    limits = _share(floor), _share(cap)
    return State(*about, made, _generator(generator), *limits, declared, control, _latest(latest, made))


def describe(policy: Any) -> dict[str, Any]:
    """A policy as JSON: its name and parameters."""
    name = spec(policy).partition("(")[0]
    return {"name": name, "parameters": {key: _plain(value) for key, value in policy._asdict().items()}}


Shape: TypeAlias = dict[str, Any]
_STATE: Shape = {"policy": dict, "risk": str, "horizon": int | None, "support": list}
_STATE |= {"larger_is_better": bool, "arms": list, "generator": dict}
_STATE |= dict.fromkeys(("floor", "cap"), int | float | list | None)
_STATE |= {"declared": bool, "control": int | str | None}
_STATE["latest"] = list
_POLICY: Shape = {"name": str, "parameters": dict}
_AS_JSON: dict[Any, Any] = {
    float: int | float,
    list[float] | None: list | None,
    NDArray[np.float64] | None: list | None,
}
_ARM: Shape = {name: _AS_JSON.get(kind, kind) for name, kind in get_type_hints(ArmState).items()}
_GENERATOR: Shape = {"state": str, "inc": str, "has_uint32": int, "uinteger": int}


def _entries(where: str, given: Any, shape: Shape) -> list[Any]:
    """The values of a JSON object that has exactly these names, with these types."""
    if not isinstance(given, dict) or given.keys() != shape.keys():
        got = ", ".join(given) if isinstance(given, dict) else shown(given)
        raise PrudentError(f"{where} must hold {', '.join(shape)}, got {got}")
    for name, kind in shape.items():
        # JSON's true is no number, although Python counts it as one.
        if not isinstance(given[name], kind) or (kind is not bool and isinstance(given[name], bool)):
            raise PrudentError(f"{where}: {name} must be {getattr(kind, '__name__', kind)}, got {shown(given[name])}")
    return [given[name] for name in shape]


def _policy(described: Any, given: Policy | None) -> Policy:
    name, parameters = _entries("policy", described, _POLICY)
    if given is None:
        try:
            factory = policies.get(name).factory
        except PrudentError as error:
            raise PrudentError(f"{error}; a policy of your own must be passed again: policy={name}(…)") from None
        known = {key: _unplain(value) for key, value in parameters.items()}
        if isinstance(known.get("policy"), str):
            check_names_no_file("state", known["policy"], "register a policy of your own in a package")
        if isinstance(known.get("risk"), str):
            check_names_no_file("state", known["risk"], OWN)
            known["risk"] = risks.parse(known["risk"])
        given = factory(**known)
    else:  # as it came from its author, before the agent said how large rewards are
        given = fitted(given, Units(*(_unplain(parameters.get(name)) for name in Units._fields)))
    # Not only for what was passed: a class of the user's own called UCB1 is not the registered ucb1.
    if describe(given) != described:
        raise PrudentError(f"saved with the policy {name} and {parameters}, got {spec(given)}; pass the same as policy")
    return given


def _arms(given: list[Any], support: tuple[float, float], rho: float) -> list[ArmState]:
    arms = [_arm(f"arm {i}", entry, *support, rho) for i, entry in enumerate(given)]
    if len({arm.rewards is None for arm in arms}) > 1:
        raise PrudentError("arms must all hold their rewards, or none of them")
    if any(arm.name is not None for arm in arms):
        check_names("arms", "name", [arm.name for arm in arms])
    if not any(arm.chosen and not arm.retired for arm in arms):
        raise PrudentError("arms must hold one that is chosen and not retired")
    rounds = sum(arm.pulls + arm.open_asks for arm in arms)
    check_integer("arms", "all pulls and open asks together", rounds, low=0, high=MAX_ROUNDS)
    return arms


def _arm(where: str, given: Any, low: float, high: float, rho: float) -> ArmState:
    """The arm, if its parts fit together and to rewards in [low, high]."""
    arm = ArmState(*_entries(where, given, _ARM))
    for name in ("pulls", "open_asks"):
        check_integer(where, name, getattr(arm, name), low=0, high=MAX_ROUNDS)
    check_integer(where, "due", arm.due, low=0, high=FOREVER)
    check_moments(where, arm, low, high)
    if arm.due > 0 and (arm.retired or not arm.chosen):
        raise PrudentError(f"{where}: due must be 0 for an arm retired or not chosen, got {arm.due}")
    if arm.rewards is not None:
        arm.rewards = [_reward(where, reward, low, high) for reward in arm.rewards]
        check_rewards(where, arm, arm.rewards)
    if arm.recent is not None:
        _check_recent(f"{where}: recent", arm.recent, arm.pulls, low, high)
    if arm.ledger is not None:
        arm.ledger = checked_ledger(where, arm, list(arm.ledger), low, high, rho)
    if arm.tail is not None:
        arm.tail = checked_tail(where, arm, list(arm.tail), low, high)
    return arm


def _check_recent(where: str, recent: list[float], pulls: int, low: float, high: float) -> None:
    """What is remembered of an arm: at most all of its rewards."""
    if len(recent) < 3:
        raise PrudentError(f"{where} must hold a weight, a mean and a variance, got {shown(recent)}")
    weight, mean, *others = recent
    check_number(where, "weight", weight, low=0.0, high=pulls * (1.0 + 1e-9))
    if weight > 0.0:
        check_number(where, "mean", mean, low=low, high=high)
    for value in others:
        check_number(where, "variance", value, low=0.0, high=math.inf, open_high=True)


def _reward(where: str, reward: Any, low: float, high: float) -> float:
    return check_number(where, "rewards", reward, low=low, high=high, open_high=high == math.inf)


def _generator(given: Any) -> np.random.Generator:
    state, inc, *half = _entries("generator", given, _GENERATOR)
    whole = dict(zip(_GENERATOR, (_large("state", state), _large("inc", inc), *half), strict=True))
    for (name, value), bits in zip(whole.items(), (128, 128, 1, 32), strict=True):
        check_integer("generator", name, value, low=0, high=2**bits - 1)
    if whole["inc"] % 2 == 0:
        raise PrudentError(f"generator: inc must be odd, got {whole['inc']}")
    large = {name: whole.pop(name) for name in ("state", "inc")}
    generator: Any = np.random.PCG64(0)
    generator.state = {"bit_generator": "PCG64", "state": large, **whole}
    return np.random.Generator(generator)


def _large(name: str, digits: str) -> int:
    """A number of 128 bits from its decimal digits, which are at most 39."""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 39):
        raise PrudentError(f"generator: {name} must be a whole number as text, got {shown(digits)}")
    return int(digits)


def _pairs(share: Any) -> Any:
    """A floor or a cap as JSON, whose objects have no numbers for names."""
    return [list(pair) for pair in share.items()] if isinstance(share, Mapping) else share


def _latest(given: list[Any], arms: list[ArmState]) -> list[tuple[int, float]]:
    """The last rewards of a policy with a window, each with the number of its arm."""
    for pair in given:
        if not isinstance(pair, list) or len(pair) != 2:
            raise PrudentError(f"latest must hold pairs of an arm and a reward, got {shown(pair)}")
        check_integer("latest", "arm", pair[0], low=0, high=len(arms) - 1)
        check_finite("latest", "reward", pair[1])
    return [(int(arm), float(reward)) for arm, reward in given]


def _share(given: Any) -> Any:
    """What `_pairs` gave."""
    return dict(given) if isinstance(given, list) else given


def _numbers(ledger: NDArray[np.float64] | None) -> Any:
    return None if ledger is None else ledger.tolist()


def _plain(value: Any) -> Any:
    """A value as JSON, which knows neither NumPy nor tuples nor infinity nor risk measures."""
    if isinstance(value, RiskMeasure):
        return str(value)
    if policies.entry_of(value):
        return spec(value)
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _unplain(value: Any) -> Any:
    """A value from JSON. A list or an array comes back as a tuple, which policies can be compiled with."""
    if isinstance(value, list):
        return tuple(_unplain(part) for part in value)
    return float(value) if value in ("inf", "-inf") else value
