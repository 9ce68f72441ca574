"""Evaluation: what a policy would have received, from a log of what another one did, with intervals that hold."""

from prudent.evaluation.evaluating import evaluate
from prudent.evaluation.log import Log, read_log
from prudent.evaluation.result import Evaluation

__all__ = ["Evaluation", "Log", "evaluate", "read_log"]
