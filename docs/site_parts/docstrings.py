"""Docstrings are plain text with `code` in backticks; here they become what Sphinx reads."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from prudent.arms.base import arms
from prudent.cli.catalogue_pages import REGISTRIES
from site_parts.citations import cited

DOCS = Path(__file__).parents[1]
PAGES = {page.stem: str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.glob("*/*.md")}
"""The page of each name: a docstring says (docs: leaping)."""

SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")
"""Characters that mean something to Sphinx and nothing in our docstrings."""

INDEX = re.compile(
    r"(?<![A-Za-z_`])(max|min|[A-Z]{1,2}|[A-Za-zΑ-ω][̂̃]?²?)\\?_"
    r"(\{[^{}]+\}|\([^()]+\)|\\\*|[A-Za-z0-9α-ω]{1,2}(?![A-Za-z0-9_]))(?=([^\s).,;:/\]]?))"
)
"""A letter or two and the index, after special characters got their backslash; then what follows without a space."""

POWER = re.compile(r"\^(\{[^{}]+\}|\([^()]+\)|-?\w)(?=([^\s).,;:/\]]?))")


def marked_up(line: str) -> str:
    """A line of plain text: code, citations and pages as links, all else as it stands."""
    text, *rest = re.split(r"`([^`]+)`", line)
    parts = [plain(text)]
    for code, after in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"``{code}``" if code == code.strip() else code, plain(after)]
    return "".join(parts)


def plain(text: str) -> str:
    """Text outside code: no mark-up by chance, and T_i and n^(2/3) with their index and power where they belong."""
    text = SPECIAL.sub(r"\\\1", text)
    text = INDEX.sub(lambda found: f"{found[1]}\\ :sub:`{found[2].strip('{}')}`" + ("\\ " if found[3] else ""), text)
    text = POWER.sub(lambda found: f"\\ :sup:`{found[1].strip('{}()')}`" + ("\\ " if found[2] else ""), text)
    text = re.sub(r"docs: ([a-z-]+)", lambda found: link(found[1]), text)
    return cited(text, ":cite:`{}`")


def link(name: str) -> str:
    """The page of that name; a test finds names without a page."""
    return f":doc:`{name} </{PAGES[name]}>`" if name in PAGES else f"docs: {name}"


@cache
def text_names() -> dict[Any, str]:
    """The names by which the classes of policies, laws, measures and strategies go in text."""
    return {entry.factory: entry.name for registry in (arms, *REGISTRIES) for entry in registry.entries()}


def process(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Called by Sphinx with each docstring; examples stay as they are."""
    if isinstance(thing, type) and thing in text_names():
        place = lines.index("Examples") if "Examples" in lines else len(lines)
        lines[place:place] = [f"In text, such as on the command line, it is `{text_names()[thing]}`.", ""]
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example and not (kind == "module" and line.startswith("    ")):
            lines[i] = marked_up(line)
    if kind == "module":  # what is indented there is code or a formula, to be shown as it stands
        starts = [i for i in range(1, len(lines)) if lines[i].startswith("    ") and not lines[i - 1].strip()]
        blocks = [i for i in starts if not lines[i - 2].startswith("    ")]
        for i in reversed(blocks):
            lines[i:i] = ["::", ""]
    if kind in ("property", "attribute", "data"):
        lines.insert(0, "\\ ")  # nothing on the page; else napoleon takes what stands before a colon for a type


def dashes(app: Sphinx, tree: nodes.document) -> None:
    """Called by Sphinx with each page: between a parameter and its words it has two hyphens."""
    for text in list(tree.findall(nodes.Text)):
        if text.astext() == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def signature(app: Sphinx, kind: str, name: str, thing: Any, options: Any, given: str, returned: str) -> Any:
    """Called by Sphinx with each signature; a parameter that must be given or is taken from elsewhere shows as …"""
    return given and re.sub(r"\bnan\b", "…", given), returned


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", signature)
    app.connect("doctree-read", dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
