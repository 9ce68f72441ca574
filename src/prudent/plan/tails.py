"""What becomes of a plan if the largest outcomes of the pilot weigh twice, or not at all."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from prudent.plan.elicit import Pilot
from prudent.plan.race import Race
from prudent.plan.ranking import Measured, Promise
from prudent.plan.trial import Trial
from prudent.plan.verdict import Favourite, Tail, Verdict, favourite, verdict_of
from prudent.plan.words import percent

UNCHANGED = 0.1
"""By how much the largest outcomes may change how often the best option is found, without a word."""

WEIGHTS = 2.0, 0.0
"""How many times their weight the largest outcomes have."""

SAID = {"no-trial": "no trial is needed", "cannot-tell": "the trial cannot tell", "run": "the trial is worth running"}


class Change(NamedTuple):
    """A number of the plan, or what it says, with the largest outcomes twice and without them."""

    what: str
    plan: str
    twice: str
    without: str


def tails_of(race: Race, first: Measured) -> list[Tail]:
    """The same with the largest outcomes of the pilot twice, and without them; nothing if no option has any."""
    trial = race.trial
    if not any(isinstance(option, Pilot) and not option.binary for option in trial.options) or trial.model != "pilot":
        return []
    heat, ahead, found = race.second(1, first.horizon), favourite(trial, race.worlds), []
    for times in WEIGHTS:
        one, worlds = race.play(first.policy, heat, times), race.worlds_of(times)
        best = favourite(trial, worlds)
        found.append(
            Tail(
                times, float(one.found_best.mean()), float(one.regret.mean()),
                trial.outcome.sign * float(one.outcome.mean()), float((worlds.best == ahead.place).mean()), best.name,
                verdict_of(trial, one, worlds).kind,
            )
        )  # fmt: skip
    return found


def changes(
    trial: Trial, promises: Mapping[str, Promise], ahead: Favourite, verdict: Verdict, tails: Sequence[Tail]
) -> list[Change]:
    """What is said that would not hold: shares by more than a tenth, amounts beyond their promised intervals, and
    another verdict."""
    if not tails:
        return []
    twice, without = tails
    found = []
    for what, plan, now in (
        ("the best option is found in", promises["found_best"].mean, [tail.found_best for tail in tails]),
        (f"{ahead.name} is the best with", ahead.sure, [tail.sure for tail in tails]),
    ):
        if max(abs(each - plan) for each in now) > UNCHANGED:
            found.append(Change(what, *map(percent, (plan, *now))))
    mean = promises["outcome"]
    if not all(mean.low <= tail.outcome <= mean.high for tail in tails):
        amounts = (trial.outcome.amount(x, digits=3) for x in (mean.mean, twice.outcome, without.outcome))
        found.append(Change("the mean outcome is", *amounts))
    cost = promises["regret"]
    if trial.rho != 0.0 and not all(cost.low <= tail.regret <= cost.high for tail in tails):
        costs = (trial.outcome.amount(trial.price(x), digits=3) for x in (cost.mean, twice.regret, without.regret))
        found.append(Change("the cost against the best option is", *costs))
    if not all(tail.kind == verdict.kind for tail in tails):
        found.append(Change("the verdict is that", SAID[verdict.kind], SAID[twice.kind], SAID[without.kind]))
    return found


def in_words(found: Sequence[Change]) -> list[str]:
    """One sentence with all numbers; none if all holds."""
    if not found:
        return []
    said = [f"{each.what} {each.plan} (twice: {each.twice}; without: {each.without})" for each in found]
    return [
        "The largest outcomes of the pilot decide much. With their own weight, with twice that weight and without them:"
        f" {', '.join(said)}."
    ]
