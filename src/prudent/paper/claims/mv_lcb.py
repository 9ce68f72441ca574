"""Claims of section 3 and appendix B: MV-LCB, its confidence bounds, Theorem 1, and the remarks on them."""

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from prudent import MVLCB, UCB1, AnytimeMVLCB, Bandit, Bernoulli, Deterministic, Gaussian, MeanVariance, Runs, theory
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
    known,
    listed,
    near,
    on,
    pm,
    regrets,
)  # fmt: skip
from prudent.paper.making import point
from prudent.paper.problems import FIGURE_2, ZERO_ONE, grid_bandit
from prudent.policies.binding import bind
from prudent.policies.contract import Arm, Setting
from prudent.policies.mv_lcb import MVIndex
from prudent.results import regret as definitions
from prudent.results.rates import end_slope
from prudent.study import Labelled
from prudent.theory import Bound

SAMPLES, ALLOWED = 200, 0.1
DELTA = ALLOWED / (6 * SAMPLES)
"""δ such that Lemma 2 allows its event a probability of 0.1 for one arm and 200 samples."""

LAWS = (Bernoulli(0.5), Bernoulli(0.15))
"""The mean of the first and the variance of the second vary as much as those of any Bernoulli arm."""

TWO = Bandit([Bernoulli(0.98), Bernoulli(0.5)])
THREE = Bandit([Bernoulli(0.98), Bernoulli(0.5), Bernoulli(0.1)])
HORIZON = 10**7
PLACES = ((TWO, MeanVariance(0.0)), (THREE, MeanVariance(1.0)))
LONG = [point(bandit, MVLCB(), risk.rho, HORIZON) for bandit, risk in PLACES]
"""Rewards in [0, 1] as the theorems assume, and an n at which they say something."""

TIED = Bandit([Gaussian(0.2, 0.3), Gaussian(0.6, 0.7), Gaussian(1.0, 1.1)])
"""Three different means, and one mean-variance at ρ = 1."""


def crossing(success: float, outside: NDArray[np.bool_]) -> float:
    """P(outside[s − 1, ones among s rewards] for some s) of a Bernoulli arm, exact: its law is passed on."""
    inside = np.ones(1)
    for out in outside:
        moved = np.append(inside * (1.0 - success), 0.0)
        moved[1:] += inside * success
        inside = np.where(out[: len(moved)], 0.0, moved)
    return 1.0 - float(inside.sum())


def counts() -> tuple[Array, Array, Array]:
    """s, mean and variance after s rewards of which k are ones, as arrays [s − 1, k]; k > s is never looked at."""
    ones = np.arange(SAMPLES + 1.0)
    s = ones[1:, None]
    return s, ones / s, ones / s * (1.0 - ones / s)


def index(rho: float, delta: float) -> MVIndex:
    """The index of Figure 1."""
    ready: MVIndex = bind(MVLCB(rho=rho, delta=delta), Setting(2, MeanVariance(rho)))
    return ready


@claim("Lemma 2", "All empirical mean-variances stay within (5+ρ)√(log(1/δ)/2s), except with probability 6nKδ.")
def lemma_2() -> Evidence:
    """The exact probability of leaving that width within 200 rewards of a Bernoulli arm, 6nδ = 0.1; the largest of two
    arms, ρ = 0, 1 and 100. Then the same with the width divided by 2 at ρ = 100."""
    s, mean, variance = counts()

    def leaving(law: Bernoulli, rho: float, share: float = 1.0) -> float:
        off = np.abs(variance - rho * mean - MeanVariance(rho).cost(law))
        return crossing(law.success, off >= share * printed.lemma_2_width(rho, DELTA, s))

    rhos = (0.0, 1.0, 100.0)
    probabilities = [max(leaving(law, rho) for law in LAWS) for rho in rhos]
    narrow = max(leaving(law, rhos[-1], 0.5) for law in LAWS)
    text = (
        f"probability {listed(np.abs(probabilities), 2)} for ρ = {listed(rhos)}; with half the width {number(narrow)}"
    )
    return judged(text, at_most(printed.failure(SAMPLES, 1, DELTA), probabilities))


@claim("appendix A and B", "Every mean stays within √(log(1/δ)/2s) and variance within 5 times that, except with 6nKδ.")
def event() -> Evidence:
    """The exact probability that one of them does not, within 200 rewards of a Bernoulli arm, 6nδ = 0.1; that the
    variance alone does not, and does not with a tenth of its width."""
    s, mean, variance = counts()

    def leaving(law: Bernoulli, share: float) -> tuple[float, float]:
        off = np.abs(variance - law.variance) > share * printed.event_variance_width(DELTA, s)
        beside = np.abs(mean - law.mean) > printed.event_width(DELTA, s)
        return crossing(law.success, beside | off), crossing(law.success, off)

    (either, alone), (_, narrow) = (np.max([leaving(law, share) for law in LAWS], axis=0) for share in (1.0, 0.1))
    text = f"probability {number(either, 2)}; of the variance {number(abs(alone), 1)}, and {number(narrow, 3)}"
    return judged(text, at_most(printed.failure(SAMPLES, 1, DELTA), either))


