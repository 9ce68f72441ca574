"""Policies, one file each; `base` holds their contract.

[Audibert09] Audibert, Munos, Szepesvári. *Exploration–exploitation tradeoff using variance estimates*. TCS 2009.
[Audibert10] Audibert, Bubeck, Munos. *Best arm identification in multi-armed bandits*. COLT 2010.
[Auer02] Auer, Cesa-Bianchi, Fischer. *Finite-time analysis of the multiarmed bandit problem*. Machine Learning 2002.
[Baudry21] Baudry, Gautron, Kaufmann, Maillard. *Optimal Thompson sampling strategies for support-aware CVaR bandits*.
    ICML 2021.
[Cassel18] Cassel, Mannor, Zeevi. *A general approach to multi-armed bandits under risk criteria*. COLT 2018.
[Chang22] Chang, Tan. *A unifying theory of Thompson sampling for continuous risk-averse bandits*. AAAI 2022.
[Galichet13] Galichet, Sebag, Teytaud. *Exploration vs exploitation vs safety: risk-aware multi-armed bandits*.
    ACML 2013.
[Garivier11] Garivier, Cappé. *The KL-UCB algorithm for bounded stochastic bandits and beyond*. COLT 2011.
[Maillard13] Maillard. *Robust risk-averse stochastic multi-armed bandits*. ALT 2013.
[Maurer09] Maurer, Pontil. *Empirical Bernstein bounds and sample-variance penalization*. COLT 2009.
[Riou20] Riou, Honda. *Bandit algorithms based on Thompson sampling for bounded reward distributions*. ALT 2020.
[Sani12] Sani, Lazaric, Munos. *Risk-aversion in multi-armed bandits*. NIPS 2012.
[Szorenyi15] Szörényi, Busa-Fekete, Weng, Hüllermeier. *Qualitative multi-armed bandits: a quantile-based approach*.
    ICML 2015.
[Tamkin19] Tamkin, Keramati, Dann, Brunskill. *Distributionally-aware exploration for CVaR bandits*. NeurIPS 2019
    workshop on safety and robustness in decision making.
[Thompson33] Thompson. *On the likelihood that one unknown probability exceeds another*. Biometrika 1933.
[Vakili16] Vakili, Zhao. *Risk-averse multi-armed bandit problems under mean-variance measure*. IEEE JSTSP 2016.
[Zhu20] Zhu, Tan. *Thompson sampling algorithms for mean-variance bandits*. ICML 2020.
"""

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
