"""Best-arm identification: which arm has the smallest cost, with a budget of pulls or with a confidence."""

from prudent.identification.base import BUDGET, DELTA, Evidence, Problem, Strategy, registry, strategy
from prudent.identification.fixed_budget import UCBE, SequentialHalving, SuccessiveRejects, UniformAllocation
from prudent.identification.fixed_confidence import LUCB, VALUCB
from prudent.identification.identifications import Identifications
from prudent.identification.search import identify

__all__ = [
    "BUDGET",
    "DELTA",
    "LUCB",
    "UCBE",
    "VALUCB",
    "Evidence",
    "Identifications",
    "Problem",
    "SequentialHalving",
    "Strategy",
    "SuccessiveRejects",
    "UniformAllocation",
    "identify",
    "registry",
    "strategy",
]
