"""The claims ledger of the paper; importing it files every claim."""

from prudent.paper.claims import definitions, experiments, theorems
from prudent.paper.claims.ledger import CLAIMS, VERDICTS, Claim, Evidence

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Evidence", "definitions", "experiments", "theorems"]
