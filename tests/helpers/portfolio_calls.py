"""Public functions of the portfolio package, each with arguments that it takes, and values that make no sense."""

import numpy as np

from prudent import EmpiricalJoint, MultivariateGaussian, MultivariateT, PortfolioBandit, simulate_portfolio
from prudent.portfolio import MCETE, MCUCB, MCEmpirical, SingleArm, Vertices, positive_part, report, solve, spaced

MEAN, SPREAD = [0.5, 0.3], [[1.0, 0.3], [0.3, 0.6]]
LAW = MultivariateGaussian(MEAN, SPREAD)
BANDIT = PortfolioBandit(LAW, ["a", "b"])

HOSTILE = {
    "None": None, "5": 5, "-1": -1, "1.5": 1.5, "x": "x", "empty text": "", "[]": [], "{}": {}, "object": object(),
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "huge": 10**400, "bytes": b"x", "True": True, "texts": ["a", "b"],
    "numbers as text": ["1", "2"], "ragged": [[1.0, 2.0], [3.0]], "three dimensions": np.ones((2, 2, 2)),
    "complex": np.array([1j, 2.0]), "complex matrix": np.eye(2) * 1j, "NaN in it": [np.nan, 1.0],
    "NaN in a matrix": [[1.0, np.nan], [np.nan, 1.0]], "not symmetric": [[1.0, 5.0], [0.0, 1.0]],
    "not positive": [[1.0, 2.0], [2.0, 1.0]], "zero": [[0.0, 0.0], [0.0, 0.0]],
    "tiny": [[5e-324, 0.0], [0.0, 5e-324]], "objects": [object(), None],
    "enormous": [[1e308, 0.0], [0.0, 1e308]], "a class": PortfolioBandit, "a set": {1, 2},
    "dates": np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "a huge one": [10**400, 1],
}  # fmt: skip

SIMULATED = {"bandit": BANDIT, "policy": "mc-empirical", "rho": 1.0, "horizon": 20, "runs": 2, "seed": 0, "upper": None,
             "short": False, "snapshots": (5,), "workers": 1, "progress": None}  # fmt: skip

PORTFOLIO_CALLS = {
    "MultivariateGaussian": (MultivariateGaussian, {"mean": MEAN, "covariance": SPREAD}),
    "MultivariateT": (MultivariateT, {"degrees": 5.0, "mean": MEAN, "scale": SPREAD}),
    "EmpiricalJoint": (EmpiricalJoint, {"rows": [[1.0, 2.0], [2.0, 5.0]], "names": ["a", "b"]}),
    "from_csv": (EmpiricalJoint.from_csv, {"path": "no such file", "columns": None}),
    "PortfolioBandit": (PortfolioBandit, {"law": LAW, "names": None}),
    "optimal": (BANDIT.optimal, {"rho": 1.0, "upper": None, "short": False}),
    "frontier": (BANDIT.frontier, {"rhos": [0.0, 1.0], "upper": None, "short": False}),
    "cost": (BANDIT.cost, {"weights": [0.5, 0.5], "rho": 1.0}),
    "best_arm": (BANDIT.best_arm, {"rho": 1.0}),
    "solve": (solve, {"covariance": SPREAD, "mean": MEAN, "rho": 1.0, "upper": None, "short": False}),
    "positive_part": (positive_part, {"covariance": SPREAD}),
    "spaced": (spaced, {"first": 1, "last": 100, "count": 5}),
    "simulate_portfolio": (simulate_portfolio, SIMULATED),
    "learn": (report.learn, {"bandit": BANDIT, "feedback": "full", "horizon": 20, "runs": 1}),
    "MCEmpirical": (MCEmpirical, {"growth": 0.05}),
    "MCETE": (MCETE, {"growth": 0.05}),
    "MCUCB": (MCUCB, {"c": 1.0, "growth": 0.05}),
    "SingleArm": (lambda arm: simulate_portfolio(BANDIT, SingleArm(arm), horizon=5, runs=1), {"arm": 1}),
    "Vertices": (lambda policy: simulate_portfolio(BANDIT, Vertices(policy), horizon=5, runs=1), {"policy": "mv-lcb"}),
}
