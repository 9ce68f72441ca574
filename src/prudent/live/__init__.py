"""Agents: policies that run live experiments, and what can be said of them at any time.

agent.py          the agent: ask for an arm, tell its reward
answer_rates.py   whether answers get lost more often for one arm than for another
batches.py        how a batch of rounds is divided over the arms, and rewards that come back merged
beliefs.py        distributions of an arm's rewards that are probable given those seen
differences.py    by how much two arms differ: limits of a difference that hold at all times
drift.py          whether the rewards of an arm have changed
evidence.py       what an agent has seen, and estimates from it
forecast.py       how the experiment may end
guardrails.py     limits at which an experiment acts by itself
intervals.py      where mean, variance, cost and a quantile of each arm lie
labels.py         what users call the arms
state.py          what an agent keeps, as JSON
stopping.py       which arm is ahead, and whether to stop
summary.py        what the whole experiment has given so far
values.py         which rewards are taken: those of an interval, or two values
"""
