"""Plans: for someone with options, guesses or a pilot, whether a trial is needed, and which policy to run for how long.

advise.py      the plan: a race of policies in many worlds, a verdict, and a check
cautions.py    what must be said first: odd outcomes, changes within the file, a ρ that prefers less
cells.py       a distribution that is uniform on each of several cells
check.py       the agent that is handed over, run on outcomes resampled from the file
elicit.py      what people know: guesses in plain ranges, and pilot data
exact.py       what a trial of 0/1 outcomes achieves with each policy: by recursion over counts (docs: exact)
experiment.py  the experiment that a plan recommends, as the service takes it
lengths.py     how long is enough
odd.py         outcomes that are far from all others
page.py        the page for the person who decides
pictures.py    its pictures
playing.py     trials of a policy in many worlds, which begin with the pilot
race.py        policies that fall behind leave, and the time goes to the others
ranking.py     what is measured of trials, and which policy is better
snippet.py     the lines that run the trial
sums.py        the risk of a sum of outcomes, as a mean-variance
tails.py       what becomes of the plan if the largest outcomes weigh twice, or not at all
tradeoff.py    how to choose ρ
trial.py       the trial that is planned, and the worlds it may be in
verdict.py     no trial needed, cannot tell, or run this
words.py       numbers and amounts as people read them
worlds.py      distributions that the pilot's own outcomes leave possible
yardsticks.py  ways that do not learn

Examples
--------
>>> from prudent import plan
>>> plan.tolerance(5, deviation=25, instead_of=30)  # ρ
55.0
"""

from prudent.plan.advise import Advice, advise, suitable
from prudent.plan.elicit import Guess, Option, Pilot, guesses, pilot
from prudent.plan.exact import Characteristics, characteristics
from prudent.plan.experiment import experiment_of, lines_to_serve
from prudent.plan.lengths import in_words as lengths_in_words
from prudent.plan.page import write_report
from prudent.plan.snippet import lines_to_run
from prudent.plan.tradeoff import Stretch, accepted, tolerance, winners

__all__ = [
    "Advice", "Characteristics", "Guess", "Option", "Pilot", "Stretch", "accepted", "advise", "characteristics",
    "experiment_of", "guesses", "lengths_in_words", "lines_to_run", "lines_to_serve", "pilot", "suitable", "tolerance",
    "winners", "write_report",
]  # fmt: skip
