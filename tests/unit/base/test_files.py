"""Files are written whole or not at all, and a CSV file is read as it was meant or refused."""

import contextlib
import csv
import errno
import math
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import Empirical, PrudentError, arms
from prudent.base.csv_cells import counts_rows
from prudent.base.csv_columns import read_columns, read_groups
from prudent.base.files import write
from prudent.cli.trouble import in_options
from prudent.plan import pilot

# Writing


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "some" / "folder" / "a.txt"
    assert write(str(path), "größer") == path
    assert path.read_bytes() == "größer".encode()
    write(path, b"\x00\r\n")
    assert path.read_bytes() == b"\x00\r\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_only_new_keeps_the_file_that_is_there(tmp_path):
    for text in ("first", "second"):
        write(tmp_path / "a.txt", text, only_new=True)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "first")]


def test_of_many_writers_of_a_new_file_one_wins_and_all_come_through(tmp_path):
    path, texts = tmp_path / "a.txt", [str(i) * 100_000 for i in range(8)]
    threads = [threading.Thread(target=write, args=(path, text), kwargs={"only_new": True}) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_the_data_is_synced_before_it_takes_the_name_and_the_name_after(tmp_path, monkeypatch):
    path, seen = tmp_path / "a.txt", []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append((os.fstat(handle).st_size, path.exists())))
    write(path, b"abc")
    assert [there for _, there in seen] == [False, True]
    assert seen[0][0] == 3


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_says_so(tmp_path, monkeypatch, step):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = write(tmp_path / "a.txt", "old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(PrudentError, match=r"cannot write .*a\.txt: No space left on device; make room"):
        write(path, "new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "old")]


def test_a_folder_in_the_way_is_an_error_that_leaves_nothing(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(PrudentError, match=r"cannot write .*: Is a directory"):
        write(tmp_path / "a.txt", "new")
    write(tmp_path / "file", "")
    with pytest.raises(PrudentError, match="cannot write"):
        write(tmp_path / "file" / "a.txt", "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "file"]


def test_what_a_killed_process_left_beside_is_swept_after_an_hour(tmp_path):
    old, young, another = (tmp_path / f".a.txt.{letter * 32}.part" for letter in "abc")
    kept = [tmp_path / name for name in (".a.part", f"a.txt.{'a' * 32}.part", f".a.txt.{'A' * 32}.part")]
    for path in (old, young, another, *kept):
        path.touch()
        if path is not young:
            os.utime(path, (0.0, 0.0))
    write(tmp_path / "b.txt", "")
    assert {path.name for path in tmp_path.iterdir()} == {"b.txt", young.name, *(path.name for path in kept)}


# Reading


@pytest.fixture
def made(tmp_path):
    def make(content: str | bytes) -> Path:
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


WAYS = {
    "commas": "a,b\n0.5,-1\n2,1e-1\n",
    "semicolons": "a;b\n0.5;-1\n2;0.1\n",
    "tabs": "a\tb\n0.5\t-1\n2\t0.1\n",
    "decimal commas": "a;b\n0,5;-1\n2;1,0e-1\n",
    "decimal commas and tabs": "a\tb\n0,5\t-1\n2\t0,1\n",
    "a byte order mark and Windows line ends": "\ufeffa,b\r\n0.5,-1\r\n2,0.1\r\n",
    "old line ends": "a,b\r0.5,-1\r2,0.1\r",
    "no final newline": "a,b\n0.5,-1\n2,0.1",
    "empty lines": "\n\na,b\n\n0.5,-1\n,\n2,0.1\n\n,\n",
    "spaces": " a , b\n 0.5, -1 \n2 ,\t0.1\n",
    "quotes": '"a","b"\n"0.5","-1"\n"2",0.1\n',
    "spaces before quotes": '"a", "b"\n"0.5", "-1"\n2, 0.1\n',
    "a text that holds separators": 'note,a,b\n"well, or so; perhaps",0.5,-1\n"a ""quote""\nof two lines",2,0.1\n',
    "names that hold separators": '"note, if any";"a";b\nx;0,5;-1\ny;2;0,1\n',
    "a name that holds a comma": "x, y;a;b\nx;0,5;-1,0\ny;2;0,1\n",
    "dates first": "day,a,b\n2024-01-31,0.5,-1\n2024-02-29,2,0.1\n",
    "dates with points": "day;a;b\n31.01.2024;0,5;-1\n29.02.2024;2;0,1\n",
    "dates with strokes": "a,day,b\n0.5,1/31/2024,-1\n2,2/29/2024,0.1\n",
    "a data frame": ",a,b\n0,0.5,-1\n1,2,0.1\n",
    "a data frame with tabs": "\ta\tb\n0\t0.5\t-1\n1\t2\t0.1\n",
    "nameless empty columns": "a,b,,\n0.5,-1,,\n2,0.1,,\n",
    "plus signs": "a,b\n+0.5,-1\n+2,+.1\n",
}


@pytest.mark.parametrize("content", WAYS.values(), ids=WAYS)
def test_tables_as_programs_write_them(made, content):
    path = made(content)
    assert read_columns(path) == {"a": [0.5, 2.0], "b": [-1.0, 0.1]}
    assert list(read_columns(str(path), ["b", "a"]).items()) == [("b", [-1.0, 0.1]), ("a", [0.5, 2.0])]
    assert read_columns(path, gaps=True) == read_columns(path)


def test_with_gaps_columns_differ_in_length(made):
    for content in ("a,b\n,3\n2,\n5,4\n,1\n", "a;b\n;3\n2\n5;4\n;1\n", "a,b\n,3\n2\n5,4\n,1"):
        assert read_columns(made(content), gaps=True) == {"a": [2.0, 5.0], "b": [3.0, 4.0, 1.0]}
    assert read_columns(made("a,b\n1,\n2,\n"), gaps=True) == {"a": [1.0, 2.0], "b": []}
    with pytest.raises(PrudentError, match="line 3: must hold 2 cells, got 1"):
        read_columns(made("a;b\n0,5;1\n1,2\n"), gaps=True)


def test_only_what_is_asked_for_must_be_in_order(made):
    path = made("a,b,b,c,\n1,x,y,,9\n2,x,y,5,9\n")
    assert read_columns(path, ["a"]) == {"a": [1.0, 2.0]}
    for names, message in (
        (["b"], "line 1: two columns are called 'b'"),
        (["c"], "line 2: c is empty"),
        (["a", "a"], "two columns are called 'a'"),
        (["A"], "no column 'A'; known: a, b, b, c"),
        (["cost"], "no column 'cost'; known"),
        (None, "line 1: two columns are called 'b'; rename one"),
    ):
        with pytest.raises(PrudentError, match=message):
            read_columns(path, names)


def test_names_that_are_numbers_are_names_if_someone_asks_for_them(made):
    assert read_columns(made("2023,2024\n1,2\n"), ["2024"]) == {"2024": [2.0]}
    assert read_columns(made(",0,1\n0,5,6\n1,7,8\n")) == {"0": [5.0, 7.0], "1": [6.0, 8.0]}  # as data frames count
    for content in ("2023,2024\n1,2\n", "2024-01-31,0.5\n2024-02-29,0.1\n", "0,5;0,1\n1;2\n", "a,1.5\n1,2\n"):
        with pytest.raises(PrudentError, match=r"line 1: must hold the names of the columns, got .*; add them"):
            read_columns(made(content))
    with pytest.raises(PrudentError, match="line 1: must hold the names of the columns, got 1"):
        read_columns(made("1,2\n3,4\n"), ["a"])


REFUSED = {
    "": "must hold a line of names and rows of numbers, got 0 lines",
    "a,b\n": "must hold a line of names and rows of numbers, got 1 lines",
    "a,b\n1,2\n3\n": "line 3: must hold 2 cells, got 1; is it cut short",
    "a,b\n1,2\n\n3,4,5\n": "line 4: must hold 2 cells, got 3",
    "a\n0,5\n0,7\n": "line 2: must hold 1 cells, got 2; .*decimal commas need semicolons",
    "a,b\n0,5,0,7\n": "line 2: must hold 2 cells, got 4",
    "a,b\n1,2\nx,4\n": "line 3: a is 'x', not a finite number; write it as 1234.5",
    "a,b\n1,2\n3,NA\n": "line 3: b is 'NA'",
    "a,b\n1,nan\n3,4\n": "line 2: b is 'nan'",
    "a,b\n1,-inf\n3,4\n": "line 2: b is '-inf'",
    "a,b\n1,1e999\n3,4\n": "line 2: b is '1e999'",
    "a,b\n1,1_000\n3,4\n": "line 2: b is '1_000'",
    "a,b\n1,\n3,4\n": "line 2: b is empty; fill it, or drop its row or its column",
    "a,b\n1,\n3,\n": "line 2: b is empty",
    "a,b\n1,5%\n2,6%\n": "line 2: b is '5%', not a finite number",
    "a,b\n1,(5)\n2,(6)\n": r"line 2: b is '\(5\)'",
    "a,b\n1,−5\n2,−6\n": "line 2: b is '−5'",
    'a,b\n1,"1,234"\n2,"1,111"\n': "line 2: b is '1,234', not a finite number; write it as 1234.5",
    'a,b\n1,"0,5"\n2,"0,7"\n': "line 2: b is '0,5'",
    "a;b\n1;1 234\n2;7\n": "line 2: b is '1 234'",
    "a;b\n1;1'234\n2;7\n": 'line 2: b is "1\'234"',
    "a;b\n1;1.234.567\n2;7\n": "line 2: b is '1.234.567'",
    "a;b\n0,5;1.5\n0,7;2\n": "line 2: b is '1.5'",
    "a;b\n1;1,234\n2;2,345\n": "line 2: b is '1,234', which may mean two numbers; write 1,2340 or 1234",
    "a\tb\n1\t1,234\n2\t2\n": "line 2: b is '1,234', which may mean two numbers",
    "a;b\n1;1.234\n2;2.345\n": "line 2: b is '1.234', which may mean two numbers; write 1.2340 or 1234",
    "a\tb\n1\t1.234\n2\t2.345\n": "line 2: b is '1.234', which may mean two numbers",
    "a,x;b\n1,5;2\n3,5;4\n": "line 1: cannot tell which of , and ; and tabs separates columns; put names",
    "a,b,\n1,2,3\n": "line 1: column 3 has no name; give it one",
    "a,b,a\n1,2,3\n": "line 1: two columns are called 'a'",
    'a,b\n"1,2\n3,4\n': "line 3: unexpected end of data; save it as CSV",
    'a,b\n"1"2,3\n': "line 2: .*save it as CSV",
    "a b\n1 2\n3 4\n": "line 2: a b is '1 2', not a finite number",
    "day,note\n2024-01-31,x\n": "no column of numbers such as 0.01; its columns: day, note",
    "year,a\n2022,1\n2023,5\n2024,3\n": "line 2: year is '2022', and the column looks like dates or row numbers; leave",
    "day,a\n20240229,1\n20240131,5\n20231231,3\n": "line 2: day is '20240229', and the column looks like dates",
    "row,a\n1,1\n2,5\n3,3\n": "line 2: row is '1', and the column looks like dates or row numbers",
    "# made by hand\na,b\n1,2\n": "line 2: must hold 1 cells",
    "a,b\nEUR,USD\n1,2\n": "line 2: a is 'EUR'",
    b"a,b\n1,2\n\xe4,4\n": "cannot read .*, line 3: not UTF-8 text; save it as CSV in UTF-8",
    "a,b\n1,2\n".encode("utf-16"): "cannot read .*, line 1: not UTF-8 text",
    "a,b\n1,2\n".encode("utf-16-le"): "cannot read .*: it holds zero bytes",
    b"PK\x03\x04\xff\xff": "cannot read .*, line 1: not UTF-8 text",
    "a,b\n1,2\n3,4\na,b\n5,6\n": "line 4: a is 'a', not a finite number",
    "a,b\n1,2,\n3,4,\n": "line 2: must hold 2 cells, got 3",
    "day,a\n2024-01-31,1\n2024-02-29,4\nTotal,5\n": "line 4: 'Total' is no row of data; drop the row",
    "a,b\n1,null\n3,4\n": "line 2: b is 'null'",
    "a,b\n1," + "9" * 200_000 + "\n3,4\n": "line 2: field larger than field limit .*; save it as CSV",
    "a,b\n" + "1," * 200_000 + "\n": "line 2: must hold at most 100,000 cells, got 200,001",
    "1," * 200_000 + "1": "line 1: must hold at most 100,000 cells, got 200,001",
}


@pytest.mark.parametrize(("content", "message"), REFUSED.items(), ids=[repr(text[:60]) for text in REFUSED])
def test_what_could_be_read_into_nonsense_is_refused_with_its_place(made, content, message):
    with pytest.raises(PrudentError, match=message if message.startswith("cannot") else rf"data\.csv.*{message}"):
        read_columns(made(content))


def test_a_message_does_not_repeat_a_cell_or_a_header_of_any_length(made):
    for content in ("a,b\n1," + "x" * 5_000 + "\n2,3\n", "day," + "n" * 5_000 + "\nx,y\n", "a" * 5_000 + "\nx\n1\n"):
        with pytest.raises(PrudentError) as caught:
            read_columns(made(content))
        assert len(str(caught.value)) < 1_500


@given(
    st.lists(st.tuples(st.integers(-(10**7), 10**7), st.integers(0, 4)), min_size=1, max_size=6),
    st.sampled_from([",.", ";.", "\t.", ";,", "\t,"]),
    st.sampled_from(["", ",", "."]),
)
def test_a_number_is_read_as_it_was_written_or_refused(tmp_path_factory, numbers, style, grouping):
    """Two columns, with a decimal point or comma, perhaps with thousands separators: never another number."""
    separator, mark = style
    truth = [float(whole) for whole, _ in numbers]
    texts = [
        f"{whole:,}".replace(",", grouping if grouping != mark else "") + (mark + "0" * places if places else "")
        for whole, places in numbers
    ]
    path = tmp_path_factory.getbasetemp() / "written.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([("a", "b"), *((text, "x") for text in texts)])
    try:
        found = read_columns(path, ["a"])
    except PrudentError:
        assert grouping or any(places == 3 for _, places in numbers)
    else:
        assert found == {"a": truth}


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(["r", ".3e", ".25e", "f"])
)
def test_a_number_is_the_one_that_python_reads(tmp_path_factory, numbers, style):
    texts = [repr(number) if style == "r" else f"{number:{style}}" for number in numbers]
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    path.write_text("\n".join(["a", *texts]))
    if all(map(math.isfinite, map(float, texts))):
        assert repr(read_columns(path, ["a"])) == repr({"a": [float(text) for text in texts]})
    else:
        with pytest.raises(PrudentError, match="not a finite number"):
            read_columns(path, ["a"])


ODD = ["1_000", "1e999", "nan", "1e", "--1", ".", "1 2", "x"]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_cell_among_many_is_found_with_its_line(made, odd):
    rows = [f"{i / 7},{-i}" for i in range(10_000)]
    assert read_columns(made("\n".join(["a,b", *rows])))["a"] == [i / 7 for i in range(10_000)]
    rows[7_777] = f"1,{odd}"
    with pytest.raises(PrudentError, match=f"line 7779: b is {re.escape(repr(odd))}, not a finite number"):
        read_columns(made("\n".join(["a,b", *rows])))


def test_no_file_and_no_table(tmp_path):
    with pytest.raises(PrudentError, match=r"cannot read .*absent\.csv: No such file"):
        read_columns(tmp_path / "absent.csv")
    with pytest.raises(PrudentError, match=r"cannot read .*: Is a directory"):
        read_columns(tmp_path)
    for path in (None, 5, b"x", "a\0b", [], 1.5):
        with pytest.raises(PrudentError, match="cannot read"):
            read_columns(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="devices and named pipes are Unix's")
def test_what_may_have_no_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(PrudentError, match=f"cannot read {device}: it is a device; pass a file or a pipe"):
            read_columns(device)
    pipe, monkeypatched = tmp_path / "pipe", "a\n" + "1\n" * 30_000
    os.mkfifo(pipe)
    for largest in (10**6, 10**4):
        monkeypatch.setattr("prudent.base.csv_columns.MAX_BYTES", largest)
        writer = threading.Thread(target=lambda: _write_and_forget(pipe, monkeypatched), daemon=True)
        writer.start()
        if largest == 10**6:
            assert read_columns(pipe) == {"a": [1.0] * 30_000}
        else:
            with pytest.raises(PrudentError, match="must hold at most 10,000 bytes, got 10,001 or more"):
                read_columns(pipe)
        writer.join()
    (tmp_path / "long.csv").write_text(monkeypatched)
    with pytest.raises(PrudentError, match="must hold at most 10,000 bytes, got 60,002 or more"):
        read_columns(tmp_path / "long.csv")


def _write_and_forget(pipe, text):
    with contextlib.suppress(BrokenPipeError):
        pipe.write_text(text)


@pytest.mark.parametrize("names", ["a", [5], [None], [""], ["a", b"b"]], ids=repr)
def test_columns_are_asked_for_by_a_list_of_names(made, names):
    with pytest.raises(PrudentError, match="columns must be a list of their names, got"):
        read_columns(made("a,b,\n1,2,3\n4,5,6\n"), names)


# Outcomes of options, a column for each or a row for each

LONG = (
    "date,customer_id,variant,revenue\n2024-05-01,7,A,3\n2024-05-01,7,B,\n2024-05-02 12:30,9,A,4.5\n2024-05-02,8,,7\n"
)
SAME = ["variant: 1 of 4 missing", "revenue: 1 of 3 missing"]


def test_a_file_with_a_row_for_each_outcome_is_read_by_its_groups(made):
    for content in (
        LONG,
        LONG.replace(",", ";").replace(".", ","),
        LONG.replace(",", "\t"),
        LONG.replace("B,", "B,NA"),
    ):
        said = []
        assert read_groups(made(content), "variant", "revenue", remark=said.append) == {"A": [3.0, 4.5], "B": []}
        assert said == SAME
        assert read_groups(made(content), "variant") == {"A": [3.0, 4.5], "B": []}, "only revenue can be the outcome"
    assert read_groups(made(LONG), "date", "customer_id") == {
        "2024-05-01": [7.0, 7.0],
        "2024-05-02 12:30": [9.0],
        "2024-05-02": [8.0],
    }


@pytest.mark.parametrize(
    ("group", "outcome", "message"),
    [
        ("variannt", "revenue", "no column 'variannt'; did you mean variant?"),
        ("variant", "reveneu", "no column 'reveneu'; did you mean revenue?"),
        ("variant", "variant", "group and outcome must be two columns, got 'variant' for both"),
        ("variant", "date", "line 2: date is '2024-05-01', not a finite number"),
        ("revenue", None, r"which column holds the outcomes\? It may be .*; give outcome='COLUMN'"),
        ("", "revenue", "group must be the name of a column, got ''"),
        (5, "revenue", "group must be the name of a column, got 5"),
        ("variant", 5, "outcome must be the name of a column, got 5"),
    ],
)
def test_groups_and_outcomes_are_columns_of_the_file(made, group, outcome, message):
    with pytest.raises(PrudentError, match=message):
        read_groups(made(LONG), group, outcome)


def test_groups_written_in_two_ways_and_numbers_that_may_be_two_are_refused(made):
    with pytest.raises(PrudentError, match="v holds 'B' and 'b'; write them in one way"):
        read_groups(made("v,x\nA,1\nB,2\nb,3\n"), "v")
    with pytest.raises(PrudentError, match="line 2: x is '1,234', which may mean two numbers; write 1,2340 or 1234"):
        read_groups(made("v;x\nA;1,234\nB;2,345\n"), "v", "x")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (LONG, "--group variant --outcome revenue"),
        ("my variant;sum\nA;1\nB;2\nA;5\n", "--group 'my variant' --outcome sum"),
        ("variant,revenue\n0,5\n1,6\n0,7\n1,6\n", "--group variant --outcome revenue"),
        ("v,x,age\nA,5,31\nB,6,40\nA,7,28\n", r"--group v --outcome COLUMN (COLUMN is one of x, age)"),
    ],
)
def test_a_row_for_each_outcome_without_a_group_is_answered_with_the_arguments_to_give(made, content, options):
    with pytest.raises(PrudentError, match=r"belongs, give group='.*', outcome='.*'.*; else take it out") as caught:
        read_columns(made(content), gaps=True, text=False)
    assert f"belongs, give {options}; else take it out of the file" in caught.value.message(in_options)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("date 2024-05-01 2024-05-01 2024-05-03", "dates or times"),
        ("when 31.12.2024 1.1.2025 2.1.2025", "dates or times"),
        ("when 2024-05-01T10:00:00Z 2024-05-01T10:00:00+02:00 2024-05-01", "dates or times"),
        ("when 10:00 11:30 11:30:59.5", "dates or times"),
        ("when 01-May-2024 02-Jun-2024 02-Jun-2024", "dates or times"),
        ("customer_id 17 17 4", "ids or dates"),
        ("userId 17 17 4", "ids or dates"),
        ("year 2023 2023 2024", "ids or dates"),
        ("row 3 2 1", "ids or dates"),
        ("user u17 u18 u4", "ids or notes"),
    ],
)
def test_dates_and_ids_are_no_outcomes_and_are_named(made, column, kind):
    name, *cells = column.split()
    said = []
    rows = [f"x,{name},y", *(f"{2 * i + 0.5},{cell},{i}" for i, cell in enumerate(cells))]
    found = read_columns(made("\n".join(rows)), gaps=True, text=False, remark=said.append)
    assert found == {"x": [0.5, 2.5, 4.5], "y": [0.0, 1.0, 2.0]}
    assert said == [f"{name} holds {kind} and was passed over"]


