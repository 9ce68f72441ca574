"""Whether a path of coin tosses ever enters a region, exactly."""

import numpy as np


def crossing_probability(success: float, excessive: np.ndarray) -> float:
    """P(some s has excessive[s, number of ones among s samples]) for Bernoulli samples, by passing the law forward."""
    alive = np.array([1.0])
    for s in range(1, len(excessive)):
        moved = np.zeros(s + 1)
        moved[:-1] += alive * (1.0 - success)
        moved[1:] += alive * success
        alive = np.where(excessive[s, : s + 1], 0.0, moved)
    return 1.0 - alive.sum()
