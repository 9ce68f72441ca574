"""What users write: public names with their parameters and defaults, all that is registered with its facts, and the
options of commands. Where a thing is defined is no promise, and is not in it.
"""

import inspect
import math
from typing import Any

import click

import prudent
from helpers.pinned_texts import Sections
from prudent.arms.base import arms
from prudent.base.registry import Entry, Registry
from prudent.cli import main
from prudent.policies.contract import policies, strategies
from prudent.portfolio import portfolio_policies
from prudent.risk.base import risks

REGISTRIES: dict[str, Registry[Any]] = {
    "policy": policies, "strategy": strategies, "arm": arms, "risk": risks, "portfolio policy": portfolio_policies,
}  # fmt: skip


def promised() -> Sections:
    """A line for each parameter, fact and option; other tests may have registered classes of their own."""
    names = {f"prudent.{name}": parameter_lines(getattr(prudent, name)) for name in sorted(vars(prudent)["__all__"])}
    entries = {
        f"{kind} {entry.name}": entry_lines(entry)
        for kind, registry in REGISTRIES.items()
        for entry in registry.entries()
        if entry.factory.__module__.startswith("prudent.")
    }
    return names | entries | dict(command_lines("prudent", main))


def parameter_lines(thing: Any) -> list[str]:
    """The parameters of a function or class in their order, and of a class those of its public methods."""
    if not callable(thing):
        return [] if inspect.ismodule(thing) else [f"is {in_words(thing)}"]
    lines = own_parameters(thing)
    if inspect.isclass(thing):
        for name, method in vars(thing).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                lines += [f"{name}({', '.join(own_parameters(method))})"]
    return lines


def own_parameters(thing: Any) -> list[str]:
    try:
        fields = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [parameter_line(field) for field in fields if field.name != "self"]


def parameter_line(field: inspect.Parameter) -> str:
    by_name = ", by name" if field.kind is field.KEYWORD_ONLY else ""
    return f"{field.name}{by_name}" + ("" if field.default is field.empty else f" = {in_words(field.default)}")


def entry_lines(entry: Entry) -> list[str]:
    """The name of the class, its parameters, aliases and facts."""
    lines = [entry.factory.__qualname__, *(f"alias {alias}" for alias in entry.aliases)]
    lines += own_parameters(entry.factory)
    return lines + [f"fact {name}: {in_words(value)}" for name, value in sorted(entry.facts.items())]


def command_lines(path: str, command: click.Command) -> list[tuple[str, list[str]]]:
    """A command and those below it, with their options."""
    found = [(path, [option_line(option) for option in command.params])]
    for name, one in getattr(command, "commands", {}).items():
        found += command_lines(f"{path} {name}", one)
    return found


def option_line(option: click.Parameter) -> str:
    """An option or argument of a command: its names, type and default."""
    default = "required" if option.required else in_words(option.to_info_dict()["default"])
    many = ", several times" if option.multiple else ""
    return f"{', '.join(option.opts)}, {option.type.name}{many}: {default}"


def in_words(value: Any) -> str:
    """A value as it is written; functions and classes by their names, never by their places."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    return repr(value)
