"""Claims of the paper's section 2 and its discussion: definitions, identities, what they imply."""

import numpy as np

from prudent import MVLCB, Bandit, Bernoulli, Empirical, FixedArm, Gaussian, MeanVariance, RandomArm, RoundRobin, Runs
from prudent.paper.claims.ledger import Evidence, claim, judged, mean_se, on, pm
from prudent.paper.making import point
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATIONS, FIGURE_2, ZERO_ONE
from prudent.regret import exploration_risk

BOTH = CONFIGURATIONS.values()
THREE = Bandit([Bernoulli(0.9), Bernoulli(0.6), Bernoulli(0.3)])
FIFTEEN = point(CONFIGURATION_1, MVLCB(), 1.0, 5_000)
IN_TURN = point(ZERO_ONE, RoundRobin(), 0.0, 1_000)


@claim("section 2", "With ρ = 0 the best arm is the one of smallest variance.")
def rho_zero() -> Evidence:
    """The best arm of both configurations at ρ = 0, computed from the laws."""
    pairs = [(bandit.best(MeanVariance(0.0)), int(bandit.variances.argmin())) for bandit in BOTH]
    return judged(all(a == b for a, b in pairs), f"best arm and arm of smallest variance: {pairs}")


@claim("section 2", "As ρ → ∞ the problem becomes that of the largest mean.")
def rho_infinite() -> Evidence:
    """The best arm at ρ = 10⁶ and at ρ = ∞ against the largest mean, and cost/ρ against −μ."""
    best = [(b.best(MeanVariance(1e6)), b.best(MeanVariance(np.inf)), int(b.means.argmax())) for b in BOTH]
    far = max(float(np.abs(b.costs(MeanVariance(1e6)) / 1e6 + b.means).max()) for b in BOTH)
    ok = all(len(set(three)) == 1 for three in best) and far < 1e-5
    return judged(ok, f"best arms (ρ = 10⁶, ρ = ∞, largest mean): {best}; |cost/ρ + μ| ≤ {far:.1e}")


@claim("eq. regret2", "The regret is exactly gap + exploration − twins.")
@on(point(FIGURE_2, MVLCB(), 0.7, 10_000), point(CONFIGURATION_1, RoundRobin(), 0.7, 10_000))
def decomposition(*found: Runs) -> Evidence:
    """The largest difference over runs of MV-LCB on Figure 2's arms and of round robin on configuration 1, ρ = 0.7."""
    worst = max(float(np.abs(sum(runs.regret_parts()) - runs.regret()).max()) for runs in found)
    return judged(worst < 1e-12, f"largest difference {worst:.1e} over {sum(map(len, found))} runs")


@claim("section 2", "The last term of eq. regret2 is always negative.")
@on(FIFTEEN)
def twins_negative(runs: Runs) -> Evidence:
    """The largest value of the term over runs."""
    twins = runs.regret_parts().twins
    return judged(bool(twins.max() <= 0.0), f"between {twins.min():.1e} and {twins.max():.1e} in {len(runs)} runs")


@claim("section 2, footnote", "The last term of eq. regret2 decreases like K log(1/δ)/n with probability 1 − δ.")
@on(*[point(THREE, RoundRobin(), 0.0, n) for n in (1_000, 100_000)])
def twins_rate(*found: Runs) -> Evidence:
    """n/(K log(1/δ)) times its quantile at 1 − δ, δ = 0.05, at two horizons a hundred times apart."""
    quantiles = np.array([np.quantile(-runs.regret_parts().twins, 0.95) * runs.horizon for runs in found])
    one, two = quantiles / (3 * np.log(1 / 0.05))
    ok = max(one, two) <= 1.0 and 0.5 < one / two < 2.0
    return judged(ok, f"scaled quantiles {one:.3f} and {two:.3f}, at most 1 and of one size")


@claim("section 2", "An algorithm that pulls a single arm suffers no exploration risk.")
@on(point(CONFIGURATION_1, FixedArm(3), 0.0, 1_000))
def single_arm(runs: Runs) -> Evidence:
    """Exploration risk of a fixed arm."""
    risk = runs.exploration_risk()
    return judged(bool(risk.max() < 1e-15), f"largest {risk.max():.1g}, rounding")


@claim("section 2", "Exploration risk is a weighted variance of the arms' means; it peaks far from every mean.")
def exploration_is_variance() -> Evidence:
    """The pairwise form against the weighted variance, and its maximum over allocations to two arms."""
    shares = np.arange(1, 1000)
    pulls = np.stack([shares, 1000 - shares], axis=1)
    risk = exploration_risk(pulls, np.array([0.0, 1.0]))
    far, top = np.abs(risk - pulls.prod(1) / 1000.0**2).max(), shares[risk.argmax()]
    return judged(far < 1e-14 and top == 500, f"difference {far:.1e}; largest at {top} of 1,000 pulls of one arm")


@claim("eq. regret3", "The regret is at most gap plus (1/n²) Σ T_i T_j Γ̂_ij².")
@on(FIFTEEN)
def regret3(runs: Runs) -> Evidence:
    """regret ≤ right-hand side in every run; the exploration term there against the exact one."""
    excess = float((runs.regret() - runs.regret_bound()).max())
    ratio = float((runs.exploration_risk("eq-regret3") / runs.exploration_risk()).mean())
    text = f"regret exceeds it by at most {excess:.2g}; its exploration term is {ratio:.3g} × exact"
    return judged(excess <= 0.0, text)


