"""Claims of section 2 and appendix A: definitions, identities and what they imply."""

import numpy as np

from prudent import MVLCB, Bandit, Bernoulli, MeanVariance, RandomArm, RoundRobin, Runs, theory
from prudent.base.arrays import Array, Counts
from prudent.base.text import number, with_error
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
    mean_se,
    near,
    on,
)  # fmt: skip
from prudent.paper.making import point
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATIONS, FIGURE_2, ZERO_ONE
from prudent.results import regret

Shape = tuple[Array, Array]
BOTH = CONFIGURATIONS.values()
_FIFTEEN = point(CONFIGURATION_1, MVLCB(), 1.0, 5_000)
_ONE_ARM = point(CONFIGURATION_1, RandomArm(), 0.0, 1_000)
IN_TURN = [point(bandit, RoundRobin(), 0.0, n) for bandit in (FIGURE_2, CONFIGURATION_1) for n in (1_000, 100_000)]
_FAIR_COINS = Bandit([Bernoulli(0.5), Bernoulli(0.45)])
"""Arms that vary as much as any on [0, 1]."""


_POINTS = np.linspace(-20.0, 20.0, 161)

GAUSSIAN: Shape = _POINTS, np.exp(-(_POINTS**2) / 2.0)
"""Nodes and weights that integrate against the standard normal law, up to a factor: the trapezoidal rule, which is
exact to rounding for e^(−Ax)."""


PAIRS = np.random.default_rng(0).uniform(0.1, 1.0, (2, 2, 1_000))
"""Means and variances of the arms of 1,000 pairs."""


def agreement(shape: Shape, rho: float, aversion: float) -> float:
    """The share of 1,000 pairs of arms, μ + σ times one shape, that the mean-variance with ρ orders as the expected
    utility −exp(−Ax) with this A does; means and variances are uniform on [0.1, 1]."""
    means, variances = PAIRS
    nodes, weights = shape
    rewards = means[..., None] + np.sqrt(variances)[..., None] * nodes
    disutility = (np.exp(-aversion * rewards) * weights).sum(-1)
    return alike(MeanVariance(rho).stats_cost(means, variances), disutility)


def alike(one: Array, other: Array) -> float:
    """The share of pairs that two costs order alike."""
    return float((one.argmin(0) == other.argmin(0)).mean())


@claim("section 2, footnote", "The risk tolerance is the inverse of the coefficient of risk aversion, A = 1/ρ.")
def inverse_of_aversion() -> Evidence:
    """1,000 pairs of arms, ρ = 0.7: the share that the mean-variance orders as μ − Aσ² does, where A is the weight of
    the variance. This is a definition; that of Arrow and Pratt is among the remarks."""
    rho, (means, variances) = 0.7, PAIRS
    weight = alike(MeanVariance(rho).stats_cost(means, variances), variances / rho - means)
    return judged(f"orders {weight:.1%} of pairs as μ − Aσ²", exactly(1.0, weight))


@claim("section 2", "With ρ = 0 the best arm is the one of smallest variance.")
def rho_zero() -> Evidence:
    """The best arm of both configurations and of Figure 2 at ρ = 0, computed from the laws."""
    pairs = [(b.names[b.best(MeanVariance(0.0))], b.names[b.variances.argmin()]) for b in (*BOTH, FIGURE_2)]
    shown = "; ".join(f"{best} and {least}" for best, least in pairs)
    same = Required(all(best == least for best, least in pairs), "the same")
    return judged(f"best arm and arm of smallest variance: {shown}", same)


@claim("section 2", "As ρ → ∞ the problem becomes that of the largest mean.")
def rho_infinite() -> Evidence:
    """The best arm at ρ = 10⁶ and at ρ = ∞ against the largest mean, and cost/ρ against −μ."""
    rhos, names = (1e6, np.inf), []
    for b in BOTH:
        names.append([b.names[i] for i in (*[b.best(MeanVariance(rho)) for rho in rhos], int(b.means.argmax()))])
    far = [float(np.abs(b.costs(MeanVariance(rhos[0])) + rhos[0] * b.means).max()) for b in BOTH]
    same = Required(all(len(set(three)) == 1 for three in names), "the same")
    text = f"best at ρ = {listed(rhos)}, of largest mean: {'; '.join(', '.join(three) for three in names)}"
    return judged(
        f"{text}; |cost + ρμ| ≤ {listed(far)}", same, below(1e-6, np.divide(far, rhos[0]), of="its share of ρ")
    )


