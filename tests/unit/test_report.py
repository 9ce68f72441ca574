"""The report: self-contained, whole at any time, and what it says."""

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure
from prudent.paper.measure import Desk

from prudent.figures import save
from prudent.paper import FIGURES, check_claims, count_claims, write_report
from prudent.paper.claims import CLAIMS, VERDICTS
from prudent.report import LedgerRow, Section

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def report(tmp_path) -> Path:
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2], [3, 4])
    section = Section(
        name="a-figure",
        title="A <figure>",
        caption="Caption.",
        settings="Settings.",
        paper_says="It says.",
        measured="Measured.",
        figures=save(figure, tmp_path / "a-figure"),
        tables={"Numbers": pl.DataFrame({"x": [1.23456], "name": ["a & b"]})},
    )
    ledger = [LedgerRow("here", "a claim", "a check", verdict, "evidence") for verdict in VERDICTS]
    return write_report(Desk(tmp_path, runs=7), [section, section], ledger, 1.0)


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


def test_the_ledger_is_long_and_every_verdict_comes_from_its_check(tmp_path):
    assert count_claims() >= 35
    assert len({claim.statement for claim in CLAIMS}) >= 35
    rows = check_claims(Desk(tmp_path, runs=100))
    assert all(row.verdict in VERDICTS and row.evidence and row.method for row in rows)
    assert {row.verdict for row in rows} == set(VERDICTS)
    fails = {row.place for row in rows if row.verdict == "does not hold"}
    assert {"section 6", "appendix D.2", "section 4, Remark 1"} <= fails


def test_every_figure_has_its_module():
    from prudent.paper import count_cells

    assert all(count_cells(name) >= 0 for name in FIGURES)
