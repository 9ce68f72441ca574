"""Names for policies, risk measures and arms: `mv-lcb(c=1)`, `gaussian(1.0, 0.05)`, `exp-exp(explore=ucb-e)`.

One registry per kind. Other packages add their own through entry points (`prudent.policies`,
`prudent.risks`, `prudent.arms`); a name that is nearly right gets a hint.
"""

import ast
import difflib
import inspect
import math
import re
import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar

from prudent.errors import PrudentError

F = TypeVar("F", bound=Callable[..., Any])


class Registry:
    """Factories of one kind by name."""

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self.group = group
        self._factories: dict[str, Callable[..., Any]] = {}
        self._entry_points_loaded = False

    def add(self, name: str, factory: F) -> F:
        """Put `factory` under `name`; a name is given once."""
        if _key(name) in self._factories:
            raise PrudentError(f"{self.kind} {name!r} is registered twice; choose another name")
        self._factories[_key(name)] = factory
        return factory

    def names(self) -> list[str]:
        """All known names, sorted."""
        self._load_entry_points()
        return sorted(self._factories)

    def __contains__(self, name: str) -> bool:
        return _key(name) in self.names()

    def get(self, name: str) -> Callable[..., Any]:
        """The factory called `name`, or an error with the nearest names."""
        key = _key(name)
        if key not in self._factories:
            self._load_entry_points()
        if key not in self._factories:
            near = difflib.get_close_matches(key, self._factories, n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(self._factories))}"
            raise PrudentError(f"unknown {self.kind} {key!r}; {hint}")
        return self._factories[key]

    def parse(self, text: str) -> Any:
        """Build from a spec such as `mv-lcb(c=1, rho=0.5)`; a bare name takes the defaults."""
        # Inside names a dash is part of the name, so it must not parse as a minus; quoted text stays as it is.
        source = re.sub(r"""('[^']*'|"[^"]*")|(?<=\w)-(?=[A-Za-z])""", lambda m: m[1] or "_", text.strip())
        try:
            tree = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError):
            raise PrudentError(
                f"cannot read {self.kind} {text!r}; write it as name or name(value, key=value)"
            ) from None
        return self._build(tree if isinstance(tree, ast.Call) else ast.Call(tree, [], []), text)

    def _build(self, call: ast.Call, text: str) -> Any:
        words = [word.arg for word in call.keywords]
        if not isinstance(call.func, ast.Name) or None in words or len(set(words)) < len(words):
            raise PrudentError(f"cannot read {self.kind} {text!r}; write it as name or name(value, key=value)")
        name = call.func.id
        factory = self.get(name)
        args = [self._value(node, text) for node in call.args]
        kwargs = {str(word.arg): self._value(word.value, text) for word in call.keywords}
        try:
            inspect.signature(factory).bind(*args, **kwargs)
        except TypeError as error:
            wanted = ", ".join(inspect.signature(factory).parameters)
            raise PrudentError(f"{self.kind} {text!r}: {error}; it takes ({wanted})") from None
        return factory(*args, **kwargs)

    def _value(self, node: ast.expr, text: str) -> Any:
        match node:
            case ast.Call():
                return self._build(node, text)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, text) for item in items]
            case ast.Name(id="inf"):
                return math.inf
            case ast.Name(id="nan"):
                return math.nan
            case ast.Name(id=word):
                return _key(word)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
                return -math.inf
            case ast.Constant(value=value):
                return value
        raise PrudentError(f"cannot read {ast.unparse(node)!r} in {self.kind} {text!r}; use numbers, words or lists")

    def _load_entry_points(self) -> None:
        if not self._entry_points_loaded:
            self._entry_points_loaded = True
            for point in entry_points(group=self.group):
                try:
                    factory = point.load()
                    if self._factories.setdefault(_key(point.name), factory) is not factory:
                        raise PrudentError("the name is taken")
                except Exception as error:
                    # One broken package must not take the others' names away.
                    warnings.warn(f"{self.kind} {point.name!r} from {point.value} is left out: {error}", stacklevel=4)


def _key(name: str) -> str:
    """`MV_LCB` and `mv-lcb` are one name."""
    return name.strip().lower().replace("_", "-")
