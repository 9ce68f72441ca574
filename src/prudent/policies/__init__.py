"""Policies, one file each; `base` holds their contract."""

from prudent.policies.anytime_mv_lcb import AnytimeMVLCB
from prudent.policies.base import FOREVER, UNSET, Arm, Arms, Policy, bind, corner_bound, policy, registry, serves, spec
from prudent.policies.bernstein_mv_lcb import BernsteinMVLCB
from prudent.policies.best_of_both import BestOfBoth
from prudent.policies.epsilon_greedy import EpsilonGreedy
from prudent.policies.exp_exp import ExpExp
from prudent.policies.fixed_arm import FixedArm
from prudent.policies.mv_lcb import MVLCB
from prudent.policies.random_arm import RandomArm
from prudent.policies.round_robin import RoundRobin
from prudent.policies.ucb1 import UCB1
from prudent.policies.ucb_v import UCBV

__all__ = [
    "FOREVER",
    "MVLCB",
    "UCB1",
    "UCBV",
    "UNSET",
    "AnytimeMVLCB",
    "Arm",
    "Arms",
    "BernsteinMVLCB",
    "BestOfBoth",
    "EpsilonGreedy",
    "ExpExp",
    "FixedArm",
    "Policy",
    "RandomArm",
    "RoundRobin",
    "bind",
    "corner_bound",
    "policy",
    "registry",
    "serves",
    "spec",
]
