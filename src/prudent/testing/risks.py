"""The contract of a risk measure."""

import math
from functools import partial
from typing import Any

import numpy as np

from prudent.arms.continuous import Beta, Gaussian, Uniform
from prudent.arms.discrete import Bernoulli, Deterministic, Empirical
from prudent.arms.mixture import Mixture
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError
from prudent.compile.types import kernel
from prudent.risk.base import RiskMeasure
from prudent.risk.base import risks as registered
from prudent.risk.distortion import Distortion, Spectral
from prudent.risk.utility import ExpectedUtility
from prudent.testing.rules import SEED, answers, check_value, close, refuses, require


def check_risk(risk: RiskMeasure | str) -> None:
    """A risk measure must be a cost of the law alone, price samples as it prices laws, and compile.

    Where it has `bounds`, they must hold the estimate and shrink with more rewards; whether they hold the cost as often
    as they say is for a test of the measure's own.
    """
    risk = registered.parse(risk) if isinstance(risk, str) else risk
    require(isinstance(risk, RiskMeasure), repr(risk), "must be a RiskMeasure", "subclass prudent.risk.RiskMeasure")
    check_value(risk, registered)
    with answers(risk, "must price ordinary laws and samples"):
        _check_shape(risk)
        _check_cost(risk)
        _check_sample_cost(risk)
        _check_estimate(risk)
        _check_stats_cost(risk)
        _check_bounds(risk)
    for rewards in ([], [math.nan, 1.0], [math.inf], ["high", "low"]):
        refuses(risk, f"sample_cost({rewards})", partial(risk.sample_cost, rewards))
    for weights in ([1.0], [1.0, -1.0], [0.0, 0.0], [math.nan, 1.0]):
        refuses(risk, f"sample_cost([0.0, 1.0], {weights})", partial(risk.sample_cost, [0.0, 1.0], weights))
    with answers(risk, "must compile: write weigh, estimate and bounds in NumPy that Numba knows"):
        _check_compiled(risk)


def _check_shape(risk: RiskMeasure) -> None:
    """What a family's costs and intervals rest on."""
    p = np.linspace(0.0, 1.0, 513)
    if isinstance(risk, Distortion):
        g = risk.distort(p)
        rises = close(g[0], 0.0) and close(g[-1], 1.0) and (np.diff(g) >= -1e-12).all()
        require(rises, risk, "distort must rise from 0 at 0 to 1 at 1", "it is the weight of the worst p-fraction")
        concave = not isinstance(risk, Spectral) or (np.diff(g, 2) <= 1e-12).all()
        require(concave, risk, "the distort of a Spectral must be concave", "subclass Distortion if it is not")
    if isinstance(risk, ExpectedUtility):
        rises = (np.diff(risk.utility(p)) >= 0.0).all()
        require(rises, risk, "utility must not fall as rewards grow", "costs price rewards: change the sign")


def _check_cost(risk: RiskMeasure) -> None:
    """Finite, the right way up, and one for all descriptions of a law."""
    coin, half, sure = Bernoulli(0.5), Uniform(0.0, 0.5), Deterministic(0.3)
    for law in (coin, sure, Beta(1.0, 3.0), Uniform(-1.0, 2.0), Gaussian(1.0, 0.05)):
        require(math.isfinite(risk.cost(law)), risk, f"cost must be finite, but is {risk.cost(law)} for {law}")
    upright = risk.cost(Deterministic(1.0)) <= risk.cost(Deterministic(0.0))
    require(upright, risk, "a sure 1 must not cost more than a sure 0", "costs price rewards: change the sign")
    for law, other in (
        (coin, Empirical([0.0, 1.0])),
        (coin, Empirical([1.0, 0.0, 1.0, 0.0])),
        (coin, Mixture([Deterministic(0.0), Deterministic(1.0)])),
        (sure, Gaussian(0.3, 0.0)),
        (sure, Empirical([0.3, 0.3])),
        (sure, Mixture([sure, coin], [1.0, 0.0])),
        (Uniform(0.0, 1.0), Beta(1.0, 1.0)),
        (Uniform(0.0, 1.0), Mixture([half, Uniform(0.5, 1.0)])),
    ):
        rule = f"cost must depend on the law alone, but differs for {law} and {other}, one law in two forms"
        require(close(risk.cost(law), risk.cost(other), 1e-6), risk, rule, "ask for mean, cdf and quantile only")


