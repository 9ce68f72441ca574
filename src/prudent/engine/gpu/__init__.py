"""The stepping engine on a GPU: the policies' own source, compiled by numba-cuda (docs: gpu).

coins.py       the Bayes recursion of two coins
device.py      what Numba must be taught to compile this package's functions for a GPU
generator.py   philox4x32-10 [Salmon11] under the names of a NumPy Generator's methods
kernels.py     the kernels of a GPU: a thread for each run, or a lane for each arm of a run, and the twins of all runs
loops.py       the loop of one run, and the twins of a run, for a thread of a GPU; plain Python
playing.py     runs on a GPU: which policies and laws it takes, which kernel, and how runs are cut
"""
