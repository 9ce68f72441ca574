"""How plain Python becomes compiled code: the only file that knows Numba's internals.

`kernel` compiles an engine loop and caches it on disk; `helper` marks a function that kernels and policies may
call. A policy is a `NamedTuple` class whose methods Numba compiles as they stand, so the same source runs
interpreted in a live experiment and compiled in a simulation. A risk measure is a dataclass; inside kernels its
`tuple_form` stands for it.

Numba's disk cache looks only at the kernel's own file: edit a policy, and the stale machine code would run
silently. So the type under which a policy is compiled carries a fingerprint of the policy's code, of the functions
it calls, and of the source of the kernels.
"""

import hashlib
import inspect
import os
from collections import namedtuple
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from numba.extending import models, overload, overload_method, register_jitable, register_model, typeof_impl
from numba.misc.special import typeof

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A compiled loop, cached on disk, that lets other threads run."""
    compiled: F = njit(cache=True, nogil=True)(function)
    return compiled


def inlined(function: F) -> F:
    """A few lines inside the innermost loops, where a call would cost more than its body."""
    compiled: F = njit(inline="always")(function)
    return compiled


def helper(function: F) -> F:
    """A function that runs as Python and inside kernels alike."""
    marked: F = register_jitable(function)
    return marked


SCORE_INPUTS = ("arm", "t", "rng", "rewards")
"""What a policy's `score` may ask for, by name and in this order."""


@cache
def score_inputs(policy: Any) -> tuple[str, ...]:
    """Which of SCORE_INPUTS the policy's `score` asks for."""
    return tuple(inspect.signature(vars(policy)["score"]).parameters)[1:]


def needs_no_clock(policy: Any) -> bool:
    """A score that reads neither the clock nor chance changes only when its arm is pulled."""
    return not {"t", "rng"} & set(score_inputs(policy))


def score_of(policy: Any, arm: Any, t: int, rng: Any, rewards: Any) -> float:
    """The policy's score of an arm, passing only what its `score` asks for."""
    owner: Any = type(policy)
    given = dict(zip(SCORE_INPUTS, (arm, t, rng, rewards), strict=True))
    return float(policy.score(*(given[name] for name in score_inputs(owner))))


def _score_of(policy: Any, arm: Any, t: Any, rng: Any, rewards: Any) -> Any:
    return {
        ("arm",): lambda policy, arm, t, rng, rewards: policy.score(arm),
        ("arm", "t"): lambda policy, arm, t, rng, rewards: policy.score(arm, t),
        ("arm", "rng"): lambda policy, arm, t, rng, rewards: policy.score(arm, rng),
        ("arm", "t", "rng"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rng),
        ("arm", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, rewards),
        ("arm", "t", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rewards),
        ("arm", "rng", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, rng, rewards),
        ("arm", "t", "rng", "rewards"): lambda policy, arm, t, rng, rewards: policy.score(arm, t, rng, rewards),
    }[score_inputs(policy.instance_class)]


overload(score_of, strict=False)(_score_of)


def rewards_of(policy: Any, kept: Any, i: int, pulls: int) -> Any:
    """Arm i's rewards, ascending, for a policy that asks for them; nothing for others, decided at compile time."""
    owner: Any = type(policy)
    return kept[i, :pulls] if "rewards" in score_inputs(owner) else None


def _rewards_of(policy: Any, kept: Any, i: Any, pulls: Any) -> Any:
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls: kept[i, :pulls]
    return lambda policy, kept, i, pulls: None


overload(rewards_of, strict=False)(_rewards_of)


