"""What the Python blocks of a page define."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def defined_in(page: str, name: str):
    """The class or function that a block of the page defines."""
    for block in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL):
        if re.search(rf"^(class|def) {name}\b", block, flags=re.MULTILINE):
            names: dict[str, object] = {"__name__": "page"}
            exec(compile(block, page, "exec"), names)
            return names[name]
    raise LookupError(name)