@claim("section 3, Remark 1", "For ρ = 0 the algorithm plays by a lower confidence bound on the variances.")
def variance_bound() -> Evidence:
    """How much its index at ρ = 0 changes with the mean, and the exact probability that it exceeds the variance within
    200 rewards of a Bernoulli arm, 6nδ = 0.1."""
    ours, pulls, means = index(0.0, DELTA), (1, 10, SAMPLES), (0.1, 0.9)
    change = [np.ptp([ours.score(Arm(s, mean, 0.1)) for mean in means]) for s in pulls]
    s, _, variance = counts()
    width = np.array([-ours.score(Arm(int(own), 0.0, 0.0)) for own in s.ravel()])[:, None]
    worst = max(crossing(law.success, variance - width > law.variance) for law in LAWS)
    limit = at_most(printed.failure(SAMPLES, 1, DELTA), worst)
    text = (
        f"change {listed(change)} between means {listed(means)} for s = {listed(pulls)}; probability {number(worst, 2)}"
    )
    return judged(text, exactly(0.0, change), limit, above(0.0, width, of="every width"))


@claim("section 3, Remark 1", "MV-LCB becomes UCB1 as ρ → ∞.")
def becomes_ucb1() -> Evidence:
    """The indices divided by ρ = 10⁹ against UCB1's at t = 10, 100 and 500: of MV-LCB with δ = 1/n², n = 500, and of
    its anytime version with ε_t = 4 log t."""
    rho, pulls, means, variances, times = 1e9, (1, 7, 400), (0.1, 0.9), (0.0, 0.2), (10, 100, 500)
    fixed = index(rho, float(times[-1]) ** -2)
    arms = [(Arm(s, mean, variance), t) for s, mean, variance, t in product(pulls, means, variances, times)]
    asked = [(arm, t, UCB1(range=1.0).score(arm, t)) for arm, t in arms]
    off = max(abs(fixed.score(arm) / rho - ucb) for arm, _, ucb in asked)
    anytime = max(abs(AnytimeMVLCB(rho=rho, a=4.0, range=1.0).score(arm, t) / rho - ucb) for arm, t, ucb in asked)
    text = f"s = {listed(pulls)}, means {listed(means)}, variances {listed(variances)}, t = {listed(times)}: largest"
    text += f" difference {number(anytime, 2)} for the anytime version, {number(off)} with a fixed δ"
    return judged(text, below(1e-7, [anytime, off]), part=[below(1e-7, anytime)])


def telling(*bounds: Bound) -> Required:
    """Whether the bandits meet the conditions, and both forms of each bound are below what is possible at all."""
    met = all(b.applies and max(known(b.printed), known(b.corrected)) < b.limit[0] for b in bounds)
    return Required(met, "bounds that say something")


def against(bounds: list[Bound], values: list[float], shown: list[str]) -> Evidence:
    """Measured values, as they are shown, beside their bounds: they hold if both say something and none is exceeded."""
    cases = [
        f"{own}, bound {number(b.corrected, 3)} as corrected, {number(b.limit[0], 3)} possible"
        for own, b in zip(shown, bounds, strict=True)
    ]
    limits = [at_most(known(b.printed), value) for value, b in zip(values, bounds, strict=True)]
    return judged("; ".join(cases), telling(*bounds), *limits)


@claim("appendix B", "A worse arm is pulled at most 2(5+ρ)² log(1/δ)/Δ² + 1 times, except with probability 6nKδ.")
@on(*LONG)
def pulls(*found: Runs) -> Evidence:
    """MV-LCB with δ = 1/n² at n = 10⁷ on two [0, 1] arms, ρ = 0, and on three, ρ = 1: the most pulls of worse arms,
    largest share of its bound."""
    shares, shown, bounds = [], [], []
    for runs, (bandit, risk) in zip(found, PLACES, strict=True):
        for arm in set(range(len(bandit))) - {bandit.best(risk)}:
            bound, most = theory.pulls_bound(bandit, risk, HORIZON, arm=arm), int(runs.pulls[:, arm].max())
            # The bound of the proof is the corrected one; the printed one belongs to a lemma that is commented out.
            shares.append(most / known(bound.corrected))
            shown.append(f"{most:,} of {bound.corrected:,.0f}")
            bounds.append(bound)
    return judged(f"{', '.join(shown)} in {len(found[0]):,} runs each", telling(*bounds), at_most(1.0, shares))


