"""The claims ledger of the paper; importing it files every claim."""

from prudent.paper.claims import definitions as definitions
from prudent.paper.claims import experiments as experiments
from prudent.paper.claims import theorems as theorems
from prudent.paper.claims.ledger import CLAIMS as CLAIMS
