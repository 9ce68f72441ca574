"""Make the gallery: `python docs/gallery.py [NAME …]` draws these pictures, or all, and writes the page.

Every script in docs/gallery draws one `figure`. Its docstring has the title, then what is seen.
"""

import ast
import io
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from prudent.results.figures import style

FOLDER = Path(__file__).parent / "gallery"
PAGE = FOLDER / "index.md"
WIDTH = 156
"""Pixels across a thumbnail; a telephone shows two beside each other."""

GROUPS = {
    "What it is about": ["two-offers", "what-it-earns"],
    "Regret": ["regret-parts", "compare-policies", "lower-bound", "worst-case", "billion-rounds"],
    "Inside a simulation": ["one-run", "best-arm-share", "spread-of-regret", "late-rewards"],
    "Risk": ["choose-rho", "frontier", "risk-measures", "several-periods"],
    "Live experiments": ["confidence", "forecast"],
    "Other questions": ["identification", "portfolio-frontier", "portfolio-weights"],
    "Your own": ["own-policy", "own-law"],
}
SMALL = {"RUNS": "3", "HORIZON": "200", "DRAWS": "500", "LONGEST": "6"}
"""Sizes with which the tests run the scripts."""

INTRODUCTION = """\
# Gallery

Pictures to choose from, each with its code. Every script leaves a Matplotlib `figure`; save it with
`figure.savefig("name.pdf")`. `with prudent.results.figures.style():` gives the look of these pictures. Error bars and
bands are two standard errors over runs, unless stated otherwise.
"""


class Snippet(NamedTuple):
    """A script: what it is called, what is seen, and the code below its docstring."""

    title: str
    text: str
    code: str


def read(name: str) -> Snippet:
    """A script of the gallery by its name."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    title, _, text = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")
    return Snippet(title, text, source.split('"""', 2)[2].strip())


def shrunk(code: str) -> str:
    """The code with few runs and rounds."""
    sizes = rf"^((?:{'|'.join(SMALL)})(?:, \w+)*) = .*$"
    return re.sub(sizes, lambda m: f"{m[1]} = {', '.join(SMALL[n] for n in m[1].split(', '))}", code, flags=re.M)


def drawn(name: str, *, small: bool = False) -> Figure:
    """The figure that a script leaves."""
    code, names = read(name).code, dict[str, Any](__name__=name)
    with mpl.rc_context({"backend": "agg"}), style():
        exec(compile(shrunk(code) if small else code, f"{name}.py", "exec"), names)
        figure: Figure = names["figure"]
        figure.canvas.draw()
    return figure


def save(name: str) -> None:
    """The picture of a script, and its thumbnail, in few colours so that both are small files."""
    made = io.BytesIO()
    with style():
        drawn(name).savefig(made, dpi=110, bbox_inches="tight")
    picture = Image.open(made).convert("RGB")
    whole, small = FOLDER / f"{name}.png", FOLDER / "small" / f"{name}.png"
    small.parent.mkdir(exist_ok=True)
    picture.quantize(64).save(whole, optimize=True)
    height = round(picture.height * WIDTH / picture.width)
    picture.resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(64).save(small, optimize=True)


def page() -> str:
    """Thumbnails first, then every picture with its code."""
    parts, names = [INTRODUCTION], [name for group in GROUPS.values() for name in group]
    snippets = {name: read(name) for name in names}
    thumbnails = [f"[![{snippets[name].title}](small/{name}.png)](#{anchor(snippets[name].title)})" for name in names]
    parts.append("\n".join(thumbnails) + "\n")
    for group, members in GROUPS.items():
        parts.append(f"## {group}\n")
        for name in members:
            one = snippets[name]
            parts.append(f"### {one.title}\n\n{one.text}\n\n![{one.title}]({name}.png)\n")
            parts.append(f"```python\n{one.code}\n```\n")
    return "\n".join(parts)


def anchor(title: str) -> str:
    """The address of a heading within its page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    for each in sys.argv[1:] or [name for group in GROUPS.values() for name in group]:
        save(each)
    PAGE.write_text(page(), encoding="utf-8")
