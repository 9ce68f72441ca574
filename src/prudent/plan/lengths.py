"""How long is enough: what a longer trial finds and loses."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from prudent.base.arrays import Array
from prudent.plan.ranking import PROMISED, Measured
from prudent.plan.trial import Trial, Worlds
from prudent.plan.words import percent

if TYPE_CHECKING:
    from prudent.plan.advise import Advice

GAIN = 0.03
"""A longer trial must find the best option at least so much more often to be worth its length."""

RULE = (
    "The plan takes the shortest of these lengths beyond which no longer trial finds the best option"
    f" {100 * GAIN:g} percentage points more often."
)

MOST_TIMES = 1_000
"""How many times as long a trial is thought of that could tell."""


def curve(measured: Sequence[Measured]) -> pl.DataFrame:
    """A row for each length."""
    rows: list[dict[str, Any]] = []
    for one in measured:
        row: dict[str, Any] = {"policy": one.name, "horizon": one.horizon}
        for name in PROMISED:
            row |= {f"{name}{end}": x for end, x in zip(("", "_low", "_high"), one.promise(name)[:3], strict=True)}
        rows.append(row)
    return pl.DataFrame(rows)


def knee(horizons: Sequence[int], found_best: Sequence[float]) -> int:
    """The shortest length beyond which none finds the best option so much more often."""
    for i, horizon in enumerate(horizons):
        if max(found_best[i:]) < found_best[i] + GAIN:
            return horizon
    return horizons[-1]


def enough(trial: Trial, worlds: Worlds, horizon: int, wanted: float) -> int | None:
    """About how many rounds, split evenly, would find the best option so often; None if a thousand times as many as
    planned would not.

    Means and variances of so many outcomes are taken as normal, with the kurtosis of the pilot's distributions.
    """
    if trial.rho is None:
        return None
    rng = np.random.default_rng(0)
    begun = np.array([len(gains) for gains in trial.known])
    noise = rng.standard_normal((20, *worlds.costs.shape))
    spread = _spread(trial, worlds)
    rounds = horizon
    while rounds <= MOST_TIMES * horizon:
        counts = begun + rounds / len(trial.options)
        # What the pilot has shown already does not vary from trial to trial, so only the new outcomes do.
        guess = worlds.costs + noise * spread / np.sqrt(counts)
        if float((guess.argmin(2) == worlds.best).mean()) >= wanted:
            return rounded_up(rounds)
        rounds = math.ceil(1.25 * rounds)
    return None


def _spread(trial: Trial, worlds: Worlds) -> Array:
    """The standard deviation of one outcome's share in the estimated cost."""
    rho = trial.rho
    if rho is None or math.isinf(rho):
        return np.sqrt(worlds.variances)
    found = np.empty_like(worlds.costs)
    rng = np.random.default_rng(1)
    for place, laws in enumerate(zip(*worlds.laws, strict=True)):
        for row, law in enumerate(laws):
            if row % 10:  # a sample of worlds tells it well enough
                found[row, place] = found[row - row % 10, place]
                continue
            x = law.sample(rng, 2_000)
            found[row, place] = ((x - law.mean) ** 2 - rho * x).std()
    return found


def rounded_up(rounds: int) -> int:
    """To two digits."""
    size: int = 10 ** max(0, len(str(rounds)) - 2)
    return int(math.ceil(rounds / size) * size)


def in_words(advice: "Advice") -> list[str]:
    """What the curve says, in sentences."""
    if advice.lengths is None:
        return []
    chosen = advice.horizon
    rows = {row["horizon"]: row for row in advice.lengths.iter_rows(named=True)}
    last = max(rows)
    said = [f"After {chosen:,} rounds the best option is found in {percent(rows[chosen]['found_best'])} of trials."]
    if chosen == last:
        said.append("That is the longest of the lengths compared. A longer trial may find it more often.")
    else:
        said.append(f"After {last:,} rounds it would be found in {percent(rows[last]['found_best'])}.")
    return [*said, RULE]