@pytest.mark.parametrize(
    "names", ["paid,valid", "day,night", "control,variant", "arm 1,arm 2", "treatment,placebo", "no,yes"]
)
def test_outcomes_are_no_dates_ids_or_groups_by_their_names_alone(made, names):
    assert len(read_columns(made(f"{names}\n1,0\n0,1\n1,1\n0,0\n"), gaps=True, text=False)) == 2


def test_what_is_missing_is_counted_and_a_shorter_column_lacks_nothing(made):
    for content in ("a,b\n1,2\nNA,\n5,4\n,7\n", "a;b\n1;2\nn/a;\n5;4\n;7\n"):
        said = []
        assert read_columns(made(content), gaps=True, remark=said.append) == {"a": [1.0, 5.0], "b": [2.0, 4.0, 7.0]}
        assert said == ["a: 1 of 3 missing", "b: 1 of 4 missing"]
    said = []
    rows = [f"{i / 7},{'' if i % 10 == 3 else i}" for i in range(100_000)]
    found = read_columns(made("\n".join(["a,b", *rows, ",1"])), gaps=True, remark=said.append)
    assert (len(found["a"]), len(found["b"]), said) == (100_000, 90_001, ["b: 10,000 of 100,001 missing"])
    with pytest.raises(PrudentError, match="line 3: a is '-', not a finite number"):
        read_columns(made("a,b\n1,2\n-,3\n"), gaps=True)


