"""QLUCB: the martingale behind its bounds, their coverage at all times, its steps and its answers."""

import math

import numpy as np
import pytest
from scipy import special, stats

from prudent import QLUCB, Bandit, PrudentError, VaR, identify
from prudent.engine import search, search_rounds
from prudent.policies.contract import Arms
from prudent.policies.identification.fixed_confidence import PRIOR_WEIGHT, log_martingale, quantile_ranks

FAILURE = 0.1


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9])
def test_the_martingale_has_mean_one_at_every_time(alpha: float) -> None:
    for pulls in (1, 7, 60):
        s = np.arange(pulls + 1)
        values = [math.exp(log_martingale(alpha, pulls, int(k))) for k in s]
        assert stats.binom.pmf(s, pulls, alpha) @ values == pytest.approx(1.0)
        a, b = PRIOR_WEIGHT * alpha, PRIOR_WEIGHT * (1.0 - alpha)
        wanted = special.beta(a + s, b + pulls - s) / special.beta(a, b) / (alpha**s * (1.0 - alpha) ** (pulls - s))
        assert values == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9])
def test_ranks_are_those_of_a_search_through_all(alpha: float) -> None:
    limit = math.log(3.0 / FAILURE)
    for pulls in (1, 2, 10, 333):
        fine = [s for s in range(pulls + 1) if log_martingale(alpha, pulls, s) < limit]
        assert quantile_ranks(alpha, pulls, limit) == (min(fine), max(fine))


def test_bounds_hold_at_all_times_together() -> None:
    """A uniform law, and coins whose quantile is an atom; the number of runs with any failure is binomial at worst."""
    rng, runs, length, alpha = np.random.default_rng(5), 400, 600, 0.3
    ranks = [quantile_ranks(alpha, n, math.log(1.0 / FAILURE)) for n in range(1, length + 1)]
    for draw, quantile in ((rng.random, 0.3), (lambda n: (rng.random(n) < 0.5).astype(float), 0.0)):
        failures = 0
        for _ in range(runs):
            x = draw(length)
            up_to, below = np.cumsum(x <= quantile), np.cumsum(x < quantile)
            failures += any(u < low or b > high for u, b, (low, high) in zip(up_to, below, ranks, strict=True))
        assert failures <= stats.binom.isf(1e-9, runs, FAILURE)
    assert failures < runs  # and the bounds are no empty ones
    assert ranks[-1][1] - ranks[-1][0] < 0.25 * length


def test_a_step_is_that_of_the_paper() -> None:
    rng, alpha, delta = np.random.default_rng(3), 0.4, 0.1
    for pulls in ([30, 80, 9], [400, 50, 300], [3, 3, 3], [2_000, 900, 1_500]):
        rewards = np.zeros((3, max(pulls)))
        bounds = []
        for i, n in enumerate(pulls):
            rewards[i, :n] = np.sort(rng.normal(0.3 * i, 1.0, n))
            low, high = quantile_ranks(alpha, n, math.log(3 / delta))
            bounds.append((rewards[i, low - 1] if low else -math.inf, rewards[i, high] if high < n else math.inf))
        chosen, alive = np.zeros(3, bool), np.full(3, True)
        arms = Arms(np.array(pulls), np.zeros(3), np.zeros(3), np.zeros(3), alive, rewards)
        repeats = QLUCB(delta, alpha).phase(arms, 2, chosen, None)
        leader = max(range(3), key=lambda i: (bounds[i][0], -pulls[i]))
        rival = max(set(range(3)) - {leader}, key=lambda i: (bounds[i][1], -pulls[i]))
        assert repeats == int(bounds[leader][0] < bounds[rival][1])
        if repeats:
            assert set(np.flatnonzero(chosen)) == {leader, rival}
        else:
            assert np.flatnonzero(alive).tolist() == [leader]


def test_it_finds_the_quantile_with_fewer_pulls_than_lucb(monkeypatch) -> None:
    """Heavy tails need no support; on [0, 1] it is compared with lucb, whose band holds at one time only."""
    monkeypatch.setattr(search, "search", search_rounds.search.py_func)  # saves compiling it
    heavy = Bandit(["student-t(1)", "student-t(1, 1.5)", "student-t(1, -1)"])
    found = identify(heavy, "qlucb", risk=VaR(0.5), delta=0.1, runs=3, most_pulls=4_000)
    assert found.decided.all()
    assert not found.wrong().any()
    bounded = Bandit(["uniform(0, 0.8)", "uniform(0.3, 1)"])
    quick, slow = (identify(bounded, name, risk=VaR(0.3), delta=0.1, runs=2) for name in ("qlucb", "lucb"))
    assert not quick.wrong().any()
    assert quick.stopping_time().mean() < 0.7 * slow.stopping_time().mean()


def test_other_risks_are_refused() -> None:
    bandit = Bandit(["uniform(0, 0.8)", "uniform(0.3, 1)"])
    for risk in ("cvar", "mean-variance", "var(1)"):
        with pytest.raises(PrudentError, match="qlucb: "):
            identify(bandit, "qlucb(alpha=0.1)" if risk == "mean-variance" else "qlucb", risk=risk, delta=0.1, runs=1)
