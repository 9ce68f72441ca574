"""What users call the arms: by name if they gave names, by number from 0 otherwise."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from prudent.bandit import MOST_ARMS
from prudent.base.arrays import is_listing
from prudent.base.errors import PrudentError, check_integer, near, shown
from prudent.engine.python.arm import ArmState

Label: TypeAlias = str | int
"""What users call an arm."""


def label_of(arms: Sequence[ArmState], number: int) -> Label:
    """The name of an arm, or its number if it has none."""
    name = arms[number].name
    return number if name is None else name


class Labels:
    """The labels of some arms, which may become more."""

    def __init__(self, arms: list[ArmState]) -> None:
        self._arms = arms
        self._numbers = {arm.name: i for i, arm in enumerate(arms) if arm.name is not None}

    def __getitem__(self, number: int) -> Label:
        """What users call an arm."""
        return label_of(self._arms, number)

    def in_play(self) -> list[int]:
        """The numbers of the arms that are not retired."""
        return [i for i, arm in enumerate(self._arms) if not arm.retired]

    def number(self, owner: str, arm: object) -> int:
        """The arm that users call so."""
        if not self._numbers:
            return check_integer(owner, "arm", arm, low=0, high=len(self._arms) - 1, hint="arms are numbered from 0")
        if not isinstance(arm, str):
            raise PrudentError(f"{owner}: arm must be a name, since these arms have names, got {shown(arm)}")
        if arm not in self._numbers:
            raise PrudentError(f"{owner}: unknown arm {shown(arm)}; {near(arm, self._numbers)}")
        return self._numbers[arm]

    def among(self, owner: str, arms: Iterable[object]) -> list[int]:
        """The numbers of some arms in play, in order and each once."""
        if not is_listing(arms):
            raise PrudentError(
                f"{owner}: among must be a list of arms, got {shown(arms)}; for a single arm pass a list of one"
            )
        numbers = sorted({self.number(owner, arm) for arm in arms})
        if not numbers:
            raise PrudentError(f"{owner}: among must hold at least one arm, got none; leave it out to choose from all")
        if not set(numbers) <= set(self.in_play()):
            got, playing = [self[i] for i in numbers], [self[i] for i in self.in_play()]
            raise PrudentError(f"{owner}: among must hold no retired arm, got {got}; in play are {playing}")
        return numbers

    def check_new(self, name: object) -> None:
        """Refuse the name of a new arm that does not fit the others."""
        if (name is None) == bool(self._numbers):
            why = "arms have names, so it needs one" if self._numbers else "arms have numbers, so leave it out"
            raise PrudentError(f"add_arm: name must fit the other arms, got {shown(name)}; these {why}")
        if name is not None:
            check_names("add_arm", "name", [*self._numbers, name])

    def add(self, arm: ArmState) -> Label:
        """A new arm comes last; its label."""
        self._arms.append(arm)
        if arm.name is not None:
            self._numbers[arm.name] = len(self._arms) - 1
        return self[len(self._arms) - 1]


def names_of(arms: int | Iterable[str]) -> list[str] | list[None]:
    """The names of so many arms; none, if only their number is given."""
    if isinstance(arms, (str, bytes)):
        raise PrudentError(f"Agent: arms must be a list of names, or how many there are, got {shown(arms)}")
    if not is_listing(arms):
        hint = "or give a list of names"
        return [None] * check_integer("Agent", "arms", arms, low=1, high=MOST_ARMS, hint=hint)
    names = list(islice(arms, MOST_ARMS + 1))
    if not 1 <= len(names) <= MOST_ARMS:
        raise PrudentError(f"Agent: arms must be from 1 to {MOST_ARMS:,} names, got {shown(arms)}")
    check_names("Agent", "arms", names)
    return [str(name) for name in names]


def check_names(owner: str, parameter: str, names: Sequence[object]) -> None:
    """Refuse what cannot be the names of arms."""
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise PrudentError(f"{owner}: {parameter} must be text that is not empty, got {shown(name)}")
    if len(set(names)) < len(names):
        raise PrudentError(f"{owner}: {parameter} must be all different, got {shown(names)}")


def called(arm: Label) -> str:
    """An arm in a sentence: its name, or `arm 3`."""
    return arm if isinstance(arm, str) else f"arm {arm}"


def listed(arms: Sequence[Label]) -> str:
    """Arms in a sentence: `A, B and C`."""
    words = [called(arm) for arm in arms]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
