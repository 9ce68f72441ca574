"""Risk-averse multi-armed bandits: plan a trial, run it live, report its risk.

Names are imported on first use, so that `import prudent` and the command line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prudent.arms import (
        Bernoulli,
        Beta,
        Deterministic,
        Empirical,
        Exponential,
        Gaussian,
        Law,
        Mixture,
        StudentT,
        TruncatedGaussian,
        Uniform,
    )
    from prudent.bandit import Bandit
    from prudent.engine import simulate
    from prudent.errors import PrudentError
    from prudent.identification import Identifications, identify
    from prudent.live import Agent
    from prudent.policies import (
        BCVTS,
        KLUCB,
        MCVTS,
        MTS,
        MVDSEE,
        MVLCB,
        MVTS,
        MVUCB,
        NPTS,
        UCB1,
        UCBV,
        UUCB,
        VTS,
        AnytimeMVLCB,
        BernoulliMVTS,
        BernoulliThompson,
        BernsteinMVLCB,
        BestOfBoth,
        CVaRUCB,
        EntropicLCB,
        EpsilonGreedy,
        ExpExp,
        FixedArm,
        MaRaB,
        QuantileUCB,
        RandomArm,
        RhoMTS,
        RoundRobin,
        Thompson,
    )
    from prudent.portfolio import (
        EmpiricalJoint,
        MultivariateGaussian,
        MultivariateT,
        PortfolioBandit,
        PortfolioRuns,
        simulate_portfolio,
    )
    from prudent.risk import (
        CVaR,
        Distortion,
        Entropic,
        ExpectedUtility,
        ExponentialSpectrum,
        ExponentialUtility,
        LossAverse,
        MeanCVaR,
        MeanVariance,
        Mixed,
        ProportionalHazard,
        RiskMeasure,
        Semivariance,
        Sharpe,
        Spectral,
        VaR,
        Wang,
        period_cost,
    )
    from prudent.runs import Runs

__version__ = "0.1.0"

_HOME = {
    "arms": "Bernoulli Beta Deterministic Empirical Exponential Gaussian Law Mixture StudentT TruncatedGaussian"
    " Uniform",
    "bandit": "Bandit",
    "engine": "simulate",
    "errors": "PrudentError",
    "identification": "Identifications identify",
    "live": "Agent",
    "risk": "CVaR Distortion Entropic ExpectedUtility ExponentialSpectrum ExponentialUtility LossAverse MeanCVaR"
    " MeanVariance Mixed ProportionalHazard RiskMeasure Semivariance Sharpe Spectral VaR Wang period_cost",
    "policies": "AnytimeMVLCB BCVTS BernoulliMVTS BernoulliThompson BernsteinMVLCB BestOfBoth CVaRUCB"
    " EntropicLCB EpsilonGreedy ExpExp FixedArm KLUCB MaRaB MCVTS MTS MVDSEE MVLCB MVTS MVUCB NPTS"
    " QuantileUCB RandomArm RhoMTS RoundRobin Thompson UCB1 UCBV UUCB VTS",
    "portfolio": "EmpiricalJoint MultivariateGaussian MultivariateT PortfolioBandit PortfolioRuns simulate_portfolio",
    "runs": "Runs",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "BCVTS",
    "KLUCB",
    "MCVTS",
    "MTS",
    "MVDSEE",
    "MVLCB",
    "MVTS",
    "MVUCB",
    "NPTS",
    "UCB1",
    "UCBV",
    "UUCB",
    "VTS",
    "Agent",
    "AnytimeMVLCB",
    "Bandit",
    "Bernoulli",
    "BernoulliMVTS",
    "BernoulliThompson",
    "BernsteinMVLCB",
    "BestOfBoth",
    "Beta",
    "CVaR",
    "CVaRUCB",
    "Deterministic",
    "Distortion",
    "Empirical",
    "EmpiricalJoint",
    "Entropic",
    "EntropicLCB",
    "EpsilonGreedy",
    "ExpExp",
    "ExpectedUtility",
    "Exponential",
    "ExponentialSpectrum",
    "ExponentialUtility",
    "FixedArm",
    "Gaussian",
    "Identifications",
    "Law",
    "LossAverse",
    "MaRaB",
    "MeanCVaR",
    "MeanVariance",
    "Mixed",
    "Mixture",
    "MultivariateGaussian",
    "MultivariateT",
    "PortfolioBandit",
    "PortfolioRuns",
    "ProportionalHazard",
    "PrudentError",
    "QuantileUCB",
    "RandomArm",
    "RhoMTS",
    "RiskMeasure",
    "RoundRobin",
    "Runs",
    "Semivariance",
    "Sharpe",
    "Spectral",
    "StudentT",
    "Thompson",
    "TruncatedGaussian",
    "Uniform",
    "VaR",
    "Wang",
    "identify",
    "period_cost",
    "simulate",
    "simulate_portfolio",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"prudent.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'prudent' has no attribute {name!r}")
