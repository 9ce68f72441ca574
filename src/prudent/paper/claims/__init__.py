"""The ledger of the paper's claims; importing it files all of them, in the order of the paper."""

from importlib import import_module

from prudent.paper.claims.ledger import CLAIMS as CLAIMS
from prudent.paper.claims.ledger import REMARKS as REMARKS

PARTS = ("definitions", "mv_lcb", "exp_exp", "experiments", "conclusions", "remarks")
for _part in PARTS:
    import_module(f"prudent.paper.claims.{_part}")
