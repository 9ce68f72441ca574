"""Notebooks as pages of the site: their texts, and their code as blocks; nothing is run."""

import json
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser


def as_markdown(notebook: str, name: str) -> str:
    """The cells one after the other, with a link to the file below the title."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, _, rest = parts[0].partition("\n\n")
    return "\n\n".join([title, f"{{download}}`Download this notebook <{name}>`", rest, *parts[1:]])


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown that it holds."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        name = document.settings.env.docname.rpartition("/")[2] + ".ipynb"
        super().parse(as_markdown(inputstring, name), document)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
