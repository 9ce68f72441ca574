"""The claims ledger of the paper; importing it files every claim."""

from prudent.paper.claims import definitions, experiments, theorems
from prudent.paper.claims.ledger import CLAIMS, MARKS, VERDICTS, check_claims, count_cells, count_verdicts, ledger

__all__ = [
    "CLAIMS",
    "MARKS",
    "VERDICTS",
    "check_claims",
    "count_cells",
    "count_verdicts",
    "definitions",
    "experiments",
    "ledger",
    "theorems",
]