# Those who read


@pytest.mark.parametrize("content", [WAYS[way] for way in ("commas", "decimal commas", "a text that holds separators")])
def test_the_values_of_a_law_are_a_column_of_a_file(made, content):
    path = made(content)
    law = Empirical.from_csv(path, "b")
    assert law == Empirical([-1.0, 0.1])
    assert arms.arms.parse(f"empirical('{path}', 'b')") == law
    with pytest.raises(PrudentError, match="no column 'gain'"):
        Empirical.from_csv(path, "gain")


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("v;u\nA;44,52 €\nA;1.234,56 €\nA;n/a\n", [44.52, 1234.56]),
        ('v,u\nA,$44.52\nA,"$1,234.56"\n', [44.52, 1234.56]),
        ("v;u\nA;44,52\nA;-1.234.567,5\n", [44.52, -1234567.5]),
    ],
)
def test_exports_of_amounts_are_read_where_they_can_be_read_in_one_way(made, text, amounts):
    assert read_groups(made(text), "v", "u") == {"A": amounts}


def test_two_currencies_are_refused_and_all_wrong_cells_are_named(made):
    wrong = r"line 2: u is '\$4', not a finite number; .*; so is line 3 \('€12'\), line 5 \('x'\)$"
    with pytest.raises(PrudentError, match=wrong):
        read_groups(made("v,u\nA,$4\nB,€12\nA,7\nA,x\n"), "v", "u")


