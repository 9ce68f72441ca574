"""One pass from the first round to the last: the weights of all states at the horizon, for all laws at once."""

import math
from collections.abc import Sequence
from typing import Any

from prudent.base.errors import PrudentError
from prudent.base.text import duration
from prudent.engine.exact.choices import choices
from prudent.engine.exact.lattice import Lattice, Layer, advance
from prudent.engine.exact.pair import fits_pair, last_layer_of_pair
from prudent.engine.exact.phases import play_phases
from prudent.engine.jobs import check_memory
from prudent.policies.scoring import compares, declares_draws, needs_no_clock

MOST_VALUES = 5
"""The values of an arm: with more the states are too many after a dozen rounds."""


def check_size(owner: str, ready: Any, n_values: Sequence[int], horizon: int) -> None:
    """Refuse what this machine cannot hold, before anything is made: tables of each arm, and for a policy that scores
    arms three layers, and as many for scores that change with the round. Phases count what they keep
    (prudent.engine.exact.phases)."""
    numbers = float(sum(math.comb(horizon + n, n) * (n + 3) for n in set(n_values)))
    what = f"tables of {len(n_values)} arms for {horizon:,} rounds"
    if hasattr(ready, "score"):
        states = math.comb(horizon + sum(n_values) - 1, sum(n_values) - 1)
        numbers += (3.0 if needs_no_clock(type(ready)) else 6.0) * states
        what = f"{states:,.0f} states of {len(n_values)} arms after {horizon:,} rounds"
    check_memory(owner, numbers, what)


def seconds_about(ready: Any, n_values: Sequence[int], horizon: int) -> float:
    """About how long the pass of a policy that scores arms takes on one core: the same on every machine."""
    states = float(math.comb(horizon + sum(n_values), sum(n_values)))
    nanoseconds = 100.0 if declares_draws(type(ready)) or compares(type(ready)) else 2.0 if clock_free(ready) else 4.0
    if list(n_values) == [2, 2]:
        return 1e-9 * nanoseconds * states
    return 1e-9 * (20.0 + nanoseconds) * states + 1e-4 * math.comb(horizon + len(n_values), len(n_values))


def clock_free(ready: Any) -> bool:
    """Whether the scores of a policy stay the same from round to round."""
    return needs_no_clock(type(ready))


def last_layer(owner: str, ready: Any, lattice: Lattice, patience: float = math.inf) -> Layer:
    """W of the states after all rounds (prudent.engine.exact.lattice), for a policy that is ready to run; an error if
    it would take about so many seconds."""
    if not hasattr(ready, "score"):
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
