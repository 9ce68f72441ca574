"""Which policy for the trial: all suitable ones are simulated on bandits drawn from the prior, and compared."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

from prudent import Bandit, MeanVariance, PrudentError, Runs, files
from prudent.engine.scaffold import LONGEST
from prudent.errors import check_integer, shown
from prudent.plan.elicit import MOST_OPTIONS, Option
from prudent.policies.base import Policy, Setting, spec
from prudent.policies.base import policies as registered
from prudent.policies.binding import assumed_rewards, bind, check_rewards
from prudent.risk.base import risks
from prudent.runs import averages
from prudent.study import Labelled, Study, run
from prudent.study.toml import to_toml
from prudent.text import with_error

MOST_NUMBERS = 50_000_000
"""Policies × draws × runs × options: of each some 40 bytes are kept until the end."""

WORST = 0.05
"""The share of trials that counts as the worst."""

LEVEL = 0.95

VARIANTS = ("mv-lcb(c=1, unbiased=True)",)
"""Settings worth trying beside the defaults: MV-LCB with the sharp width."""

MEASURED = ("regret", "outcome", "deviation", "found_best", "exploration_risk")
"""What is measured of every trial."""


class Advice(NamedTuple):
    """What was found: a row per policy, best first; the policy to take and why; those left out and why."""

    policies: pl.DataFrame
    recommended: str
    reasons: list[str]
    left_out: dict[str, str]
    study: Study


def suitable(risk: MeanVariance | str, horizon: int, options: Sequence[Option]) -> tuple[list[Policy], dict[str, str]]:
    """The registered policies that can run this trial as they come, and why the others cannot."""
    risk, horizon = _checked_trial(risk, horizon, options)
    fit: list[Policy] = []
    left_out: dict[str, str] = {}
    example = Bandit(list(_draw(options, np.random.default_rng(0)).values()))
    for name in (*registered.names(), *VARIANTS):
        try:
            policy = registered.parse(name)
            bind(policy, Setting.of(example, risk, horizon))
            _check_values(policy, example)
            check_rewards(policy, example.support)
            fit.append(policy)
        except PrudentError as error:
            left_out[name] = str(error)
    return fit, left_out


def _checked_trial(risk: Any, horizon: Any, options: Any) -> tuple[MeanVariance, int]:
    """The risk and the horizon, if they and the options make a trial."""
    measure = risks.make("plan", risk)
    if not isinstance(measure, MeanVariance):
        raise PrudentError(f"plan: risk must be a mean-variance such as MeanVariance(1.0), got {risk}")
    fix = "pass a list of what guesses() and pilot() make"
    if isinstance(options, str | bytes | Mapping) or not hasattr(options, "__len__"):
        raise PrudentError(f"plan: options must be two or more to choose from, got {shown(options)}; {fix}")
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise PrudentError(
            f"plan: options must be two or more to choose from, and at most {MOST_OPTIONS:,}, got {len(options):,}"
        )
    for option in options:
        if not isinstance(getattr(option, "name", None), str) or not callable(getattr(option, "draw", None)):
            raise PrudentError(f"plan: an option must have a name and a draw, got {shown(option)}; {fix}")
    twice = next((name for name, count in Counter(option.name for option in options).items() if count > 1), None)
    if twice is not None:
        raise PrudentError(f"plan: two options are called {twice!r}; give each a name of its own")
    return measure, check_integer("plan", "horizon", horizon, low=1, high=LONGEST)


def _policy(given: Any) -> Policy:
    policy = registered.make("plan", given)
    if not hasattr(type(policy), "_field_defaults"):
        raise PrudentError(f"plan: a policy must be a NamedTuple such as MVLCB(), or its name, got {shown(given)}")
    return policy


def _draw(options: Sequence[Option], rng: np.random.Generator) -> dict[str, str]:
    """One bandit of the prior: what each option may turn out to be."""
    drawn = {}
    for option in options:
        try:
            drawn[option.name] = option.draw(rng)
        except (TypeError, ValueError) as error:
            raise PrudentError(f"plan: option {option.name!r} cannot be drawn: {error}") from error
    return drawn


def _check_values(policy: Policy, bandit: Bandit) -> None:
    """Some policies mean nothing on other rewards; confidence widths, by contrast, are used beyond their proofs."""
    values = assumed_rewards(policy).values
    taken = [law.atoms() for law in bandit.arms]
    if values and not all(atoms is not None and set(atoms[0]) <= set(values) for atoms in taken):
        raise PrudentError(f"{spec(policy)}: is made for rewards that are {' or '.join(f'{x:g}' for x in values)}")


def advise(
    options: Sequence[Option],
    risk: MeanVariance | str,
    horizon: int,
    out: Path | str,
    *,
    policies: Sequence[Policy | str] = (),
    draws: int = 100,
    runs: int = 20,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Advice:
    """Simulate every suitable policy on bandits drawn from the prior, and rank them by mean regret.

    The study is left in `out` as `study.toml`, its results in `out/study`; called again, finished cells are not
    simulated again. Assumes the prior covers the truth: a policy is best on average over it, not in every case.

    Parameters
    ----------
    options
        What can be chosen in the trial: guesses or pilot data, see `guesses` and `pilot`.
    risk, horizon
        The mean-variance by which outcomes are judged, and the rounds of the trial.
    out
        The folder for the study.
    policies
        Only these; all suitable ones by default.
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
    ['exp-exp', 'mv-lcb']
    """
    risk, horizon = _checked_trial(risk, horizon, options)
    draws = check_integer("plan", "draws", draws, low=10, hint="100 draws show differences well")
    runs = check_integer("plan", "runs", runs, low=2)
    seed = check_integer("plan", "seed", seed, low=0, high=2**63 - 1)
    if workers is not None:
        workers = check_integer("plan", "workers", workers, low=1, high=10_000)
    if isinstance(policies, str) or not hasattr(policies, "__iter__"):
        raise PrudentError(f"plan: policies must be a list such as ['mv-lcb'], got {shown(policies)}")
    if progress is not None and not callable(progress):
        raise PrudentError(f"plan: progress must be a function of the cells just finished, got {shown(progress)}")
    if not isinstance(out, str | os.PathLike):
        raise PrudentError(f"plan: out must be a folder, got {shown(out)}")
    out = Path(out)
    chosen = [_policy(policy) for policy in policies]
    fit, left_out = (chosen, {}) if chosen else suitable(risk, horizon, options)
    if not fit:
        raise PrudentError(f"plan: no registered policy can run this trial; e.g. {next(iter(left_out.values()))}")
    if len(fit) * draws * runs * len(options) > MOST_NUMBERS:
        size = f"{len(fit):,} policies × {draws:,} draws × {runs:,} runs × {len(options):,} options"
        raise PrudentError(f"plan: {size} must be at most {MOST_NUMBERS:,} to fit into memory; take fewer")
    rng = np.random.default_rng(seed)
    bandits = {f"draw {i + 1}": _draw(options, rng) for i in range(draws)}
    names = list(dict.fromkeys(map(spec, fit)))
    study = Study(bandits, names, [str(risk)], [horizon], runs=runs, seed=seed, keep="runs")
    store = run(study, out / "study", workers=workers, progress=progress or (lambda _: None))
    files.write(out / "study.toml", to_toml(study))
    ranked = summarise(_trials(study.cells, store.runs([each.cell for each in study.cells])))
    return Advice(ranked, ranked["policy"][0], reasons(ranked, draws, runs), left_out, study)


def _trials(cells: Sequence[Labelled], found: Sequence[Runs]) -> pl.DataFrame:
    """One row per trial: its policy and draw, and what came of it."""
    frames = []
    for each, runs in zip(cells, found, strict=True):
        costs = np.where(runs.pulls > 0, runs.risk.stats_cost(runs.mean, runs.variance), np.inf)
        best = (costs.argmin(1) == runs.bandit.best(runs.risk)).astype(float)
        deviation = np.sqrt(runs.reward_variance())
        values = (runs.regret(), runs.reward_mean(), deviation, best, runs.exploration_risk())
        labels = {"policy": [spec(runs.policy)] * len(runs), "draw": [each.labels["bandit"]] * len(runs)}
        frames.append(pl.DataFrame({**labels, **dict(zip(MEASURED, values, strict=True))}))
    return pl.concat(frames)


def summarise(trials: pl.DataFrame) -> pl.DataFrame:
    """A row per policy, smallest mean regret first. Draws are the independent pieces: errors come from their means."""
    rows: list[dict[str, Any]] = []
    for (policy,), own in trials.group_by("policy", maintain_order=True):
        # The mean outcome of the worst trials is that of q − (q − x)⁺/WORST, with q their quantile.
        quantile = own["outcome"].quantile(WORST, "lower")
        worst = quantile - (quantile - pl.col("outcome")).clip(lower_bound=0.0) / WORST
        by_draw = own.group_by("draw", maintain_order=True).agg(pl.col(MEASURED).mean(), worst_outcome=worst.mean())
        found = averages({name: by_draw[name].to_numpy() for name in by_draw.columns[1:]})
        rows.append({"policy": policy, **found, "by_draw": by_draw["regret"].to_numpy()})
    rows.sort(key=lambda row: row["regret"])
    # The same bandits for all policies: differences are paired by draw.
    behind = [row["by_draw"] - rows[0]["by_draw"] for row in rows]
    # The first was chosen by the same trials, so it could be any: all pairs count (Bonferroni), not those with it.
    pairs = len(rows) * (len(rows) - 1) / 2
    for row, gap in zip(rows, behind, strict=True):
        row.update(averages({"behind": gap}))
        p = stats.ttest_1samp(gap, 0.0).pvalue if gap.std() > 0.0 else float(gap[0] == 0.0)
        row["as_good"] = bool(pairs * p > 1.0 - LEVEL)
        del row["by_draw"]
    return pl.DataFrame(rows)


def reasons(ranked: pl.DataFrame, draws: int, runs: int) -> list[str]:
    """Why the first policy is recommended, in sentences with error bars (two standard errors)."""
    rows = ranked.to_dicts()
    first = rows[0]
    shown = {name: two_errors(first, name) for name in (*MEASURED, "worst_outcome")}
    found = [
        f"Smallest mean regret over {draws} bandits of the prior, {runs} trials on each: {shown['regret']}.",
        f"Mean outcome {shown['outcome']}; in the worst {100 * WORST:g} % of trials {shown['worst_outcome']}.",
        f"Outcomes within a trial deviate by {shown['deviation']}; moving between options adds "
        f"{shown['exploration_risk']} of variance.",
        f"At the end the best option looks best in {100 * first['found_best']:.0f} % of trials"
        f" (± {200 * first['found_best_se']:.0f} %).",
    ]
    ties = [row["policy"] for row in rows[1:] if row["as_good"]]
    if ties:
        found.append(f"Statistically indistinguishable from it in these simulations: {', '.join(ties)}.")
    elif len(rows) > 1:
        found.append(f"Next comes {rows[1]['policy']}, behind by {two_errors(rows[1], 'behind')} of regret.")
    return found


def two_errors(row: dict[str, Any], name: str) -> str:
    """A mean with two standard errors."""
    return with_error(row[name], 2.0 * row[f"{name}_se"])