@claim(
    "Theorem 1, high probability", "The pseudo-regret of MV-LCB stays below the bound, except with probability 6nKδ."
)
@on(*LONG)
def theorem_1_probability(*found: Runs) -> Evidence:
    """The largest pseudo-regret over runs against the bound: n = 10⁷, two [0, 1] arms, ρ = 0, and three, ρ = 1."""
    bounds = [theory.theorem1_high_probability(*place, HORIZON) for place in PLACES]
    tops = [float(runs.pseudo_regret().max()) for runs in found]
    return against(bounds, tops, [f"largest {number(top, 2)}" for top in tops])


@claim("Theorem 1, expectation", "The expected pseudo-regret of MV-LCB with δ = 1/n² stays below the bound.")
@on(*LONG)
def theorem_1(*found: Runs) -> Evidence:
    """The mean over runs against the bound: n = 10⁷, two [0, 1] arms, ρ = 0, and three, ρ = 1."""
    bounds = [theory.theorem1_expectation(*place, HORIZON) for place in PLACES]
    ours = [runs.pseudo_regret() for runs in found]
    return against(bounds, [float(values.mean()) for values in ours], [f"mean {pm(values)}" for values in ours])


@claim("appendix B, corollary", "The expected regret of MV-LCB stays below the bound.")
@on(*LONG)
def corollary_holds(*found: Runs) -> Evidence:
    """The mean over runs against the bound: n = 10⁷, two [0, 1] arms, ρ = 0, and three, ρ = 1."""
    bounds = [theory.corollary(*place, HORIZON) for place in PLACES]
    ours = [runs.regret() for runs in found]
    means = [float(values.mean()) for values in ours]
    ratios = [known(bound.printed) / mean for bound, mean in zip(bounds, means, strict=True)]
    told = [
        f"mean {pm(values)}, the printed bound {number(ratio, 2)} times that"
        for values, ratio in zip(ours, ratios, strict=True)
    ]
    return against(bounds, means, told)


@claim("appendix B", "On [0, 1] no pseudo-regret exceeds 2 + ρ.")
def pseudo_regret_range() -> Evidence:
    """The largest over all allocations of 100 pulls to pairs of Bernoulli arms, ρ = 0, 1 and 5."""
    allocations = np.column_stack([np.arange(101), np.arange(101)[::-1]])
    pairs = [Bandit([Bernoulli(one), Bernoulli(two)]) for one, two in product(np.linspace(0.0, 1.0, 11), repeat=2)]
    shown, limits = [], []
    for risk in map(MeanVariance, (0.0, 1.0, 5.0)):
        parts = [definitions.pseudo_regret_parts(allocations, b.means, b.gaps(risk), risk) for b in pairs]
        largest = max(float((part.gap + part.exploration).max()) for part in parts)
        limits.append(at_most(printed.largest_pseudo_regret(risk.rho), largest))
        shown.append(f"{number(largest, 3)} at ρ = {risk.rho:g}")
    return judged(f"the largest is {', '.join(shown)}, of {len(pairs)} pairs", *limits)


@claim("appendix B", "On [0, 1] the regret lies between −1/4 − ρ and 1/4 + ρ.")
def regret_range() -> Evidence:
    """All pairs of sequences of 100 rewards 0 and 1, ρ = 0, 0.5, 1 and 5: the largest difference of mean-variances."""
    share = np.arange(101) / 100.0
    shown, limits = [], []
    for rho in (0.0, 0.5, 1.0, 5.0):
        largest = float(np.ptp(MeanVariance(rho).stats_cost(share, share * (1.0 - share))))
        limits.append(at_most(printed.largest_regret(rho), largest))
        shown.append(f"{number(largest, 3)} at ρ = {rho:g}")
    return judged(f"largest {', '.join(shown)}", *limits)


@claim("section 3, Remark 1 (the bound)", "The regret decreases as O(log² n / n).")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in (10**6, 10**7, 10**8, 10**9)])
def remark_1(*found: Runs) -> Evidence:
    """Regret times n/log² n on Figure 2's arms, n = 10⁶, 10⁷, 10⁸, 10⁹: it must not grow. Beside it, n R/log n."""
    n = np.array([runs.horizon for runs in found])
    one = regrets(found) * n / np.log(n)
    two = one / np.log(n)
    text = f"n R/log² n is {listed(two)}; n R/log n is {listed(one)}, so O(log n/n) is sharper"
    return judged(text, below(0.0, np.diff(two), of="every step of the first"))