def test_an_option_with_too_few_outcomes_is_set_aside_with_a_word(made):
    said = []
    found = pilot(
        made("v,u\n" + "A,1\nA,2\nA,4\nB,2\nB,3\nB,9\nD,1\nD,5\n"), group="v", outcome="u", remark=said.append
    )
    assert [option.name for option in found] == ["A", "B"]
    assert "v 'D' was set aside, because 2 outcomes are too few; to have it as an option, guess it with" in said[0]


def test_the_options_of_a_pilot_are_the_columns_of_a_file(made):
    path = made("old;new\n0,1;1\n0,2;0\n0,4;1\n;1\n")
    assert {option.name: option.outcomes for option in pilot(path)} == {"old": (0.1, 0.2, 0.4), "new": (1, 0, 1, 1)}
    for content, message in (
        ("a,b\n1,yes\n5,no\n2,no\n", "column 'b' holds no outcomes but yes, no. if .* give group='b', outcome='a'"),
        ("a\n2\n2\n2\n", "column 'a' must hold outcomes that are not all the same; all are 2"),
        ("a,b\n1,\n5,1\n2,4\n", "column 'b' must hold at least 3 outcomes"),
    ):
        with pytest.raises(PrudentError, match=message):
            pilot(made(content), remark=lambda text: None)
    with pytest.warns(UserWarning, match="b: 1 of 4 missing") as warned:
        pilot(made("a,b\n1,5\n5,\n2,4\n7,8\n"))
    assert warned[0].filename == __file__


