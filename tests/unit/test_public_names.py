"""What users write keeps its names, parameters, defaults and facts.

    PIN=1 pytest tests/unit/test_public_names.py

writes `public_names.json` again, after a change that is meant.
"""

import os
from pathlib import Path

from helpers.pinned_texts import difference, read, write
from helpers.public_names import promised

PINNED = Path(__file__).with_name("public_names.json")
THEN = "Users get other results, or an error. If the change is meant, run: PIN=1 pytest tests/unit/test_public_names.py"


def test_public_names_and_defaults_are_the_pinned_ones():
    found = promised()
    if os.environ.get("PIN"):
        write(PINNED, found)
    assert not (changed := difference(read(PINNED), found, THEN)), changed


def test_a_difference_names_what_changed_and_what_to_do():
    told = difference({"a": ["x: 1", "y: 2"], "gone": []}, {"a": ["x: 1", "y: 3"], "new": ["z"]}, "then")
    assert told.splitlines() == ["a:", "-y: 2", "+y: 3", "gone:", "new:", "+z", "then"]
    assert difference({"a": ["x"]}, {"a": ["x"]}, "then") == ""
