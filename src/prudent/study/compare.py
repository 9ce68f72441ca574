"""Two policies on the same cells."""

import math

import numpy as np
import polars as pl
from scipy import stats

from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_number, shown
from prudent.results.runs import MEASURES, check_measure
from prudent.study.select import labels_of, matches, ranges_of

COMMON = ("arms", "risk", "horizon", "runs")
"""What two cells must share to be compared, besides the labels that are numbers."""


def compare(
    table: pl.DataFrame, policy_a: str, policy_b: str, *, measure: str = "regret", level: float = 0.95
) -> pl.DataFrame:
    """A − B for every pair of cells that differ in the policy alone: difference, interval, p-value, verdict.

    Welch's t: policies have streams of their own, so their runs are independent. The intervals hold all at once with
    probability `level` (Bonferroni); p-values are adjusted by Holm's method, which decides the verdict and may see a
    difference where the wider interval still holds 0. Assumes enough runs a cell for means to be nearly normal.
    """
    level = check_number("compare", "level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    check_measure("compare", measure, MEASURES)
    if not isinstance(table, pl.DataFrame) or not {*COMMON, "policy", measure, f"{measure}_se"} <= set(table.columns):
        raise PrudentError(f"compare: table must be that of a study, as Store.table() gives it, got {shown(table)}")
    # Labels in words may name the policy itself; only the bandit's name and numbers must agree.
    labels = [name for name in labels_of(table) if name == "bandit" or name in ranges_of(table)]
    same = [*labels, *COMMON]
    own = [measure, f"{measure}_se"]
    both = [_of_policy(table, policy) for policy in (policy_a, policy_b)]
    if both[0]["policy"][0] == both[1]["policy"][0]:
        raise PrudentError(f"compare: {policy_a} and {policy_b} are one policy; name two that differ")
    sides = [side.select(*same, *own).drop_nulls(own[1]) for side in both]
    pairs = sides[0].join(sides[1], on=same, how="inner", nulls_equal=True, maintain_order="left", suffix="_b")
    if pairs.is_empty():
        raise PrudentError(f"compare: {policy_a} and {policy_b} share no finished cell of two runs or more")
    a, se_a, b, se_b = pairs.drop(same).to_numpy().T
    difference, error = a - b, np.hypot(se_a, se_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Degrees of freedom after Welch and Satterthwaite; both sides have as many runs.
        freedom = (pairs["runs"].to_numpy() - 1) * (se_a**2 + se_b**2) ** 2 / (se_a**4 + se_b**4)
        freedom = np.where(np.isfinite(freedom), freedom, math.inf)
        p = np.where(error > 0.0, 2.0 * stats.t.sf(np.abs(difference) / error, freedom), (difference == 0.0) * 1.0)
    margin = stats.t.isf((1.0 - level) / (2.0 * len(pairs)), freedom) * error
    adjusted = holm(p)
    verdict = np.where(adjusted > 1.0 - level, "open", np.where(difference < 0.0, "A smaller", "B smaller"))
    found = {"difference": difference, "se": error, "low": difference - margin, "high": difference + margin}
    return pairs.select(same).hstack(pl.DataFrame({**found, "p_holm": adjusted, "verdict": verdict}))


def _of_policy(table: pl.DataFrame, policy: str) -> pl.DataFrame:
    known = table.get_column("policy").unique(maintain_order=True).to_list()
    found = [name for name in known if isinstance(policy, str) and matches(policy, name)]
    if len(found) != 1:
        raise PrudentError(f"compare: {shown(policy)} must be one policy of {', '.join(known)}; it is {len(found)}")
    return table.filter(pl.col("policy") == found[0])


def holm(p: Array) -> Array:
    """P-values adjusted by Holm's step-down method: rejecting those below α errs anywhere with probability ≤ α."""
    order = np.argsort(p)
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(steps, 1.0)[np.argsort(order)]