def test_a_pilot_may_be_all_successes_or_all_failures_but_not_all_the_same_otherwise(made):
    same = {option.name: set(option.outcomes) for option in pilot(made("none,all,more\n0,1,1\n0,1,2\n0,1,1\n"))}
    assert same == {"none": {0.0}, "all": {1.0}, "more": {1.0, 2.0}}
    with pytest.raises(PrudentError, match="column 'b' must hold outcomes that are not all the same; all are 2"):
        pilot(made("a,b\n0,2\n1,2\n0,2\n"))


@pytest.mark.parametrize(
    ("numbers", "counts"),
    [
        ([0, 1, 2], True), ([1, 2, 3], True), ([2, 3, 4], False), ([0, 2, 4], False), ([1, 0, 1], False),
        ([0, 1], False), ([0.5, 1.5, 2.5], False), ([1800, 1801, 1850], True), ([1799, 1800, 1801], False),
        ([2024, 2022, 2021], True), ([2024, 2022, 2023], False), ([2022, 2022, 2023], False),
        ([2024, 2022, 2022], False),
        ([20240131, 20240201, 20240301], True), ([1, 2000, 2001], False), ([3000, 2000, 5], False),
    ],
)  # fmt: skip
def test_what_looks_like_dates_or_row_numbers(numbers, counts):
    """Row numbers rise by 1 from 0 or 1; dates rise, or fall, and none is before 1800."""
    assert counts_rows([float(number) for number in numbers]) is counts