def _check_sample_cost(risk: RiskMeasure) -> None:
    """A sample is priced as the law that gives each reward its weight."""
    rng = np.random.default_rng(SEED)
    for x in (rng.normal(1.0, 0.5, 101), rng.exponential(1.0, 64), rng.integers(0, 3, 50) * 0.5, np.full(9, 0.7)):
        cost, exact = risk.sample_cost(x), risk.cost(Empirical(x))
        rule = f"sample_cost of {x.size} rewards is {cost:g}, but cost(Empirical(rewards)) is {exact:g}"
        require(close(cost, exact), risk, rule, "divide by n, not n − 1?")
        shuffled = risk.sample_cost(rng.permutation(x))
        require(close(cost, shuffled), risk, "sample_cost must not depend on the order of rewards", "sort them first")
        weights = 1 + rng.integers(0, 4, x.size) * (np.arange(x.size) % 3)
        repeated = risk.sample_cost(x.repeat(weights))
        require(close(risk.sample_cost(x, weights), repeated), risk, "a reward of weight k must count k times")
        scaled = risk.sample_cost(np.append(x, 1e3), np.append(np.full(x.size, 0.2), 0.0))
        require(close(cost, scaled), risk, "only the proportions of weights may matter, and 0 means absent")
    for law in (Beta(2.0, 3.0), Uniform(-1.0, 1.0), Gaussian(0.5, 0.25)):
        cost, sampled = risk.cost(law), risk.sample_cost([law.quantile((k + 0.5) / 2_000) for k in range(2_000)])
        rule = f"cost of {law} is {cost:g}, but sample_cost of 2000 of its quantiles is {sampled:g}"
        require(close(cost, sampled, 2e-2), risk, rule, "mend one of them")


def _check_stats_cost(risk: RiskMeasure) -> None:
    """Where mean and variance determine the cost, they give the same one."""
    laws = (Bernoulli(0.3), Gaussian(1.0, 0.05), Beta(1.0, 3.0), Deterministic(2.0))
    try:
        costs = risk.stats_cost([law.mean for law in laws], [law.variance for law in laws])
    except PrudentError:
        return
    agrees = np.shape(costs) == (len(laws),) and all(map(close, costs, map(risk.cost, laws)))
    fix = "raise PrudentError if mean and variance do not determine the cost"
    require(agrees, risk, "stats_cost must agree with cost, element by element", fix)


def _check_estimate(risk: RiskMeasure) -> None:
    """Known moments give the same cost; where they determine it, they do so alone."""
    for size in (1, 100):
        x = _ramp(size)
        cost, estimate = risk.sample_cost(x), risk.estimate(float(x.mean()), float(x.var()), x)
        rule = f"estimate of {size} rewards is {estimate:g}, but sample_cost is {cost:g}"
        require(close(estimate, cost), risk, rule, "leave estimate out, and weigh is asked")
        if risk.by_moments:
            alone = risk.estimate(float(x.mean()), float(x.var()), np.empty(0))
            require(close(alone, cost), risk, "by_moments: estimate must not need the rewards")


def _check_bounds(risk: RiskMeasure) -> None:
    """Intervals hold the estimate, and shrink."""
    if not hasattr(risk, "bounds"):
        return
    widths = []
    for size in (1, 2, 100, 25_600):
        x = _ramp(size)
        low, high = risk.interval(x, support=(0.0, 1.0))
        cost, slack = risk.sample_cost(x), 1e-9
        rule = f"bounds must hold the estimate, but ({low:g}, {high:g}) leave out {cost:g}"
        require(low - slack <= cost <= high + slack, risk, rule, "are they costs, the lower one first?")
        widths.append(high - low)
    rule = f"bounds must shrink, but 100 rewards have width {widths[-2]:g} and 25,600 have {widths[-1]:g}"
    require(widths[-1] <= 0.9 * widths[-2], risk, rule, "does the width fall with pulls?")
    low, high = risk.interval(_ramp(100))
    ordered = low <= high  # NaN is not
    require(ordered, risk, f"bounds without a support must be numbers or infinite, but are ({low}, {high})")


def _check_compiled(risk: RiskMeasure) -> None:
    """Compiled as interpreted."""
    rng, compiled = np.random.default_rng(SEED), risk.compiled()
    for size in (1, 60):
        x, weights = _ramp(size), rng.dirichlet(np.ones(size))
        moments = float(x.mean()), float(x.var())
        found: list[float] = list(_price(compiled, x, weights, *moments))
        wanted = [risk.weigh(x, weights), risk.estimate(*moments, x)]
        if hasattr(risk, "bounds"):
            found += _bound(compiled, x, *moments)
            wanted += risk.bounds(size, *moments, x, 0.05, 0.0, 1.0)
        rule = f"compiled weigh, estimate and bounds must give {wanted}, but give {found}"
        require(all(map(close, found, wanted)), risk, rule, "is every parameter a field?")


@kernel
def _price(risk: Any, x: Array, weights: Array, mean: float, variance: float) -> tuple[float, float]:
    return risk.weigh(x, weights), risk.estimate(mean, variance, x)


@kernel
def _bound(risk: Any, x: Array, mean: float, variance: float) -> tuple[float, float]:
    low, high = risk.bounds(len(x), mean, variance, x, 0.05, 0.0, 1.0)
    return low, high


def _ramp(size: int) -> Array:
    """The middle quantiles of Beta(2, 1): √((k + ½)/size)."""
    x: Array = np.sqrt((np.arange(size) + 0.5) / size)
    return x
