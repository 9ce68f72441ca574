"""Policies: who plays. One file for each, and what they share.

anytime_mv_lcb.py       MV-LCB without a known horizon
b_cvts.py               B-CVTS: Thompson sampling for the CVaR of bounded rewards
bernoulli_mv_imed.py    MV-IMED for rewards that are 0 or 1
bernoulli_mv_kg.py      MV-KG: explore as long as it pays, for rewards that are 0 or 1
bernoulli_mvts.py       MVTS for rewards that are 0 or 1
bernoulli_thompson.py   Thompson sampling for rewards that are 0 or 1
bernstein_mv_lcb.py     MV-LCB with Bernstein's inequalities in place of Hoeffding's
best_of_both.py         best of both: a search with an exploration budget, for easy and hard problems
binding.py              a policy and the problem it meets, and how it is made ready
coin_table.py           which of two coins to toss in every state of their counts
contract.py             the contract of a policy, in one table
cvar_ts.py              CVaR-TS: Thompson sampling for the CVaR of Gaussian arms
cvar_ucb.py             CVaR-UCB: the CVaR of an optimistic distribution
empirical.py            what policies compute from an arm's rewards in ascending order
entropic_lcb.py         a lower confidence bound on the entropic cost
epsilon_greedy.py       ε-greedy on the mean-variance
exp_exp.py              ExpExp, the paper's second algorithm: explore, then exploit
finite_mv_imed.py       MV-IMED for rewards of finitely many known values
fixed_arm.py            always the same arm
forgetting.py           policies that forget, for arms that drift
helpers.py              what policies share: functions for scores, phases and tuning
kl_ucb.py               kl-UCB: the tightest confidence bound on a mean in [0, 1]
learners.py             policies with a memory of their own, written as plain classes
m_cvts.py               M-CVTS: Thompson sampling for the CVaR on a known finite support
marab.py                MaRaB: a pessimistic index, which avoids risk even while it explores
mean_cvar_lcb.py        Mean-CVaR-LCB: MV-LCB with the CVaR in place of the variance
mts.py                  MTS: Thompson sampling of the mean for the mean-variance
mv_dsee.py              MV-DSEE: exploration and exploitation in a sequence fixed in advance
mv_imed.py              MV-IMED: the arm for which the evidence against it is weakest
mv_lcb.py               MV-LCB, the paper's first algorithm
mv_ucb.py               MV-UCB: UCB1 for the mean-variance
mvts.py                 MVTS: Thompson sampling of mean and variance for the mean-variance
normal_ucb.py           Normal-UCB: the best index for the mean of Gaussian rewards whose variance is not known
npts.py                 ρ-NPTS: Thompson sampling without a model, for every risk measure
npts_sg.py              ρ-NPTS without an anchor: Thompson sampling without a model, for rewards without bounds
optimal.py              the Bayes-optimal policy for two arms whose rewards are 0 or 1
posteriors.py           what a policy may draw before it scores an arm
prudent.py              the policy to try first: MV-IMED with a budget for every arm
quantile_ucb.py         an upper confidence bound on a quantile
r_ucb.py                R-UCB: UCB1 without a known scale of rewards
random_arm.py           one random arm, kept to the end
rho_mts.py              ρ-MTS: Thompson sampling on a known finite support, for every risk measure
robust_ucb.py           Robust UCB: a confidence bound on the mean of rewards with heavy tails
round_robin.py          every arm in turn
rs_etc_m.py             RS-ETC-M: explore, then play the mixture of arms that looked best
scoring.py              what a policy asks for, and how kernels hand it over
srts.py                 SRTS: Thompson sampling for the Sharpe ratio
tails.py                tails of standard distributions
thompson.py             Thompson sampling for Gaussian rewards
ties.py                 which of two scores is smaller: ties are broken by the rule, never by rounding
u_ucb.py                U-UCB: the empirical CVaR and a bonus
ucb1.py                 UCB1, the standard policy for the mean alone
ucb_tuned.py            UCB-Tuned: UCB1 with the estimated variance in its width
ucb_v.py                UCB-V: a confidence bound on the mean that uses the estimated variance
units.py                how large rewards are: what policies assume of it
vts.py                  VTS: Thompson sampling of the variance for the mean-variance
w_ucb.py                W-UCB: a confidence bound for every measure with an interval
identification/         best-arm identification: policies that stop
"""

from prudent.policies.contract import UNSET as UNSET
from prudent.policies.contract import Arm as Arm
from prudent.policies.contract import Arms as Arms
from prudent.policies.contract import Policy as Policy
from prudent.policies.contract import Setting as Setting
from prudent.policies.contract import policies as policies
from prudent.policies.contract import spec as spec
from prudent.policies.contract import strategies as strategies
