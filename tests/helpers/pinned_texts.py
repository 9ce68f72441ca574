"""What is pinned in a file: texts by section, compared line by line."""

import json
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

Sections = dict[str, list[str]]
LINES_SHOWN = 24
"""Lines of a difference that are shown."""


def read(path: Path) -> Sections:
    """The sections of the file."""
    found: Sections = json.loads(path.read_text("utf-8"))
    return found


def write(path: Path, sections: Mapping[str, list[str]]) -> None:
    """One line of the file for each line of a section, so that a change is seen where it is."""
    path.write_text(json.dumps(sections, indent=1, ensure_ascii=False) + "\n", "utf-8")


def difference(pinned: Mapping[str, list[str]], found: Mapping[str, list[str]], then: str) -> str:
    """What has changed, shortly, and what to do `then`; nothing if all is the same."""
    lines: list[str] = []
    for name in dict.fromkeys((*pinned, *found)):
        changed = unified_diff(pinned.get(name, []), found.get(name, []), "pinned", "found", lineterm="", n=0)
        told = [line for line in changed if not line.startswith(("---", "+++", "@@"))]
        lines += [f"{name}:", *told] if told or (name in pinned) != (name in found) else []
    more = [f"and {len(lines) - LINES_SHOWN} more lines"] if len(lines) > LINES_SHOWN else []
    return "\n".join([*lines[:LINES_SHOWN], *more, then]) if lines else ""
