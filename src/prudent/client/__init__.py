"""Programs that use the experiment service: `Agent`'s verbs over HTTP, with the standard library alone.

    from prudent.client import Client

    with Client("http://127.0.0.1:8000", token, "checkout", fallback="control") as trial:
        decision = trial.ask(unit="visitor 8251")
        trial.tell(decision, 1.0)

This folder imports nothing of the rest of `prudent` and may be copied into a program that does not install it.

asynchronous.py   the same verbs for programs with an event loop: each call runs on a thread of a pool
delivery.py       what a client does while the service is away: rewards wait, fallbacks are counted
edge.py           a batch of decisions that a program makes by itself, and whose rewards it reports merged
shapes.py         what an answer of the service looks like
verbs.py          `Agent`'s verbs, answered by the service
wire.py           requests over HTTP that are tried again while that may help, on connections that are kept
"""

from .asynchronous import AsyncClient
from .delivery import Lost
from .edge import Batch
from .shapes import ServiceError
from .verbs import Client, Decision

__all__ = ["AsyncClient", "Batch", "Client", "Decision", "Lost", "ServiceError"]
