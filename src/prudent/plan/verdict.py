"""The verdict, which comes first: no trial needed, this trial cannot tell, or run this."""

import math
from typing import NamedTuple

from prudent.plan.lengths import enough
from prudent.plan.ranking import Measured, Promise
from prudent.plan.trial import Trial, Worlds
from prudent.plan.words import listed, percent, short

SURE = 0.95
"""How probable an option must be the best for a trial not to be needed."""

TELLS = 0.8
"""How often a trial must find the best option to be worth running for that."""

NEAR = 0.5
"""Or by how much it must lower what one loses by a wrong choice."""


COMMITS = 0.999
"""The share of rounds that go to one option where nothing is learnt."""


class Favourite(NamedTuple):
    """The option that one would take without a trial: that with the smallest mean cost over all worlds, with the
    probability that it is the best."""

    place: int
    name: str
    sure: float


class Verdict(NamedTuple):
    """`kind` is `no-trial`, `cannot-tell` or `run`; `sentences` say it."""

    kind: str
    sentences: tuple[str, ...]


def favourite(trial: Trial, worlds: Worlds) -> Favourite:
    """The option that one would take without a trial."""
    place = int(worlds.gaps.mean(0).argmin())
    return Favourite(place, trial.names[place], float((worlds.best == place).mean()))


def verdict_of(trial: Trial, first: Measured, worlds: Worlds) -> Verdict:
    """What to do, by the policy that is recommended."""
    known = worlds.some(len(first.regret))
    ahead, n = favourite(trial, worlds), first.horizon
    found, loss, left = first.found_best.mean(), first.loss.mean(), known.gaps[:, ahead.place].mean()
    cost, gain = _cost_and_gain(trial, first, known, ahead)
    commits = bool(first.trials.shares[:, :, ahead.place].mean() > COMMITS)
    if ahead.sure >= SURE:
        take = f"No trial needed: take {ahead.name}. It is the best option with {percent(ahead.sure)} probability."
        why = f"For {n:,} rounds the best of the policies gives it to everyone."
        return Verdict("no-trial", (take, why if commits else f"A trial of {n:,} rounds would {cost}, and {gain}."))
    if found < TELLS and loss > NEAR * left:
        many = "2 options" if len(trial.options) == 2 else f"{len(trial.options):,} options"
        said = f"This trial cannot tell: after {n:,} rounds it finds the best of {many} in {percent(found)} of trials."
        return Verdict("cannot-tell", (said, _what_would_do(trial, worlds, n, ahead)))
    if commits:
        take = f"No trial of {n:,} rounds pays: take {ahead.name}. It is the best option with"
        take += f" {percent(ahead.sure)} probability."
        why = (
            "The best of the policies gives it to everyone, because in so few rounds to learn costs more than it gains."
        )
        return Verdict("no-trial", (take, why, "If the choice matters for longer, plan with more rounds."))
    promise = first.promise("found_best")
    said = f"Run this: {short(first.name)} for {n:,} rounds."
    finds = f"It finds the best option in {percent(promise.mean)} of trials ({inside(promise)})."
    return Verdict(
        "run", (said, finds, f"Compared with {ahead.name} for everyone, the trial would {cost}, and {gain}.")
    )


def inside(promise: Promise) -> str:
    """`60 % to 99 %, depending on what is true`: an interval of 90 %."""
    return f"{percent(promise.low)} to {percent(promise.high)}, depending on what is true"


def _cost_and_gain(trial: Trial, first: Measured, known: Worlds, ahead: Favourite) -> tuple[str, str]:
    """What the trial does to the mean outcome and to the spread, and what its choice gains afterwards."""
    alone, variance = known.means[:, ahead.place], known.variances[:, ahead.place]
    during = float(first.outcome.mean() - alone.mean())
    after = float((first.chosen_mean - alone[:, None]).mean())
    outcome = trial.outcome
    cost = f"give {outcome.difference(during)} per round on average{_a_month(trial, during)}"
    if trial.rho != math.inf:
        spread = [outcome.amount(max(0.0, float(x.mean())) ** 0.5, digits=3) for x in (first.variance, variance)]
        cost += f", with a standard deviation of {spread[0]} instead of {spread[1]}"
    gain = f"the option that it chooses would then give {outcome.difference(after)} per round{_a_month(trial, after)}"
    return cost, gain


def _a_month(trial: Trial, gain: float) -> str:
    if trial.month is None:
        return ""
    return f" ({trial.outcome.amount(abs(gain) * trial.month, digits=3)} a month)"


def _what_would_do(trial: Trial, worlds: Worlds, horizon: int, ahead: Favourite) -> str:
    """How long a trial would tell, or that it does not matter."""
    rounds = enough(trial, worlds, horizon, TELLS)
    loss = float(worlds.means[:, ahead.place].mean() - worlds.means[range(len(worlds)), worlds.best].mean())
    equal = f"or {listed(trial.names)} are equal for you: with {ahead.name} for everyone the mean outcome is"
    equal += f" {trial.outcome.difference(loss)} than with the best, on average"
    if rounds is None:
        return f"Even a thousand times as many rounds would not do, {equal}."
    return f"About {rounds:,} rounds would do, {equal}."
