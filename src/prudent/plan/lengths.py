"""How long is enough: what a longer trial finds, costs and risks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from prudent.plan.ranking import MEASURED
from prudent.plan.words import percent
from prudent.runs import averages

if TYPE_CHECKING:
    from prudent.plan.advise import Advice

GAIN = 0.03
"""A longer trial must find the best option at least so much more often to be worth its length."""

RULE = (
    "The length taken is the shortest of those compared for which no longer one finds the best option"
    f" at least {100 * GAIN:g} percentage points more often."
)


def curve(trials: pl.DataFrame) -> pl.DataFrame:
    """A row per policy and length, with error bars over draws."""
    rows = []
    for (policy, horizon), own in trials.group_by("policy", "horizon", maintain_order=True):
        by_draw = own.group_by("draw", maintain_order=True).agg(pl.col(MEASURED).mean())
        found = averages({name: by_draw[name].to_numpy() for name in MEASURED})
        rows.append({"policy": policy, "horizon": horizon, **found})
    return pl.DataFrame(rows).sort("policy", "horizon", maintain_order=True)


def knee(horizons: Sequence[int], found_best: Sequence[float]) -> int:
    """The shortest length beyond which none finds the best option so much more often."""
    for i, horizon in enumerate(horizons):
        if max(found_best[i:]) < found_best[i] + GAIN:
            return horizon
    return horizons[-1]


def in_words(advice: "Advice") -> list[str]:
    """What the curve says, in sentences."""
    if advice.lengths is None:
        return []
    trial, chosen = advice.trial, advice.horizon
    rows = {row["horizon"]: row for row in advice.lengths.filter(policy=advice.lengths_of).iter_rows(named=True)}
    here, last = rows[chosen], max(rows)
    said = [
        f"After {chosen:,} rounds the best option is found in {percent(here, 'found_best')} of trials, and the one that"
        f" looks best then loses {trial.price(here, 'loss')} per round on average.",
    ]
    if chosen == last:
        said.append(
            "That is the longest length compared. Longer ones may find it more often: give them with --horizon."
        )
    else:
        more = percent(rows[last], "found_best")
        said.append(
            f"After {last:,} it would be found in {more}, and the loss would be {trial.price(rows[last], 'loss')}."
        )
    return [*said, RULE]
