"""check_arm and check_risk catch what is broken, say what it is, and let good strangers pass."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from prudent import Bernoulli, CVaR, Gaussian, Law, LossAverse, MeanVariance, PrudentError, RiskMeasure, Uniform
from prudent.arms import sampling
from prudent.arms.base import arms as arm_registry
from prudent.risk.base import check_sample
from prudent.risk.base import risks as risk_registry
from prudent.testing import ConformanceError, check_arm, check_risk
from prudent.testing.rules import close


def test_a_broken_contract_is_a_failed_assertion() -> None:
    assert issubclass(ConformanceError, AssertionError)


# Arms


def broken(base: Any, **members: Any) -> Any:
    """`base` with some members replaced, under a name of its own."""
    kind = type("Broken", (type(base),), {"name": "broken", **members})
    kind = kind if "__setattr__" in members else dataclass(frozen=True)(kind)
    return kind(*(getattr(base, field.name) for field in fields(base)))


def broken_gaussian(**members: Any) -> Law:
    return broken(Gaussian(1.0, 4.0), **members)


def broken_bernoulli(**members: Any) -> Law:
    return broken(Bernoulli(0.3), **members)


def settled(kind: Any = Gaussian, **values: Any) -> Callable[[Any], None]:
    def settle(self: Any) -> None:
        kind.__post_init__(self)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    return settle


def no_fields_frozen(self: Any, name: str, value: Any) -> None:
    object.__setattr__(self, name, value)


@dataclass(frozen=True)
class NoisyUniform(Uniform):
    """Draws from a stream of its own."""

    name = "noisy"
    stream = np.random.default_rng(0)

    def sample(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return super().sample(self.stream, size)


BROKEN_ARMS = {
    "no law": (lambda: 0.5, "0.5: an arm must be a Law; subclass"),
    "variance": (lambda: broken_gaussian(__post_init__=settled(variance=8.0)), "variance is 8, but that of cdf is 4"),
    "mean": (
        lambda: broken_bernoulli(__post_init__=settled(Bernoulli, mean=0.31)),
        "mean is 0.31, but that of cdf is 0.3",
    ),
    "n − 1": (lambda: broken_gaussian(__post_init__=settled(variance=4.01)), "variance is 4.01"),
    "NaN variance": (lambda: broken_gaussian(__post_init__=settled(variance=math.nan)), "variance is nan, but"),
    "quantile falls": (
        lambda: broken_gaussian(quantile=lambda self, alpha: -Gaussian.quantile(self, alpha)),
        "quantile must not decrease; is it the inverse of cdf",
    ),
    "quantile too small": (
        lambda: broken_gaussian(quantile=lambda self, alpha: Gaussian.quantile(self, alpha) - 0.1),
        r"cdf\(quantile\(α\)\) must be at least α",
    ),
    "quantile too large": (
        lambda: broken_gaussian(quantile=lambda self, alpha: Gaussian.quantile(self, alpha) + 0.1),
        "must be the smallest x",
    ),
    "quantile of the loss": (
        lambda: broken_bernoulli(quantile=lambda self, alpha: float(self._level(alpha) > self.success)),
        r"cdf\(quantile\(α\)\) must be at least α|smallest x",
    ),
    "support": (lambda: broken_gaussian(__post_init__=settled(support=(0.0, math.inf))), "must lie in the support"),
    "support too wide": (
        lambda: broken_bernoulli(cdf=lambda self, x: Bernoulli.cdf(self, x) * 0.999 + 0.001),
        "cdf must rise from 0 to 1 over the support",
    ),
    "cdf above 1": (lambda: broken_gaussian(cdf=lambda self, x: 2.0 * Gaussian.cdf(self, x)), r"within \[0, 1\]"),
    "cdf raises": (lambda: broken_gaussian(cdf=lambda self, x: 1 / 0), "must know .* but raised ZeroDivisionError"),
    "partial mean without x": (
        lambda: broken_bernoulli(partial_mean=lambda self, x: Bernoulli.partial_mean(self, x - 1e-9)),
        r"partial_mean\(x\) must be E\[X; X ≤ x\]; is x included",
    ),
    "tail mean without the atom's share": (
        lambda: broken_bernoulli(
            lower_tail_mean=lambda self, alpha: self.partial_mean(self.quantile(alpha)) / self.cdf(self.quantile(alpha))
        ),
        "lower_tail_mean.* an atom at the quantile counts by its share",
    ),
    "tail mean at 1": (
        lambda: broken_gaussian(lower_tail_mean=lambda self, a: Gaussian.lower_tail_mean(self, a) + 1e-5 * (a == 1.0)),
        "must rise to the mean at α = 1",
    ),
    "any α": (
        lambda: broken_bernoulli(quantile=lambda self, alpha: float(alpha > 1.0 - self.success)),
        r"quantile\(0.0\) must raise PrudentError, but was accepted; see prudent.base.errors",
    ),
    "wrong error": (
        lambda: broken_gaussian(_level=lambda self, alpha: alpha if 0 < alpha <= 1 else 1 / 0),
        r"quantile\(0.0\) must raise PrudentError, but raised ZeroDivisionError",
    ),
    "wrong parameters": (
        lambda: broken_gaussian(parameters=lambda self: (self.mean, self.variance)),
        "draws must follow cdf.* do its `parameters` suit",
    ),
    "wrong kernel": (lambda: broken_gaussian(kind=sampling.UNIFORM), "draws must have mean 1"),
    "draws outside": (
        lambda: broken_bernoulli(kind=sampling.DETERMINISTIC, parameters=lambda self: (2.0,)),
        r"draws must lie in the support \(0.0, 1.0\)",
    ),
    "own stream": (lambda: NoisyUniform(0.0, 1.0), "equal streams must give equal draws"),
    "mutable": (
        lambda: broken_gaussian(__setattr__=no_fields_frozen),
        "must not change, yet mean can be set; .*frozen",
    ),
    "unhashable": (lambda: broken_gaussian(__hash__=None), "must be printable and hashable, but raised TypeError"),
}


@pytest.mark.parametrize("case", BROKEN_ARMS)
def test_broken_arms_are_caught(case: str) -> None:
    make, message = BROKEN_ARMS[case]
    with pytest.raises(ConformanceError, match=message):
        check_arm(make())


@dataclass(frozen=True)
class Rounded(Gaussian):
    """Its text forgets digits."""

    name = "rounded"

    def __str__(self) -> str:
        return f"rounded({self.mean:.1f}, {self.variance:.1f})"


def test_a_registered_arm_must_print_itself_in_full(register, monkeypatch) -> None:
    check_arm(Rounded(1.25, 4.0))
    register(arm_registry, "rounded", Rounded)
    check_arm(Rounded(1.5, 4.0))
    check_arm(Rounded(1.25, 4.0), printable=False)
    with pytest.raises(ConformanceError, match=r"must build it again, but built Rounded\(mean=1.2"):
        check_arm(Rounded(1.25, 4.0))
    monkeypatch.setattr(Rounded, "__str__", lambda self: "rounded[1]")
    with pytest.raises(ConformanceError, match="must be a spec that the registry reads, but raised PrudentError"):
        check_arm(Rounded(1.5, 4.0))


def test_a_broken_kernel_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    block = sampling.draw_block

    def unbiased(laws: Any, arm: int, size: int, rng: Any) -> tuple[float, float]:
        mean, variance = block(laws, arm, size, rng)
        return mean, variance * size / (size - 1)

    def shifted(laws: Any, arm: int, size: int, rng: Any) -> tuple[float, float]:
        mean, variance = block(laws, arm, size, rng)
        return mean + 0.1, variance

    def drifting(laws: Any, arm: int, rng: Any) -> float:
        return float(sampling.draw.py_func(laws, arm, rng)) * (1.0 + 1e-15)

    drifting.py_func = sampling.draw.py_func
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "draw_block", unbiased)
        with pytest.raises(ConformanceError, match=r"the variance of a block must be 3\.6 on average, but is"):
            check_arm(Gaussian(1.0, 4.0))
        patch.setattr(sampling, "draw_block", shifted)
        with pytest.raises(ConformanceError, match="the mean of a block must be 1 on average"):
            check_arm(Gaussian(1.0, 4.0))
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "draw", drifting)
        with pytest.raises(ConformanceError, match="compiled and interpreted draws must be equal"):
            check_arm(Gaussian(1.0, 4.0))


# Risk measures


@dataclass(frozen=True)
class TailRisk(RiskMeasure):
    """A stranger that keeps the contract: minus the mean of the worst α-fraction."""

    alpha: float = 0.1
    name = "tail-risk"

    def cost(self, law: Law) -> float:
        return -law.lower_tail_mean(self.alpha)

    def weigh(self, values: np.ndarray, weights: np.ndarray) -> float:
        before = np.cumsum(weights)
        share = np.minimum(before, self.alpha)
        share[1:] -= np.minimum(before[:-1], self.alpha)
        return -(share * values).sum() / share.sum()


def test_a_good_stranger_passes() -> None:
    for alpha in (0.01, 0.1, 0.5, 1.0):
        check_risk(TailRisk(alpha))


def broken_risk(**members: Any) -> RiskMeasure:
    return broken(MeanVariance(0.5), **members)


def looks_at_the_class(self: Any, law: Law) -> float:
    return 0.1 if isinstance(law, Bernoulli) else MeanVariance.cost(self, law)


def ignores_weights(self: Any, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
    check_sample("broken", rewards, weights)
    return MeanVariance.sample_cost(self, rewards)


def minds_the_order(self: Any, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
    x, w = check_sample("broken", rewards, weights)
    return float(MeanVariance.sample_cost(self, x, w) + 1e-6 * (x[-1] - x[0]) * (np.diff(x).min() < 0))


def counts_weights(self: Any, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
    cost = MeanVariance.sample_cost(self, rewards, weights)
    return cost if weights is None else cost * (1.0 + 1e-3 * (float(np.sum(weights)) != round(float(np.sum(weights)))))


def accepts_anything(self: Any, rewards: ArrayLike, weights: ArrayLike | None = None) -> float:
    try:
        return MeanVariance.sample_cost(self, rewards, weights)
    except PrudentError:
        return 0.0


def wants_rewards(self: Any, mean: float, variance: float, rewards: np.ndarray) -> float:
    return variance - self.rho * mean + (0.1 if len(rewards) == 0 else 0.0)


def nan_without_support(self: Any, *given: Any) -> tuple[float, float]:
    return (math.nan, math.nan) if math.isinf(given[-1]) else MeanVariance.bounds(self, *given)


def sorts_a_list(self: Any, values: np.ndarray, weights: np.ndarray) -> float:
    pairs = {float(x): 0.0 for x in values} | {}
    return TailRisk.weigh(self, values, weights) + sum(pairs.values())


def overflows(self: Any, values: np.ndarray, weights: np.ndarray) -> float:
    before = np.cumsum(weights)
    share = np.minimum(before, self.alpha)
    share[1:] -= np.minimum(before[:-1], self.alpha)
    many = len(values) * 2**62 * 4  # an integer without end in Python, 0 in 64 bits
    return -(share * values).sum() / share.sum() + (0.0 if many > 0 else 1.0)


BROKEN_RISKS = {
    "no risk": (lambda: abs, "must be a RiskMeasure; subclass"),
    "wrong sign": (
        lambda: broken_risk(cost=lambda self, law: -MeanVariance.cost(self, law)),
        "a sure 1 must not cost more than a sure 0; .*change the sign",
    ),
    "infinite": (lambda: broken_risk(cost=lambda self, law: math.inf), "the cost of bernoulli.* is too large"),
    "NaN": (lambda: broken_risk(cost=lambda self, law: math.nan), "the cost of bernoulli.* is too large"),
    "class": (lambda: broken_risk(cost=looks_at_the_class), "depend on the law alone, but differs for bernoulli"),
    "n − 1": (
        lambda: broken_risk(sample_cost=lambda self, x, w=None: float(np.var(x, ddof=1)) - 0.5 * float(np.mean(x))),
        r"sample_cost of 101 rewards .*divide by n, not n − 1",
    ),
    "order": (lambda: broken_risk(sample_cost=minds_the_order), "order|cost\\(Empirical"),
    "weights": (lambda: broken_risk(sample_cost=ignores_weights), "a reward of weight k must count k times"),
    "scale of weights": (lambda: broken_risk(sample_cost=counts_weights), "only the proportions of weights may matter"),
    "a density's cost": (
        lambda: broken_risk(cost=lambda self, law: MeanVariance.cost(self, law) + 0.3 * (law.support[0] == -math.inf)),
        "sample_cost of 2000 of its quantiles",
    ),
    "stats_cost": (
        lambda: broken(TailRisk(), stats_cost=lambda self, m, v: -np.asarray(m)),
        "stats_cost must agree with cost, element by element; raise PrudentError",
    ),
    "stats_cost of one": (
        lambda: broken(TailRisk(1.0), stats_cost=lambda self, m, v: -float(np.mean(m))),
        "element by element",
    ),
    "NaN accepted": (
        lambda: broken_risk(sample_cost=accepts_anything),
        r"sample_cost\(\[\]\) must raise PrudentError, but was accepted",
    ),
    "estimate": (lambda: broken_risk(estimate=wants_rewards), "by_moments: estimate must not need the rewards"),
    "another estimate": (
        lambda: broken(TailRisk(), estimate=lambda self, mean, variance, rewards: -mean),
        "estimate of 100 rewards is .* leave estimate out",
    ),
    "upside down": (
        lambda: broken_risk(bounds=lambda self, pulls, mean, *rest: (mean - 1.0 / pulls, mean + 1.0 / pulls)),
        "bounds must hold the estimate",
    ),
    "vacuous": (lambda: broken_risk(bounds=lambda self, *given: (-9.0, 9.0)), "bounds must shrink, but 100 rewards"),
    "no numbers": (lambda: broken_risk(bounds=nan_without_support), "without a support must be numbers or infinite"),
    "uncompilable": (lambda: broken(TailRisk(), weigh=sorts_a_list), "must compile: .*in NumPy that Numba knows"),
    "compiled apart": (
        lambda: broken(TailRisk(), weigh=overflows),
        "compiled weigh, estimate and bounds must give",
    ),
    "a distortion of 2": (
        lambda: broken(CVaR(), distort=lambda self, p: 2.0 * p),
        "distort must rise from 0 at 0 to 1",
    ),
    "a convex spectrum": (lambda: broken(CVaR(), distort=lambda self, p: p**2), "Spectral must be concave; subclass"),
    "a falling utility": (
        lambda: broken(LossAverse(), utility=lambda self, x: x * (1.0 - x)),
        "utility must not fall as rewards grow",
    ),
    "crash": (lambda: broken_risk(cost=lambda self, law: law.scale), "must price ordinary laws .*AttributeError"),
    "mutable": (lambda: broken_risk(__setattr__=no_fields_frozen), "must not change, yet rho can be set"),
    "unhashable": (lambda: broken_risk(__hash__=None), "must be printable and hashable"),
}


@pytest.mark.parametrize("case", BROKEN_RISKS)
def test_broken_risks_are_caught(case: str) -> None:
    make, message = BROKEN_RISKS[case]
    with pytest.raises(ConformanceError, match=message):
        check_risk(make())


def test_a_registered_risk_must_print_itself_in_full(register, monkeypatch: pytest.MonkeyPatch) -> None:
    register(risk_registry, "tail-risk", TailRisk)
    check_risk(TailRisk(0.3))
    monkeypatch.setattr(TailRisk, "__str__", lambda self: "tail-risk")
    with pytest.raises(ConformanceError, match="its text must build it again"):
        check_risk(TailRisk(0.3))


def test_numbers_are_close_up_to_a_share_of_them_and_infinite_ones_when_equal():
    assert close(math.inf, math.inf)
    assert not close(math.inf, -math.inf)
    assert not close(1.0, math.inf)
    assert not close(math.nan, math.nan)
    assert close(1e12 + 500.0, 1e12)
    assert not close(1e12 + 2_000.0, 1e12)
    assert close(5e-10, 0.0)
    assert not close(0.0, 2e-9)
    assert close(1.05, 1.0, near=0.03)


class NeedsTwo(TailRisk):
    """It cannot price a single reward, which every policy has after the first pull of an arm."""

    def estimate(self, mean: float, variance: float, rewards: np.ndarray) -> float:
        return -mean if len(rewards) > 1 else math.nan


def test_a_single_reward_must_have_a_cost() -> None:
    with pytest.raises(ConformanceError):
        check_risk(NeedsTwo(1.0))
