"""One pass from the first round to the last: the weights of all states at the horizon, for all laws at once."""

import math
from collections.abc import Sequence
from typing import Any

from prudent.base.errors import PrudentError
from prudent.base.memory import check_memory
from prudent.base.text import duration
from prudent.engine.exact.choices import choices
from prudent.engine.exact.lattice import Lattice, Layer, advance
from prudent.engine.exact.pair import fits_pair, last_layer_of_pair
from prudent.engine.exact.phases import play_phases
from prudent.policies.coin_table import follow, row_starts
from prudent.policies.optimal import Tabulated
from prudent.policies.scoring import compares, declares_draws, needs_no_clock

MOST_VALUES = 5
"""The values of an arm: with more the states are too many after a dozen rounds."""


def check_size(owner: str, ready: Any, n_values: Sequence[int], horizon: int) -> None:
    """Refuse what this machine cannot hold, before anything is made: tables of each arm, and for a policy that scores
    arms three layers, and as many for scores that change with the round. Phases count what they keep
    (prudent.engine.exact.phases)."""
    numbers = float(sum(math.comb(horizon + n, n) * (n + 3) for n in set(n_values)))
    what = f"tables of {len(n_values)} arms for {horizon:,} rounds"
    if decides_each_round(ready):
        states = math.comb(horizon + sum(n_values) - 1, sum(n_values) - 1)
        numbers += (3.0 if clock_free(ready) else 6.0) * states
        what = f"{states:,.0f} states of {len(n_values)} arms after {horizon:,} rounds"
    check_memory(owner, numbers, what)


def seconds_about(ready: Any, n_values: Sequence[int], horizon: int) -> float:
    """About how long the pass of a policy that scores arms takes on one core: the same on every machine."""
    states = float(math.comb(horizon + sum(n_values), sum(n_values)))
    told = not hasattr(ready, "score")
    slow = told or declares_draws(type(ready)) or compares(type(ready))
    nanoseconds = 100.0 if slow else 2.0 if clock_free(ready) else 4.0
    if list(n_values) == [2, 2]:
        return 1e-9 * nanoseconds * states
    return 1e-9 * (20.0 + nanoseconds) * states + 1e-4 * math.comb(horizon + len(n_values), len(n_values))


def clock_free(ready: Any) -> bool:
    """Whether no table of scores is made for each round: they stay the same, or the policy has none."""
    return not hasattr(ready, "score") or needs_no_clock(type(ready))


def decides_each_round(ready: Any) -> bool:
    """Whether a policy scores arms, or tells with which chances it pulls each in the next round."""
    return hasattr(ready, "score") or hasattr(ready, "chances")


def last_layer(owner: str, ready: Any, lattice: Lattice, patience: float = math.inf) -> Layer:
    """W of the states after all rounds (prudent.engine.exact.lattice), for a policy that is ready to run; an error if
    it would take about so many seconds."""
    if isinstance(ready, Tabulated) and fits_pair(lattice):
        return layer_of_table(ready, lattice.horizon)
    if not decides_each_round(ready):
        return play_phases(owner, ready, lattice, patience)
    if (seconds := seconds_about(ready, [len(arm.values) for arm in lattice.arms], lattice.horizon)) > patience:
        raise PrudentError(f"{owner}: {lattice.horizon:,} rounds take about {duration(seconds)}; name it to compute it")
    if fits_pair(lattice):
        return last_layer_of_pair(owner, ready, lattice)
    layer, chosen = lattice.start(), choices(owner, ready, lattice)
    for t in range(1, lattice.horizon + 1):
        chosen.at(t)
        layer = advance(lattice, layer, chosen.shares)
    return layer


def layer_of_table(ready: Tabulated, n: int) -> Layer:
    """The same for a table of decisions on two coins."""
    offset, weights = row_starts(n), follow(n, ready.starts, ready.table)
    shaped = {(n1, n - n1): weights[offset[n1] : offset[n1 + 1]].reshape(n1 + 1, n - n1 + 1) for n1 in range(n + 1)}
    return {allocation: part for allocation, part in shaped.items() if part.any()}
