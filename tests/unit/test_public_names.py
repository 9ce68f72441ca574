"""What users write keeps its names, parameters, defaults and facts."""

from pinned import difference, read
from public_names import PINNED, promised

THEN = "Users get other results, or an error. If the change is meant, run: python tests/public_names.py"


def test_public_names_and_defaults_are_the_pinned_ones():
    assert not (changed := difference(read(PINNED), promised(), THEN)), changed


def test_a_difference_names_what_changed_and_what_to_do():
    told = difference({"a": ["x: 1", "y: 2"], "gone": []}, {"a": ["x: 1", "y: 3"], "new": ["z"]}, "then")
    assert told.splitlines() == ["a:", "-y: 2", "+y: 3", "gone:", "new:", "+z", "then"]
    assert difference({"a": ["x"]}, {"a": ["x"]}, "then") == ""
