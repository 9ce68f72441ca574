"""Leaping behind a leader: exact runs of policies whose scores change with the round, or by chance (docs: leaping).

As long as one arm, the leader, is pulled again and again, only its own statistics change. Its rewards come as a block,
which is taken whole if no round of it can be another arm's. A block for which that is not sure is cut, and where no
block fits, rounds are simulated one by one. Nothing that was drawn is ever thrown away: the rest of a block stays on
the arm's stack.

Here is what all loops share. prudent.engine.falling has scores with a clock and scores that compare arms with the best
one, prudent.engine.thinning scores with draws.
"""

from typing import Any, NamedTuple

from prudent.compiled import absorbed, helper
from prudent.engine.blocks import Sources
from prudent.engine.passage import Stacks
from prudent.engine.record import Statistics
from prudent.engine.stacks import pull


class Table(NamedTuple):
    """Where blocks come from, what is known of the arms, and the blocks that were drawn and not taken yet."""

    src: Sources
    arms: Statistics
    stacks: Stacks


@helper
def longer(pause: int, t: int) -> int:
    """The rounds to the next try after one that failed: more and more, or ties would cost double."""
    return min(2 * pause, max(128, t // 16))


@absorbed
def pull_next(table: Table, i: int, rng: Any) -> None:
    """The next reward of arm i, from its stack or new, joins its statistics."""
    src, arms, stacks = table
    pull(src, src.n_atoms, arms.pulls, arms.mean, arms.variance, stacks.ahead, stacks.n_ahead, i, rng)
