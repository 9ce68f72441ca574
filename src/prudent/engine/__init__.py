"""Engines: they run policies on bandits.

compiled.py           compiled simulations: which loop plays a question, and the streams of its runs
floors.py             floors of scores that compare an arm with the best one: with them few scores are computed
forgetting_rounds.py  every round of a policy that forgets, one after the other
jobs.py               the scaffold under `simulate`, `identify` and `simulate_portfolio`: checks, chunks, streams
late.py               rewards that a policy sees late, at the end of each batch of rounds
own_errors.py         errors in a user's own class, said by the line that they come from
phase_rounds.py       the phases of a policy that decides by phases: round by round, or a block for each arm
question.py           what `simulate` is asked, checked once: everything that decides the numbers of a simulation
record.py             what a kernel records about each run: the statistics of every arm
recorded_rewards.py   rewards on a tape: what stands for the laws of a bandit where every round of a run is to be kept
resumed.py            runs that go on from given statistics, each on laws of its own
score_rounds.py       every round of a policy that scores arms, one after the other
search.py             identify(): many searches for the best arm of a bandit
search_rounds.py      the compiled search: a strategy says what to pull, until it has seen enough
simulate.py           simulate() as users call it: it finds the road for what is given
streams.py            random streams that depend only on what is simulated
threads.py            chunks of runs on threads; kernels release the lock, so that threads are enough
exact/                exact distributions, by recursion over counts instead of simulation, for arms with few values
gpu/                  the stepping engine on a GPU: the policies' own source, compiled by numba-cuda (docs: gpu)
leap/                 leaping: many rounds of one arm at once, with the same law as round by round
python/               simulations of environments and learners that are plain Python, interpreted
"""