def keep(policy: Any, kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among arm i's `pulls` before it, for a policy that asks for rewards.

    O(pulls), a move of memory.
    """
    owner: Any = type(policy)
    if "rewards" in score_inputs(owner):
        insert(kept, i, pulls, reward)


def _keep(policy: Any, kept: Any, i: Any, pulls: Any, reward: Any) -> Any:
    if "rewards" in score_inputs(policy.instance_class):
        return lambda policy, kept, i, pulls, reward: insert(kept, i, pulls, reward)
    return lambda policy, kept, i, pulls, reward: None


overload(keep, strict=False)(_keep)


@helper
def insert(kept: Any, i: int, pulls: int, reward: float) -> None:
    """Put a reward in its place among the first `pulls` of row i, which ascend."""
    row = kept[i]
    at = np.searchsorted(row[:pulls], reward)
    for j in range(pulls, at, -1):
        row[j] = row[j - 1]
    row[at] = reward


class PolicyType(types.NamedTuple):  # type: ignore[misc]
    """A policy class as Numba sees it: its fields' types and a fingerprint of its code.

    Equality rests on the fingerprint, not on the class object, so that a policy defined in a script or a notebook
    finds its compiled code again in the next process.
    """

    def __init__(self, element_types: tuple[Any, ...], policy: type) -> None:
        super().__init__(element_types, policy)
        self.name = f"{policy.__module__}.{policy.__qualname__}@{fingerprint(policy)}{element_types}"

    @property
    def key(self) -> str:
        return str(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolicyType) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        # Numba asks `if receiver:` of a method's owner; a policy without parameters is an empty tuple, yet an owner.
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.key,)


class AbsentType(types.Type):  # type: ignore[misc]
    """Stands for a policy that the disk cache knows and this process does not: its module may be anywhere."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.name,)


_present: dict[str, PolicyType] = {}


def _revive(key: str) -> types.Type:
    """What the disk cache's index holds for a policy: found by fingerprint, so that nothing need be imported."""
    return _present.get(key) or AbsentType(key)


def _policy_type(element_types: tuple[Any, ...], policy: type) -> PolicyType:
    made: PolicyType = compilable(policy)(element_types, policy)
    return _present.setdefault(made.key, made)


@cache
def compilable(policy: Any) -> Any:
    """Teach Numba the policy class (once): its fields and its methods. Returns its Numba type class."""
    kind = type(f"{policy.__name__}Type", (PolicyType,), {})
    register_model(kind)(models.TupleModel)
    typeof_impl.register(policy)(lambda value, _: _policy_type(tuple(typeof(field) for field in value), policy))
    for name, method in public_methods(policy).items():
        _forward(kind, name, method)
    return kind


def _forward(kind: type, name: str, method: FunctionType) -> None:
    def template(*_: Any, **__: Any) -> FunctionType:
        return method

    template.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    overload_method(kind, name)(template)


def tuple_form(value: Any, interpreted: frozenset[str] = frozenset()) -> Any:
    """A dataclass instance as a `NamedTuple` with the same fields and methods, for kernels; its numbers as floats.

    Methods named in `interpreted` stay behind, as do the private ones.
    """
    cls: Any = type(value)
    kind: Any = _tuple_class(cls, interpreted)
    numbers = (getattr(value, name) for name in kind._fields)
    return kind._make(float(number) if isinstance(number, int) else number for number in numbers)


@cache
def _tuple_class(cls: Any, interpreted: frozenset[str]) -> Any:
    made: Any = namedtuple(cls.__name__, [field.name for field in fields(cls)])  # type: ignore[misc]
    made.__module__, made.__qualname__ = cls.__module__, cls.__qualname__
    for base in reversed(cls.__mro__):
        for name, method in public_methods(base).items():
            if name not in interpreted:
                setattr(made, name, method)
    compilable(made)
    return made


def public_methods(policy: type) -> dict[str, FunctionType]:
    """The plain methods of the class, by name."""
    members = vars(policy).items()
    return {name: value for name, value in members if isinstance(value, FunctionType) and not name.startswith("_")}


@cache
def fingerprint(policy: type) -> str:
    """A digest of everything the compiled policy depends on."""
    digest = hashlib.blake2b(kernels_digest(), digest_size=10)
    seen: set[FunctionType] = set()
    for _, method in sorted(public_methods(policy).items()):
        _absorb(method, digest, seen)
        if inspect.getmodule(method) is None:  # code from exec(): the next process could not load what Numba stores
            digest.update(os.urandom(16))
    return digest.hexdigest()


def _absorb(function: Any, digest: Any, seen: set[FunctionType]) -> None:
    """Feed a function's code, and what it reads from its module, into the digest."""
    function = getattr(function, "py_func", function)
    if function in seen:
        return
    seen.add(function)
    code = function.__code__
    constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
    digest.update(code.co_code + repr((constants, code.co_names)).encode())
    for name in code.co_names:
        value = function.__globals__.get(name)
        if isinstance(getattr(value, "py_func", value), FunctionType):
            _absorb(value, digest, seen)
        elif isinstance(value, (int, float, str, tuple)):
            digest.update(repr(value).encode())


@cache
def kernels_digest() -> bytes:
    """A digest of the source that kernels are made from."""
    here = Path(__file__).parent
    rooms = ("arms", "confidence", "risk", "policies", "engine", "identification")
    sources = [Path(__file__), *(path for room in rooms for path in (here / room).glob("*.py"))]
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.digest()