@claim("section 3, Remark 1 (the bound)", "If all arms have the same mean, the second term of the bound is zero.")
def equal_means_bound() -> Evidence:
    """Theorem 1 at n = 10⁷ for arms of variances 0 and 1/4: both of mean 1/2, against (2b² log n/n)/Δ + 17K/n, which
    is left of it without that term; then of means 1 and 1/2."""
    same, apart = (Bandit([Deterministic(mean), Bernoulli(0.5)]) for mean in (0.5, 1.0))
    bounds = [
        known(theory.theorem1_expectation(bandit, MeanVariance(0.0), HORIZON).printed) for bandit in (same, apart)
    ]
    left = (2.0 * 10.0**2 * math.log(HORIZON) / 0.25 + 17.0 * 2) / HORIZON
    rest, other = bounds[0] / left - 1.0, bounds[1] / left - 1.0
    text = f"the term adds {number(rest, 1)} to the rest, and {number(other, 3)} times it if they differ"
    return judged(text, near(0.0, 1e-12, rest), above(1e-12, other))


@claim("section 3, Remark 2", "Two deterministic arms: pulled equally often up to rounding, regret T₁T₂Γ²/n² ≈ Γ²/4.")
@on(*[point(ZERO_ONE, MVLCB(), 0.0, n) for n in (10**2, 10**4 + 1, 10**6)])
def remark_2(*found: Runs) -> Evidence:
    """Arms 0 and 1, ρ = 0, n = 100, 10,001 and 10⁶: the difference of their pulls, and regret minus T₁T₂/n²."""
    apart = [int(np.abs(np.diff(runs.pulls, axis=1)).max()) for runs in found]
    off = max(float(np.abs(runs.regret() - runs.pulls.prod(1) / runs.horizon**2).max()) for runs in found)
    text = f"pulls differ by {listed(apart)}; regret {listed(regrets(found), 9)}, off by at most {number(off, 1)}"
    odd = [runs.horizon % 2 for runs in found]
    return judged(text, Required(apart == odd, f"pulls that differ by {listed(odd)}"), below(1e-15, off))


@claim("section 3, Remark 2", "There the index is √(log(1/δ)/s).")
def remark_2_index() -> Evidence:
    """The index of Figure 1 with a variance of 0, ρ = 0, δ = 0.01, s = 10, and (5+ρ)√(log(1/δ)/2s)."""
    ours = index(0.0, 0.01).score(Arm(10, 0.0, 0.0))
    said, width = printed.worst_case_index(0.01, 10), float(printed.lemma_2_width(0.0, 0.01, 10))
    text = f"the index is {ours:.3f}, printed is {said:.3f}; minus the width is {-width:.3f}"
    return judged(text, near(said, 1e-12, ours), corrected=[near(-width, 1e-12, ours)])


@claim("section 3, Remark 2", "The same generalises to several arms and ρ ≠ 0: the regret is constant if they tie.")
@on(*[point(TIED, MVLCB(), 1.0, n) for n in (10**4, 10**5)])
def remark_2_many(*found: Runs) -> Evidence:
    """Three Gaussian arms of one mean-variance at ρ = 1, n = 10⁴ and 10⁵: the regret over the variance of their means,
    and its gap part over the same."""
    spread = float(TIED.means.var())
    whole, gap = regrets(found) / spread, np.array([runs.regret_parts().gap.mean() for runs in found]) / spread
    text = f"regret {listed(whole)}, gap part {listed(gap)}, in units of {spread:.4f}"
    return judged(text, near(1.0, 0.05, whole), near(0.0, 0.05, gap))


MULTIPLES, ENDS = (0.5, 1.0, 2.0, 4.0), (10**4, 10**6)


def ucb_cells() -> list[Labelled]:
    """UCB, which is MV-LCB that knows only means, at gaps of order √(log n/n); then MV-LCB on arms that tie."""
    gaps = [(n, multiple * math.sqrt(math.log(n) / n)) for n in ENDS for multiple in MULTIPLES]
    ucb = [point(Bandit([Gaussian(0.0, 0.25), Gaussian(-gap, 0.25)]), MVLCB(), math.inf, n, share=5) for n, gap in gaps]
    return [*ucb, *[point(grid_bandit(0.4, 0.25), MVLCB(), 0.0, n) for n in ENDS]]


@claim("section 3, Remark 2", "In the worst case UCB has a regret of order 1/√n, while that of MV-LCB is constant.")
@on(*ucb_cells())
def ucb_worst_case(*found: Runs) -> Evidence:
    """Slopes from n = 10⁴ to 10⁶: of the largest regret of MV-LCB at ρ = ∞, a UCB, over gaps of order √(log n/n), and
    of MV-LCB at ρ = 0 on arms that tie."""
    gaps = np.array([runs.gap_regret().mean() for runs in found[: -len(ENDS)]]).reshape(len(ENDS), -1).max(1)
    ucb, ours = end_slope(ENDS, gaps), end_slope(ENDS, regrets(found[-len(ENDS) :]))
    return judged(f"UCB {ucb:.3f}, MV-LCB {ours:.4f}", near(-0.5, 0.06, ucb), near(0.0, 0.01, ours))
