"""The ledger of the paper's claims; importing it files all of them, in the order of the paper.

conclusions.py   claims of sections 6 and 7: the discussion of risk within and across runs, and the conclusions
definitions.py   claims of section 2 and appendix A: definitions, identities and what they imply
exp_exp.py       claims of section 4 and appendix C: ExpExp, the length of its exploration, and Theorem 2
experiments.py   claims that the paper reads off its simulations: section 5 and appendix D
ledger.py        what a claim, its evidence and its verdict are
mv_lcb.py        claims of section 3 and appendix B: MV-LCB, Theorem 1, and the remarks on them
printed.py       the paper's formulas as they are printed, for the checks
remarks.py       what is not a claim of the paper and yet worth checking
"""

from importlib import import_module

from prudent.paper.claims.ledger import CLAIMS as CLAIMS
from prudent.paper.claims.ledger import REMARKS as REMARKS

PARTS = ("definitions", "mv_lcb", "exp_exp", "experiments", "conclusions", "remarks")
for _part in PARTS:
    import_module(f"prudent.paper.claims.{_part}")
