"""What an experiment must answer, told in one page: a model to hold the service against.

It knows nothing of policies. Where they choose, it says which arms they may choose. Every method gives what is
expected: the kind of a refusal as text, or a tuple that begins with "new", "again" or "fallback".
"""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Choice:
    """A decision."""

    arm: str
    state: str
    due: int | None
    value: float | None = None
    metrics: dict | None = None


@dataclass
class Model:
    """An experiment. Times are milliseconds."""

    arms: list
    sticky: bool = False
    window: int | None = None
    default: float | None = None
    at_once: bool = False
    fallback: str | None = None
    metrics: tuple = ()
    batches: bool = True
    status: str = "running"
    frozen: str | None = None
    events: int = 1
    retired: set = field(default_factory=set)
    choices: dict = field(default_factory=dict)
    splits: dict = field(default_factory=dict)
    units: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    tally: Counter = field(default_factory=Counter)

    def used(self, verb, key, request):
        """What a key stands for, if it was used."""
        if key is None or (verb, key) not in self.keys:
            return None
        before, answer = self.keys[verb, key]
        return ("again", answer) if before == request else "key-reused"

    def allowed(self, among):
        """The arms that may be chosen."""
        if among is not None and not set(among) <= set(self.arms) - self.retired:
            return "invalid"
        arms = set(self.arms) - self.retired if among is None else set(among)
        return arms if self.frozen is None else arms & {self.frozen} or "not-running"

    def ask(self, unit, among, count):
        if self.sticky and (unit is None or count != 1):
            return "invalid"
        if self.sticky and unit in self.units and self.choices[self.units[unit]].state != "withdrawn":
            return "again", [self.units[unit]]
        arms = self.allowed(among)
        if isinstance(arms, str):
            return arms
        if self.status in ("running", "frozen"):
            return "new", arms
        return ("fallback", self.fallback) if self.fallback in arms else "not-running"

    def tell(self, choice, value, metrics, now):
        if not 0.0 <= value <= 1.0 or not set(metrics or ()) <= set(self.metrics):
            return "invalid"
        if choice.state in ("told", "done"):
            same = (choice.value, choice.metrics) == (value, metrics or None)
            return ("again", None) if same else "other-reward"
        if choice.state in ("defaulted", "expired") or (choice.due is not None and now >= choice.due):
            return "window-closed"
        if choice.state != "open":
            return "conflict"
        choice.value, choice.metrics = value, metrics or None
        waits = self.window is not None and not self.at_once
        choice.state, choice.due = ("told", choice.due) if waits else ("done", None)
        self.happened(choice.arm, "told")
        return "new", None

    def activate(self, choice, now):
        if choice.state in ("withdrawn", "expired"):
            return "conflict"
        if choice.state == "waiting":
            choice.state, choice.due = "open", None if self.window is None else now + self.window
            self.events += 1
        return "new", None

    def withdraw(self, choice, now):
        if choice.state == "withdrawn":
            return "new", None
        if choice.state not in ("open", "waiting"):
            return "conflict"
        if choice.due is not None and now >= choice.due:
            return "window-closed"
        choice.state, choice.due = "withdrawn", None
        self.happened(choice.arm, "withdrawn")
        return "new", None

    def close_windows(self, now):
        for choice in self.choices.values():
            if choice.due is not None and choice.due <= now:
                choice.due = None
                if choice.state == "told":
                    choice.state = "done"
                    self.events += 1
                elif self.default is not None:
                    choice.state, choice.value = "defaulted", self.default
                    self.happened(choice.arm, "defaulted")
                else:
                    choice.state = "expired"
                    self.happened(choice.arm, "expired")

    def change(self, verb, arm):  # noqa: PLR0911 - one for each refusal
        """Pause, resume, freeze, stop, add or retire an arm, or forget units."""
        allowed = {"pause": ("running", "frozen"), "resume": ("paused", "frozen"), "forget": (self.status,)}
        if self.status not in allowed.get(verb, ("running", "paused", "frozen")):
            return "conflict"
        if verb == "add" and arm in self.arms:
            return "conflict"
        if verb in ("freeze", "retire"):
            if arm not in self.arms:
                return "invalid"
            if arm in self.retired or (verb == "retire" and arm == self.frozen):
                return "conflict"
        if verb == "retire":
            if set(self.arms) - self.retired == {arm}:
                return "invalid"
            if arm == self.fallback:
                return "conflict"  # no other one is named
            self.retired.add(arm)
        elif verb == "add":
            self.arms.append(arm)
        elif verb == "forget":
            self.units.clear()
        else:
            self.frozen = arm if verb == "freeze" else None
            self.status = {"pause": "paused", "resume": "running", "freeze": "frozen", "stop": "stopped"}[verb]
        self.events += 1
        return "new", None

    def split(self, among):
        if not self.batches:
            return "conflict"
        if self.status in ("paused", "stopped"):
            return "not-running"
        arms = self.allowed(among)
        return arms if isinstance(arms, str) else ("new", arms)

    def merge(self, batch, given):
        counts, before = self.splits[batch]
        if not set(given) <= set(self.arms) or any(part.count > counts.get(arm, 0) for arm, part in given.items()):
            return "invalid"
        if before is not None:
            return ("again", None) if before == given else "other-reward"
        self.splits[batch] = counts, given
        for arm, count in counts.items():
            used = given[arm].count if arm in given else 0
            self.tally[arm, "told"] += used
            self.tally[arm, "withdrawn"] += count - used
        self.events += 1
        return "new", None

    def happened(self, arm, what):
        self.tally[arm, what] += 1
        self.events += 1
