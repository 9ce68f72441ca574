"""The report: self-contained, whole at any time, and what it says."""

import re
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from helpers.browser import CHROMIUM, Browser
from prudent.paper import EXTRAS, FIGURES, figure, write_report
from prudent.paper.claims.ledger import SCHEMA, VERDICTS, Ledger
from prudent.paper.making import Settings, as_markdown, picture_titles
from prudent.results.figures import save
from prudent.results.page import Finding, Section, render, typeset

MEASURED = pl.DataFrame({"n": [50], "regret": [0.5], "regret_se": [0.01]})


@pytest.fixture
def report(tmp_path) -> Path:
    drawing = Figure(figsize=(3, 2))
    drawing.subplots().plot([1, 2], [3, 4])
    section = Section(
        name="a-figure",
        title="A <figure>",
        notes={
            "Settings": "Some.",
            "The paper says": "It says.",
            "Measured": Finding(
                "It falls as n^(-1/3).", pl.DataFrame({"n": [50], "regret": [0.5], "regret_se": [0.01]})
            ),
        },
        figures=save(drawing, tmp_path / "a-figure", title="A <figure>: two points"),
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
    assert '<th scope="col">regret</th><th scope="col">policy</th>' in page
    assert '<td data-label="regret">' in page, "a narrow screen shows a row as a list with these names"
    assert "as n<sup>−0.33</sup>, by −0.5 &amp; more." in page


def test_notes_and_verdicts_are_shown(report):
    page = report.read_text()
    assert "<h3>The paper says</h3><p>It says.</p>" in page
    assert 'class="bad">does not hold</td>' in page
    assert "5: 1 holds, 1 holds for larger n" in page
    assert "<h3>The verdicts</h3><p>“Holds”: it is true" in page
    assert page.index("5 claims of the paper") < page.index("Remarks: what is not a claim of the paper")


def test_measurements_are_a_verdict_and_a_small_table(report):
    page = report.read_text()
    _, found, rest = page.partition('<div class="wide"><h3>Measured</h3><p>It falls as n<sup>−1/3</sup>.</p>')
    assert found
    box = rest.partition("</table>")[0]
    assert '<th scope="col">n</th><th scope="col">regret</th>' in box
    assert re.findall(r"<td [^>]*>(.*?)</td>", box) == ["50", "0.500 ± 0.010".replace(" ", "\N{NO-BREAK SPACE}")]


@pytest.mark.parametrize("name", [*FIGURES, *EXTRAS])
def test_every_figure_of_the_paper_says_what_was_measured(name):
    assert figure(name).finding is not None


def test_the_pictures_of_one_figure_have_titles_of_their_own():
    heatmaps, discussion = figure("heatmaps"), figure("discussion")
    assert picture_titles(discussion, ["discussion"]) == {"discussion": discussion.title}
    found = picture_titles(heatmaps, ["heatmaps-mv-lcb", "heatmaps-exp-exp"])
    assert found["heatmaps-exp-exp"] == f"{heatmaps.title} (exp-exp)"


def test_a_file_of_a_picture_has_its_title(report):
    assert "<title>A &lt;figure&gt;: two points</title>" in (report.parent / "a-figure.svg").read_text()


def test_a_picture_opens_large_and_closes_again_without_a_script(report):
    page = report.read_text()
    assert '<figure id="a-figure-1"><a class="sheet" href="#a-figure-1">' in page
    assert '<a class="close" href="#a-figure">Close</a>' in page
    assert 'section id="a-figure"' in page


def test_pictures_have_a_role_a_title_and_a_link_to_their_files(report):
    page = report.read_text()
    for tag in re.findall(r"<svg[^>]*>\s*<title[^>]*>[^<]*</title>", page):
        name = re.search(r'aria-labelledby="([^"]+)"', tag)[1]
        assert 'role="img"' in tag
        assert f'<title id="{name}">A &lt;figure&gt;: two points</title>' in tag
    assert len(re.findall(r'<svg role="img"', page)) == page.count("<svg") == 2
    assert page.count("<title") == 3, "the page and two pictures"
    assert '<a href="a-figure.svg">as a file</a>' in page
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
    assert 'nav::before { content: "Contents"' in style
    assert "nav { display: none" not in style


def test_a_report_without_anything_special_says_nothing_of_the_paper(tmp_path):
    page = render("Title", {"fact": "1"}, [Section("a", "A")], tmp_path)
    assert "paper" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_ids_of_two_pictures_do_not_clash(report):
    ids = re.findall(r'\sid="([^"]+)"', report.read_text())
    inside = [name for name in ids if name.startswith("a-figure-")]
    assert inside


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_it_wide_and_narrow_and_a_phone_opens_pictures_large(report):
    browser = Browser()
    try:
        for width in (1_000, 360):
            browser.size(width, 800)
            browser.go(report.as_uri())
            assert browser.too_wide() == []
        across = "document.querySelector('figure svg').getBoundingClientRect().width"
        assert browser.run(across) < 360
        browser.run("document.querySelector('.sheet').click()")
        assert browser.run(across) > 900
        browser.run("document.querySelector('.close').click()")
        assert browser.run(across) < 360
        assert browser.errors == []
        assert {address.partition(":")[0] for address in browser.requests} == {"file"}
    finally:
        browser.close()


def test_every_figure_has_its_module():
    assert all(figure(name).name == name for name in (*FIGURES, *EXTRAS))


def test_a_table_keeps_all_its_rows_and_columns_in_text():
    table = pl.DataFrame({f"column {i}": [f"{i}-{row}" for row in range(60)] for i in range(30)})
    text = as_markdown(Section("a", "Title", tables={"Table": table}), "After this page you know it.")
    assert text.startswith("# Title\n\nAfter this page you know it.\n\n")
    assert all(cell in text for cell in ("column 29", "0-0", "29-0", "0-59", "15-30", "29-59"))
    assert "…" not in text


def test_a_finding_is_a_sentence_and_a_table_in_text_too():
    finding = Finding("It falls.", pl.DataFrame({"n": ["50"], "regret": ["0.5"]}))
    text = as_markdown(Section("a", "Title", notes={"Measured": finding}), "")
    assert "**Measured.** It falls.\n\n| n  | regret |\n" in text
