"""What an agent keeps of coins, from the number of heads alone."""

from typing import Any

import numpy as np

from prudent.confidence import betting
from prudent.engine.python.arm import ArmState


def coin_bets(ones: Any, pulls: Any) -> Any:
    """Ledgers of so many tosses of which so many are 1, as far as the mean needs them."""
    ones, pulls = np.broadcast_arrays(ones, pulls)
    ledger = np.zeros((*ones.shape, len(betting.no_bets())))
    heads, tails = (count[..., None] * betting.THETA for count in (ones, pulls - ones))  # log(1 + κ) = θ
    ledger[..., : 2 * betting.BETS] = np.concatenate([heads, tails], -1)
    return ledger


def coin(ones: int, pulls: int) -> ArmState:
    """The arm after so many tosses."""
    mean = ones / pulls
    return ArmState(None, pulls, mean, mean * (1.0 - mean), ledger=coin_bets(ones, pulls))
