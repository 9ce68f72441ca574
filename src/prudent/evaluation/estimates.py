"""Estimates of the law of what a policy receives: weights of the logged rewards, which may be summed up to any risk.

`weights` are those of betting.py, w = π(A)/p. [Huang21] estimates distribution functions in the same two ways.
"""

import numpy as np

from prudent.base.arrays import Array, Counts
from prudent.evaluation.bands import Steps


def by_arms(arms: Counts, shares: Array) -> Array:
    """The rewards of each arm share its probability under the policy: no propensities are needed."""
    pulls = np.bincount(arms, minlength=len(shares))
    return np.asarray((shares / np.maximum(pulls, 1))[arms])


def inverse_propensity(weights: Array) -> Array:
    """w/n: their sums over rewards up to x are P(R ≤ x) on average, at each x. They need not sum to 1."""
    return weights / len(weights)


def self_normalised(weights: Array) -> Array:
    """w/Σw, a law. Nearly without bias, and much less spread than `inverse_propensity`, because a sum of weights that
    is too large by chance is divided out."""
    return np.asarray(weights / weights.sum())


def doubly_robust(arms: Counts, shares: Array, weights: Array) -> Array:
    """Inverse propensity weighting of what a model of each arm does not explain [Dudik11, Huang21].

    The model of an arm is the law of its rewards in the rounds before. So in round t, with F_a the model of arm a,

        Σ_a π(a) F_a(x) + w_t (1{R_t ≤ x} − F_{A_t}(x))

    has the mean P(R ≤ x) given the past, also if the log's policy learned. A reward of arm a in round s takes part in
    the model of all later rounds t, and so has the weight w_s + Σ_{t > s} (π(a) − w_t 1{A_t = a})/T_a(t), divided by n,
    where T_a(t) counts the rounds of arm a before t. Such weights may be negative.
    """
    found, none = np.array(weights), 0 * weights
    for arm in range(len(shares)):
        own = arms == arm
        before = np.cumsum(own) - own
        shift = np.where(before > 0, shares[arm] - np.where(own, weights, none), none) / np.maximum(before, 1)
        later = np.cumsum(shift[::-1])[::-1] - shift
        found[own] = found[own] + later[own]
    return found / len(weights)


def as_law(rewards: Array, weights: Array) -> Steps:
    """The law with these weights. Where negative ones let the distribution function fall, it stays at its largest
    value so far; it is divided by the last one, so that it ends at 1."""
    law = Steps.of(rewards, weights)
    if (law.weights >= 0.0).all():
        return law._replace(weights=law.weights / law.weights.sum())
    levels = np.maximum(np.maximum.accumulate(np.cumsum(law.weights)), 0.0)
    return law._replace(weights=np.diff(levels / levels[-1], prepend=0.0))
