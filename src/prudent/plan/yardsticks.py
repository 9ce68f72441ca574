"""Ways that do not learn, with which a plan is compared: each option for everyone, and all of them in turn."""

from typing import Any

import polars as pl

from prudent.plan.ranking import Measured, Promise
from prudent.plan.trial import Trial, Worlds

MOST_FIXED = 20
"""Options up to which each, given to everyone, is a yardstick."""


def yardsticks_of(trial: Trial, worlds: Worlds, even: Measured) -> pl.DataFrame:
    """Ways that do not learn: each option for everyone, and all of them in turn, which is a plain test."""
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(trial.names[:MOST_FIXED] if len(trial.names) <= MOST_FIXED else ()):
        means, variances = worlds.means[:, [place]], worlds.variances[:, [place]]
        gap, best = worlds.gaps[:, [place]], (worlds.best == place)[:, None].astype(float)
        rows.append(_yardstick(trial, f"always {name}", gap, best, means, variances))
    rows.append(_yardstick(trial, "all in turn", even.regret, even.found_best, even.outcome, even.variance))
    return pl.DataFrame(rows)


def _yardstick(trial: Trial, name: str, regret: Any, found: Any, outcome: Any, variance: Any) -> dict[str, Any]:
    parts = {"regret": Promise.of(regret), "outcome": Promise.of(outcome).times(trial.outcome.sign)}
    parts |= {
        "found_best": Promise.of(found),
        "deviation": Promise(*(max(x, 0.0) ** 0.5 for x in Promise.of(variance)[:3])),
    }
    row: dict[str, Any] = {"yardstick": name}
    for key, promise in parts.items():
        row |= {f"{key}{end}": x for end, x in zip(("", "_low", "_high"), promise[:3], strict=True)}
    return row
