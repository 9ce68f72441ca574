"""Write docs/paper/claims.md, the ledger of the paper's claims: `python docs/claims.py`."""

import re
import tempfile
from pathlib import Path

import polars as pl

from prudent.paper.claims import CLAIMS, REMARKS
from prudent.paper.claims.ledger import REMARKS_TITLE, VERDICTS, Ledger, check_ledger, count_verdicts
from prudent.paper.making import Settings

PAGE = Path(__file__).parent / "paper/claims.md"
RUNS = 100
HEAD = f"""# The claims of the paper

Which statements of *Risk-Aversion in Multi-armed Bandits* (Sani, Lazaric and Munos, 2012)
are true? Every statement that can be checked is here, with a verdict, the numbers behind it
and, in brackets, what is required of them, as `prudent paper claims --runs {RUNS}` prints them. The report of
`prudent paper` also says how each was checked, and takes 500 runs. A verdict follows from what is computed. A test runs
the ledger on wrong policies, definitions and constants, and every claim falls on some of them. `python docs/claims.py`
writes this page.

"""


def page(ledger: Ledger) -> str:
    """The whole page."""
    meanings = "".join(f"- **{verdict}**: {meant.meaning}.\n" for verdict, meant in VERDICTS.items())
    counted = f"\nOf {count_verdicts(ledger.claims).replace(':', ' claims')}.\n\n"
    remarks = "Sentences that the paper's source keeps as comments, and steps that it leaves to the reader.\n\n"
    parts = ["## Claims\n\n", table(ledger.claims), f"\n## {REMARKS_TITLE}\n\n", remarks, table(ledger.remarks)]
    return HEAD + meanings + counted + "".join(parts)


def table(rows: pl.DataFrame) -> str:
    """Place, claim, verdict and evidence."""
    shown = rows.drop("how it was checked")
    lines = [shown.columns, ["---"] * shown.width, *shown.rows()]
    return "".join(f"| {' | '.join(typeset(cell) for cell in line)} |\n" for line in lines)


def typeset(cell: str) -> str:
    """Powers set high and indices set low, for Markdown."""
    high = re.sub(r"\^(?:\(([^()]*)\)|([−-]?\w+(?:\.\d+)?))", lambda m: f"<sup>{m[1] or m[2]}</sup>", cell)
    return re.sub(r"_(ij|[ijn])(?![A-Za-z0-9_])", r"<sub>\1</sub>", high).replace("|", r"\|")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = check_ledger(Settings(Path(folder), runs=RUNS), CLAIMS, REMARKS)
    PAGE.write_text(page(found), encoding="utf-8")