@claim("Definition 3", "The pseudo-regret's exploration term replaces the empirical one of the regret.")
@on(point(FIGURE_2, RoundRobin(), 0.0, 100_000))
def definition_3(runs: Runs) -> Evidence:
    """Its mean against that of the regret's own exploration part, many pulls of each arm."""
    exact, _ = mean_se(runs.regret_parts().exploration)
    ratio = float(runs.pseudo_regret_parts().exploration.mean()) / exact
    close = abs(float(runs.pseudo_regret_parts("exact").exploration.mean()) / exact - 1.0) < 0.01
    return judged(abs(ratio - 1.0) < 0.01, f"{ratio:.3f} times the regret's own; with factor ½ equal to it", close)


@claim("section 2", "The pseudo-regret is not an unbiased estimate of the regret.")
@on(point(FIGURE_2, MVLCB(), 0.0, 10_000))
def biased(runs: Runs) -> Evidence:
    """Mean difference over runs of MV-LCB on Figure 2's arms, in standard errors."""
    mean, error = mean_se(runs.pseudo_regret() - runs.regret())
    return judged(abs(mean) > 5 * error, f"difference {mean:.4g} ± {error:.1g}")


@claim("section 5", "With equal means the regret coincides with its gap part.")
@on(point(Bandit([Gaussian(1.5, 0.05), Gaussian(1.5, 0.25)]), MVLCB(), 0.0, 10_000))
def equal_means(runs: Runs) -> Evidence:
    """Two arms of mean 1.5, variances 0.05 and 0.25: regret minus gap part."""
    rest = np.abs(runs.regret() - runs.regret_parts().gap)
    share = float(rest.mean() / runs.regret().mean())
    return judged(share < 0.01, f"they differ by {rest.mean():.1e}, {share:.2%} of the regret {pm(runs.regret())}")


@claim("section 6", "A₁ (arms in turn) has high variability within a run and none across runs.")
@on(IN_TURN)
def in_turn(runs: Runs) -> Evidence:
    """Variance within and across runs, deterministic arms 0 and 1, n = 1,000."""
    within, across = float(runs.reward_variance().mean()), runs.across_variance()
    return judged(within == 0.25 and across == 0.0, f"within {within}, across {across}, regret {runs.regret().mean()}")


@claim("section 6", "A₂ (one random arm for good) has none within a run, no regret, and high variance across runs.")
@on(point(ZERO_ONE, RandomArm(), 0.0, 1_000))
def one_arm(runs: Runs) -> Evidence:
    """Variance within and across runs, deterministic arms 0 and 1, n = 1,000."""
    within, across = float(runs.reward_variance().max()), runs.across_variance()
    ok = within == 0.0 and across > 0.2 and bool((runs.regret() == 0.0).all())
    return judged(ok, f"within {within}, across {across:.3f}, largest regret {np.abs(runs.regret()).max()}")


@claim("section 6", "A₁ has a very small standard regret.")
@on(IN_TURN)
def small_standard_regret(runs: Runs) -> Evidence:
    """n (largest mean − mean reward), against √n and n."""
    loss = 1_000 * (1.0 - float(runs.reward_mean().mean()))
    return judged(loss <= np.sqrt(1_000), f"it is {loss:g} = n/2")


@claim("section 7", "The mean-variance violates monotonicity: it is not a coherent measure of risk.")
def not_monotone() -> Evidence:
    """A reward that is never smaller and yet costs more, ρ = 1."""
    risk = MeanVariance(1.0)
    sure, better = risk.cost(ZERO_ONE.arms[0]), risk.cost(Empirical([0.0, 4.0]))
    return judged(better > sure, f"always 0 costs {sure:g}; 0 or 4 by a fair coin costs {better:g}")


@claim("section 7", "Over n rounds the variance of the sum is n times one round's; the value at risk is not.")
def multi_period() -> Evidence:
    """The 5 % quantile of a sum of 100 Gaussian rewards against 100 times that of one."""
    one, many = Gaussian(0.1, 1.0), Gaussian(10.0, 100.0)
    ratio = many.quantile(0.05) / one.quantile(0.05)
    return judged(abs(ratio - 100.0) > 1.0, f"variance × {many.variance / one.variance:g}, quantile × {ratio:.1f}")


@claim("section 7", "The arm of smallest one-round risk may not be the best over n rounds.")
def best_over_rounds() -> Evidence:
    """Two Gaussian arms ordered by the 5 % quantile of one reward, and of the sum of 100."""
    arms = ((0.0, 0.01), (0.5, 1.0))
    one, many = ([Gaussian(n * mean, n * variance).quantile(0.05) for mean, variance in arms] for n in (1, 100))
    ok = one[0] > one[1] and many[0] < many[1]
    return judged(ok, f"one round: {one[0]:.2f} against {one[1]:.2f}; a hundred: {many[0]:.1f} against {many[1]:.1f}")
