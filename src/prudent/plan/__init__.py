"""Plans: for someone with options, guesses and a budget, which policy to take and why."""

from prudent.plan.advise import Advice, advise, suitable
from prudent.plan.elicit import Guess, Option, Pilot, guesses, pilot, tolerance
from prudent.plan.page import write_report

__all__ = ["Advice", "Guess", "Option", "Pilot", "advise", "guesses", "pilot", "suitable", "tolerance", "write_report"]
