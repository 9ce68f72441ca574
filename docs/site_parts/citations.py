"""Citations by key: [Sani12] in a page or a docstring becomes a link to the entry of references.bib."""

import re
from collections.abc import Iterator
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.application import Sphinx

from prudent.base.registry import KEY
from prudent.cli.catalogue_pages import bibliography

CODE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2|`[^`\n]+`", flags=re.MULTILINE | re.DOTALL)
"""What is shown as it stands: fenced blocks, and code in a line."""


class ByKey(BaseLabelStyle):
    """The label of an entry is its key."""

    def format_labels(self, entries: Any) -> Iterator[str]:
        for entry in entries:
            yield entry.key


class InOrder(BaseSortingStyle):
    """Entries in the order of their keys."""

    def sorting_key(self, entry: Any) -> str:
        return str(entry.key).lower()


class KeyStyle(Style):
    """Authors, title, place and year, in the order of the keys."""

    default_label_style = ByKey
    default_sorting_style = InOrder


def cited(text: str, role: str) -> str:
    """The text with every key in brackets as a citation, in the markup of `role`."""
    keys = bibliography()
    return KEY.sub(lambda found: role.format(found[1]) if found[1] in keys else found[0], text)


def outside_code(text: str, change: Any) -> str:
    """Change the parts of a page that are not code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Called by Sphinx with the text of each page."""
    source[0] = outside_code(source[0], lambda text: cited(text, "{{cite}}`{}`"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    register_plugin("pybtex.style.formatting", "by_key", KeyStyle)
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
