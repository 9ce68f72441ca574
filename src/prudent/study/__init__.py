"""Studies: grids of simulations as data, in a folder that survives crashes, on threads, processes or a cluster.

Examples
--------
>>> from prudent.study import Study
>>> study = Study({"easy": ["gaussian(1, 0.05)", "gaussian(0.5, 0.25)"]}, ["mv-lcb"], ["variance"], [1_000], runs=50)
>>> len(study.cells)
1
"""

from prudent.study.cells import Cell, Labelled, Mistake, StudyError
from prudent.study.running import run
from prudent.study.spec import Study
from prudent.study.store import Store
from prudent.study.timing import Forecast, forecast
from prudent.study.toml import load

__all__ = ["Cell", "Forecast", "Labelled", "Mistake", "Store", "Study", "StudyError", "forecast", "load", "run"]
