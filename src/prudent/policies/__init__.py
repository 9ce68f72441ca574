"""Policies, one file each; `base` holds their contract."""

from prudent.policies.anytime_mv_lcb import AnytimeMVLCB
from prudent.policies.b_cvts import BCVTS
from prudent.policies.base import (
    FOREVER,
    UNSET,
    Arm,
    Arms,
    Policy,
    bind,
    check_rewards,
    corner_bound,
    policy,
    registry,
    serves,
    spec,
)
from prudent.policies.bernoulli_mvts import BernoulliMVTS
from prudent.policies.bernoulli_thompson import BernoulliThompson
from prudent.policies.bernstein_mv_lcb import BernsteinMVLCB
from prudent.policies.best_of_both import BestOfBoth
from prudent.policies.cvar_ucb import CVaRUCB
from prudent.policies.entropic_lcb import EntropicLCB
from prudent.policies.epsilon_greedy import EpsilonGreedy
from prudent.policies.exp_exp import ExpExp
from prudent.policies.fixed_arm import FixedArm
from prudent.policies.kl_ucb import KLUCB
from prudent.policies.m_cvts import MCVTS
from prudent.policies.marab import MaRaB
from prudent.policies.mts import MTS
from prudent.policies.mv_dsee import MVDSEE
from prudent.policies.mv_lcb import MVLCB
from prudent.policies.mv_ucb import MVUCB
from prudent.policies.mvts import MVTS
from prudent.policies.npts import NPTS
from prudent.policies.quantile_ucb import QuantileUCB
from prudent.policies.random_arm import RandomArm
from prudent.policies.rho_mts import RhoMTS
from prudent.policies.round_robin import RoundRobin
from prudent.policies.thompson import Thompson
from prudent.policies.u_ucb import UUCB
from prudent.policies.ucb1 import UCB1
from prudent.policies.ucb_v import UCBV
from prudent.policies.vts import VTS

__all__ = [
    "BCVTS",
    "FOREVER",
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
    "UNSET",
    "UUCB",
    "VTS",
    "AnytimeMVLCB",
    "Arm",
    "Arms",
    "BernoulliMVTS",
    "BernoulliThompson",
    "BernsteinMVLCB",
    "BestOfBoth",
    "CVaRUCB",
    "EntropicLCB",
    "EpsilonGreedy",
    "ExpExp",
    "FixedArm",
    "MaRaB",
    "Policy",
    "QuantileUCB",
    "RandomArm",
    "RhoMTS",
    "RoundRobin",
    "Thompson",
    "bind",
    "check_rewards",
    "corner_bound",
    "policy",
    "registry",
    "serves",
    "spec",
]
