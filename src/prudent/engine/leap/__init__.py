"""Leaping: many rounds of one arm at once, with the same law as round by round.

blocks.py           blocks of samples, drawn as a whole and split only when a decision needs it
boxes.py            where a leader may move while all rates hold, for scores with draws (prudent.engine.leap.drawn)
clocked.py          leaping behind a leader for scores that fall with the clock, or with the cost of the best arm
drawn.py            leaping behind a leader for scores with draws, by thinning
drawn_scores.py     scores as functions of the numbers drawn: which numbers take a rival below a leader
first_passage.py    one arm's first passage above a level, by blocks
hypergeometric.py   hypergeometric draws inside kernels, exact for populations up to 2⁵³ (Numba offers none)
leader.py           leaping behind a leader: exact runs of policies whose scores change with the round, or by chance
level_search.py     the search for the level at which all arms together have made as many pulls as there are rounds
scores.py           the leaping engine: exact runs whose cost hardly grows with the horizon (docs: leaping)
"""
