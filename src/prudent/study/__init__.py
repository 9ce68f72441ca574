"""Studies: grids of simulations as data, in a folder that survives crashes, on threads, processes or a cluster."""

from prudent.study.cells import Cell, Labelled, Mistake, StudyError
from prudent.study.running import run
from prudent.study.spec import Study
from prudent.study.store import Store
from prudent.study.timing import Forecast, forecast
from prudent.study.toml import load

__all__ = ["Cell", "Forecast", "Labelled", "Mistake", "Store", "Study", "StudyError", "forecast", "load", "run"]
