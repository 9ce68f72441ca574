"""Names for arms, risk measures, policies and strategies: `mv-lcb(c=1)`, `gaussian(1.0, 0.05)`, `cvar(alpha=0.05)`.

One registry per kind, and one way to register: a decorator, `@policies.add("mv-lcb", serves="mean-variance")`. An
alias, as `normal` for `gaussian`, is read as its name and never written. A registry finds what it holds in the modules
of its own package, and in other packages through entry points (`prudent.policies`, `prudent.risks`, `prudent.arms`,
`prudent.strategies`, `prudent.portfolio_policies`).
"""

import ast
import inspect
import math
import pkgutil
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from prudent.base.description import described
from prudent.base.errors import PrudentError, near, shown
from prudent.base.own_classes import marked, own_class, place_in, place_of
from prudent.base.parameters import check_type, checked, type_hints

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

MAX_SPEC_LENGTH = 100_000
"""Characters of the longest spec; a list of many values belongs into a file."""

KEY = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")

_PARSING = threading.Lock()
_SHORT = 300
"""Characters of a spec that is kept once it is parsed."""

_may_open = True  # until this process serves others


def close_files() -> None:
    """From now on no spec that this process reads opens a file. It cannot be taken back.

    A spec may name a file, as `empirical("shop.csv", "revenue")` does. On the command line and in Python that file is
    opened with the rights of whoever wrote the spec. A process that reads what others send calls this before it reads
    anything, so that the text of a stranger never chooses a file here.
    """
    global _may_open  # noqa: PLW0603 - the one switch
    _may_open = False


def check_may_open(owner: str, fix: str) -> None:
    """Refuse to open the file that a spec names, if this process reads specs of strangers."""
    if not _may_open:
        raise PrudentError(f"{owner}: a spec that comes over the network opens no file; {fix}")


class Entry(NamedTuple):
    """What is registered under a name. The docstring names its papers in brackets, as [Sani12], and says what it
    assumes in a sentence that begins with "Assumes"; what else is known, such as the risk it `serves`, are `facts`."""

    name: str
    factory: Callable[..., Any]
    facts: Mapping[str, Any]
    aliases: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, without its references."""
        plain = re.sub(r"\s*\([^()]*(\[[A-Z][A-Za-z]+\d\d\]|docs: )[^()]*\)", "", self._text)
        return re.split(r"(?<=[.;])\s", plain)[0].strip(" .;")

    @property
    def papers(self) -> list[str]:
        """Keys of the bibliography."""
        return list(dict.fromkeys(KEY.findall(self._text)))

    @property
    def assumes(self) -> str:
        found = re.search(r"Assumes (.*?)(?:\.(?= |$)|$)", self._text)
        return found[1] if found else ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Defaults by name; None where the problem or the user gives the value."""
        return dict(_defaults(self.factory))

    @property
    def _text(self) -> str:
        return " ".join((inspect.getdoc(self.factory) or "").split())


@cache
def _defaults(factory: Callable[..., object]) -> tuple[tuple[str, Any], ...]:
    given = inspect.signature(factory).parameters.values()
    return tuple((field.name, None if field.default is field.empty else field.default) for field in given)


