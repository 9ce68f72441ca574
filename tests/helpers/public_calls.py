"""Public functions, each with arguments that it takes, and values that make no sense as most of them."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from prudent import (
    Agent,
    Bandit,
    Bernoulli,
    Beta,
    Deterministic,
    Empirical,
    Exponential,
    Gaussian,
    MeanVariance,
    Mixture,
    MultivariateGaussian,
    PortfolioBandit,
    RiskMeasure,
    Runs,
    StudentT,
    TruncatedGaussian,
    Uniform,
    adaptive_cost,
    best_sequence,
    evaluate,
    explore_then_sequence,
    identify,
    period_cost,
    sequence_cost,
    sequence_regret,
    simulate,
    simulate_portfolio,
    theory,
)
from prudent.confidence import anytime, betting
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import Setting, policies, strategies
from prudent.results import regret
from prudent.risk.base import risks

HOSTILE = [
    None, True, 5, -1, 0, 1.5, -0.5, math.nan, math.inf, -math.inf, 1e308, 10**400, 10**5_000, 1j, "x", "", "5", "nan",
    b"x", [], [1.0], [[1.0], [2.0, 3.0]], [None], ["x"], {}, {"x": 1}, {1}, (), object(), len, int, np.True_,
    np.array([1.0]), np.array(1.5), np.array([]), np.array(["x"]), np.array([1j]), np.float64(0.5), np.int64(3),
    range(3), iter(()), np.array(0.5), np.array(["x", "y"]), 1e-300, 1.7e308, -1.7e308, "x" * 10_000,
    pl.Series(["x", "y"]), pl.LazyFrame({"x": [1.0]}),
]  # fmt: skip

COINS = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
RNG = np.random.default_rng(0)


def runs() -> Runs:
    pulls, mean = np.array([[2, 3], [4, 1]]), np.array([[0.5, 0.6], [0.4, 0.0]])
    arrays = dict.fromkeys(("mean", "variance", "twin_mean", "twin_variance"), mean)
    facts = {"bandit": COINS, "policy": policies.parse("ucb1"), "risk": MeanVariance(1.0), "seed": 0, "seconds": 0.0}
    return Runs(**facts, horizon=5, engine="stepping", pulls=pulls, **arrays)


def agent() -> Agent:
    made = Agent("mv-lcb(rho=1)", 2, 100, support=(0, 1), remember=True)
    made.tell(made.ask(), 0.5)
    made.ask()
    return made


LAWS = [
    Gaussian(0, 1), Gaussian(1, 0), Beta(2, 3), Uniform(0, 1), Exponential(1), StudentT(3), Bernoulli(0.5),
    Deterministic(1), Empirical([1, 2]), TruncatedGaussian(0, 1, -1, 1), Mixture([Gaussian(0, 1), Bernoulli(0.5)]),
]  # fmt: skip
POINTS = {"cdf": "x", "partial_mean": "x", "quantile": "alpha", "lower_tail_mean": "alpha", "upper_tail_mean": "alpha",
          "log_laplace": "lam"}  # fmt: skip
STATS = {"pulls": 5, "mean": 0.5, "variance": 0.1, "failure": 0.1, "low": 0.0, "high": 1.0}
ALLOCATION = {"pulls": np.array([2, 3]), "mean": np.array([0.5, 0.6]), "variance": np.array([0.1, 0.2])}


Cases = Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]
"""A name, what is called, and arguments that it takes."""


def of_laws() -> Cases:
    for law in LAWS:
        own = {field.name: getattr(law, field.name) for field in dataclasses.fields(law)}
        yield type(law).__name__, type(law), own
        for method, name in POINTS.items():
            yield f"{type(law).__name__}.{method}", getattr(law, method), {name: 0.5}
    yield "Beta.from_moments", Beta.from_moments, {"mean": 0.5, "variance": 0.1}
    yield "Empirical.from_csv", Empirical.from_csv, {"path": "none.csv", "column": "x"}
    yield "sample", Gaussian(0, 1).sample, {"rng": RNG, "size": 3}
    yield "expectation", Gaussian(0, 1).expectation, {"function": np.abs}
    yield "Bandit", Bandit, {"arms": ["gaussian(0, 1)"], "names": ["a"]}
    for method in ("costs", "gaps", "best", "complexity"):
        yield f"Bandit.{method}", getattr(COINS, method), {"risk": "cvar"}


def of_registries() -> Cases:
    for registry in (policies, strategies, risks):
        for entry in registry.entries():
            if entry.factory.__module__.startswith("prudent."):
                yield entry.name, entry.factory, dict(entry.parameters)
    for name in ("mean-variance", "cvar", "sharpe", "entropic", "wang", "semivariance"):
        risk: RiskMeasure = risks.parse(name)
        yield f"{name}.cost", risk.cost, {"law": "gaussian(0, 1)"}
        yield f"{name}.sample_cost", risk.sample_cost, {"rewards": [1, 2], "weights": [1, 1]}
        yield f"{name}.interval", risk.interval, {"rewards": [0.1, 0.2], "level": 0.9, "support": (0, 1)}
        yield f"{name}.stats_cost", risk.stats_cost, {"mean": 1.0, "variance": 2.0}
    for registry in (policies, risks):
        yield "make", registry.make, {"owner": "owner", "given": registry.names()[0]}
        yield "parse", registry.parse, {"text": registry.names()[0]}


def of_sequences_and_theory() -> Cases:
    yield "period_cost", period_cost, {"law": "bernoulli(0.5)", "risk": "cvar", "periods": 3, "samples": 300, "seed": 0}
    yield "best_sequence", best_sequence, {"bandit": COINS, "risk": "cvar", "periods": 3}
    yield "sequence_cost", sequence_cost, {"bandit": COINS, "risk": "cvar", "counts": [1, 2]}
    yield "adaptive_cost", adaptive_cost, {"bandit": COINS, "risk": "cvar", "periods": 3}
    yield "sequence_regret", sequence_regret, {
        "totals": np.arange(300.0), "bandit": COINS, "risk": "cvar", "periods": 3,
    }  # fmt: skip
    yield "explore_then_sequence", explore_then_sequence, {
        "bandit": COINS, "risk": "cvar", "periods": 4, "explore": 1, "runs": 2, "seed": 0,
    }  # fmt: skip
    for result in (theory.lemma1, theory.lemma2, theory.pulls_bound, theory.theorem1_high_probability):
        yield result.__name__, result, {"bandit": COINS, "risk": MeanVariance(1.0), "horizon": 100, "delta": 0.01}
    for result in (
        theory.theorem1_expectation, theory.theorem1_sharp, theory.theorem2, theory.corollary, theory.remark1_rate,
        theory.worst_case, theory.lower_bound_rates, theory.lower_bound,
    ):  # fmt: skip
        yield result.__name__, result, {"bandit": COINS, "risk": MeanVariance(1.0), "horizon": 100}
    yield "theorem2 rule", theory.theorem2, {
        "bandit": COINS, "risk": MeanVariance(1.0), "horizon": 9, "rule": "appendix",
    }  # fmt: skip
    yield "minimax", theory.minimax, {"horizon": 4, "rho": 0.5, "tolerance": 0.01}
    yield "bounds", theory.bounds, {"bandit": COINS, "risk": MeanVariance(1.0), "horizon": 100, "delta": 0.01}
    yield "asymptotic_bound", theory.asymptotic_bound, {"bandit": COINS, "risk": "cvar", "support": (0, 1)}
    yield "least_divergence", theory.least_divergence, {
        "law": "bernoulli(0.5)", "cost": -0.7, "risk": "mean", "values": (0, 1),
    }  # fmt: skip
    yield "informative_horizons", theory.informative_horizons, {
        "result": theory.lemma2, "bandit": COINS, "risk": MeanVariance(1.0), "printed": True,
    }  # fmt: skip
    yield "largest_pseudo_regret", theory.largest_pseudo_regret, {"bandit": COINS, "risk": MeanVariance(1.0)}
    yield "largest_regret", theory.largest_regret, {"rho": 1.0, "span": 1.0}


def of_statistics() -> Cases:
    yield "always.mean_bounds", anytime.mean_bounds, STATS
    yield "always.variance_bounds", anytime.variance_bounds, STATS
    yield "always.share_bounds", anytime.share_bounds, {"pulls": 5, "share": 0.4, "failure": 0.1}
    yield "always.mean_variance_bounds", anytime.mean_variance_bounds, {**STATS, "rho": 1.0}
    bets = {"ledger": betting.no_bets(rho=1.0), "pulls": 5, "failure": 0.1, "low": 0.0, "high": 1.0}
    yield "betting.mean_bounds", betting.mean_bounds, bets
    yield "betting.variance_bounds", betting.variance_bounds, bets
    yield "betting.mean_variance_bounds", betting.mean_variance_bounds, {**bets, "rho": 1.0}
    yield "always.quantile_bounds", anytime.quantile_bounds, {
        "rewards": [0.1, 0.2], "quantile": 0.5, "failure": 0.1, "low": 0.0, "high": 1.0,
    }  # fmt: skip
    yield "always.quantile_ranks", anytime.quantile_ranks, {"pulls": 5, "quantile": 0.5, "failure": 0.1}
    yield "regret.sequence_moments", regret.sequence_moments, ALLOCATION
    yield "regret.exploration_risk", regret.exploration_risk, {
        "pulls": np.array([2, 3]), "means": np.array([0.5, 0.6]), "form": "exact",
    }  # fmt: skip
    yield "regret.gap_regret", regret.gap_regret, {"pulls": np.array([2, 3]), "gaps": np.array([0.0, 0.1])}
    twins = {"twin_mean": np.array([0.5, 0.6]), "twin_variance": np.array([0.1, 0.2])}
    yield "regret.regret_parts", regret.regret_parts, {**ALLOCATION, **twins, "risk": MeanVariance(1.0)}
    yield "regret.pseudo_regret_parts", regret.pseudo_regret_parts, {
        "pulls": np.array([2, 3]), "means": np.array([0.5, 0.6]), "gaps": np.array([0.0, 0.1]),
        "risk": MeanVariance(1.0), "form": "exact",
    }  # fmt: skip
    yield "regret.expected_regret", regret.expected_regret, {
        "pulls": np.array([2, 3]), "means": np.array([0.5, 0.6]), "variances": np.array([0.1, 0.2]), "best": 0,
        "risk": MeanVariance(1.0),
    }  # fmt: skip
    yield "regret.mixture_regret", regret.mixture_regret, {
        "pulls": np.array([2, 3]), "bandit": Bandit(["bernoulli(0.5)", "bernoulli(0.6)"]), "risk": "cvar(0.1)",
    }  # fmt: skip
    yield "Runs.at", lambda horizon: runs().at(horizon), {"horizon": 5}
    yield "Runs.exploration_risk", lambda form: runs().exploration_risk(form), {"form": "exact"}
    yield "Runs.pseudo_regret", lambda form: runs().pseudo_regret(form), {"form": "exact"}


def of_agents() -> Cases:
    yield "Agent", Agent, {
        "policy": "mv-lcb", "arms": 2, "horizon": 100, "seed": 0, "risk": "cvar", "support": (0, 1), "remember": True,
    }  # fmt: skip
    yield "Agent.ask", lambda among: agent().ask(among), {"among": [0]}
    yield "Agent.tell", lambda arm, reward, asked: agent().tell(arm, reward, asked=asked), {
        "arm": 0, "reward": 0.5, "asked": False,
    }  # fmt: skip
    yield "Agent.split", lambda count, among: agent().split(count, among), {"count": 1_000, "among": [0]}
    yield "Agent.merge", lambda **given: Agent("ucb1", 2, support=(0, 1)).merge(**given), {
        "arm": 0, "count": 2, "mean": 0.5, "variance": 0.1, "asked": False,
    }  # fmt: skip
    yield "Agent.withdraw", lambda arm, count: agent().withdraw(arm, count), {"arm": 1, "count": 1}
    yield "Agent.retire", lambda arm: agent().retire(arm), {"arm": 1}
    yield "Agent.intervals", lambda level, quantile: agent().intervals(level, quantile), {"level": 0.9, "quantile": 0.5}
    yield "Agent.differences", lambda control, level: agent().differences(control, level), {"control": 0, "level": 0.9}
    yield "Agent.leader", lambda level: agent().leader(level), {"level": 0.9}
    yield "Agent.summary", lambda level: agent().summary(level), {"level": 0.9}
    yield "Agent.add_arm", lambda name: Agent("ucb1", ["a", "b"], scale=1).add_arm(name), {"name": "c"}
    yield "Agent.from_json", Agent.from_json, {"text": agent().to_json(), "policy": None}
    yield "Agent.load", Agent.load, {"path": "no-such-file", "policy": None}
    yield "bind", lambda given: bind(given, Setting(2, MeanVariance(1.0), 10)), {"given": policies.parse("mv-lcb")}
    yield "served_risk", served_risk, {"policy": policies.parse("mv-lcb")}


LOG = {"arm": ["A", "B"] * 20, "reward": [0.7, 0.2, 0.5, 1.0] * 10, "propensity": [0.5] * 40, "day": list(range(40))}
ASSETS = MultivariateGaussian([0.1, 0.2], [[0.04, 0.0], [0.0, 0.04]])


def of_doors() -> Cases:
    played = {"risk": "variance", "horizon": 20, "runs": 2, "seed": 0, "workers": 1}
    yield "simulate", simulate, {
        **played, "bandit": COINS, "policy": "ucb1", "batch": 1, "engine": "auto", "scale": None, "snapshots": [5],
        "keep": None, "common": False, "bound_failure": 0.0, "progress": None, "replay": False, "delay": None,
    }  # fmt: skip
    yield "simulate interpreted", simulate, {
        **played, "bandit": COINS, "policy": "ucb1", "engine": "interpreted", "scale": None, "snapshots": [5],
        "keep": None, "delay": 0,
    }  # fmt: skip
    yield "identify", identify, {
        "bandit": COINS, "strategy": "lucb", "risk": "mean", "delta": 0.2, "budget": None, "runs": 2, "seed": 0,
        "most_pulls": 100, "workers": 1,
    }  # fmt: skip
    yield "evaluate", evaluate, {
        "log": LOG, "policy": {"A": 0.5, "B": 0.5}, "risk": "cvar", "quantiles": [0.5], "level": 0.9, "support": (0, 1),
        "method": "weights", "floor": 0.1, "unit": "", "larger_is_better": True, "seed": 0, "group": "arm",
        "outcome": "reward", "propensity": "propensity", "time": "day",
    }  # fmt: skip
    yield "PortfolioBandit", PortfolioBandit, {"law": ASSETS, "names": ["a", "b"]}
    yield "PortfolioBandit.optimal", PortfolioBandit(ASSETS).optimal, {"rho": 1.0, "upper": 0.8, "short": False}
    yield "simulate_portfolio", simulate_portfolio, {
        "bandit": PortfolioBandit(ASSETS), "policy": "mc-empirical", "rho": 1.0, "horizon": 20, "runs": 2, "seed": 0,
        "upper": 0.8, "short": False, "snapshots": [5], "workers": 1,
    }  # fmt: skip


PUBLIC_CALLS = [*of_doors(), *of_laws(), *of_registries(), *of_sequences_and_theory(), *of_statistics(), *of_agents()]
