"""Learners as users write them: EXP3 and the gradient bandit."""

import numpy as np


class EXP3:
    """Exponential weights with importance weighting, for rewards in [0, 1] that need not be draws of a law."""

    def __init__(self, gamma=0.1):
        self.gamma = gamma

    def start(self, n_arms, horizon):
        self.log_weights = np.zeros(n_arms)

    def ask(self, rng):
        weights = np.exp(self.log_weights - self.log_weights.max())
        self.chances = (1 - self.gamma) * weights / weights.sum() + self.gamma / len(weights)
        return rng.choice(len(weights), p=self.chances)

    def tell(self, arm, reward):
        self.log_weights[arm] += self.gamma * reward / self.chances[arm] / len(self.chances)


class Gradient:
    """Preferences, moved along the gradient of the expected reward; the baseline is the mean reward so far."""

    def __init__(self, step=0.1):
        self.step = step

    def start(self, n_arms, horizon):
        self.preferences, self.baseline, self.told = np.zeros(n_arms), 0.0, 0

    def chances(self):
        weights = np.exp(self.preferences - self.preferences.max())
        return weights / weights.sum()

    def ask(self, rng):
        return rng.choice(len(self.preferences), p=self.chances())

    def tell(self, arm, reward):
        self.told += 1
        self.baseline += (reward - self.baseline) / self.told
        pulled = np.arange(len(self.preferences)) == arm
        self.preferences += self.step * (reward - self.baseline) * (pulled - self.chances())