class Registry(Generic[T]):
    """Things of one `kind` by name.

    `wanted` describes one in errors and `of` is their class, if they have one in common. What a spec holds in its
    parentheses is made from `parts`, or of the same kind. `prepare(factory, name)` is called for each that is added.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        home: str = "",
        *,
        wanted: str = "",
        of: type = object,
        parts: "Registry[Any] | None" = None,
        prepare: Callable[[Any, str], Any] = lambda factory, name: None,
    ) -> None:
        self.kind, self.group = kind, group
        self._home, self._wanted, self._of, self._prepare = home, wanted, of, prepare
        self._parts: Registry[Any] = self if parts is None else parts
        self._entries: dict[str, Entry] = {}
        self._aliases: dict[str, str] = {}
        self._of_factory: dict[Any, Entry] = {}
        self._own_classes: set[type] = set()
        self.also: Callable[[Any], bool] = lambda made: False
        """Whether a spec may make this, or things of this class, though it is of another class."""
        self._loaded, self._loading = False, threading.RLock()

    def add(self, name: str, *, aliases: Sequence[str] = (), **facts: Any) -> Callable[[F], F]:
        """Register the class or function below under `name`, and under its aliases; a name is given once."""

        def register(factory: F) -> F:
            self._put(Entry(_key(name), factory, facts, tuple(map(_key, aliases))))
            return factory

        return register

    def _put(self, entry: Entry) -> None:
        known = self._entries.get(entry.name)
        if known is not None and known.factory is entry.factory:
            return
        for key in (entry.name, *entry.aliases):
            if key in self._entries or key in self._aliases:
                raise PrudentError(f"{self.kind} {key!r} is registered twice; choose another name")
        self._prepare(entry.factory, entry.name)
        self._entries[entry.name] = entry
        self._aliases |= dict.fromkeys(entry.aliases, entry.name)
        self._of_factory.setdefault(entry.factory, entry)

    def names(self) -> list[str]:
        """All known names, sorted, without aliases."""
        self._load()
        return sorted(self._entries)

    def entries(self) -> list[Entry]:
        """All that is registered, by name."""
        return [self._entries[name] for name in self.names()]

    def __contains__(self, name: str) -> bool:
        self._load()
        return isinstance(name, str) and self._name(name) in self._entries

    def _name(self, given: str) -> str:
        """The name as it is registered, for an alias its name."""
        return self._aliases.get(_key(given), _key(given))

    def get(self, name: str) -> Entry:
        """The entry called `name`, or with that alias, or an error with the nearest names."""
        if not isinstance(name, str):
            raise PrudentError(f"the name of a {self.kind} must be text, got {shown(name)}")
        with self._loading:  # while another thread imports a module, its class is there before the rest of it
            if self._name(name) not in self._entries:
                self._load()
        if self._name(name) not in self._entries:
            known = sorted({*self._entries, *self._aliases})
            raise PrudentError(f"unknown {self.kind} {shown(_key(name))}; {near(_key(name), known)}")
        return self._entries[self._name(name)]

    def entry_of(self, thing: Any) -> Entry | None:
        """The entry from whose class `thing` was made; None for one that is not registered."""
        if type(thing) not in self._of_factory:
            self._load()
        return self._of_factory.get(type(thing))

    def facts_of(self, thing: Any) -> Mapping[str, Any]:
        """The facts of the entry from whose class `thing` was made."""
        entry = self.entry_of(thing)
        return entry.facts if entry else {}

    def make(self, owner: str, given: T | str) -> T:
        """`given`, built if it is a spec; an error that names the `owner` if it is not of this kind."""
        if isinstance(given, type) and issubclass(given, self._of):
            raise PrudentError(
                f"{owner}: {self.kind} must be made first: pass {given.__name__}(), not {given.__name__}"
            )
        made: T = self.parse(given) if isinstance(given, str) else given
        if not isinstance(made, self._of) and not (isinstance(given, str) and self.also(made)):
            raise PrudentError(f"{owner}: {self.kind} must be {self._wanted}, got {shown(given)}")
        return made

    def spec(self, given: Any) -> str:
        """A `NamedTuple` as text: its name and the parameters that differ from their defaults; so for a learner."""
        cls, entry = type(given), self.entry_of(given)
        if not hasattr(cls, "_fields"):
            return described(given)
        known = cls._field_defaults
        parts = [self.spec(value) if hasattr(value, "_fields") else value for value in given]  # a policy in another
        shown = [
            f"{field}={value if value is not part else _text(value)}"
            for field, value, part in zip(cls._fields, parts, given, strict=True)
            if field not in known or _differ(value, known[field])
        ]
        name = entry.name if entry else place_of(cls) or cls.__name__
        return f"{name}({', '.join(shown)})" if shown else name

    def parse(self, text: str) -> T:
        """Build from a spec such as `mv-lcb(c=1, rho=0.5)`; a bare name takes the defaults."""
        if not isinstance(text, str) or len(text) > MAX_SPEC_LENGTH:
            raise self._unreadable(text)
        # Inside names a dash is part of the name, so it must not parse as a minus; quoted text stays as it is.
        source = re.sub(r"""('[^']*'|"[^"]*")|(?<=\w)-(?=[A-Za-z])""", lambda m: m[1] or "_", marked(text.strip()))
        try:
            tree = _tree(source)
        except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two if it is nested too deeply
            raise self._unreadable(text) from None
        made: T = self._build(tree if isinstance(tree, ast.Call) else ast.Call(tree, [], []), text)
        return made

    def _unreadable(self, text: str) -> PrudentError:
        return PrudentError(f"cannot read {self.kind} {shown(text)}; write it as name or name(value, key=value)")

    def _build(self, call: ast.Call, text: str) -> Any:
        words = [word.arg for word in call.keywords]
        if not isinstance(call.func, ast.Name) or None in words or len(set(words)) < len(words):
            raise self._unreadable(text)
        place = place_in(call.func.id)
        factory = self.get(call.func.id).factory if place is None else self._own(place, text)
        args = [self._value(node, text) for node in call.args]
        kwargs = {str(word.arg): self._value(word.value, text) for word in call.keywords}
        try:
            bound = inspect.signature(factory).bind(*args, **kwargs)
        except TypeError as error:
            wanted = ", ".join(inspect.signature(factory).parameters)
            raise PrudentError(f"{self.kind} {shown(text)}: {error}; it takes ({wanted})") from None
        if not isinstance(factory, type):  # a class checks itself
            for name, value in bound.arguments.items():
                check_type(place or _key(call.func.id), name, value, type_hints(factory).get(name))
        try:
            return factory(*args, **kwargs)
        except TypeError as error:  # as of a class that lacks a method
            if place is None:
                raise
            raise PrudentError(f"{self.kind} {shown(text)}: {error}") from error

    def _own(self, place: str, text: str) -> Any:
        """The class at `place:name`, prepared as those that are registered are."""
        check_may_open(f"{self.kind} {shown(text)}", "take one that is registered")
        found = own_class(self.kind, place)
        # Nothing but such a class is called: a spec must not reach os.system, nor subprocess.Popen.
        if not isinstance(found, type) or not (issubclass(found, self._of) or self.also(found)):
            raise PrudentError(f"{self.kind} {shown(text)}: {place} must be a class of {self._wanted}")
        if found not in self._of_factory and found not in self._own_classes:
            self._prepare(found, place)
            self._own_classes.add(found)
        found.__place__ = place  # type: ignore[attr-defined]
        return found

    def _value(self, node: ast.expr, text: str) -> Any:
        match node:
            case ast.Call():
                inside = isinstance(node.func, ast.Name) and node.func.id in self  # a policy inside another one
                return (self if inside else self._parts)._build(node, text)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, text) for item in items]
            case ast.Name(id="inf"):
                return math.inf
            case ast.Name(id="nan"):
                return math.nan
            case ast.Name(id=word):
                return {"true": True, "false": False}.get(word.lower(), _key(word))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
                return -math.inf
            case ast.Constant(value=value):
                return value
        try:
            part = shown(ast.unparse(node))
        except RecursionError:
            raise self._unreadable(text) from None
        raise PrudentError(f"cannot read {part} in {self.kind} {shown(text)}; use numbers, words or lists")

    def _load(self) -> None:
        """Import the modules of the home package, then what other packages offer; other threads wait for it."""
        with self._loading:
            if self._loaded:
                return
            self._loaded = True  # before its time, for modules that ask while they are imported
            if self._home:
                home = import_module(self._home)
                for module in pkgutil.iter_modules(home.__path__):
                    import_module(f"{self._home}.{module.name}")
            for point in entry_points(group=self.group):
                try:
                    self._put(Entry(_key(point.name), point.load(), {}))
                except Exception as error:
                    # One broken package must not take the others' names away.
                    warnings.warn(f"{self.kind} {point.name!r} from {point.value} is left out: {error}", stacklevel=4)


