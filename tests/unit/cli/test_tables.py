"""Tables on terminals of every width."""

import io
import os
import re

import pytest

from prudent.cli import tables
from prudent.cli.tables import PROSE, lines_of, print_rows, print_text, terminal_width, wrapped

SENTENCE = "The rewards of this arm are independent of each other and lie in an interval of known length"


def printed(capsys):
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_number_is_cut_in_two_however_narrow_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    row = {f"column {i}": f"{10**6 + i:,} ± 0.0{i}" for i in range(8)}
    print_rows("Numbers", [{"name": "one", **row}, {"name": "two", **row}], left=("name",))
    out = printed(capsys)
    assert all(out.count(cell) == 2 for cell in row.values())
    assert max(map(len, out.splitlines())) <= width


def test_a_table_that_fits_has_columns():
    rows = [{"name": "one", "mean regret": "0.5"}, {"name": "three", "mean regret": "12.25"}]
    assert list(lines_of(rows, ("name",), 40)) == [
        "name   mean regret", "─────  ───────────", "one            0.5", "three        12.25",
    ]  # fmt: skip
    assert list(lines_of(rows, ("name",), 13)) == [
        "         mean", "name   regret", "─────  ──────", "one       0.5", "three   12.25",
    ]  # fmt: skip


def test_one_that_does_not_fit_becomes_records_without_what_is_empty():
    rows = [{"name": "one", "a b": "0.5", "none": ""}, {"name": "two", "a b": "12,000,000", "none": "1"}]
    assert list(lines_of(rows, ("name",), 18)) == [
        "name  one", "a b   0.5", "", "name  two", "a b   12,000,000", "none  1",
    ]  # fmt: skip
    long = [{"a rather long name": "0.5", "b": "word " * 4}]
    assert list(lines_of(long, ("b",), 20)) == ["a rather long name", "  0.5", "b", "  word word word", "  word"]


@pytest.mark.parametrize("width", range(20, 200, 10))
def test_prose_is_never_a_strip(width):
    """A column of words is wide enough for some of them, or there is no column."""
    rows = [{"name": "one", "what": SENTENCE, "why": SENTENCE, "mean": "0.5 ± 0.1"}]
    lines = list(lines_of(rows, ("name", "what", "why"), width))
    assert max(map(len, lines)) <= width
    assert {word for line in lines for word in line.split()} >= set(SENTENCE.split())
    if "─" in lines[1]:
        assert min(len(rule) for rule in lines[1].split()[1:3]) >= PROSE


def test_rows_of_several_lines_stand_apart():
    rows = [{"name": str(i), "what": SENTENCE} for i in range(2)]
    lines = list(lines_of(rows, ("name", "what"), 60))
    assert lines.count("") == 1
    assert lines[2].startswith("0")


def test_words_are_broken_only_where_they_are_longer_than_a_line():
    assert wrapped("regret 0.5 ± 0.1 at n = 20", 11) == ["regret", "0.5 ± 0.1", "at n = 20"]
    assert wrapped("abcdefgh ij", 3) == ["abc", "def", "gh", "ij"]
    assert wrapped("", 3) == [""]


def test_letters_that_take_two_columns_and_names_that_move_the_cursor(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    print_rows("Names", [{"name": "日本", "x": "1"}, {"name": "a\x1b[2Jb\n\tc", "x": "2"}], left=("name",))
    assert printed(capsys).splitlines()[2:] == ["name     x", "───────  ─", "日本     1", "a[2Jb c  2"]


def test_an_encoding_without_lines_and_greek_is_no_error(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "cp1252")
    monkeypatch.setattr("sys.stdout", out)
    print_rows("ρ = 1", [{"name": "β", "regret": "0.5 ± 0.1"}], left=("name",))
    out.flush()
    words = out.buffer.getvalue().decode("cp1252").split()
    assert " ".join(words) == "? = 1 name regret ---- --------- ? 0.5 ± 0.1"


def test_long_tables_have_every_row(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [{"name": f"row {i}", "first": f"{i:,}", "second": "1.5 ± 0.2 [x]"} for i in range(20_000)]
    print_rows("Numbers", rows, left=("name",))
    lines = printed(capsys).splitlines()
    assert lines[2] == "name        first         second"
    assert lines[-1] == "row 19999  19,999  1.5 ± 0.2 [x]"
    assert len(lines) == 4 + len(rows)


def test_the_width_is_what_columns_says_and_80_into_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: (_ for _ in ()).throw(OSError))
    assert terminal_width() == 80
    for given, width in (("133", 133), ("3", tables.MIN_COLUMNS)):
        monkeypatch.setenv("COLUMNS", given)
        assert terminal_width() == width


def test_sentences_wrap_and_list_items_are_indented(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    print_text("- Mean outcome 0.5 ± 0.1 of all.")
    print_text("One line.")
    assert printed(capsys).splitlines() == ["- Mean outcome", "  0.5 ± 0.1 of all.", "One line."]
