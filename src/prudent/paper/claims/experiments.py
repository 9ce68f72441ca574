"""Claims that the paper reads off its simulations: section 5 and appendix D."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.stats import chi2, norm

from prudent import MVLCB, Bandit, ExpExp, Gaussian, MeanVariance, Runs, theory
from prudent.base.arrays import Array
from prudent.base.text import number
from prudent.paper.claims import printed
from prudent.paper.claims.ledger import (
    Evidence,
    Required,
    above,
    at_most,
    below,
    claim,
    exactly,
    judged,
    judged_over,
    known,
    listed,
    near,
    on,
    pm,
    regrets,
)  # fmt: skip
from prudent.paper.making import point
from prudent.paper.problems import ALGORITHMS, CONFIGURATION_1, CONFIGURATION_2, CONFIGURATIONS, FIGURE_2, grid_bandit
from prudent.results.rates import end_slope
from prudent.study import Labelled

RHOS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0)
SHOWN = (5_000, 25_000, 250_000)
EASY = {n: point(FIGURE_2, MVLCB(), 0.0, n) for n in (*SHOWN, 10**7, 10**8, 10**9)}
"""MV-LCB on the arms of Figure 2, left: n as the paper shows them, and beyond."""

_SIMPLE_HORIZONS = (50, 2_500, 25_000, 250_000, 10**7, 10**8)
LATE = 10**8, 10**10
_EASIER_HORIZONS = (2_500, 250_000, *LATE)
"""Horizons at which MV-LCB's advantage on configuration 1 shows late."""

SHARES = {LATE[0]: 50, LATE[1]: 100}
"""Shares of the runs for MV-LCB, which takes long there and whose regret hardly varies; elsewhere one in five."""


@claim("Figure 2, left", "The regret of MV-LCB tends to zero as n grows.")
@on(*[EASY[n] for n in (*SHOWN, 10**8)])
def tends_to_zero(*found: Runs) -> Evidence:
    """Regret at n = 5,000, 25,000 and 250,000, and on to 10⁸."""
    values = regrets(found)
    text = f"{listed(values)} at n = {listed([runs.horizon for runs in found])}"
    return judged(
        text, below(0.0, np.diff(values), of="every step"), below(0.001 * values[0], values[-1], of="the last")
    )


@claim("Figure 2, left", "Its two parts decrease at the same rate, O(log n / n).")
@on(EASY[5_000], EASY[250_000], EASY[10**7], EASY[10**9])
def same_rate(*found: Runs) -> Evidence:
    """Slopes on log-log axes of the gap part, the exploration part and log n / n: over the paper's horizons, 5,000 to
    250,000, and from 10⁷ to 10⁹. Slopes are alike if they differ by at most 0.02."""
    alike, said = [], []
    for first, last in (found[:2], found[2:]):
        horizons, parts = [first.horizon, last.horizon], [first.regret_parts(), last.regret_parts()]
        gap, exploration = (end_slope(horizons, [part[i].mean() for part in parts]) for i in range(2))
        rate = end_slope(horizons, [math.log(n) / n for n in horizons])
        alike.append(max(gap, exploration, rate) - min(gap, exploration, rate) <= 0.02)
        said.append(f"gap {gap:.3f}, exploration {exploration:.3f}, log n / n {rate:.3f} up to n = {last.horizon:,}")
    return judged_over([found[0].horizon, found[2].horizon], alike, "; ".join(said))


def stray(variance: float, mean_width: Array, variance_width: Array, s: Array) -> float:
    """The sum over s of the exact probabilities that s Gaussian rewards have a mean or a variance so far off."""
    mean = 2.0 * norm.sf(mean_width * np.sqrt(s / variance))
    above = chi2.sf(s * (1.0 + variance_width / variance), s - 1.0)
    below = chi2.cdf(s * np.maximum(1.0 - variance_width / variance, 0.0), s - 1.0)
    return float((mean + above + below).sum())


HORIZON = 10_000
COUNTS = np.arange(2, HORIZON + 1, dtype=float)
DELTA = HORIZON**-2.0


