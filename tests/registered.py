"""All that is registered, with its parameters, their defaults and its facts: what `tests/unit/registered.json` pins.

    python tests/registered.py

writes the file again, after a change that is meant.
"""

import inspect
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pinned import Sections, write
from prudent.arms.base import arms
from prudent.cli import main
from prudent.policies.base import policies, strategies
from prudent.portfolio import portfolio_policies
from prudent.registry import Entry
from prudent.risk.base import risks

PINNED = Path(__file__).parent / "unit" / "registered.json"
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
    return entries | {f"command: {name}": list(map(option_line, one.params)) for name, one in main.commands.items()}


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
