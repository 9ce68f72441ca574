"""Policies that learn a mix, one file each; `base` holds their contract.

base.py           the contract of a portfolio policy
baselines.py      what learners are compared with: the even mix, one arm, and policies for single arms
mc_empirical.py   MC-Empirical: the best mix for what was seen, with full information
mc_ete.py         MC-ETE: explore a design of mixes, then exploit, with bandit feedback
mc_ucb.py         MC-UCB: optimism in means and covariances, with semi-bandit feedback
"""
