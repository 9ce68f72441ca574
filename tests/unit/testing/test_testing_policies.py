"""check_policy catches what is broken, says what it is, and lets good strangers pass."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from prudent import PrudentError
from prudent.base.errors import check_positive
from prudent.policies.contract import FOREVER, Arm, Arms, Setting
from prudent.policies.contract import policies as policy_registry
from prudent.policies.posteriors import Normal, normal
from prudent.testing import ConformanceError, check_policy
from prudent.testing.policies import _grid, _samples

# Strangers that keep the contract


class Optimist(NamedTuple):
    """A score with a clock and a stream."""

    width: float = 1.0

    def score(self, arm: Arm, t: int, rng: Any) -> float:
        return -arm.mean - self.width * math.sqrt(math.log(t) / arm.pulls) * rng.random()


class Coin(NamedTuple):
    """A score that makes sense on [0, 1] only."""

    def score(self, arm: Arm) -> float:
        return -arm.mean - math.sqrt(arm.mean * (1.0 - arm.mean) / arm.pulls)


class Shuffle(NamedTuple):
    """Phases that draw from the stream."""

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        for i in range(len(chosen)):
            chosen[i] = rng.random() < 0.5
        chosen[t % len(chosen)] = True
        return 2


@pytest.mark.parametrize("policy", [Optimist(), Optimist(0.0), Shuffle()])
def test_good_strangers_pass(policy: Any) -> None:
    check_policy(policy)
    check_policy(policy, arms=(1,), horizon=5)


def test_rewards_say_what_a_policy_is_made_for() -> None:
    check_policy(Coin(), rewards=(0.0, 1.0))
    with pytest.raises(
        ConformanceError, match=r"score must answer for Arm\(pulls=1, mean=-2.0.* but raised ValueError"
    ):
        check_policy(Coin())


@pytest.mark.parametrize("rewards", [(-1.0, 0.0), (2.0, math.inf), (-math.inf, -3.0)])
def test_rewards_may_be_any_interval(rewards: tuple[float, float]) -> None:
    check_policy(Optimist(), rewards=rewards)


@pytest.mark.parametrize(
    ("rewards", "means", "variances"),
    [
        ((0.0, 1.0), {0.0, 0.5, 1.0}, {0.0, 1e-9, 0.05, 0.25}),
        ((-math.inf, math.inf), {-2.0, 0.0, 0.5, 1.0, 3.0}, {0.0, 1e-9, 0.05, 0.25, 4.0}),
        ((2.0, math.inf), {2.0, 2.5, 3.0, 5.0}, {0.0, 1e-9, 0.05, 0.25, 4.0}),
        ((-math.inf, -3.0), {-6.0, -4.0, -3.5, -3.0}, {0.0, 1e-9, 0.05, 0.25, 4.0}),
        ((0.0, 0.2), {0.0, 0.1, 0.2}, {0.0, 1e-9}),
    ],
)
def test_scores_are_tried_at_the_extremes_of_what_an_arm_may_have(rewards, means, variances) -> None:
    """One pull has no variance, and a variance is at most a quarter of the squared length; early and late clocks."""
    points = _grid(rewards)
    assert {(arm.mean, arm.variance) for arm, _ in points if arm.pulls == 1} == {(mean, 0.0) for mean in means}
    for pulls in (2, 3, 10, 1_000, 1_000_000):
        tried = {(arm.mean, arm.variance) for arm, _ in points if arm.pulls == pulls}
        assert tried == {(mean, variance) for mean in means for variance in variances}
    assert len(points) == 2 * len(means) * (1 + 5 * len(variances))
    assert {(arm, t) for arm, t in points} == {(arm, k * arm.pulls + 1) for arm, _ in points for k in (1, 40)}


def test_scores_of_rewards_are_tried_on_their_statistics() -> None:
    """Each sample is ascending, within the rewards, reaches both ends, and comes with an early and a late clock."""
    points, kept = _samples((-1.0, 3.0))
    assert {arm.pulls for arm, _ in points} == {1, 2, 3, 11, 150, 200}
    assert kept.shape == (len(points), 200)
    for (arm, _), row in zip(points, kept, strict=True):
        rewards = row[: arm.pulls]
        assert np.isnan(row[arm.pulls :]).all()
        assert (np.diff(rewards) >= 0.0).all()
        assert (arm.mean, arm.variance) == (rewards.mean(), rewards.var())
    assert (np.nanmin(kept), np.nanmax(kept)) == (-1.0, 3.0)
    half = len(points) // 2
    assert [(arm, t) for arm, t in points[half:]] == [(arm, 40 * (t - 1) + 1) for arm, t in points[:half]]
    assert all(t == arm.pulls + 1 for arm, t in points[:half])


# Those that break it


class NoMethod(NamedTuple):
    a: float = 1.0


class NaNAtFirst(NamedTuple):
    def score(self, arm: Arm) -> float:
        return math.nan if arm.pulls == 1 else -arm.mean


class Divides(NamedTuple):
    def score(self, arm: Arm) -> float:
        return -arm.mean / arm.variance


class Remembers(NamedTuple):
    def score(self, arm: Arm) -> float:
        calls.append(arm.mean)
        return float(len(calls))


calls: list[float] = []


class Overflows(NamedTuple):
    def score(self, arm: Arm) -> float:
        return float(int(arm.pulls) ** 4)


class PythonOnly(NamedTuple):
    def score(self, arm: Arm) -> float:
        return min({"mean": arm.mean}.values(), key=lambda value: -value)


class OptionalClock(NamedTuple):
    def score(self, arm: Arm, t: int = 1) -> float:
        return -arm.mean / t


class Everything(NamedTuple):
    def score(self, arm: Arm, t: int, rng: Any, more: float) -> float:
        return more


class WrongCorner(NamedTuple):
    """The variance raises the score, so its bound must take the largest."""

    def score(self, arm: Arm) -> float:
        return arm.variance - arm.mean

    def score_bound(self, low: Arm, high: Arm) -> float:
        return low.variance - low.mean


class TwoPlease(NamedTuple):
    """Its score takes two numbers, and it draws one."""

    def draws(self, arm: Arm) -> tuple[Normal]:
        return (normal(arm.mean, 1.0),)

    def score(self, arm: Arm, mean: float, variance: float) -> float:
        return variance - mean


class Curved(NamedTuple):
    def draws(self, arm: Arm) -> tuple[Normal]:
        return (normal(arm.mean, 1.0),)

    def score(self, arm: Arm, mean: float) -> float:
        return -math.exp(mean)


class Rises(NamedTuple):
    """Its score rises with the clock, so that a bound at an earlier clock does not hold."""

    def score(self, arm: Arm, t: int) -> float:
        return math.log(t) - arm.mean

    def score_bound(self, low: Arm, high: Arm, t: int) -> float:
        return math.log(t) - low.mean


class Wavy(NamedTuple):
    """Its law moves to and fro with the mean, so that the corners of a box say nothing about its middle."""

    def draws(self, arm: Arm) -> tuple[Normal]:
        return (normal(math.sin(5.0 * arm.mean), 1.0),)

    def score(self, arm: Arm, mean: float) -> float:
        return -mean


class Nobody(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        chosen[:] = False
        return 1


class Never(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        return 0


class Half(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> float:
        return 1.5


class Forges(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        arms.mean[0] = 10.0
        return 1


class OutOfRange(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        chosen[:] = False
        chosen[t] = True
        return 1


class OwnDice(NamedTuple):
    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        chosen[:] = False
        chosen[dice.integers(0, len(chosen))] = True
        return 1


dice = np.random.default_rng(0)


class WrapsAround(NamedTuple):
    """Exact in Python, modulo 2⁶⁴ compiled."""

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        chosen[:] = False
        chosen[int(t) * 6364136223846793005 % len(chosen)] = True
        return 1


class ShortPhase(NamedTuple):
    def phase(self, arms: Arms, chosen: NDArray[np.bool_]) -> int:
        return FOREVER


class PatientOnly(NamedTuple):
    def tuned(self, setting: Setting) -> "PatientOnly":
        if setting.horizon is None or setting.horizon < 10:
            raise PrudentError("patient: horizon must be at least 10")
        return self

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        return FOREVER


class Checked(NamedTuple):
    """Refuses even itself."""

    width: float = 1.0

    def score(self, arm: Arm) -> float:
        return -arm.mean - self.width

    def check(self) -> None:
        check_positive("checked", "width", -1.0)


BROKEN_POLICIES = {
    "no tuple": (object(), "a policy must be a NamedTuple; write class"),
    "no instance": (NaNAtFirst, "a policy must be a NamedTuple.* pass Mine"),
    "plain tuple": ((1.0, 2.0), "a policy must be a NamedTuple"),
    "no method": (NoMethod(), "must bind to a bandit, but raised PrudentError: policy must be .* score or phase"),
    "NaN": (NaNAtFirst(), r"NaNAtFirst: score is NaN for Arm\(pulls=1, mean=-2.0, variance=0.0\) at t=2; 0/0"),
    "division by 0": (Divides(), "score must answer for .* but raised ZeroDivisionError"),
    "state": (Remembers(), "score must depend on its arguments alone"),
    "overflow": (Overflows(), "score of Arm.*pulls=1000000.* interpreted, but .* compiled; compiled integers wrap"),
    "Python only": (
        PythonOnly(),
        r'must compile, but Numba refuses File ".*test_testing_policies.py", line \d+: return min.*; keep',
    ),
    "default": (OptionalClock(), r"score must take \(self, arm\), .*; no defaults"),
    "too many": (Everything(), "score must take"),
    "wrong corner": (WrongCorner(), r"score_bound of Arm.* between them is .*; take the worst corner"),
    "too few draws": (TwoPlease(), "draws must return a tuple of 2 laws, .*; write return"),
    "curved": (Curved(), "score of Arm.* for numbers drawn at equal distances, .*; a score of other powers takes rng"),
    "rises": (Rises(), "score of Arm.* at t=.* but must not rise; leave score_bound out"),
    "wavy": (Wavy(), "a score of Arm.* has .* but from .* the corners have .*; the laws must move one way"),
    "nobody": (Nobody(), "phase chose no arm at t=1; mark at least one"),
    "never": (Never(), "was done without costs to choose by"),
    "half": (Half(), "phase must return a whole number of repetitions, not 1.5"),
    "forges": (Forges(), "phase must not change the arms' statistics; write to `chosen` and `alive` only"),
    "out of range": (OutOfRange(), "must play interpreted, but raised IndexError"),
    "own dice": (OwnDice(), "equal streams must give equal games; draw from `rng` alone"),
    "wraps around": (WrapsAround(), "must play the same compiled, but pulls .* interpreted, but .* compiled"),
    "short phase": (ShortPhase(), r"phase must take \(self, arms, t, chosen, rng\)"),
    "patient": (PatientOnly(), "must bind to 2 arms and 2 rounds, but raised PrudentError: patient"),
    "refuses itself": (Checked(), "check must accept what it belongs to"),
}


@pytest.mark.parametrize("case", BROKEN_POLICIES)
def test_broken_policies_are_caught(case: str) -> None:
    policy, message = BROKEN_POLICIES[case]
    with pytest.raises(ConformanceError, match=message) as caught:
        check_policy(policy)
    assert len(str(caught.value)) < 600


class Listed(NamedTuple):
    """Its parameter does not survive its text: a list comes back."""

    order: tuple[int, ...] = ()

    def phase(self, arms: Arms, t: int, chosen: NDArray[np.bool_], rng: Any) -> int:
        return FOREVER


def test_a_registered_policy_must_print_itself_in_full(register) -> None:
    register(policy_registry, "listed", Listed)
    with pytest.raises(ConformanceError, match=r"must build it again, but built Listed\(order=\[1, 2\]\)"):
        check_policy(Listed((1, 2)))
