"""Prices are recognised and turned into returns, and the tolerance chosen without --rho is in the scale of the data."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from prudent import EmpiricalJoint, MultivariateGaussian, PortfolioBandit, PrudentError
from prudent.cli import main
from prudent.portfolio.prices import look_like_prices, settled

RNG = np.random.default_rng(3)
RETURNS = RNG.normal([0.0004, 0.001, 0.0002], [0.01, 0.03, 0.004], size=(300, 3))
PRICES = np.vstack([np.ones(3), np.cumprod(1.0 + RETURNS, axis=0)]) * [100.0, 1.1, 7.0]


def written(path, rows):
    lines = [",".join(map(repr, row)) for row in rows.tolist()]
    path.write_text("\n".join(["Acorn,Bolt,Cedar", *lines]))
    return path


@pytest.fixture
def prices(tmp_path):
    return written(tmp_path / "prices.csv", PRICES)


@pytest.fixture
def returns(tmp_path):
    return written(tmp_path / "returns.csv", RETURNS)


def run(*arguments):
    return CliRunner().invoke(main, ["portfolio", *map(str, arguments), "--horizon", "50", "--runs", "2"])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (PRICES[:, 0], True),
        (PRICES[:, 1], True),  # around 1, as exchange rates are
        (PRICES[:4, 0], True),
        (PRICES[:4, 1], False),  # too few to see whether they follow each other
        (RETURNS[:, 0], False),
        (100.0 * RETURNS[:, 0], False),
        (1.0 + RETURNS[:, 0], False),  # gross returns
        (np.abs(RETURNS[:, 0]), False),
        (np.full(20, 1.5), False),
        (np.arange(20.0), False),  # zero is no price
    ],
)
def test_what_looks_like_prices(column, expected):
    assert look_like_prices(column) is expected


def test_prices_are_asked_about_before_anything_is_done(prices, tmp_path):
    told = run(prices, "--out", tmp_path / "out")
    assert told.exit_code == 2
    assert "are these prices or returns? Acorn, Bolt, Cedar" in told.stderr
    assert "--prices" in told.stderr
    assert "--returns" in told.stderr
    assert not (tmp_path / "out").exists()


def test_prices_become_simple_returns(prices):
    law = EmpiricalJoint.from_csv(prices, prices=True)
    assert np.allclose(law.rows, RETURNS, rtol=0.0, atol=1e-12)
    assert law.names == ("Acorn", "Bolt", "Cedar")
    told = run(prices, "--prices")
    assert told.exit_code == 0
    assert "Prices were turned into 300 simple returns p_t/p_{t−1} − 1" in told.stdout
    assert EmpiricalJoint.from_csv(prices, prices=False).rows.shape == PRICES.shape
    assert run(prices, "--returns").exit_code == 0


def test_returns_are_no_prices(returns):
    told = run(returns, "--prices")
    assert told.exit_code == 2
    assert "prices must be above 0" in told.stderr
    assert "are these returns?" in told.stderr
    with pytest.raises(PrudentError, match="prices must be True or False"):
        EmpiricalJoint.from_csv(returns, prices="yes")


def test_the_middle_rho_gives_a_mean_halfway():
    bandit = PortfolioBandit(EmpiricalJoint(RETURNS))
    for upper in (None, 0.6):
        rho = bandit.middle_rho(upper=upper)
        low, middle, high = (bandit.optimal(each, upper=upper).mean for each in (0.0, rho, math.inf))
        assert middle == pytest.approx(0.5 * (low + high), rel=0.02)


@pytest.mark.parametrize("unit", [1e-4, 100.0])
def test_the_middle_rho_has_the_unit_of_rewards(unit):
    one, other = (PortfolioBandit(EmpiricalJoint(scale * RETURNS)).middle_rho() for scale in (1.0, unit))
    assert other == pytest.approx(unit * one, rel=0.01)


def test_where_all_means_are_alike_no_rho_matters():
    assert PortfolioBandit(MultivariateGaussian([0.1, 0.1], np.diag([1.0, 2.0]))).middle_rho() == 0.0


def test_the_default_rho_is_told_and_not_the_mean_only(returns):
    facts = json.loads(run(returns, "--json").stdout)
    assert facts["rho"] == PortfolioBandit(EmpiricalJoint(RETURNS)).middle_rho()
    assert max(facts["best"]["weights"].values()) < 0.95
    printed = " ".join(run(returns).stdout.split())
    assert f"ρ = {facts['rho']:g}, in the unit of the rewards: its best mix has a mean halfway" in printed


def test_a_rho_at_which_risk_does_not_count_is_pointed_out(returns):
    printed = " ".join(run(returns, "--rho", 1).stdout.split())
    assert "At ρ = 1 the best mix is Bolt alone, the arm of the largest mean" in printed
    assert "halfway" not in printed


@pytest.mark.parametrize(
    ("count", "shown"), [(3, "p0, p1, p2: "), (4, "p0, p1, p2 and 1 more: "), (9, "p2 and 6 more: ")]
)
def test_of_many_columns_that_look_like_prices_three_are_named(count, shown):
    columns = {f"p{i}": np.linspace(80.0, 90.0, 30) for i in range(count)}
    with pytest.raises(PrudentError, match=shown):
        settled("portfolio", columns, None)
