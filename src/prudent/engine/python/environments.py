"""Environments: what a policy may play on besides a `Bandit`.

All become objects with `reset(rng)`, called before the first round of a run, and `pull(arm)`, which returns a reward.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from prudent.bandit import MOST_ARMS, Bandit
from prudent.base.arrays import is_listing
from prudent.base.description import described
from prudent.base.errors import PrudentError, check_integer, shown

BLOCK = 64
"""Rewards of an arm that are drawn at once, which takes hardly longer than one."""

WANTED = "a Bandit, a function (arm, rng) -> reward, or an object with reset(rng) and pull(arm)"


class Environment(Protocol):
    """What can be pulled. It may change from round to round, by itself or by what was pulled."""

    def reset(self, rng: np.random.Generator) -> Any: ...
    def pull(self, arm: int) -> float: ...


class World(NamedTuple):
    """An environment, what its arms are called, and its text, from which random streams are made."""

    environment: Environment
    names: tuple[str, ...]
    text: str


class Called:
    """A function (arm, rng) -> reward as an environment."""

    def __init__(self, function: Callable[[int, np.random.Generator], float]) -> None:
        self.function = function

    def reset(self, rng: np.random.Generator) -> None:
        """Draw from here on from `rng`."""
        self.rng = rng

    def pull(self, arm: int) -> float:
        """What the function gives."""
        return self.function(arm, self.rng)


class Drawn:
    """The laws of a bandit as an environment."""

    def __init__(self, bandit: Bandit) -> None:
        self.arms = bandit.arms

    def reset(self, rng: np.random.Generator) -> None:
        """Draw from here on from streams of `rng`, one for each arm: its s-th reward does not depend on the others."""
        self.streams = rng.spawn(len(self.arms))
        self.drawn: list[list[float]] = [[] for _ in self.arms]

    def pull(self, arm: int) -> float:
        """A reward of the arm."""
        drawn = self.drawn[arm]
        if not drawn:
            drawn.extend(self.arms[arm].sample(self.streams[arm], BLOCK).tolist())
        return drawn.pop()


class Stepped:
    """A Gymnasium environment with discrete actions, which are the arms. Observations are not looked at; an episode
    that ends is followed by the next."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.first = int(getattr(env.action_space, "start", 0))
        self.n_arms = int(env.action_space.n)

    def reset(self, rng: np.random.Generator) -> None:
        """Begin with a seed drawn from `rng`."""
        self.env.reset(seed=int(rng.integers(2**31)))

    def pull(self, arm: int) -> float:
        """The reward of one step."""
        _, reward, terminated, truncated, _ = self.env.step(self.first + arm)
        if terminated or truncated:
            self.env.reset()
        return float(reward)


def is_environment(given: object) -> bool:
    """Whether it is a world of somebody's own: it can be called, or reset and pulled, or stepped."""
    methods = ("reset", "pull"), ("reset", "step")
    return callable(given) or any(all(callable(getattr(given, name, None)) for name in both) for both in methods)


def world_of(owner: str, given: object, arms: int | Sequence[str] | None, laws: Bandit | None) -> World:
    """What was given as an environment, or an error that says what is missing."""
    if laws is not None and not isinstance(laws, Bandit):
        raise PrudentError(f"{owner}: laws must be a Bandit, got {shown(laws)}; pass laws=Bandit([…])")
    environment = _environment(owner, given)
    names = _names(owner, given if isinstance(given, Bandit) else environment, arms, laws)
    return World(environment, names, given.unnamed if isinstance(given, Bandit) else described(given))


def _environment(owner: str, given: Any) -> Environment:
    if isinstance(given, type):
        raise PrudentError(f"{owner}: bandit must be made first: pass {given.__name__}(), not {given.__name__}")
    if isinstance(given, Bandit):
        return Drawn(given)
    if callable(getattr(given, "step", None)) and hasattr(given, "action_space"):
        if not hasattr(given.action_space, "n"):
            space = shown(given.action_space)
            raise PrudentError(f"{owner}: an environment's action_space must be Discrete, got {space}")
        return Stepped(given)
    if callable(getattr(given, "pull", None)) and callable(getattr(given, "reset", None)):
        found: Environment = given
        return found
    if callable(given):
        _check_function(owner, given)
        return Called(given)
    raise PrudentError(f"{owner}: bandit must be {WANTED}, got {shown(given)}; pass Bandit([…])")


def _check_function(owner: str, function: Any) -> None:
    """A function that cannot be called with an arm and a generator is refused before the first round."""
    try:
        inspect.signature(function).bind(0, None)
    except TypeError:
        raise PrudentError(
            f"{owner}: a function as an environment must take (arm, rng), got {inspect.signature(function)}"
        ) from None
    except ValueError:  # one written in C tells nothing
        return


def _names(owner: str, given: object, arms: object, laws: Bandit | None) -> tuple[str, ...]:
    """What the arms are called: as the caller says, or the laws, or the environment itself."""
    known = [arms, laws, given if isinstance(given, Bandit) else None, getattr(given, "names", None)]
    source = next((each for each in [*known, getattr(given, "n_arms", None)] if each is not None), None)
    if source is None:
        fix = "pass arms=3, or their names, or give the environment an attribute n_arms"
        raise PrudentError(f"{owner}: arms must say how many arms this environment has, got None; {fix}")
    if isinstance(source, Bandit):
        names = source.names
    elif is_listing(source):
        names = tuple(source)
        if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise PrudentError(f"{owner}: arms must be different names, at least one, got {shown(source)}")
    else:
        count = check_integer(owner, "arms", source, low=1, high=MOST_ARMS, hint="or give a list of names")
        names = tuple(f"arm {i + 1}" for i in range(count))
    for bandit, word in ((laws, "laws"), (given, "bandit")):
        if isinstance(bandit, Bandit) and len(bandit) != len(names):
            raise PrudentError(f"{owner}: arms and {word} must be as many, got {len(names)} and {len(bandit)}")
    return names