def _tree(source: str) -> ast.expr:
    """The expression of a spec. Short ones are kept, because a service reads the same ones again and again."""
    return _kept_tree(source) if len(source) <= _SHORT else _parsed(source)


@lru_cache(maxsize=256)
def _kept_tree(source: str) -> ast.expr:
    return _parsed(source)


def _parsed(source: str) -> ast.expr:
    """Threads parse one after the other: until Python 3.11.7 two that parse at the same time may end in a SystemError,
    and filters of warnings belong to all threads."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("error")  # Python only warns of 1and, which it reads as 1 and
        return ast.parse(source, mode="eval").body


def _key(name: str) -> str:
    """`MV_LCB` and `mv-lcb` are one name."""
    return name.strip().lower().replace("_", "-")


def _differ(value: Any, default: Any) -> bool:
    """Whether two parameters are not the same; of arrays every number counts."""
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return not np.array_equal(value, default)
    return bool(value != default)


def _text(value: object) -> str:
    """A parameter as a spec has it; text that is no plain word is quoted."""
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return repr(value) if isinstance(value, str) and not re.fullmatch(r"[\w-]+", value) else str(value)


def named(cls: object, name: str) -> None:
    """Give a class the name under which it is registered, and have the types of its fields checked."""
    if isinstance(cls, type):
        cls.name = name  # type: ignore[attr-defined]
        checked(cls, name)
