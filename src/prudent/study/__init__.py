"""Studies: grids of simulations as data, in a folder that survives crashes, on threads, processes or a cluster."""

from prudent.study.cells import Cell, Entry, Problem, StudyError
from prudent.study.costs import Estimate, estimate
from prudent.study.running import run
from prudent.study.spec import Study
from prudent.study.store import Store
from prudent.study.toml import load

__all__ = ["Cell", "Entry", "Estimate", "Problem", "Store", "Study", "StudyError", "estimate", "load", "run"]
