"""Best-arm identification: which arm has the smallest cost, with a budget of pulls or with a confidence.

    fixed_budget.py       the best answer that a budget can buy
    fixed_confidence.py   as few pulls as it takes to be wrong with probability δ at most

A strategy is a policy of phases (policies/contract.py) that stops: its phase returns 0 when it has seen enough, and the
arm of smallest cost among those still alive is its answer; none alive means that no arm meets the conditions. It
takes a `budget` or a failure probability `delta` into fields of those names, and with a field `risk` it can explore for
`exp-exp` too. Optional: `feasible(self, bandit)` says which arms may be the answer at all. Register it by
`@strategies.add("name", needs=BUDGET)` or `needs=DELTA`.

Examples
--------
>>> from prudent.policies.contract import strategies
>>> "successive-rejects" in strategies
True
"""

BUDGET, DELTA = "budget", "delta"
"""The two settings: the best answer from so many pulls, or as few pulls as a failure probability allows."""
