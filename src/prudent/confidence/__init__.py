"""How sure: bounds that miss with probability at most `failure`, once or at all times.

`once` bounds at a number of rewards fixed in advance, and runs inside kernels. `always` bounds at every number of
rewards at once, so that one may look after each of them. `betting` does so too and is sharper, but must see the rewards
one by one. Their functions have the same names. `divergence` says how soon a law can be told from better ones.

Examples
--------
>>> from prudent.confidence import always
>>> low, high = always.mean_bounds(pulls=100, mean=0.3, variance=0.21, failure=0.05, low=0, high=1)
>>> round(float(low), 2), round(float(high), 2)
(0.11, 0.49)
"""
