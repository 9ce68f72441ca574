"""Studies: grids of simulations as data, in a folder that survives crashes, on threads, processes or a cluster.

Examples
--------
>>> from prudent.study import Study
>>> study = Study({"easy": ["gaussian(1, 0.05)", "gaussian(0.5, 0.25)"]}, ["mv-lcb"], ["variance"], [1_000], runs=50)
>>> len(study.cells)
1

backends.py   where tasks are simulated: threads, processes, or a Dask cluster
cells.py      cells: what is simulated, under which key, and what can be wrong before
compare.py    two policies on the same cells
expand.py     from what a study asks for to its cells, with every mistake on the way
play.py       one task: some cells simulated one after another, their results as the bytes of a Parquet file
plots.py      pictures of a study
ranges.py     ranges of numbers, and the specs they are filled into: `gaussian({mu2}, 0.25)`
running.py    run(): simulate what a folder does not hold yet
schema.py     the columns of a study's results: what identifies a cell, what is measured of it, what its runs leave
select.py     choosing cells from a study's table
spec.py       a study is data: bandits × risks × policies × horizons, each cell simulated `runs` times
store.py      where a study is kept: a folder that can be killed, copied
timing.py     how long simulations take: learnt from finished cells
toml.py       studies as TOML files, read with errors that name the line
"""

from prudent.study.cells import Cell, Labelled, Mistake, StudyError
from prudent.study.running import run
from prudent.study.spec import Study
from prudent.study.store import Store
from prudent.study.timing import TimeEstimate, estimate_time
from prudent.study.toml import load

__all__ = [
    "Cell",
    "Labelled",
    "Mistake",
    "Store",
    "Study",
    "StudyError",
    "TimeEstimate",
    "estimate_time",
    "load",
    "run",
]
