"""The report: self-contained, whole at any time, and what it says."""

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from prudent.figures import save
from prudent.paper import EXTRAS, FIGURES, figure, write_report
from prudent.paper.claims.ledger import SCHEMA, VERDICTS, Ledger
from prudent.paper.making import Settings, as_markdown
from prudent.report import Section, render
from prudent.report.page import typeset

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def report(tmp_path) -> Path:
    drawing = Figure(figsize=(3, 2))
    drawing.subplots().plot([1, 2], [3, 4])
    section = Section(
        name="a-figure",
        title="A <figure>",
        notes={"Settings": "Some.", "The paper says": "It says.", "Measured": ["In short.", "One.", "Two, n^(-1/3)."]},
        figures=save(drawing, tmp_path / "a-figure"),
        tables={"Numbers": pl.DataFrame({"x": [1.23456, None], "name": ["a & b", "c"]})},
        again="make it again",
    )
    rows = [("here", "a claim", "a check", verdict, "evidence") for verdict in VERDICTS]
    ledger = Ledger(*[pl.DataFrame(some, SCHEMA, orient="row") for some in (rows, rows[:1])])
    return write_report(Settings(tmp_path, runs=7), [section, section], ledger, 1.0)


def test_the_report_needs_nothing_else(report):
    page = report.read_text()
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert "<script" not in page
    assert page.count("<svg") == 2


def test_text_is_escaped_and_numbers_are_short(report):
    page = report.read_text()
    assert "A &lt;figure&gt;" in page
    assert "a &amp; b" in page
    assert "1.235" in page
    assert "None" not in page


def test_tables_have_numbers_as_people_read_them(tmp_path):
    """A mean with its error in one column, real minus signs, no e-notation, powers set high; specs as typed."""
    table = pl.DataFrame(
        {
            "n": [1_000_000],
            "regret": [-0.0135363],
            "regret_se": [0.0000012],
            "policy": ["mv-lcb(rho=-1)"],
            "bound": ["2K/n^(1/3) < 3"],
            "share": [2.5e-9],
            "good": [True],
        }
    )
    section = Section("a", "A", tables={"Numbers": table}, notes={"Rate": "It falls as n^−0.33, by -0.5 & more."})
    page = render("Title", {}, [section], tmp_path)
    cells = re.findall(r"<td data-label=[^>]*?( class=.whole.)?>(.*?)</td>", page)
    assert [cell.replace("\N{NO-BREAK SPACE}", "_") for _, cell in cells] == [
        "1,000,000", "−0.0135363_±_0.0000012", "mv-lcb(rho=-1)", "2K/n<sup>1/3</sup> &lt; 3", "2.5_×_10⁻⁹", "True",
    ]  # fmt: skip
    assert [bool(whole) for whole, _ in cells] == [True, False, True, False, False, True], (
        "a hyphen is no place to break"
    )
    assert "<th>regret</th><th>policy</th>" in page
    assert '<td data-label="regret">' in page, "a narrow screen shows a row as a list with these names"
    assert "as n<sup>−0.33</sup>, by −0.5 &amp; more." in page


def test_notes_and_verdicts_are_shown(report):
    page = report.read_text()
    assert "<h3>The paper says</h3><p>It says.</p>" in page
    assert 'class="bad">does not hold</td>' in page
    assert "5: 1 holds, 1 holds for larger n" in page
    assert "<h3>The verdicts</h3><p>“Holds”: it is true" in page
    assert page.index("5 claims of the paper") < page.index("Remarks: what is not a claim of the paper")


def test_measurements_are_a_sentence_and_a_list(report):
    page = report.read_text()
    listed = "<ul><li>One.</li><li>Two, n<sup>−1/3</sup>.</li></ul>"
    assert f'<div class="wide"><h3>Measured</h3><p>In short.</p>{listed}</div>' in page


def test_pictures_have_a_role_a_title_and_a_link_to_themselves(report):
    page = report.read_text()
    for tag in re.findall(r"<svg[^>]*>\s*<title[^>]*>[^<]*</title>", page):
        name = re.search(r'aria-labelledby="([^"]+)"', tag)[1]
        assert 'role="img"' in tag
        assert f'<title id="{name}">A &lt;figure&gt;: a-figure</title>' in tag
    assert len(re.findall(r'<svg role="img"', page)) == page.count("<svg") == 2
    assert '<a href="a-figure.svg">Open this picture alone</a>' in page
    assert "<!--" not in page.partition("<svg")[2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2K/n^{1/3} and n^(-1/3)", "2K/n<sup>1/3</sup> and n<sup>−1/3</sup>"),
        ("n^−0.93, τ^1.00 and 2^63", "n<sup>−0.93</sup>, τ<sup>1.00</sup> and 2<sup>63</sup>"),
        ("-0.3326 ± 0.0011, 2.5 × 10^(-7)", "−0.3326_±_0.0011, 2.5_×_10<sup>−7</sup>"),
        ("[-0.5, -∞] and 5 %", "[−0.5, −∞] and 5_%"),
        ("mv-lcb(c=1), n - 1, 2024-05-01, e-2", "mv-lcb(c=1), n - 1, 2024-05-01, e-2"),
        ("a < b & c", "a &lt; b &amp; c"),
        ("mv-lcb(delta=1e-05)", "mv-lcb(delta=1e-05)"),
    ],
)
def test_powers_and_minus_signs_are_typeset(text, shown):
    assert typeset(text) == shown.replace("_", "\N{NO-BREAK SPACE}")


def test_in_print_headings_stay_with_their_figures_and_the_contents_are_there(report):
    style = report.read_text().partition("@media print {")[2].partition("</style>")[0]
    assert "h2, h3, summary { break-after: avoid; }" in style
    assert "nav { display: none" not in style


def test_a_report_without_anything_special_says_nothing_of_the_paper(tmp_path):
    page = render("Title", {"fact": "1"}, [Section("a", "A")], tmp_path)
    assert "paper" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_ids_of_two_pictures_do_not_clash(report):
    ids = re.findall(r'\sid="([^"]+)"', report.read_text())
    inside = [name for name in ids if name.startswith("a-figure-")]
    assert inside


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_opens_it_without_a_complaint(report, tmp_path):
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
        "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={tmp_path / 'page.png'}",
        "--window-size=900,1200", report.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_every_figure_has_its_module():
    assert all(figure(name).name == name for name in (*FIGURES, *EXTRAS))


def test_a_table_keeps_all_its_rows_and_columns_in_text():
    table = pl.DataFrame({f"column {i}": [f"{i}-{row}" for row in range(60)] for i in range(30)})
    text = as_markdown(Section("a", "Title", tables={"Table": table}))
    assert all(cell in text for cell in ("column 29", "0-0", "29-0", "0-59", "15-30", "29-59"))
    assert "…" not in text
