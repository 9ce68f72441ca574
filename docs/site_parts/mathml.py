"""Formulas as MathML, which browsers draw by themselves: no script and no font has to be loaded."""

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

LONG = 30
"""Characters of TeX that may be wider than a telephone."""

FUNCTIONS = ("log", "ln", "exp", "max", "min", "sup", "inf")
"""Names that need a thin space before their argument, unless it is in brackets."""

LIMITS = ("lim inf", "lim sup", "max", "min", "sup", "inf")
"""Names that have their limits below them."""

SPACE = '<mspace xmlns="http://www.w3.org/1998/Math/MathML" width="0.167em" />'


def inline(writer: Any, node: nodes.math) -> None:
    """A formula in a line of text; a long one scrolls on a telephone, since formulas are not broken into lines."""
    formula = drawn(node.astext(), "inline")
    long = len(node.astext()) > LONG
    writer.body.append(f'<span class="long-formula">{formula}</span>' if long else formula)
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """A formula of its own line, which scrolls if the screen is narrower."""
    writer.body.append(f'<div class="math-block" tabindex="0">{drawn(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def drawn(formula: str, display: str) -> str:
    """A formula in TeX as MathML, with what the converter leaves out: log n has a space, limits stand below."""
    ElementTree.register_namespace("", "http://www.w3.org/1998/Math/MathML")
    root = ElementTree.fromstring(convert(formula, display=display))
    for parent in root.iter():
        if parent.tag.endswith("}msub") and name(parent[0]) in LIMITS and display == "block":
            parent.tag = parent.tag.replace("msub", "munder")
        if parent.tag.endswith("}mrow"):
            for place, (child, after) in reversed(list(enumerate(pairwise(parent)))):
                if name(child) in FUNCTIONS and not after.tag.endswith("}mo"):
                    parent.insert(place + 1, ElementTree.fromstring(SPACE))
    return ElementTree.tostring(root, encoding="unicode")


def name(element: ElementTree.Element) -> str:
    """The text of a letter or an operator; of one with indices, that of what has them."""
    text = " ".join((element.text or "").split())  # the converter has thin spaces
    return text or (name(element[0]) if len(element) and "mrow" not in element.tag else "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
