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
        TruncatedGaussian,
        Uniform,
    )
    from prudent.bandit import Bandit
    from prudent.engine import simulate
    from prudent.errors import PrudentError
    from prudent.identification import Identifications, identify
    from prudent.live import Agent
    from prudent.policies import (
        MVLCB,
        UCB1,
        UCBV,
        AnytimeMVLCB,
        BernsteinMVLCB,
        BestOfBoth,
        EpsilonGreedy,
        ExpExp,
        FixedArm,
        RandomArm,
        RoundRobin,
    )
    from prudent.risk import MeanVariance, RiskMeasure
    from prudent.runs import Runs

__version__ = "0.1.0"

_HOME = {
    "arms": "Bernoulli Beta Deterministic Empirical Exponential Gaussian Law Mixture TruncatedGaussian Uniform",
    "bandit": "Bandit",
    "engine": "simulate",
    "errors": "PrudentError",
    "identification": "Identifications identify",
    "live": "Agent",
    "policies": "MVLCB UCB1 UCBV AnytimeMVLCB BernsteinMVLCB BestOfBoth EpsilonGreedy ExpExp FixedArm RandomArm"
    " RoundRobin",
    "risk": "MeanVariance RiskMeasure",
    "runs": "Runs",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "MVLCB",
    "UCB1",
    "UCBV",
    "Agent",
    "AnytimeMVLCB",
    "Bandit",
    "Bernoulli",
    "BernsteinMVLCB",
    "BestOfBoth",
    "Beta",
    "Deterministic",
    "Empirical",
    "EpsilonGreedy",
    "ExpExp",
    "Exponential",
    "FixedArm",
    "Gaussian",
    "Identifications",
    "Law",
    "MeanVariance",
    "Mixture",
    "PrudentError",
    "RandomArm",
    "RiskMeasure",
    "RoundRobin",
    "Runs",
    "TruncatedGaussian",
    "Uniform",
    "identify",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"prudent.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'prudent' has no attribute {name!r}")
