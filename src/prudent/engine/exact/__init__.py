"""Exact distributions, by recursion over counts instead of simulation, for arms with few values.

simulation.py     what `simulate(…, engine="exact")` checks and returns
forward.py        one pass from the first round to the last, for all laws of the arms at once
lattice.py        which counts of rewards there may be, and how a round leads from some to others
pair.py           the pass of a policy that scores arms, for two arms of two values each
choices.py        with which probabilities a policy that scores arms pulls each of them
draws.py          the same for scores of numbers drawn at random
chances.py        the same for a policy that tells these probabilities itself
phases.py         the pass of a policy that plays in phases
results.py        distributions of pulls, rewards and regret
surface.py        the expected regret on every pair of coins
distribution.py   the distribution of one number

Examples
--------
>>> from prudent import exact
>>> exact.Distribution.of([0, 1], [0.25, 0.75]).mean()
0.75
"""

from prudent.engine.exact.distribution import Distribution as Distribution
from prudent.engine.exact.results import ExactResults as ExactResults
from prudent.engine.exact.surface import RiskSurface as RiskSurface
