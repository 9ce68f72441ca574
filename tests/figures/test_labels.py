"""What is typeset is TeX, and only that."""

import re
from pathlib import Path

import pytest

import prudent.paper

MODULES = sorted(Path(prudent.paper.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_formulas_are_tex_and_texts_are_not(path):
    for text in re.findall(r'"([^"\n]*)"', path.read_text("utf-8")):
        formulas, words = re.findall(r"\$[^$]*\$", text), re.sub(r"\$[^$]*\$", "", text)
        assert not [formula for formula in formulas if "^(" in formula]
        assert not re.search(r"\^\{(?!\w+:)", words.replace("^{{", "^{"))  # n^{slope:.2f} is filled in
