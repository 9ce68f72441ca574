"""Evaluation: what a policy would have received, from a log of what another one did, with intervals that hold.

bands.py        bands: between which two laws the law of what a policy receives lies, at all rewards at once
betting.py      limits for what a policy receives, by betting on the weighted rewards of a log
estimates.py    estimates of the law of what a policy receives: weights of the logged rewards
evaluating.py   evaluate(): what another policy would have received, from a log
limits.py       where the mean, a cost, a quantile and the whole law of what a policy receives lie, from samples of it
log.py          a log: in each round an arm, its outcome, and the probability with which the arm was taken
notes.py        what to be careful about: decisions that are left out, arms without a chance
replay.py       replay: a policy that learns, run on the rounds of a log [Li11]
result.py       what an evaluation leaves: estimates with intervals, as a table, a picture and in words
streaming.py    logs that are read in parts, because they are too large to be held: files of Parquet
sums.py         bets on a log of any length in constant memory: what they won is a sum over rounds
target.py       the policy that is to be evaluated: an arm, probabilities of arms, or one that learns
"""

from prudent.evaluation.evaluating import evaluate
from prudent.evaluation.log import Log, read_log
from prudent.evaluation.result import Evaluation

__all__ = ["Evaluation", "Log", "evaluate", "read_log"]
