"""Logs that are read in parts, because they are too large to be held: files of Parquet, and lazy frames of polars.

A first look counts rows by arm and by state. The second one enters every round into the sums of sums.py.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.base.text import count, number, risk_name
from prudent.evaluation.bands import Band, Steps
from prudent.evaluation.betting import Ends
from prudent.evaluation.log import (
    FINAL,
    FLOOR,
    NO_VALUE,
    OWNER,
    ROUNDING,
    STATE,
    WITHOUT,
    Log,
    arms_in,
    collected,
    is_exported,
    lazy_frame,
    named,
    sorted_labels,
)
from prudent.evaluation.notes import chances, doubts, few_rounds, too_low
from prudent.evaluation.result import Row, power_of
from prudent.evaluation.sums import BINS, Limits, Sums
from prudent.evaluation.target import ROBUST, WEIGHTS, written
from prudent.risk.base import Interval
from prudent.risk.mean_variance import MeanVariance
from prudent.risk.monotone import is_monotone

LARGE = 2_000_000
"""Rows from which a log is read in parts."""

PART = 1_000_000
"""Rows that are held at a time."""


class LargeLog:
    """A log in a lazy frame. What is known of it after a first look has the names that it has in `Log`."""

    def __init__(self, frame: Any, names: Mapping[str, str], says_floor: bool, exported: bool) -> None:
        import polars as pl  # slow to import, and not needed for other logs

        group, outcome = pl.col(names["group"]).cast(pl.String), pl.col(names["outcome"]).cast(pl.Float64)
        chance = pl.col(names["propensity"]).cast(pl.Float64) if names["propensity"] else pl.lit(None, pl.Float64)
        final = pl.col(STATE).is_in(FINAL) if exported else pl.lit(True)
        state = pl.when(final).then(pl.lit(NO_VALUE)).otherwise(pl.col(STATE)) if exported else pl.lit(NO_VALUE)
        counts = final & outcome.is_not_null() & outcome.is_not_nan() if exported else pl.lit(True)
        least = pl.col(FLOOR).cast(pl.Float64) if says_floor else pl.lit(None, pl.Float64)
        says_without = says_floor and WITHOUT in collected(frame, names_only=True)
        without = pl.col(WITHOUT).cast(pl.String).fill_null("") if says_without else pl.lit("")
        self._rows = frame.select(
            arm=group, outcome=outcome, propensity=chance, floor=least, counts=counts, state=state, without=without
        )
        known = collected(
            self._rows.group_by("arm", "counts", "state", "without", sure=pl.col("floor") > 0.0).agg(
                rows=pl.len(),
                bad=(pl.col("outcome").is_null() | ~pl.col("outcome").is_finite()).sum(),
                low=pl.col("outcome").min(),
                high=pl.col("outcome").max(),
                unknown=pl.col("propensity").is_null().sum(),
                rare=pl.col("propensity").min(),
                often=pl.col("propensity").max(),
                certain=(pl.col("propensity") >= 1.0).sum(),
                floor=pl.col("floor").min(),
            )
        )
        inside = known.filter("counts").sort("arm")
        self.passed_over: tuple[tuple[str, int], ...] = tuple(
            known.filter(~pl.col("counts")).group_by("state").agg(pl.col("rows").sum()).sort("state").iter_rows()
        )
        self._check(inside, names)
        self.labels = tuple(sorted_labels(set(inside["arm"])))
        self.outcome_ends = float(inside["low"].min()), float(inside["high"].max())
        self._settle(inside)

    def _settle(self, inside: Any) -> None:
        """Take what is known of some of the rounds for the whole."""
        import polars as pl

        self._inside = inside
        by_arm = inside.group_by("arm").agg(
            pl.col("rows", "certain").sum(), pl.col("rare").min(), pl.col("often").max()
        )
        found = {row["arm"]: row for row in by_arm.iter_rows(named=True)}
        self._certain = {label: row["certain"] for label, row in found.items()}
        self.rounds = sum(row["rows"] for row in found.values())
        missing = {"rare": math.inf, "often": 0.0}
        ends = [[found.get(label, missing)[name] for label in self.labels] for name in ("rare", "often")]
        self._constant = constant(*ends)
        unknown = inside["unknown"].sum() > 0
        self.least_propensity = None if unknown or not self.rounds else float(inside["rare"].min())
        floor = None if unknown or inside["floor"].null_count() else inside["floor"].min()
        self.floor = None if floor is None else float(floor)

    def with_chances(self, wanted: Iterable[str]) -> "LargeLog":
        """The rounds in which each of these arms had a chance, as `Log` has them."""
        import polars as pl

        if self.floor is None:
            return self
        texts = [text for text in self._inside["without"].unique() if not arms_in(text).intersection(wanted)]
        able = pl.col("without").is_in(texts)
        sure = able & (pl.col("floor") > 0.0)
        kept = sure if not self._inside.filter(sure).is_empty() else able
        some = self._inside.filter(kept)
        if len(some) == len(self._inside):
            return self
        other = copy.copy(self)
        other._rows = self._rows.filter(kept)
        other._settle(some)
        return other

    def _check(self, known: Any, names: Mapping[str, str]) -> None:
        """Refuse values that no log can have."""
        if known.is_empty():
            raise PrudentError(f"{OWNER}: no decision of the log has an outcome yet; wait until rewards are reported")
        if known["arm"].null_count():
            raise PrudentError(f"{OWNER}: {names['group']} must name an arm in every row; fill it, or drop the row")
        if bad := known["bad"].sum():
            raise PrudentError(f"{OWNER}: outcomes must be finite numbers, and {count(bad)} are not; drop these rows")
        rare, often = known["rare"].min(), known["often"].max()
        if rare is not None and not (rare > 0.0 and often <= 1.0):
            got = f"got values from {number(rare)} to {number(often)}"
            raise PrudentError(f"{OWNER}: {names['propensity']} must lie in (0, 1], {got}")

    def without_chance(self, arm: int) -> int:
        """In how many rounds another arm was certain, so that this one could not be taken."""
        return int(sum(self._certain.values()) - self._certain.get(self.labels[arm], 0))

    def largest_weight(self, shares: Array, floor: float | None) -> float:
        """The largest that a weight can be; 0 if that is not known."""
        if floor is not None:
            return float(shares.max()) / floor
        return 0.0 if self._constant is None else float((shares / self._constant).max())

    def parts(self) -> Iterator[tuple[Any, Array, Array]]:
        """Arms by their numbers, outcomes and propensities, some rounds at a time."""
        import polars as pl

        kind = pl.Enum(list(self.labels))
        rows = self._rows.filter("counts").select(pl.col("arm").cast(kind).to_physical(), "outcome", "propensity")
        for part in rows.collect_batches(chunk_size=PART):
            arms, outcomes, chances = (part[name].to_numpy() for name in ("arm", "outcome", "propensity"))
            yield arms.astype(np.int64), outcomes, chances


def constant(least: list[float | None], most: list[float | None]) -> Array | None:
    """The propensity of each arm, if it is the same in all of its rounds, and they may be so at once."""
    low, high = np.array(least, float), np.array(most, float)  # NaN where it is not known
    same = (high - low <= ROUNDING * high).all() and high.sum() <= 1.0 + ROUNDING
    return high if same and high.all() else None


def large_log(given: Any, columns: Mapping[str, str | None]) -> LargeLog | None:
    """The log, if it is one that can be read in parts, and too large to be held."""
    frame = None if isinstance(given, Log) else lazy_frame(given)
    if frame is None:
        return None
    import polars as pl

    if collected(frame.select(pl.len())).item() <= LARGE:
        return None
    known = collected(frame, names_only=True)
    names = named(known, columns)
    exported = is_exported(known, names)
    return LargeLog(frame, names, exported and FLOOR in known, exported)


def limits_of(
    log: LargeLog, shares: Array, ends: tuple[float, float], floor: float | None, *, weighted: bool
) -> Limits:
    """What bets won on all rounds of the log: on one weighted sample, or on one of each arm in question."""
    if not math.isfinite(ends[0]):
        why = f"a log of more than {count(LARGE)} rows is read in parts, for which it must be known"
        raise PrudentError(f"{OWNER}: support must be given, because {why}; pass support=(low, high) (--support)")
    some = np.flatnonzero(shares)
    place = np.full(len(shares), -1, np.int64)
    place[some] = np.arange(len(some))
    sums = Sums(1, log.largest_weight(shares, floor)) if weighted else Sums(len(some), 1.0)
    for arms, outcomes, likely in log.parts():
        x = np.clip((outcomes - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0)
        if weighted:
            sums.include(np.zeros_like(arms), x, shares[arms] / likely)
        else:
            sums.include(place[arms], x, np.ones(len(x)))
    return Limits(sums, np.ones(1) if weighted else shares[some])


RESOLUTION = (
    f"The log was read in parts. Quantiles and tails are known to one of {count(BINS)} parts of the support, and"
    " intervals are a little wider than those of a log that is held as a whole."
)


def no_replay() -> PrudentError:
    """That a policy that learns cannot be replayed."""
    fix = f"a replay takes a log of at most {count(LARGE)} rows; pass a part of it"
    return PrudentError(f"{OWNER}: policy must be an arm or probabilities of arms for a log this large, {fix}")


def of_large(asked: Any, shares: Array, method: str) -> dict[str, Any]:
    """The same as `of_shares`, of a log that is read in parts."""
    log = asked.log
    if method == ROBUST:
        raise PrudentError(f"{OWNER}: method {ROBUST} takes a log of at most {count(LARGE)} rows; pass {WEIGHTS!r}")
    limits = limits_of(log, shares, asked.ends, asked.floor, weighted=method == WEIGHTS)
    low, reach = asked.ends[0], asked.ends[1] - asked.ends[0]
    law, band = (limits.law().times(reach, low), limits.band(asked.failure).times(reach, low))
    return {
        "policy": written(shares, log.labels),
        "method": method,
        "effective": limits.effective,
        "rows": tuple(_rows_of_large(asked, limits, law, band)),
        "law": law,
        "band": band,
        "notes": (
            *chances(log, shares, method),
            *(doubts(*limits.weights()) if method == WEIGHTS else ()),
            *few_rounds(limits.effective),
            *too_low(asked.measures, limits.effective),
            RESOLUTION,
        ),
    }


def _rows_of_large(asked: Any, limits: Limits, law: Steps, band: Band) -> Iterator[Row]:
    """All quantities."""
    (low, high), failure = asked.ends, asked.failure
    reach, (mean, variance) = high - low, limits.estimates()
    between = Interval(*(low + reach * limits.mean(failure)).tolist())
    yield Row("mean", low + reach * mean, between, larger_is_worse=not asked.larger)
    ends = limits.cost(0.0, failure)
    yield Row("variance", reach**2 * variance, Interval(reach**2 * max(ends[0], 0.0), reach**2 * ends[1]), power=2)
    gains = (law, band) if asked.larger else (law.reversed(), band.reversed())
    for measure in asked.measures:
        if isinstance(measure, MeanVariance):
            rho = measure.rho if asked.larger else -measure.rho
            cost, limited = _mean_variance(limits, rho, asked.ends, failure, low + reach * mean, between)
        else:
            cost, limited = measure.sample_cost(gains[0].values, gains[0].weights), None
        if is_monotone(measure):
            limited = Interval(*(measure.sample_cost(*side) for side in (gains[1].upper, gains[1].lower)))
        yield Row(risk_name(measure), cost, limited, power_of(measure))
    for level, ends in zip(asked.levels, limits.quantiles(asked.levels, failure), strict=True):
        between = Interval(*(low + reach * end for end in ends))
        yield Row(f"quantile {level:g}", law.quantile(level), between, larger_is_worse=not asked.larger)


def _mean_variance(
    limits: Limits, rho: float, ends: Ends, failure: float, mean: float, between: Interval
) -> tuple[float, Interval]:
    """σ² − ρμ of outcomes, and where it lies; an infinite ρ counts the mean alone."""
    if math.isinf(rho):
        return (-mean, Interval(-between.high, -between.low)) if rho > 0.0 else (mean, between)
    low, reach = ends[0], ends[1] - ends[0]
    found = limits.cost(rho / reach, failure)
    return reach**2 * limits.estimates()[1] - rho * mean, Interval(*(reach**2 * end - rho * low for end in found))