@claim("section 5, footnote", "The results extend to the sub-Gaussian arms of Figure 2.")
@on(EASY[10**7])
def figure_2_arms(runs: Runs) -> Evidence:
    """The event of the proofs for a Gaussian arm of variance 1/4: its exact probabilities at s = 2 … n, n = 10,000,
    δ = 1/n², in units of nδ, where the paper allows 6. Then the mean pseudo-regret at n = 10⁷ beside Theorem 1."""
    width, wide = printed.event_width(DELTA, COUNTS), printed.event_variance_width(DELTA, COUNTS)
    units = stray(max(FIGURE_2.variances), width, wide, COUNTS) / (HORIZON * DELTA)
    allowed = printed.failure(1, 1, 1.0)
    bound = theory.theorem1_expectation(FIGURE_2, MeanVariance(0.0), runs.horizon)
    measured = float(runs.pseudo_regret().mean())
    text = f"{number(units, 2)} nδ; pseudo-regret {number(measured, 2)} at n = {runs.horizon:,}"
    telling = Required(not bound.vacuous, "a bound that says something")
    return judged(text, at_most(allowed, units), telling, at_most(known(bound.printed), measured))


@claim("section 5, footnote", "All the results can be extended to sub-Gaussian distributions.")
def sub_gaussian() -> Evidence:
    """The same for a Gaussian arm of configuration 1's largest variance, with the widths of the proofs and with those
    of rewards in an interval of length b = 2σ; and the mean of one reward of a Laplace arm of variance 1/4, which has
    heavier tails than any sub-Gaussian one."""
    width, wide = printed.event_width(DELTA, COUNTS), printed.event_variance_width(DELTA, COUNTS)
    largest = float(CONFIGURATION_1.variances.max())
    b, allowed = 2.0 * math.sqrt(largest), printed.failure(1, 1, 1.0)
    as_is = stray(largest, width, wide, COUNTS) / (HORIZON * DELTA)
    scaled = stray(largest, b * width, b**2 * wide, COUNTS) / (HORIZON * DELTA)
    laplace = math.exp(-float(printed.event_width(DELTA, 1.0)) / math.sqrt(0.25 / 2.0)) / DELTA
    text = (
        f"variance {largest:g}: {as_is:,.0f} nδ as it is, {number(scaled, 2)} nδ with b; a Laplace arm {laplace:,.0f} δ"
    )
    mended = [at_most(allowed, scaled), above(allowed, laplace, of="the Laplace arm")]
    return judged(text, at_most(allowed, as_is), corrected=mended)


@claim("section 5", "With equal means the regret coincides with its gap part.")
@on(point(Bandit([Gaussian(1.5, 0.05), Gaussian(1.5, 0.25)]), MVLCB(), 0.0, 10_000))
def equal_means(runs: Runs) -> Evidence:
    """Two arms of mean 1.5, variances 0.05 and 0.25, n = 10,000: the mean difference, as a share of the regret."""
    rest = np.abs(runs.regret() - runs.regret_parts().gap)
    share = float(rest.mean() / runs.regret().mean())
    text = f"they differ by {number(rest.mean(), 2)}, {share:.2%} of the regret {pm(runs.regret())}"
    return judged(text, below(0.01, share))


@claim("Figure 2, right", "The worst-case regret of MV-LCB stabilises to a constant.")
@on(*[point(grid_bandit(0.4, 0.25), MVLCB(), 0.0, n, share=5) for n in (10**4, 10**6, 10**8)])
def constant_worst_case(*found: Runs) -> Evidence:
    """Equal variances, Γ = 1.1, n = 10⁴, 10⁶, 10⁸: the regret over Γ²/4."""
    limit = float(np.ptp(found[0].bandit.means)) ** 2 / 4.0
    shares = regrets(found) / limit
    return judged(f"{listed(shares, 4)}, in units of Γ²/4 = {limit:.4f}", near(1.0, 0.02, shares))


def near_the_worst(horizons: Sequence[int], multiples: Sequence[float]) -> list[Labelled]:
    """ExpExp at Γ = 1.1 and gaps of order n^(−1/3), the gap changing fastest."""
    gaps = [(n, min(0.25, multiple * n ** (-1 / 3))) for n in horizons for multiple in multiples]
    return [point(grid_bandit(0.4, 0.25 - gap), ExpExp(), 0.0, n) for n, gap in gaps]