@claim("eq. regret2", "The regret is exactly gap + exploration − twins.")
@on(point(FIGURE_2, MVLCB(), 0.7, 10_000), point(CONFIGURATION_1, RoundRobin(), 0.7, 10_000))
def decomposition(*found: Runs) -> Evidence:
    """The largest difference over runs of MV-LCB on Figure 2's arms and of round robin on configuration 1, ρ = 0.7,
    n = 10,000."""
    worst = max(float(np.abs(sum(runs.regret_parts()) - runs.regret()).max()) for runs in found)
    text = f"largest difference {number(worst, 2)} over {sum(map(len, found)):,} runs"
    return judged(text, below(1e-12, worst))


@claim("section 2", "The last term of eq. regret2 is always negative.")
@on(_FIFTEEN, _ONE_ARM)
def twins_negative(*found: Runs) -> Evidence:
    """Its values over runs of MV-LCB on configuration 1, ρ = 1, n = 5,000, and over those that take the best arm alone,
    n = 1,000."""
    many, alone = found[0].regret_parts().twins, found[1].regret_parts().twins
    alone = alone[found[1].pulls.argmax(1) == found[1].bandit.best(found[1].risk)]
    text = f"between {number(many.min(), 2)} and {number(many.max(), 2)}; {number(float(alone.max()), 2)} where the "
    text += "best arm alone is pulled"
    return judged(text, below(0.0, [*many, *alone]), part=[at_most(0.0, [*many, *alone]), below(0.0, many)])


@claim("section 2, footnote", "The last term of eq. regret2 decreases like K log(1/δ)/n with probability 1 − δ.")
@on(*IN_TURN)
def twins_rate(*found: Runs) -> Evidence:
    """n/(σ² K log(1/δ)) times its quantile at 1 − δ, σ² the best arm's variance, for 2 and for 15 Gaussian arms in
    turn, n = 1,000 and 100,000, δ = 0.1: at most 1 each."""
    scaled = []
    for runs in found:
        scale = runs.bandit.variances.min() * len(runs.bandit) * np.log(1 / 0.1) / runs.horizon
        scaled.append(float(np.quantile(-runs.regret_parts().twins, 0.9) / scale))
    return judged(f"scaled quantiles {listed(scaled)}", above(0.1, scaled), at_most(1.0, scaled))


def _pair_form(pulls: Counts, means: Array) -> Array:
    """(1/2n²) Σ_i Σ_j T_i T_j Γ_ij²."""
    total = pulls.sum(1, dtype=float)
    pairs = (pulls[:, :, None] * pulls[:, None, :] * (means[:, None] - means) ** 2).sum((1, 2))
    found: Array = pairs / (2.0 * total**2)
    return found


@claim("section 2", "The exploration risk is a weighted variance of the arms' means.")
def exploration_is_variance() -> Evidence:
    """1,000 random allocations to four arms: the variance of the means, weighted by pulls, and the exploration risk."""
    pulls, means = np.random.default_rng(0).integers(1, 1_000, (1_000, 4)), np.array([0.0, 0.2, 0.9, 1.0])
    shares = pulls / pulls.sum(1, keepdims=True)
    weighted = (shares * (means - (shares @ means)[:, None]) ** 2).sum(1)
    far = max(
        float(np.abs(found - weighted).max())
        for found in (regret.exploration_risk(pulls, means), _pair_form(pulls, means))
    )
    text = f"mean {number(float(weighted.mean()), 6)}, largest difference {number(far, 2)}"
    return judged(f"{text}, that of the sum over pairs included", below(1e-12, far))


@claim("section 2", "An algorithm that pulls a single arm suffers no exploration risk.")
@on(_ONE_ARM)
def single_arm(runs: Runs) -> Evidence:
    """The exploration risk of runs that take one arm for good, n = 1,000, and how many arms were taken."""
    risk, arms = runs.exploration_risk().max(), len(set(runs.pulls.argmax(1)))
    text = f"largest {number(risk, 1)} in {len(runs):,} runs, which took {arms} different arms"
    return judged(text, below(1e-15, risk), above(1, arms))


@claim("section 2", "The exploration risk is largest where the mean reward is furthest from all arms' means.")
def exploration_peak() -> Evidence:
    """All shares of 1 in 100: how far from the nearest arm the mean is where the exploration risk is largest, and how
    far it can be; arms of means 0 and 1, and arms of means 0, 0.4 and 1."""
    shown, agreed = [], []
    for means in (np.array([0.0, 1.0]), np.array([0.0, 0.4, 1.0])):
        shares = np.array([p for p in np.ndindex(*[101] * (len(means) - 1)) if sum(p) <= 100])
        pulls = np.column_stack([shares, 100 - shares.sum(1)])
        nearest = np.abs((pulls @ means / 100.0)[:, None] - means).min(1)
        there, furthest = nearest[regret.exploration_risk(pulls, means).argmax()], nearest.max()
        shown.append(f"{there:.2f} of at most {furthest:.2f} with {len(means)} arms in {len(pulls):,} ways")
        agreed.append(near(furthest, 0.01, there))
    return judged("; ".join(shown), *agreed, part=agreed[:1])


