"""The command that compiles ahead, for images and clusters."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import click

from prudent.base.errors import PrudentError, near
from prudent.cli.output import progress_bar

KINDS = ("gaussian(1, 1)", "bernoulli(0.5)", "uniform(0, 1)")
"""Arms for which different code is compiled: Gaussian ones, others that come in blocks, and all that do not."""

HORIZONS = (100, 100_000)
"""Rounds of the run by which a policy is compiled; some are made for long ones only."""


@click.command("warm-up", short_help="Compile policies ahead.")
@click.option("--policy", "names", multiple=True, metavar="NAME", help="A policy or strategy; all of them by default.")
def warm_up(names: tuple[str, ...]) -> None:
    """Compile policies and strategies ahead, so that no later command on this machine has to wait for it.

    Each is compiled for Gaussian arms, for coins and for other arms, with the risk that it serves, and kept on disk
    beside the package or in NUMBA_CACHE_DIR. All together take some minutes; what is there already is left as it is.
    """
    from prudent.policies.contract import policies, strategies

    known = [*policies.names(), *strategies.names()]
    if unknown := [name for name in names if name not in policies and name not in strategies]:
        raise PrudentError(f"warm-up: unknown policy or strategy {unknown[0]!r}; {near(unknown[0], known)}")
    chosen = names or known
    with progress_bar("compiling", len(chosen) * len(KINDS)) as advance:
        for name in chosen:
            for kind in KINDS:
                _compile(name, kind)
                advance(1)
    click.echo(f"compiled: {', '.join(chosen)}")


def _compile(name: str, kind: str) -> None:
    """Make the machine code of a policy or a strategy for two arms of a kind, if it is made for such arms."""
    for run in _runs(name, kind):
        with suppress(PrudentError):  # it is not made for these rewards, or for so few rounds
            run()
            return


def _runs(name: str, kind: str) -> Iterator[Callable[[], Any]]:
    """The shortest runs that compile it, in the order in which they are tried."""
    from prudent import Bandit, identify, simulate
    from prudent.policies.binding import served_risk
    from prudent.policies.contract import policies, strategies
    from prudent.policies.identification import DELTA

    bandit = Bandit([kind, kind])
    if name in policies:
        policy = policies.parse(name)
        for horizon in HORIZONS:
            yield partial(simulate, bandit, policy, risk=served_risk(policy), horizon=horizon, runs=1, workers=1)
    else:
        confident = strategies.get(name).facts.get("needs") == DELTA
        wanted: dict[str, Any] = {"delta": 0.1, "most_pulls": 100} if confident else {"budget": 100}
        yield partial(identify, bandit, name, risk="mean", runs=1, workers=1, **wanted)
