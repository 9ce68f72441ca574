"""The weights of a policy that plays in phases.

Such a policy decides only where a phase ends, from the counts, the round, the arms it chose last and those it struck
out. So the states in which a phase begins are kept by these marks; from each of them the rewards of a whole phase are
given on at once.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from prudent.base.arrays import Array, Counts, Marks
from prudent.base.errors import PrudentError
from prudent.base.memory import check_memory
from prudent.base.text import duration
from prudent.compile.types import kernel
from prudent.engine.exact.lattice import Allocation, Lattice, Layer
from prudent.engine.phase_rounds import next_phase
from prudent.engine.record import BAD_PHASE, COMPLAINTS, FINE
from prudent.policies.contract import FOREVER, Arms
from prudent.policies.scoring import cost_of, costs_need_rewards

OWN_COSTS = -1
"""The policy wrote into the arms' costs."""

SECONDS_A_GROUP = 5e-4
SECONDS_A_STATE = 2e-7
"""About how long it takes to play on from the states of an allocation, and from each of them."""

Memory = tuple[tuple[bool, ...], tuple[bool, ...]]
"""Which arms were chosen last, and which are alive."""


def play_phases(owner: str, ready: Any, lattice: Lattice, patience: float) -> Layer:
    """The last layer of a policy of phases, or an error that says why its choices are not known exactly, or that they
    are too many for so many seconds."""
    n, n_arms = lattice.horizon, len(lattice)
    if costs_need_rewards(ready):
        raise PrudentError(
            f"{owner}: its costs take every reward, not only mean and variance, which phases here do not keep; use"
            ' engine="auto"'
        )
    waiting: dict[int, dict[tuple[Allocation, Memory], Array]] = defaultdict(dict)
    waiting[0][(0,) * n_arms, ((True,) * n_arms, (True,) * n_arms)] = np.ones((1,) * n_arms)
    kept = seconds = 0.0
    for t in range(n):
        for (allocation, memory), weights in waiting.pop(t, {}).items():
            kept -= weights.size
            if (seconds := seconds + SECONDS_A_GROUP + SECONDS_A_STATE * weights.size) > patience:
                raise PrudentError(f"{owner}: {n:,} rounds take over {duration(patience)}; name it to compute it")
            for plan, given in _phases(owner, ready, lattice, allocation, memory, weights, t + 1).items():
                chosen, alive, repeats = plan
                there = _after_phase(allocation, chosen, repeats, n)
                arrived = _spread_all(lattice, given, allocation, there)
                ended = sum(there) == n
                place = there, ((), ()) if ended else (chosen, alive)
                layer = waiting[sum(there)]
                if place in layer:
                    layer[place] += arrived
                else:
                    kept, layer[place] = kept + arrived.size, arrived
                    check_memory(owner, 2.0 * kept, f"{kept:,.0f} states in which phases of {n:,} rounds begin")
    return {allocation: weights for (allocation, _), weights in waiting[n].items()}


def _after_phase(allocation: Allocation, chosen: tuple[bool, ...], repeats: int, n: int) -> Allocation:
    """The pulls when a phase ends, or the horizon cuts it."""
    arms = [i for i, mark in enumerate(chosen) if mark]
    rounds = min(n - sum(allocation), repeats * len(arms))
    whole, rest = divmod(rounds, len(arms))
    more = {arm: whole + (place < rest) for place, arm in enumerate(arms)}
    return tuple(pulls + more.get(i, 0) for i, pulls in enumerate(allocation))


def _spread_all(lattice: Lattice, given: Array, allocation: Allocation, there: Allocation) -> Array:
    """What states give to those after more pulls of some arms."""
    for arm, (before, then) in enumerate(zip(allocation, there, strict=True)):
        if then > before:
            matrix = lattice.arms[arm].later(before, then - before)
            given = np.moveaxis(np.tensordot(given, matrix, (arm, 0)), -1, arm)
    return given


Plan = tuple[tuple[bool, ...], tuple[bool, ...], int]
"""The arms of a phase, those alive after the decision, and how often each is pulled."""


def _phases(
    owner: str, ready: Any, lattice: Lattice, allocation: Allocation, memory: Memory, weights: Array, t: int
) -> dict[Plan, Array]:
    """The weights of the states by the phase that begins there."""
    possible = np.flatnonzero(weights)
    if len(possible) == 0:
        return {}
    places = np.unravel_index(possible, weights.shape)
    states = [lattice.arms[i].first[pulls] + places[i] for i, pulls in enumerate(allocation)]
    means, variances = (
        np.array([getattr(lattice.arms[i], name)[s] for i, s in enumerate(states)]) for name in ("mean", "variance")
    )
    plans = np.zeros((len(possible), 2 * len(allocation) + 1), np.int64)
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    fine = _decide(
        ready, np.array(allocation), means, variances, np.array(memory[0]), np.array(memory[1]), t, rng, plans
    )
    if rng.bit_generator.state != before:
        raise PrudentError(
            f"{owner}: it draws at random by itself, so that the probabilities of its choices are not known; use"
            ' engine="auto"'
        )
    if fine == OWN_COSTS:
        raise PrudentError(
            f'{owner}: it keeps costs of its own from phase to phase, not known from counts; use engine="auto"'
        )
    if fine != FINE:
        raise PrudentError(f"{owner}: {COMPLAINTS[BAD_PHASE]}")
    kinds, kind = np.unique(plans, axis=0, return_inverse=True)
    shares: dict[Plan, Array] = {}
    for i, row in enumerate(kinds.tolist()):
        given = np.zeros(weights.size)
        here = possible[kind.ravel() == i]
        given[here] = weights.ravel()[here]
        k = len(allocation)
        shares[tuple(map(bool, row[:k])), tuple(map(bool, row[k : 2 * k])), row[-1]] = given.reshape(weights.shape)
    return shares


@kernel
def _decide(
    policy: Any,
    pulls: Counts,
    means: Array,
    variances: Array,
    chosen_last: Marks,
    alive: Marks,
    t: int,
    rng: Any,
    plans: Counts,
) -> int:
    """Ask the policy for its phase in each state; a row of `plans` is the arms chosen, those alive, the repetitions."""
    n_arms = len(pulls)
    for state in range(len(plans)):
        arms = Arms(
            pulls.copy(),
            means[:, state].copy(),
            variances[:, state].copy(),
            np.full(n_arms, np.inf),
            alive.copy(),
            np.empty((n_arms, 0)),
        )
        chosen = chosen_last.copy()
        for i in range(n_arms):
            if pulls[i] > 0:
                arms.cost[i] = cost_of(policy, arms, i)
        costs = arms.cost.copy()
        repeats = next_phase(policy, arms, t, chosen, rng)
        if repeats < 1:
            return BAD_PHASE
        for i in range(n_arms):
            if arms.cost[i] != costs[i]:
                return OWN_COSTS
            plans[state, i], plans[state, n_arms + i] = chosen[i], arms.alive[i]
        plans[state, 2 * n_arms] = min(repeats, FOREVER)
    return FINE
