"""A plan: worlds from the pilot, a race of the policies in them, a verdict, and the check of what is handed over."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prudent import PrudentError
from prudent.base import files
from prudent.base.errors import shown
from prudent.engine.threads import count_workers
from prudent.plan import lengths
from prudent.plan import race as races
from prudent.plan.cautions import cautions
from prudent.plan.check import Check, run_check, simulated_check, trials_for
from prudent.plan.elicit import Option
from prudent.plan.race import LEFT, SECOND, Heat, Race, check_policies
from prudent.plan.ranking import PROMISED, WORST, Measured, Promise, people_of, ranked, table_of
from prudent.plan.tails import changes, tails_of
from prudent.plan.tails import in_words as tails_in_words
from prudent.plan.trial import Trial, check_settings
from prudent.plan.verdict import Favourite, Tail, Verdict, favourite, verdict_of
from prudent.plan.words import short
from prudent.plan.yardsticks import yardsticks_of
from prudent.policies.binding import bind, serves
from prudent.policies.contract import Policy, Setting
from prudent.policies.round_robin import RoundRobin
from prudent.risk.base import RiskMeasure

MOST_NUMBERS = 50_000_000
"""Draws × runs × options: of each some 40 bytes are kept until the end."""


class Advice(NamedTuple):
    """The plan: the verdict, the recommended policy with all that is promised of it and what the check found, and a row
    for every policy that was compared, the best first.

    `early` has the policies that left before the end, in the worlds in which they were tried, each table with the
    recommended one in the same worlds. `yardsticks` has a row for every way that does not learn, `people` a row for
    each option with how many get it. `lengths` has a row for each length if several were compared, and `horizon` is the
    one that was taken. `cautions` are sentences to read before all else.
    """

    verdict: Verdict
    recommended: str
    horizon: int
    promises: dict[str, Promise]
    check: Check
    cautions: list[str]
    reasons: list[str]
    favourite: Favourite
    tails: list[Tail]
    policies: pl.DataFrame
    early: list[pl.DataFrame]
    yardsticks: pl.DataFrame
    people: pl.DataFrame
    lengths: pl.DataFrame | None
    left_out: dict[str, str]
    trial: Trial
    draws: int
    runs: int
    seed: int
    out: Path


def check_advice(owner: str, given: Any) -> Advice:
    """What `advise` found, or an error."""
    if not isinstance(given, Advice):
        raise PrudentError(f"{owner}: advice must be what advise() found, got {shown(given)}")
    return given


def suitable(
    risk: RiskMeasure | str, horizon: int, options: Sequence[Option], **more: Any
) -> tuple[list[Policy], dict[str, str]]:
    """The registered policies that can run this trial and serve its risk, told how large its outcomes are
    (`Trial.units`), and why the others are not tried; `more` as in `advise`.

    Yardsticks are neither.
    """
    trial = Trial.checked(options, risk, horizon, **more)
    return races.suitable(trial, trial.horizons[-1])


def advise(
    options: Sequence[Option],
    risk: RiskMeasure | str,
    horizon: int | Sequence[int] | None,
    out: Path | str,
    *,
    policies: Sequence[Policy | str] = (),
    unit: str = "",
    larger_is_better: bool = True,
    support: Sequence[float] | None = None,
    begin: bool = True,
    model: str = "pilot",
    period: int = 1,
    month: int | None = None,
    draws: int = 200,
    runs: int = 10,
    seed: int = 0,
    seconds: float = 30.0,
    workers: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> Advice:
    """Say whether a trial is needed, which policy to run, and what that finds and costs.

    Worlds are drawn from the pilot's own outcomes (the Bayesian bootstrap, smoothed where outcomes are continuous),
    and from the ranges of guesses. Policies race in them, and are ranked by half the mean regret of all trials and
    half that of the worst 5 %. Then the agent that is handed over is run on outcomes resampled from the file. The
    order of options does not count, nor that of rows.

    Parameters
    ----------
    options
        What can be chosen in the trial: guesses or pilot data, see `guesses` and `pilot`.
    risk, horizon
        The risk measure by which outcomes are judged, and the rounds of the trial. For several horizons, or None,
        the plan finds out how long is enough, and is made for that length.
    out
        The folder for the plan.
    policies
        Only these; all suitable ones by default.
    unit, larger_is_better, support
        The unit of outcomes, for text; False for waiting times and losses; and the smallest and largest outcome that
        is possible.
    begin
        Whether the agent begins with the pilot's outcomes; False to begin from nothing.
    model
        "pilot", or "normal" for normal outcomes with the pilot's mean and variance.
    period, month
        The number of outcomes whose sum bears the risk, and the rounds of a month, for amounts a month.
    draws, runs
        Worlds in which the last policies are compared, and trials in each.
    seed, seconds, workers, progress
        The random seed; about how long it may take on two cores, which decides how much is simulated; threads; and
        a function that is called with the share of the work that is done.

    Examples
    --------
    >>> from pathlib import Path
    >>> from prudent import MeanVariance
    >>> from prudent.plan import advise, guesses
    >>> options = guesses(["old: bernoulli(0.3..0.4)", "new: bernoulli(0.2..0.5)"])
    >>> advice = advise(options, MeanVariance(1.0), 100, Path("plan"), policies=["mv-lcb", "exp-exp"], draws=10)
    >>> sorted(advice.policies["policy"])
    ['exp-exp', 'mv-lcb(range=1.0)']
    """
    trial = Trial.checked(
        options, risk, horizon, unit=unit, larger_is_better=larger_is_better, support=support, begin=begin,
        model=model, period=period, month=month,
    )  # fmt: skip
    draws, runs, seed, threads, seconds = check_settings(
        policies, out, progress, draws=draws, runs=runs, seed=seed, workers=workers, seconds=seconds
    )
    chosen = check_policies(policies, trial)
    if draws * runs * len(trial.options) > MOST_NUMBERS:
        size = f"{draws:,} draws × {runs:,} runs × {len(trial.options):,} options"
        raise PrudentError(f"plan: {size} must be at most {MOST_NUMBERS:,} to fit into memory; take fewer")
    said = progress or (lambda _: None)
    race = Race(trial, draws, runs, seed, count_workers("plan", threads), seconds, lambda share: said(0.8 * share))
    length, compared = trial.horizons[-1], None
    if len(trial.horizons) > 1:
        length, compared = _compare_lengths(race, chosen)
    fit, left_out = (chosen, {}) if chosen else _fit(trial, length)
    race.total = max(race.total, work(race, len(fit), length))
    order = _decide(race, fit, length)
    first, even = order[0], race.play(RoundRobin(), race.last(len(order), length))
    if compared is not None:
        compared = _curve(race, first.policy)
    tails = tails_of(race, first)
    count = trials_for(trial, length, seconds)
    check = run_check(trial, first.name, length, count, seed, lambda share: said(0.8 + 0.19 * share))
    check = simulated_check(race, first.policy, length) if check is None else check
    worlds = race.worlds.some(max(draws, SECOND[0]))
    promises = {name: first.promise(name) for name in PROMISED}
    promises["outcome"] = promises["outcome"].times(trial.outcome.sign)
    ahead, verdict = favourite(trial, worlds), verdict_of(trial, first, worlds, tails, len(order) > 1)
    changed = changes(trial, promises, ahead, verdict_of(trial, first, worlds), tails)
    together = [one for one in order if one.regret.size == first.regret.size]
    found = Advice(
        verdict, first.name, length, promises, check, [*cautions(trial), *tails_in_words(changed)], [], ahead, tails,
        table_of(together, len(order)), _early(race, order), yardsticks_of(trial, worlds, even),
        people_of(first, worlds, trial.names), compared, left_out,
        trial, len(first.regret), first.regret.shape[1], seed, Path(out),
    )  # fmt: skip
    found = found._replace(reasons=reasons(found, order, bool(changed)))
    _write(found, order)
    said(1.0)
    return found


def work(race: Race, policies: int, horizon: int) -> float:
    """About how many rounds will be simulated."""
    last = race.last(min(policies, LEFT[1]), horizon)
    total = last.trials * horizon * (min(policies, LEFT[1]) + 1.0)
    second = race.second(min(policies, LEFT[0]), horizon)
    total += second.trials * horizon * (min(policies, LEFT[0]) + 2.0)
    if policies > LEFT[1]:
        first = race.first(policies, horizon)
        total += first.trials * first.horizon * policies
    several = sum(race.second(1, n).trials * n for n in race.trial.horizons) if len(race.trial.horizons) > 1 else 0
    return float(total + 2 * several)


def _decide(race: Race, fit: Sequence[Policy], horizon: int) -> list[Measured]:
    """The policies at this length, the best first."""
    heats = race.first_heats(fit, horizon)
    on = heats[: LEFT[1]]
    last = [race.play(one.policy, race.last(len(on), horizon)) for one in on]
    return [*ranked(last), *heats[LEFT[1] :]]


def _compare_lengths(race: Race, chosen: Sequence[Policy]) -> tuple[int, pl.DataFrame]:
    """How long is enough, by the policy that is best for the middle length; then by that which is best for that."""
    trial = race.trial
    middle = trial.horizons[len(trial.horizons) // 2]
    fit = [policy for policy in chosen or _fit(trial, middle)[0] if _fits(trial, policy, middle)]
    if not fit:
        fit, middle = list(chosen), trial.horizons[-1]
    race.total = work(race, len(fit), middle) + work(race, len(fit), trial.horizons[-1])
    best = race.first_heats(fit, middle)[0].policy
    found = _curve(race, best)
    return lengths.knee(found["horizon"].to_list(), found["found_best"].to_list()), found


def _curve(race: Race, policy: Policy) -> pl.DataFrame:
    """What a policy finds and loses at every length that it can run."""
    fitting = [n for n in race.trial.horizons if _fits(race.trial, policy, n)]
    return lengths.curve([race.play(policy, race.second(1, n)) for n in fitting])


def _fit(trial: Trial, horizon: int) -> tuple[list[Policy], dict[str, str]]:
    """The suitable policies; at least one."""
    fit, left_out = races.suitable(trial, horizon)
    if not fit:
        raise PrudentError(f"plan: no registered policy can run this trial; e.g. {next(iter(left_out.values()))}")
    return fit, left_out


def _fits(trial: Trial, policy: Policy, horizon: int) -> bool:
    """Whether a policy can run for so few rounds."""
    try:
        bind(policy, Setting.of(trial.example(), trial.risk, horizon + trial.told, trial.units))
    except PrudentError:
        return False
    return True


def _early(race: Race, order: Sequence[Measured]) -> list[pl.DataFrame]:
    """The policies that left early, by when they left, after the recommended one in the same worlds and rounds."""
    first = order[0]
    groups: dict[Heat, list[Measured]] = {}
    for one in order:
        if one.regret.size != first.regret.size:
            groups.setdefault(Heat(len(one.regret), one.regret.shape[1], one.horizon), []).append(one)
    found = []
    for heat, group in groups.items():
        table = table_of([race.play(first.policy, heat), *group], len(order))
        found.append(table.with_columns(worlds=pl.lit(heat.worlds), rounds=pl.lit(heat.horizon)))
    return found


def reasons(advice: Advice, order: Sequence[Measured], changed: bool) -> list[str]:
    """Why this policy, in sentences; `changed` says that it would be another plan with other largest outcomes."""
    first, outcome = order[0], advice.trial.outcome
    promise = advice.promises
    by = f"by regret, half by the mean of all trials and half by that of the worst {100 * WORST:g} %"
    name = short(first.name)
    found = [f"{name} is the best of {len(order)} policies {by}." if len(order) > 1 else f"{name} alone was tried."]
    found.append(
        f"Its mean outcome is {outcome.amount(promise['outcome'].mean)}, its standard deviation"
        f" {outcome.amount(promise['deviation'].mean)}."
    )
    ties = [short(row["policy"]) for row in advice.policies.to_dicts()[1:] if row["as_good"]]
    if ties:
        found.append(f"These simulations show no clear difference from {', '.join(ties)}.")
    if serves(first.policy) == "mean" and advice.trial.risk.name != "mean":
        found.append(
            "It ignores the spread of outcomes, which is right here: at this ρ the better mean is always better."
            if races.orders_by_mean(advice.trial)
            else "It ignores the spread of outcomes, which your risk does not; it takes part because it was named."
        )
    people = advice.people.row(-1, named=True)
    found.append(
        f"On average {people['average']:,.0f} of {advice.horizon:,} people are given the"
        f" best option; in the worst {100 * WORST:g} % of trials at most {people['fewest']:,} are."
    )
    if advice.tails and not changed:
        found.append("The same holds if the largest outcomes of the pilot weigh twice, or not at all.")
    return found


def _write(advice: Advice, order: Sequence[Measured]) -> None:
    """All trials of the policies that were compared to the end, for those who want to check: a row for each."""
    frames = []
    for one in order:
        if one.regret.size == order[0].regret.size:
            worlds, runs = one.regret.shape
            names = ("regret", "found_best", "loss", "outcome", "variance", "best_share")
            columns = {name: getattr(one, name).ravel() for name in names}
            world = [number + 1 for number in range(worlds) for _ in range(runs)]
            frames.append(pl.DataFrame({"policy": [one.name] * one.regret.size, "world": world, **columns}))
    path = advice.out / "trials.csv"
    files.write(path, pl.concat(frames).write_csv())
