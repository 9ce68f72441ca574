"""How sure: bounds that miss with probability at most `failure`, once or at all times.

`once` bounds at a number of rewards fixed in advance, and runs inside kernels. `always` bounds at every number of
rewards at once, so that one may look after each of them. `betting` does so too and is sharper, but must see the rewards
one by one. Their functions have the same names. `divergence` says how soon a law can be told from better ones.
"""
