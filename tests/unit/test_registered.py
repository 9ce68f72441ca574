"""All that is registered keeps its parameters, defaults and facts; every module keeps its defaults and constants."""

from pinned import difference, read
from registered import PINNED, registered

THEN = "Who relies on these defaults gets other results. If the change is meant, run: python tests/registered.py"


def test_defaults_and_facts_are_the_pinned_ones():
    assert not (changed := difference(read(PINNED), registered(), THEN)), changed


def test_a_difference_names_what_changed_and_what_to_do():
    told = difference({"a": ["x: 1", "y: 2"], "gone": []}, {"a": ["x: 1", "y: 3"], "new": ["z"]}, "then")
    assert told.splitlines() == ["a:", "-y: 2", "+y: 3", "gone:", "new:", "+z", "then"]
    assert difference({"a": ["x"]}, {"a": ["x"]}, "then") == ""
