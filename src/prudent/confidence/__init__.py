"""How sure: bounds that miss with probability at most `failure`, once or at all times.

`fixed_n` bounds at a number of rewards fixed in advance, and runs inside kernels. `anytime` bounds at every number of
rewards at once, so that one may look after each of them. `betting` does so too and is sharper, but must see the rewards
one by one. Their functions have the same names. `divergence` says how soon a law can be told from better ones.

Examples
--------
>>> from prudent.confidence import anytime
>>> low, high = anytime.mean_bounds(pulls=100, mean=0.3, variance=0.21, failure=0.05, low=0, high=1)
>>> round(float(low), 2), round(float(high), 2)
(0.11, 0.49)

anytime.py             confidence sequences: intervals that hold at all times at once
betting.py             confidence sequences of mean, variance and σ² − ρ μ of bounded rewards
divergence.py          how far is a law from looking as good as the best one?
finite_divergence.py   how far is a law on known values from looking as good as the best one?
fixed_n.py             bounds at a fixed number of independent rewards in [low, high]
tails.py               confidence sequences of the CVaR of bounded rewards
"""
