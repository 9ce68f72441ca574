"""The contract of a learner."""

import inspect
from collections.abc import Sequence
from typing import Any

import cloudpickle
import numpy as np

from prudent import Bandit
from prudent.base.description import described
from prudent.engine.python.delays import Fixed
from prudent.engine.python.environments import Drawn
from prudent.engine.python.rounds import Episode, rounds_of
from prudent.policies.learners import is_learner
from prudent.testing.rules import SEED, answers, require

METHODS = {"ask": ("rng",), "tell": ("arm", "reward"), "start": ("n_arms", "horizon")}


def check_learner(learner: object, bandits: Sequence[Bandit], horizon: int) -> None:
    """A learner must run on these bandits to the end, with rewards at once and late, and the same again."""
    name = described(learner)
    require(is_learner(learner), name, "a learner must have ask(rng) and tell(arm, reward)")
    for method, wanted in METHODS.items():
        if hasattr(learner, method):
            _check_signature(name, method, getattr(learner, method), wanted)
    with answers(name, "must be sent to other processes, so that runs are played side by side"):
        sent = cloudpickle.dumps(learner)
    for bandit in bandits:
        for rounds in (1, len(bandit), horizon):
            for late in (0, 1, 2 * len(bandit)):
                where = f"{name} on {bandit!r} for {rounds} rounds, rewards {late} late"
                _check_play(where, learner, bandit, rounds, late)
    kept = cloudpickle.dumps(learner) == sent
    require(kept, name, "must not change when a copy of it plays", "keep what is learnt in the object itself")


def _check_signature(name: str, method: str, function: Any, wanted: tuple[str, ...]) -> None:
    try:
        inspect.signature(function).bind(*wanted)
        fits = True
    except TypeError:
        fits = False
    given = inspect.signature(function)
    require(fits, name, f"{method} must take ({', '.join(wanted)})", f"it takes {given}")


def _check_play(where: str, learner: object, bandit: Bandit, rounds: int, late: int) -> None:
    """Two runs with the same random numbers pull the same arms."""
    delay = Fixed(late) if late else None
    asked = Episode(
        Drawn(bandit), learner, len(bandit), [rounds], 1, delay, None, None, False, SEED, "conformance"
    )  # fmt: skip
    with answers(where, "must run"):
        first, again = rounds_of(asked, 0)[:2], rounds_of(asked, 0)[:2]
    rule = "equal streams must give equal runs"
    require(np.array_equal(first, again), where, rule, "draw from `rng` alone, keep nothing outside the object")
