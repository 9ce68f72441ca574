"""Which policy for the trial: all suitable ones are simulated on bandits drawn from the prior, and compared."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from prudent import Bandit, MeanVariance, PrudentError, Runs, files
from prudent.errors import shown
from prudent.plan import lengths
from prudent.plan.elicit import Option
from prudent.plan.ranking import people_of, reasons, summarise, trials_of
from prudent.plan.trial import Trial, check_settings
from prudent.policies.base import Policy, Setting, spec
from prudent.policies.base import policies as registered
from prudent.policies.binding import assumed_rewards, bind, check_rewards
from prudent.policies.fixed_arm import FixedArm
from prudent.policies.random_arm import RandomArm
from prudent.policies.round_robin import RoundRobin
from prudent.policies.units import fitted
from prudent.study import Study, run
from prudent.study.toml import to_toml

MOST_NUMBERS = 50_000_000
"""Policies × draws × runs × options: of each some 40 bytes are kept until the end."""

MOST_FIXED = 20
"""Options up to which each, given to everyone, is a yardstick."""

VARIANTS = ("mv-lcb(c=1, unbiased=True)",)
"""Settings worth trying beside the defaults: MV-LCB with the sharp width."""

YARDSTICKS = (FixedArm, RandomArm, RoundRobin)
"""Policies that do not learn: shown for comparison, never recommended."""


class Advice(NamedTuple):
    """What was found: a row per policy, best first; the policy to take and why; those left out and why.

    `yardsticks` has a row for every way that does not learn, `people` a row per option with how many get it. `lengths`
    has a row per policy and length if several were compared, and `horizon` is the one that was taken.
    """

    policies: pl.DataFrame
    recommended: str
    reasons: list[str]
    left_out: dict[str, str]
    study: Study
    trial: Trial
    horizon: int
    yardsticks: pl.DataFrame
    people: pl.DataFrame
    lengths: pl.DataFrame | None = None
    lengths_of: str = ""


def check_advice(owner: str, given: Any) -> Advice:
    """What `advise` found, or an error."""
    if not isinstance(given, Advice):
        raise PrudentError(f"{owner}: advice must be what advise() found, got {shown(given)}")
    return given


def suitable(
    risk: MeanVariance | str, horizon: int, options: Sequence[Option], **more: Any
) -> tuple[list[Policy], dict[str, str]]:
    """The registered policies that can run this trial, told how large its outcomes are (`Trial.units`), and why the
    others cannot; `more` as in `advise`.

    Yardsticks are neither.
    """
    trial = Trial.checked(options, risk, horizon, **more)
    return _suitable(trial, trial.horizons[-1])


def _suitable(trial: Trial, horizon: int) -> tuple[list[Policy], dict[str, str]]:
    fit: list[Policy] = []
    left_out: dict[str, str] = {}
    example, units = trial.example(), trial.units
    for name in (*registered.names(), *VARIANTS):
        policy = fitted(registered.parse(name), units)
        if isinstance(policy, YARDSTICKS):
            continue
        try:
            _check_values(policy, example)
            bind(policy, Setting.of(example, trial.risk, horizon, units))
            check_rewards(policy, example.support)
            fit.append(policy)
        except PrudentError as error:
            left_out[name] = str(error)
    return fit, left_out


def yardsticks(options: Sequence[str]) -> dict[str, Policy]:
    """Ways that do not learn, in words: each option for everyone, one at random for everyone, all of them in turn."""
    fixed: dict[str, Policy] = {f"always {name}": FixedArm(i) for i, name in enumerate(options[:MOST_FIXED])}
    if len(options) > MOST_FIXED:
        fixed = {}
    return {**fixed, "one at random": RandomArm(), "all in turn": RoundRobin()}


def _policy(given: Any) -> Policy:
    policy = registered.make("plan", given)
    if not hasattr(type(policy), "_field_defaults"):
        raise PrudentError(f"plan: a policy must be a NamedTuple such as MVLCB(), or its name, got {shown(given)}")
    return policy


def _check_values(policy: Policy, bandit: Bandit) -> None:
    """Some policies mean nothing on other rewards; confidence widths, by contrast, are used beyond their proofs."""
    atoms = [law.atoms() for law in bandit.arms]
    taken = None if None in atoms else {float(x) for each in atoms if each is not None for x in each[0]}
    if registered.facts_of(policy).get("binary") and (taken is None or len(taken) > 2):
        raise PrudentError(f"{spec(policy)}: is made for outcomes of two values, such as 0 and 1")
    values = assumed_rewards(policy).values
    if values and (taken is None or not taken <= set(values)):
        raise PrudentError(f"{spec(policy)}: is made for rewards that are {' or '.join(f'{x:g}' for x in values)}")


def advise(
    options: Sequence[Option],
    risk: MeanVariance | str,
    horizon: int | Sequence[int] | None,
    out: Path | str,
    *,
    policies: Sequence[Policy | str] = (),
    unit: str = "",
    larger_is_better: bool = True,
    support: Sequence[float] | None = None,
    draws: int = 100,
    runs: int = 20,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Advice:
    """Simulate every suitable policy on bandits drawn from the prior, and rank them by mean regret.

    The study is left in `out` as `study.toml`, its results in `out/study`; called again, finished cells are not
    simulated again. Assumes the prior covers the truth: a policy is best on average over it, not in every case. The
    order of options does not count.

    Parameters
    ----------
    options
        What can be chosen in the trial: guesses or pilot data, see `guesses` and `pilot`.
    risk, horizon
        The mean-variance by which outcomes are judged, and the rounds of the trial. For several horizons, or None,
        the plan finds out how long is enough, and is made for that length.
    out
        The folder for the study.
    policies
        Only these; all suitable ones by default.
    unit, larger_is_better, support
        The unit of outcomes, for text; False for waiting times and losses; and the smallest and largest outcome that
        is possible.
    draws, runs
        Bandits drawn from the prior, and trials on each.
    seed, workers, progress
        As for `simulate`; `progress` counts cells.

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
    trial = Trial.checked(options, risk, horizon, unit=unit, larger_is_better=larger_is_better, support=support)
    draws, runs, seed, workers = check_settings(policies, out, draws, runs, seed, workers, progress)
    given = [fitted(_policy(policy), trial.units) for policy in policies]
    chosen = [policy for policy in given if not isinstance(policy, YARDSTICKS)]
    if policies and not chosen:
        raise PrudentError(f"plan: policies must hold one that learns, got {shown(list(policies))}; add e.g. 'exp-exp'")
    play = _Player(trial, draws, runs, seed, Path(out), workers, progress or (lambda _: None))
    length, compared, of = trial.horizons[-1], None, ""
    if len(trial.horizons) > 1:
        length, compared, of = _compare_lengths(play, chosen)
    fit, left_out = (chosen, {}) if chosen else _fit(trial, length)
    words = {spec(policy): name for name, policy in yardsticks(trial.names).items()}
    study, found = play([*fit, *yardsticks(trial.names).values()], [length])
    files.write(Path(out) / "study.toml", to_toml(study))
    table = summarise(trials_of(study.cells, found), words)
    ranked = table.filter(~pl.col("policy").is_in(list(words)))
    rest = table.filter(pl.col("policy").is_in(list(words))).drop("as_good")
    rest.insert_column(0, pl.Series("yardstick", [words[name] for name in rest["policy"]]))
    best = ranked["policy"][0]
    people = people_of([each for each in found if spec(each.policy) == best], trial.names)
    why = reasons(trial, ranked, rest, draws, runs)
    return Advice(ranked, best, why, left_out, study, trial, length, rest, people, compared, of)


