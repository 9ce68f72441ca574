"""Every command prints every number and name whole, on terminals of every width."""

import os
import re
import shlex

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from rich.cells import cell_len
from valid import FILES, MADE, TEXTS

from prudent.cli import main, simulate, tables

WIDE = 2_000
WIDTHS = (60, 80, 120)
MACHINES = ("cite", "docs", "plot")
"""Commands whose lines are for other programs: BibTeX, pages, and the path of a file."""


@pytest.fixture(scope="module")
def without_pictures():
    """Pictures are drawn, but not rendered: only what is printed matters here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", lambda _, to, **__: to.write(b"<svg></svg>"))
        yield


@pytest.fixture(scope="module")
def printed(tmp_path_factory, without_pictures):
    """What a command line prints on a terminal of so many columns; files and studies are there."""
    home = tmp_path_factory.mktemp("widths")
    for name, content in FILES.items():
        (home / name).write_bytes(content)

    def run(line: str, width: int) -> str:
        before = os.getcwd()
        os.chdir(home)
        try:
            done = CliRunner().invoke(main, shlex.split(line), env={"COLUMNS": str(width)})
        finally:
            os.chdir(before)
        assert done.exit_code == 0, done.output
        return done.stdout

    for args in MADE:
        run(shlex.join(args), WIDE)
    return run


def words_of(out: str) -> set[str]:
    """All words and numbers, each number with its error; but how long something takes is another number each time."""
    out = re.sub(r"about \S+ (s|min)\b", "", out).replace("─", "")
    return set(re.split(r"(?<!±)\s+(?!±)", out)) - {""}


def complaints(out: str, width: int, wide: str) -> list[str]:
    """What is wrong with an output on this terminal, compared to that on one which is wide enough for anything."""
    found = [f"{cell_len(line)} columns: {line}" for line in out.splitlines() if cell_len(line) > width]
    found += [f"lost: {word}" for word in sorted(words_of(wide) - words_of(out))]
    found += [f"cut or broken: {word}" for word in sorted(words_of(out) - words_of(wide))]
    found += [f"e-notation: {number}" for number in re.findall(r"\b[\d.]+e[+-]?\d+", out)]
    return found + [f"an ellipsis: {word}" for word in re.findall(r"[\w.]+…", out)]


@pytest.mark.parametrize("line", [line for line in TEXTS if "backup" not in line])  # which writes a file once only
def test_everything_is_printed_whole(line, printed):
    wide = printed(line, WIDE)
    for width in WIDTHS:
        machine = line.split()[0] in MACHINES
        assert complaints(printed(line, width), WIDE if machine else width, wide) == []


LONG = "simulate --arm 'gaussian(1e6, 0.05)' --arm 'beta(1, 2)' --policy ucb1 --horizon 30000 --runs 3"


def cutting(wrapped):
    """Lines cut as tables of libraries do it."""
    return lambda given, width: [line if len(line) < 8 else f"{line[:7]}…" for line in wrapped(given, width)]


MUTANTS = {
    "an ellipsis": lambda patch: patch(tables, "wrapped", cutting(tables.wrapped)),
    "lost": lambda patch: patch(tables, "wrapped", lambda given, width: [given[:7]]),
    "cut or broken": lambda patch: patch(tables, "_words", list),
    "columns": lambda patch: patch(tables, "_widths", lambda rows, *_: dict.fromkeys(rows[0], 30)),
    "e-notation": lambda patch: patch(simulate, "with_error", lambda mean, _: f"{mean:.3g}"),
}
"""What may be wrong with tables, each with a change that makes it so."""


@pytest.mark.parametrize("wrong", MUTANTS)
def test_what_would_be_wrong_is_noticed(wrong, printed, monkeypatch):
    wide = printed(LONG, WIDE)
    assert complaints(printed(LONG, 60), 60, wide) == []
    MUTANTS[wrong](monkeypatch.setattr)
    assert any(wrong in complaint for complaint in complaints(printed(LONG, 60), 60, wide))
