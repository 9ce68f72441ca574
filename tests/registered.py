"""All that is registered, with its parameters, their defaults and its facts, and the defaults and constants of every
module: what `tests/unit/registered.json` pins.

    python tests/registered.py

writes the file again, after a change that is meant.
"""

import ast
import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np

import prudent
from pinned import Sections, write
from prudent.arms.base import arms
from prudent.cli import main
from prudent.policies.base import policies, strategies
from prudent.portfolio import portfolio_policies
from prudent.registry import Entry
from prudent.risk.base import risks

PINNED = Path(__file__).parent / "unit" / "registered.json"
MOST_VALUES = 20
REGISTRIES = {
    "policies": policies, "strategies": strategies, "arms": arms, "risks": risks,
    "portfolio policies": portfolio_policies,
}  # fmt: skip


def registered() -> Sections:
    """A line for each parameter and each fact of everything of this package; other tests may register their own."""
    entries = {
        f"{kind}: {entry.name}": entry_lines(entry)
        for kind, registry in REGISTRIES.items()
        for entry in registry.entries()
        if entry.factory.__module__.startswith("prudent.")
    }
    commands = {f"command: {name}": list(map(option_line, one.params)) for name, one in main.commands.items()}
    modules = {f"module: {name}": list(module_lines(module)) for name, module in modules_of_the_package()}
    return entries | commands | {name: lines for name, lines in modules.items() if lines}


def modules_of_the_package() -> Iterator[tuple[str, ModuleType]]:
    """Every module by its name; not those of the paper, whose figures and claims are pinned with all their values."""
    root = Path(prudent.__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] not in ("paper", "__main__", "__init__"):
            name = ".".join(parts).removesuffix(".__init__")
            yield name, import_module(f"prudent.{name}")


def module_lines(module: ModuleType) -> Iterator[str]:
    """The constants of a module, and its functions and classes that have defaults."""
    assert module.__file__
    for node in ast.parse(Path(module.__file__).read_text("utf-8")).body:
        for target in node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]:
            for name in [each.id for each in ast.walk(target) if isinstance(each, ast.Name)] if target else []:
                if name.isupper() and (told := plain(getattr(module, name))):
                    yield f"{name} = {told}"
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", "") == module.__name__ and callable(thing) and not name.startswith("_"):
            yield from default_lines(name, thing)
            for method, inner in vars(thing).items() if inspect.isclass(thing) else ():
                if inspect.isfunction(inner) and not method.startswith("_"):
                    yield from default_lines(f"{name}.{method}", inner)


def default_lines(name: str, thing: Any) -> Iterator[str]:
    """The defaults of a function or class that are plain values, and whether a dataclass can be changed or compared."""
    if inspect.isclass(thing) and not {"__init__", "__new__"} & set(vars(thing)):
        return  # its parameters are those of another class
    fields = inspect.signature(thing).parameters.values()
    told = [f"{each.name}={value}" for each in fields if (value := plain(each.default))]
    if inspect.isclass(thing) and is_dataclass(thing):
        made = thing.__dataclass_params__  # type: ignore[attr-defined]
        told += [f"{flag}: {getattr(made, flag)}" for flag in ("frozen", "eq", "repr")]
    if told:
        yield f"{name}: {', '.join(told)}"


def plain(value: Any) -> str:
    """A value as it is written, numbers to nine digits, if it consists of numbers; else nothing."""
    if isinstance(value, (bool, np.bool_, int)):
        return "" if isinstance(value, Enum) else str(value)  # signals are others on another system
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, np.ndarray) and value.size < MOST_VALUES:
        return plain(tuple(value.ravel().tolist()))
    if isinstance(value, Mapping):
        return plain(tuple(value.values()))
    if isinstance(value, (tuple, list)):
        parts = [plain(each) for each in value]
        return f"({', '.join(parts)})" if any(parts) else ""
    return ""


def option_line(option: click.Parameter) -> str:
    """An option or argument of a command: its names, type and default."""
    default = "required" if option.required else in_words(option.to_info_dict()["default"])
    many = ", several times" if option.multiple else ""
    return f"{', '.join(option.opts)}, {option.type.name}{many}: {default}"


def entry_lines(entry: Entry) -> list[str]:
    """The class, its parameters in their order, its facts, and the constants that the class itself carries."""
    lines = [f"{entry.factory.__module__}.{entry.factory.__qualname__}"]
    lines += [f"alias {alias}" for alias in entry.aliases]
    for field in inspect.signature(entry.factory).parameters.values():
        default = "given by the user" if field.default is field.empty else in_words(field.default)
        lines.append(f"{field.name}, {field.kind.description}: {default}")
    lines += [f"fact {name}: {in_words(value)}" for name, value in sorted(entry.facts.items())]
    return lines + [f"constant {name}: {in_words(value)}" for name, value in sorted(constants(entry.factory).items())]


def constants(factory: Any) -> Mapping[str, Any]:
    """Public attributes of a class that are plain values and no parameters."""
    given = inspect.signature(factory).parameters
    names = [name for name in dir(factory) if not name.startswith("_") and name not in given]
    values = {name: inspect.getattr_static(factory, name) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, (bool, int, float, str, tuple))}


def in_words(value: Any) -> str:
    """A value as it is written; functions by their names, never by their addresses."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


if __name__ == "__main__":
    write(PINNED, registered())
