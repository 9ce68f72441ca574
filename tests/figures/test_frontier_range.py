"""How far a frontier is drawn: as far as the arms and the learner's best mix ask for, in whatever unit."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from prudent import MultivariateGaussian, PortfolioBandit, simulate_portfolio
from prudent.portfolio.figures import plot_frontier


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("learns", [False, True], ids=["arms alone", "with a learner"])
def test_a_frontier_ends_a_little_beyond_the_riskiest_arm_in_every_unit(unit, learns):
    law = MultivariateGaussian(unit * np.array([0.5, 0.3, 0.1]), unit**2 * np.diag([1.0, 0.6, 0.4]))
    bandit = PortfolioBandit(law)
    learned = simulate_portfolio(bandit, "mc-empirical", horizon=60, runs=2, snapshots=[30]) if learns else None
    frontier = bandit.frontier(short=True)
    assert np.sqrt(frontier.variance).max() > 2.0 * unit
    drawn = plot_frontier(Figure().subplots(), bandit, [("short", frontier)], learned).get_lines()[0].get_xdata()
    reach = 1.2 * max(unit, learned.best.variance**0.5 if learns else 0.0)
    assert drawn.max() <= reach
    kept = np.sqrt(frontier.variance) <= reach
    assert drawn == pytest.approx(np.sqrt(frontier.variance[kept]))