@claim("Figure 2, right", "The worst-case regret of ExpExp keeps decreasing.")
@on(*near_the_worst((10**3, 10**5, 10**7), (0.0, 0.25, 1.0, 4.0)))
def decreasing_worst_case(*found: Runs) -> Evidence:
    """The largest regret over gaps of order n^(−1/3) at Γ = 1.1, n = 10³, 10⁵, 10⁷."""
    worst = regrets(found).reshape(3, 4).max(1)
    falls = below(0.0, worst[1:] - 0.5 * worst[:-1], of="each minus half of the one before")
    return judged(f"{listed(worst)} at n = 10³, 10⁵, 10⁷", falls)


@claim("appendix D.1", "On simple problems (large Δ) MV-LCB converges to zero regret faster than ExpExp.")
@on(*[point(grid_bandit(0.4, 0.0), policy, 0.0, n) for policy in ALGORITHMS.values() for n in _SIMPLE_HORIZONS])
def faster_on_simple(*found: Runs) -> Evidence:
    """Δ = 0.25, Γ = 1.1, c = 5, n = 50, 2,500, 25,000 and 250,000 as the paper shows, then 10⁷ and 10⁸: regrets, and
    their slopes on log-log axes from 25,000 to 250,000."""
    ours, other = regrets(found).reshape(2, len(_SIMPLE_HORIZONS))
    steep, flat = (end_slope(_SIMPLE_HORIZONS[2:4], values[2:4]) for values in (ours, other))
    text = f"MV-LCB {listed(ours, 2)}; ExpExp {listed(other, 2)}; slopes {steep:.2f} and {flat:.2f}"
    return judged_over(_SIMPLE_HORIZONS, list((ours < other) & (steep < flat)), text)


@claim("appendix D.1", "At Δ = 0 MV-LCB has a regret that does not decrease with n, while ExpExp's slowly does.")
@on(*[point(grid_bandit(0.4, 0.25), policy, 0.0, n) for policy in ALGORITHMS.values() for n in (1_000, 250_000)])
def equivalent_arms(*found: Runs) -> Evidence:
    """Equal variances, Γ = 1.1, n = 1,000 and 250,000: slopes on log-log axes."""
    slopes = [end_slope([runs.horizon for runs in pair], regrets(pair)) for pair in (found[:2], found[2:])]
    text = f"MV-LCB {slopes[0]:.4f}, ExpExp {slopes[1]:.2f}"
    return judged(text, near(0.0, 0.01, slopes[0]), above(-1.0, slopes[1]), below(-0.2, slopes[1]))


def whole(values: Array) -> list[int]:
    """Decimals as multiples of 1/10,000, which they are; then the arithmetic is exact."""
    found = [Fraction(repr(value)) * 10_000 for value in values.tolist()]
    if any(value.denominator != 1 for value in found):
        raise ValueError(f"{values} has more than four decimals")
    return [int(value) for value in found]


def never_best(bandit: Bandit) -> int:
    """How many arms are best for no ρ ≥ 0: an arm's ρ must lie above its crossings with arms of smaller mean and below
    those with arms of larger mean. In fractions."""
    means, variances = whole(bandit.means), whole(bandit.variances)
    count = 0
    for mean, variance in zip(means, variances, strict=True):
        others = [(m, v) for m, v in zip(means, variances, strict=True) if m != mean]
        low = max([Fraction(0), *[Fraction(variance - v, mean - m) for m, v in others if m < mean]])
        high = [Fraction(v - variance, m - mean) for m, v in others if m > mean]
        beaten = any(m == mean and v < variance for m, v in zip(means, variances, strict=True))
        count += beaten or any(crossing < low for crossing in high)
    return count


@claim("appendix D.2", "A subset of the 15 arms is dominated: best for no ρ.")
def dominated() -> Evidence:
    """In fractions: arms whose line σ² − ρμ lies above that of another at every ρ ≥ 0."""
    one, two = (never_best(bandit) for bandit in CONFIGURATIONS.values())
    text = f"{one} arms of configuration 1, {two} of configuration 2"
    return judged(text, above(0, [one, two]), below(15, [one, two]))


