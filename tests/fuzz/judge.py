"""What every outcome must be, whatever the input: the promises of the command line, one check each."""

import json
import re
from collections.abc import Iterator

from sandbox import Case, Limits, Outcome

MOST_LINES, LONGEST_LINE = 25, 5_000
PYTHON_WARNING = re.compile(r"^\S*:\d+: \w*Warning: |^Warning: .*( encountered in |literal)", re.MULTILINE)
FAULT = "fault of prudent"
"""How the command line calls an error that it did not expect, which has no traceback then."""


def complaints(case: Case, outcome: Outcome, limits: Limits) -> list[str]:
    """Everything that is wrong with an outcome; an empty list for a clean one."""
    found = [*of_ending(case, outcome, limits), *of_words(outcome)]
    if outcome.ended == "itself":
        found += [*of_files(case, outcome), *of_answer(case, outcome)]
    return found


def of_ending(case: Case, outcome: Outcome, limits: Limits) -> Iterator[str]:
    if outcome.ended == "killed":
        yield f"hangs: deaf to Ctrl-C for {limits.grace:g} s, after {limits.seconds:g} s"
    elif outcome.ended == "interrupted":
        if case.small:
            yield f"takes more than {limits.seconds:g} s, though nothing in it is large"
        if outcome.code not in (0, 1, 2, 130):
            yield f"ends with {outcome.code} after Ctrl-C"
    elif outcome.code not in (0, 2):
        yield f"ends with {outcome.code} instead of 0 or 2"
    if outcome.megabytes > limits.megabytes:
        yield f"takes {outcome.megabytes:,.0f} MB, more than {limits.megabytes:,}"


def of_words(outcome: Outcome) -> Iterator[str]:
    lines = outcome.err.splitlines()
    if "Traceback (most recent call last)" in outcome.err + outcome.out:
        yield "prints a traceback"
    if FAULT in outcome.err:
        yield f"calls it a {FAULT}: {lines[0][:60]}"
    if PYTHON_WARNING.search(outcome.err):
        yield "prints a warning of Python's"
    if len(lines) > MOST_LINES:
        yield f"prints {len(lines)} lines on stderr"
    if any(len(line) > LONGEST_LINE for line in lines):
        yield f"prints a line of {max(map(len, lines)):,} characters on stderr"
    rest = [line for line in lines if line.strip() and not line.startswith("Warning: ")]
    if outcome.ended == "itself" and outcome.code == 2 and not (rest and rest[0].startswith(("Error: ", "Usage: "))):
        yield "is refused without a line that begins with Error: or Usage:"
    if outcome.ended == "itself" and outcome.code == 0 and rest:
        yield f"succeeds and says on stderr: {rest[0][:80]}"


def of_files(case: Case, outcome: Outcome) -> Iterator[str]:
    before, after = outcome.before, outcome.after
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if outcome.code == 2 and changed and not case.code:  # a script may write before it is refused
        yield f"is refused, and yet changes {', '.join(changed[:4])}"
    left = [name for name in changed if name in after and (name.endswith(".part") or name.rpartition("/")[2][0] == ".")]
    if left:
        yield f"leaves {left[0]} behind"


def of_answer(case: Case, outcome: Outcome) -> Iterator[str]:
    if outcome.code == 0 and "--json" in case.args and not {"--help", "--csv"} & set(case.args):
        try:
            json.loads(outcome.out, parse_constant=lambda word: json.loads("not strict JSON"))
        except ValueError:
            yield "prints with --json what is no strict JSON"
    said = f"ends with {outcome.code}: {(outcome.err or outcome.out)[-300:]}"
    if case.refused and not (outcome.code == 2 and re.search(case.refused, outcome.err, re.IGNORECASE)):
        yield f"is not refused with /{case.refused}/, but {said}"
    if case.answers and not (outcome.code == 0 and re.search(case.answers, outcome.out)):
        yield f"does not answer /{case.answers}/, but {said}"
    if case.table and outcome.code == 0:
        known, printed = case.table.splitlines(), outcome.out.splitlines()
        if not set(printed) <= set(known):
            yield "prints a row that the study does not have"
        elif case.whole and printed != known:
            yield f"prints {len(printed)} lines instead of {len(known)}, without a word"
