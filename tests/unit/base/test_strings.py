"""Whoever takes a risk measure, a law or a policy takes its spec: every public function, tried with strings."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import prudent
from prudent import Bandit, MultivariateGaussian, study, testing, theory
from prudent.plan import Guess, suitable
from prudent.results import regret

COINS = Bandit(["bernoulli(0.5)", "bernoulli(0.6)"])
MEAN_VARIANCE = "mean-variance(1)"
PULLS = np.array([6, 4])
ONE = np.full(2, 0.1)
THEOREMS = [
    "lemma1", "lemma2", "pulls_bound", "theorem1_high_probability", "theorem1_expectation", "theorem1_sharp",
    "remark1_rate", "worst_case", "corollary", "theorem2", "lower_bound_rates", "lower_bound", "bounds",
]  # fmt: skip

CALLS = {
    "Bandit": lambda: Bandit(["normal(1, 2)", "uniform(0, 1)"]),
    "Mixture": lambda: prudent.Mixture(["normal(1, 2)", "uniform(0, 1)"], [0.5, 0.5]).mean,
    "costs": lambda: COINS.costs("cvar(0.1)"),
    "best": lambda: COINS.best("cvar(0.1)"),
    "gaps": lambda: COINS.gaps("mean"),
    "complexity": lambda: COINS.complexity("mean"),
    "cost": lambda: [prudent.risk.base.risks.parse(name).cost("uniform(1, 2)") for name in ("cvar(0.1)", "sharpe")],
    "period_cost": lambda: prudent.period_cost("bernoulli(0.5)", "cvar(0.1)", 10),
    "sequence_cost": lambda: prudent.sequence_cost(COINS, "cvar(0.1)", (1, 1)),
    "best_sequence": lambda: prudent.best_sequence(COINS, "cvar(0.1)", 3),
    "adaptive_cost": lambda: prudent.adaptive_cost(COINS, "cvar(0.1)", 3),
    "explore_then_sequence": lambda: prudent.explore_then_sequence(COINS, "cvar(0.1)", 8, runs=5),
    "sequence_regret": lambda: prudent.sequence_regret([1.0, 2.0] * 100, COINS, "cvar(0.1)", 3),
    "simulate": lambda: prudent.simulate(COINS, "npts(risk=cvar(0.1))", risk="cvar(0.1)", horizon=9, runs=2),
    "evaluate": lambda: prudent.evaluate({"arm": ["A", "B"], "reward": [0.2, 0.4]}, "A", risk="cvar(0.1)"),
    "identify": lambda: prudent.identify(COINS, "uniform", risk="cvar(0.1)", budget=20, runs=2),
    "Agent": lambda: prudent.Agent("npts", arms=2, risk="cvar(0.1)", support=(0, 1)),
    "simulate_portfolio": lambda: prudent.simulate_portfolio(
        prudent.PortfolioBandit(MultivariateGaussian([0.1, 0.2], np.eye(2))), "mc-ucb", horizon=30, runs=2
    ),
    "Study": lambda: study.Study({"coins": ["bernoulli(0.5)", "bernoulli(0.6)"]}, ["ucb1"], ["mean"], [10], 2).cells,
    "suitable": lambda: suitable(
        MEAN_VARIANCE, 100, [Guess("a", "bernoulli(0.1..0.2)"), Guess("b", "bernoulli(0.1..0.3)")]
    ),
    "regret_parts": lambda: regret.regret_parts(PULLS, ONE, ONE, ONE, ONE, MEAN_VARIANCE),
    "pseudo_regret_parts": lambda: regret.pseudo_regret_parts(PULLS, ONE, ONE, MEAN_VARIANCE),
    "expected_regret": lambda: regret.expected_regret(PULLS, ONE, ONE, 0, MEAN_VARIANCE),
    "mixture_regret": lambda: regret.mixture_regret(PULLS, COINS, "cvar(0.1)"),
    "horizons": lambda: theory.horizons(COINS, MEAN_VARIANCE),
    "informative_horizons": lambda: theory.informative_horizons(theory.theorem2, COINS, MEAN_VARIANCE),
    "largest_pseudo_regret": lambda: theory.largest_pseudo_regret(COINS, MEAN_VARIANCE),
    "asymptotic_bound": lambda: theory.asymptotic_bound(COINS, MEAN_VARIANCE),
    "least_divergence": lambda: theory.least_divergence("bernoulli(0.5)", -0.7, MEAN_VARIANCE),
    **{name: lambda name=name: getattr(theory, name)(COINS, MEAN_VARIANCE, 100) for name in THEOREMS},
    "check_arm": lambda: testing.check_arm("uniform(0, 1)"),
    "check_risk": lambda: testing.check_risk("mean"),
    "check_policy": lambda: testing.check_policy("ucb1", risk="mean", arms=(2,), horizon=20),
    "check_strategy": lambda: testing.check_strategy("uniform", risk="mean", arms=(2,), budget=20),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_spec_is_enough(name):
    CALLS[name]()


def test_cells_are_run_from_specs(tmp_path):
    store = study.run([study.Cell(COINS, "cvar(0.1)", "ucb1", 10, runs=2)], tmp_path)
    assert store.table()["risk"].to_list() == ["cvar(alpha=0.1)"]


def test_all_public_functions_of_risks_laws_and_policies_are_tried():
    """Those of the package's stub and of its public modules whose parameters are called so."""
    stub = ast.parse(Path(prudent.__file__).with_suffix(".pyi").read_text("utf-8"))
    names = [alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    found = set()
    for owner in (prudent, theory, testing, regret):
        for name in names if owner is prudent else vars(owner):
            thing = getattr(owner, name)
            if inspect.isfunction(thing) and not name.startswith("_"):
                asked = {"risk", "law", "policy", "strategy"} & set(inspect.signature(thing).parameters)
                found |= {name} if asked else set()
    assert found - set(CALLS) == set()