def complexities(bandit: Bandit) -> Array:
    """Σ 1/Δ² at ρ = 0, 0.001, …, 10; the gaps are whole numbers of 10⁻⁷, and infinite complexities are ties."""
    rhos = np.arange(10_001, dtype=np.int64)[:, None]
    means, variances = (np.array(whole(values), dtype=np.int64) for values in (bandit.means, bandit.variances))
    gaps = np.sort(1_000 * variances - rhos * means, axis=1)
    gaps = gaps[:, 1:] - gaps[:, :1]
    with np.errstate(divide="ignore"):
        total: Array = (1e14 / gaps.astype(float) ** 2).sum(1)
    return total


@claim("appendix D.2", "Configuration 2 always has a higher complexity than configuration 1.")
def more_complex() -> Evidence:
    """Σ1/Δ² of both at 10,001 values of ρ in [0, 10], from gaps in whole numbers."""
    one, two = (complexities(bandit) for bandit in CONFIGURATIONS.values())
    share, typical = float((one >= two).mean()), float(np.median(two / one))
    text = f"not for {share:.1%} of {len(one):,} values; in the median it is {typical:.1f} times as complex"
    return judged(text, exactly(0.0, share))


def _over_rho(bandit: Bandit, *horizons: int) -> list[Labelled]:
    """MV-LCB, then ExpExp, at every ρ and these horizons, the horizon changing fastest."""
    ours = [point(bandit, MVLCB(), rho, n, share=SHARES.get(n, 5)) for rho in RHOS for n in horizons]
    return [*ours, *[point(bandit, ExpExp(), rho, n) for rho in RHOS for n in horizons]]


def wins(found: Sequence[Runs]) -> list[int]:
    """For how many values of ρ MV-LCB has the smaller regret, in each stretch of its runs and as many of ExpExp."""
    ours, other = regrets(found).reshape(-1, 2, len(RHOS)).swapaxes(0, 1)
    return [int(count) for count in (ours < other).sum(1)]


@claim("appendix D.2", "On both configurations both algorithms approach the best arm as n grows, for every ρ.")
@on(*_over_rho(CONFIGURATION_1, 1_000, 250_000), *_over_rho(CONFIGURATION_2, 1_000, 250_000))
def approach(*found: Runs) -> Evidence:
    """The regret at n = 250,000 over that at 1,000 for nine values of ρ: the largest of each algorithm on each."""
    early, late = regrets(found).reshape(-1, 2).T
    largest = (late / early).reshape(4, len(RHOS)).max(1)
    return judged(f"{listed(largest, 2)} by MV-LCB and ExpExp on one, then on two", below(0.6, largest))


@claim("appendix D.2", "On configuration 1 MV-LCB outperforms ExpExp and converges faster.")
@on(*[cell for n in _EASIER_HORIZONS for cell in _over_rho(CONFIGURATION_1, n)])
def easy_configuration(*found: Runs) -> Evidence:
    """For how many of nine values of ρ its regret is smaller, c = 5, n = 2,500 and 250,000 as the paper shows, then 10⁸
    and 10¹⁰."""
    counts = wins(found)
    text = f"for {listed(counts)} of {len(RHOS)} values at n = {', '.join(f'{n:,}' for n in _EASIER_HORIZONS)}"
    return judged_over(_EASIER_HORIZONS, [count == len(RHOS) for count in counts], text)


@claim("appendix D.2", "On configuration 2 ExpExp eventually does better for some values of ρ.")
@on(*[cell for n in (250_000, LATE[0]) for cell in _over_rho(CONFIGURATION_2, n)])
def hard_configuration(*found: Runs) -> Evidence:
    """For how many of nine values of ρ ExpExp's regret is smaller at n = 250,000, the largest that the paper shows, and
    at 10⁸."""
    other = [len(RHOS) - ours for ours in wins(found)]
    text = f"for {other[0]} of {len(RHOS)} values at n = 250,000, for {other[1]} at n = {LATE[0]:,}"
    shown = other[0]
    return judged(text, above(0, shown, of="the first"), below(len(RHOS), shown, of="the first"))
