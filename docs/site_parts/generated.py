"""Parts of pages that are made from the package, where a page has a comment such as <!-- made: names prudent.arms -->.

The names come from the package's stub, the commands from click, the bodies of requests from openapi.json. A public name
that no page has stops the build.
"""

import inspect
import re
from importlib import import_module
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

import prudent
from site_parts.commands import commands
from site_parts.requests import bodies

MADE = re.compile(r"^<!-- made: (\w+) ?(.*?) -->$", flags=re.MULTILINE)
WITH_MEMBERS = (
    "Law RiskMeasure Bandit Comparison Agent Runs Searches Evaluation BestSequence SequenceRegret PortfolioBandit"
    " PortfolioRuns Study Store Advice ExactResults Distribution RiskSurface"
)
"""Classes whose methods are for users; those of policies, laws and measures are the contract of their kind."""


def names(rooms: str) -> str:
    """Every public name of some rooms of the package, in the order of the stub; "-room" has a page of its own."""
    homes = {name: f"{getattr(prudent, name).__module__}." for name in prudent.__all__ if not is_module(name)}
    inside = tuple(f"{room}." for room in rooms.split() if room[0] != "-")
    outside = tuple(f"{room[1:]}." for room in rooms.split() if room[0] == "-")
    wanted = [name for name, home in homes.items() if home.startswith(inside) and not home.startswith(outside or "-")]
    return "\n".join(described(name, getattr(prudent, name), "prudent") for name in wanted)


def module(name: str) -> str:
    """What a public module says of itself, and all of its public names that are not names of the package too."""
    found = import_module(name)
    listed = getattr(found, "__all__", None) or [key for key in vars(found) if public(found, key)]
    parts = [f"```{{eval-rst}}\n.. automodule:: {name}\n```\n"]
    known = [getattr(prudent, other) for other in prudent.__all__]
    parts += [described(key, getattr(found, key), name) for key in listed if getattr(found, key) not in known]
    return "\n".join(parts)


def public(found: ModuleType, key: str) -> bool:
    """Whether a name of a module without `__all__` is meant for users: defined in this room, without an underscore."""
    thing = getattr(found, key)
    ours = getattr(thing, "__module__", "").startswith(found.__name__)
    return not key.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)) and ours


def is_module(name: str) -> bool:
    """Whether a public name is a module."""
    return isinstance(getattr(prudent, name), ModuleType)


def described(name: str, thing: Any, home: str) -> str:
    """The entry of one name."""
    kind = "autoclass" if inspect.isclass(thing) else "autofunction"
    kind = "autoexception" if kind == "autoclass" and issubclass(thing, Exception) else kind
    members = "\n   :members:" if name in WITH_MEMBERS.split() else ""
    return f"```{{eval-rst}}\n.. {kind}:: {home}.{name}{members}\n```\n"


MAKERS = {"names": names, "module": module, "commands": commands, "bodies": bodies}


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Called by Sphinx with the text of each page."""
    source[0] = MADE.sub(lambda found: MAKERS[found[1]](found[2]), source[0])


def check(app: Sphinx, env: Any) -> None:
    """Called by Sphinx when all pages are read: every public name has its entry."""
    has = {name for name, *_ in env.get_domain("py").get_objects()}
    for name in prudent.__all__:
        address = getattr(prudent, name).__name__ if is_module(name) else f"prudent.{name}"
        if address not in has:
            logging.getLogger(__name__).warning("prudent.%s has no entry in docs/reference", name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", read, priority=400)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