@claim("eq. regret3", "The regret is at most gap plus (1/n²) Σ T_i T_j Γ̂_ij².")
@on(_FIFTEEN)
def regret3(runs: Runs) -> Evidence:
    """The largest regret minus right-hand side over runs of MV-LCB on configuration 1, ρ = 1, n = 5,000; the
    exploration term there against the exact one."""
    excess = float((runs.regret() - runs.regret_bound()).max())
    ratio = float((runs.exploration_risk("eq-regret3") / runs.exploration_risk()).mean())
    text = f"regret minus bound is at most {number(excess, 2)}; the bound's exploration term is "
    text += f"{number(ratio, 3)} times the exact one"
    return judged(text, at_most(0.0, excess))


@claim(
    "Definition 3", "The pseudo-regret is eq. regret3 with true in place of empirical values, its last term doubled."
)
@on(point(FIGURE_2, RoundRobin(), 0.0, 100_000))
def definition_3(runs: Runs) -> Evidence:
    """The means of its two parts over those of the right-hand side of eq. regret3: Figure 2's arms in turn,
    n = 100,000."""
    ours, other = runs.pseudo_regret_parts(), (runs.regret_parts().gap, runs.exploration_risk("eq-regret3"))
    gap, exploration = (float(a.mean() / b.mean()) for a, b in zip(ours, other, strict=True))
    exact = float(ours.exploration.mean() / runs.exploration_risk().mean())
    text = f"gap {gap:.3f} times, exploration {exploration:.3f} times; {exact:.3f} times the exact exploration risk"
    return judged(text, near(1.0, 0.01, gap), near(2.0, 0.01, exploration))


@claim("Lemma 1", "With probability 1 − δ the regret exceeds the pseudo-regret by at most the stated terms.")
@on(point(_FAIR_COINS, RandomArm(), 100.0, 100_000))
def lemma_1(runs: Runs) -> Evidence:
    """How often, δ = 0.05, where the regret varies most: one of two Bernoulli arms for good, ρ = 100, n = 100,000."""
    bound = theory.lemma1(runs.bandit, str(runs.risk), runs.horizon, 0.05)
    excess = runs.regret() - runs.pseudo_regret()
    rate = float((excess > known(bound.printed)).mean())
    terms = known(bound.printed)
    text = f"{rate:.1%} of {len(runs):,} runs; the terms are {number(terms, 3)}, {number(terms / excess.max(), 2)} "
    text += f"times the largest excess, {number(excess.max(), 3)}; no regret exceeds {bound.limit[0]:g}"
    return judged(text, Required(not bound.vacuous, "a bound that says something"), at_most(0.05, rate))


@claim("section 2", "The pseudo-regret is not an unbiased estimate of the regret.")
@on(point(FIGURE_2, MVLCB(), 0.0, 10_000))
def biased(runs: Runs) -> Evidence:
    """Mean difference over runs of MV-LCB on Figure 2's arms, n = 10,000, in standard errors."""
    mean, error = mean_se(runs.pseudo_regret() - runs.regret())
    return judged(f"difference {with_error(mean, error)}", above(5.0 * error, abs(mean)))


@claim("appendix A.2", "Regret and pseudo-regret differ by amounts that tend to zero with high probability.")
@on(*[point(FIGURE_2, MVLCB(), 0.0, n) for n in (10**4, 10**6, 10**8)],
    *[point(ZERO_ONE, MVLCB(), 0.0, n) for n in (10**4, 10**6)])  # fmt: skip
def differences(*found: Runs) -> Evidence:
    """The largest difference over runs of MV-LCB: Figure 2's arms at n = 10⁴, 10⁶, 10⁸; arms 0 and 1 at 10⁴, 10⁶."""
    largest = [float(np.abs(runs.pseudo_regret() - runs.regret()).max()) for runs in found]
    one, tied = largest[:3], largest[3:]
    falls = [below(0.1, np.exp(np.diff(np.log(values))), of="every ratio") for values in (one, tied)]
    text = f"{listed(one)} where the best arm is unique; {listed(tied)} where two arms tie"
    return judged(text, *falls, part=falls[:1])