def cells_of(trial: Trial, policies: int, draws: int) -> int:
    """About how many cells will be simulated for so many policies: what `progress` counts up to."""
    several = len(trial.horizons)
    own = policies + len(yardsticks(trial.names))
    return draws * (own if several == 1 else 2 * policies + own + 2 * several)


class _Player(NamedTuple):
    """Simulates policies on the bandits of the prior, into one folder."""

    trial: Trial
    draws: int
    runs: int
    seed: int
    out: Path
    workers: int | None
    progress: Callable[[int], Any]

    def __call__(self, policies: Sequence[Policy], horizons: Sequence[int]) -> tuple[Study, list[Runs]]:
        options = len(self.trial.options)
        if len(policies) * self.draws * self.runs * options * len(horizons) > MOST_NUMBERS:
            size = f"{len(policies):,} policies × {self.draws:,} draws × {self.runs:,} runs × {options:,} options"
            raise PrudentError(f"plan: {size} must be at most {MOST_NUMBERS:,} to fit into memory; take fewer")
        rng = np.random.default_rng(self.seed)
        bandits = {f"draw {i + 1}": self.trial.draw(rng) for i in range(self.draws)}
        names, risk = list(dict.fromkeys(map(spec, policies))), str(self.trial.risk)
        study = Study(bandits, names, [risk], list(horizons), self.runs, self.seed, scale=self.trial.units, keep="runs")
        store = run(study, self.out / "study", workers=self.workers, progress=self.progress)
        return study, store.runs([each.cell for each in study.cells])


def _compare_lengths(play: _Player, chosen: Sequence[Policy]) -> tuple[int, pl.DataFrame, str]:
    """How long is enough, by the policy that is best for the middle length; its curve and that of equal shares."""
    trial = play.trial
    middle = trial.horizons[len(trial.horizons) // 2]
    fit = {spec(policy): policy for policy in chosen or _fit(trial, middle)[0]}
    study, found = play(list(fit.values()), [middle])
    best = summarise(trials_of(study.cells, found))["policy"][0]
    fitting = [n for n in trial.horizons if _fits(trial, fit[best], n)]
    study, found = play([fit[best], RoundRobin()], fitting)
    compared = lengths.curve(trials_of(study.cells, found))
    return lengths.knee(fitting, compared.filter(policy=best)["found_best"].to_list()), compared, best


def _fit(trial: Trial, horizon: int) -> tuple[list[Policy], dict[str, str]]:
    """The suitable policies; at least one."""
    fit, left_out = _suitable(trial, horizon)
    if not fit:
        raise PrudentError(f"plan: no registered policy can run this trial; e.g. {next(iter(left_out.values()))}")
    return fit, left_out


def _fits(trial: Trial, policy: Policy, horizon: int) -> bool:
    """Whether a policy can run for so few rounds."""
    try:
        bind(policy, Setting.of(trial.example(), trial.risk, horizon, trial.units))
    except PrudentError:
        return False
    return True
