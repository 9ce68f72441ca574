"""What SECURITY.md promises has a test, each line one that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_is_there():
    promised = TEXT.partition("## What is promised")[2].partition("## What is not promised")[0]
    rows = [line for line in promised.splitlines() if line.startswith("|") and line.strip("|- ")]
    promises = [row for row in rows if row != "| promise | test |"]
    assert len(promises) > 20
    for promise in promises:
        named = re.findall(r"\| `(tests/[\w/]+\.py)(?:::(test_\w+))?` \|$", promise)
        assert len(named) == 1, promise
        file, test = named[0]
        assert (ROOT / file).is_file(), promise
        assert f"def {test or 'test_'}" in (ROOT / file).read_text(encoding="utf-8"), promise
    assert len(re.findall(r"tests/", TEXT)) == len(promises)
