"""The verdict, which comes first: no trial needed, this trial cannot tell, or run this."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from prudent.plan.elicit import Pilot
from prudent.plan.lengths import enough, rounded_up
from prudent.plan.ranking import Measured, Promise
from prudent.plan.trial import Trial, Worlds
from prudent.plan.words import listed, percent, short

SURE = 0.95
"""How probable an option must be the best for a trial not to be needed."""

TELLS = 0.8
"""How often a trial must find the best option to be worth running for that."""

NEAR = 0.5
"""Or by how much it must lower what one loses by a wrong choice."""

HOLDS = 0.9
"""How probable it must still be if the largest outcomes weigh twice, or not at all."""

WIDE = 0.9
"""The width of an interval of how often the best option is found that tells nothing."""

RARE = 0.1
"""How much the largest outcomes must change an answer for it to depend on them."""

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


class Tail(NamedTuple):
    """What becomes of the plan if the largest outcomes of the pilot weigh `times` as much: how often the recommended
    policy finds the best option, its regret and mean outcome, how probable the favourite is the best, which option is
    the favourite then, and which kind of verdict that is."""

    times: float
    found_best: float
    regret: float
    outcome: float
    sure: float
    best: str
    kind: str


def favourite(trial: Trial, worlds: Worlds) -> Favourite:
    """The option that one would take without a trial."""
    place = int(worlds.gaps.mean(0).argmin())
    return Favourite(place, trial.names[place], float((worlds.best == place).mean()))


def verdict_of(
    trial: Trial, first: Measured, worlds: Worlds, tails: Sequence[Tail] = (), several: bool = True
) -> Verdict:
    """What to do, by the policy that is recommended, of `several`; no verdict without a trial if other weights of the
    largest outcomes turn it over."""
    known = worlds.some(len(first.regret))
    ahead, n = favourite(trial, worlds), first.horizon
    found, loss, left = first.found_best.mean(), first.loss.mean(), known.gaps[:, ahead.place].mean()
    cost, gain = _cost_and_gain(trial, first, known, ahead)
    policy = "the best of the policies" if several else "the policy"
    commits = bool(first.trials.shares[:, :, ahead.place].mean() > COMMITS)
    if ahead.sure >= SURE:
        if not all(tail.best == ahead.name and tail.sure >= HOLDS for tail in tails):
            return _tails_decide(ahead, tails)
        take = f"No trial needed: take {ahead.name}. It is the best option with {percent(ahead.sure)} probability."
        why = f"For {n:,} rounds {policy} gives it to everyone."
        return Verdict("no-trial", (take, why if commits else f"A trial of {n:,} rounds would {cost}, and {gain}."))
    if found < TELLS and loss > NEAR * left:
        many = "2 options" if len(trial.options) == 2 else f"{len(trial.options):,} options"
        said = f"This trial cannot tell: after {n:,} rounds it finds the best of {many} in {percent(found)} of trials."
        return Verdict("cannot-tell", (said, _what_would_do(trial, worlds, n, ahead)))
    more = float(first.regret.mean() - left)
    if commits or more >= 0.0:
        if not all(tail.best == ahead.name for tail in tails):
            return _tails_decide(ahead, tails)
        take = f"No trial of {n:,} rounds pays: take {ahead.name}. It is the best option with"
        take += f" {percent(ahead.sure)} probability."
        why = f"{policy[0].upper()}{policy[1:]} gives it to everyone, because in so few rounds to learn costs more than"
        why += " it gains."
        if not commits:
            why = f"Compared with {ahead.name} for everyone, a trial would {cost}, and {gain}."
        return Verdict("no-trial", (take, why, _pays_from(n, more, float(left - loss))))
    said = f"Run this: {short(first.name)} for {n:,} rounds."
    finds = found_in_words(trial, first.promise("found_best"), tails, ahead)
    return Verdict(
        "run", (said, finds, f"Compared with {ahead.name} for everyone, the trial would {cost}, and {gain}.")
    )


def _tails_decide(ahead: Favourite, tails: Sequence[Tail]) -> Verdict:
    """An answer that a few outcomes turn over is none."""
    twice, without = tails
    said = f"Your file cannot tell: its largest outcomes decide. {ahead.name} is the best option with"
    said += f" {percent(ahead.sure)} probability, with {percent(twice.sure)} if they weigh twice, and with"
    said += f" {percent(without.sure)} without them."
    fix = (
        "If they are mistakes, correct the file and plan again. If they are real, how often such outcomes come decides,"
    )
    return Verdict("cannot-tell", (said, f"{fix} and only more outcomes tell that."))


def _pays_from(rounds: int, more: float, gained: float) -> str:
    """From how many rounds after the trial on its choice is worth what the trial costs."""
    if not gained > 0.0:
        return "If the choice matters for longer, plan with more rounds."
    after = max(1, math.ceil(rounds * more / gained))
    return f"A trial would pay if its choice were then used for more than about {rounded_up(after):,} rounds."


def found_in_words(trial: Trial, promise: Promise, tails: Sequence[Tail], ahead: Favourite) -> str:
    """How often the best option is found. An interval from nearly 0 to nearly 100 % tells nothing, so its reason is
    said in its place."""
    share = percent(promise.mean)
    if promise.high - promise.low < WIDE:
        return f"It finds the best option in {share} of trials ({inside(promise)})."
    rare = any(max(abs(t.found_best - promise.mean), abs(t.sure - ahead.sure)) > RARE for t in tails)
    told = "Your file does" if any(isinstance(option, Pilot) for option in trial.options) else "Your guesses do"
    why = "how large rare outcomes are" if rare else "how often that is in truth"
    return f"On average over all that is possible it finds the best option in {share} of trials. {told} not tell {why}."


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
