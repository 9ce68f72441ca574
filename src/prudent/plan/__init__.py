"""Plans: for someone with options, guesses and a budget, which policy to take and why.

Examples
--------
>>> from prudent import plan
>>> plan.tolerance(5, deviation=25, instead_of=30)  # ρ
55.0
"""

from prudent.plan.advise import Advice, advise, suitable
from prudent.plan.elicit import Guess, Option, Pilot, guesses, pilot
from prudent.plan.experiment import experiment_of, lines_to_serve
from prudent.plan.lengths import in_words as lengths_in_words
from prudent.plan.page import write_report
from prudent.plan.snippet import lines_to_run
from prudent.plan.tradeoff import Stretch, accepted, tolerance, winners

__all__ = [
    "Advice", "Guess", "Option", "Pilot", "Stretch", "accepted", "advise", "experiment_of", "guesses",
    "lengths_in_words", "lines_to_run", "lines_to_serve", "pilot", "suitable", "tolerance", "winners", "write_report",
]  # fmt: skip
