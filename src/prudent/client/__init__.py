"""Programs that use the experiment service: `Agent`'s verbs over HTTP, with the standard library alone.

    from prudent.client import Client

    with Client("http://127.0.0.1:8000", token, "checkout", fallback="control") as trial:
        decision = trial.ask(unit="visitor 8251")
        trial.tell(decision, 1.0)

This folder imports nothing of the rest of `prudent` and may be copied into a program that does not install it.
"""

from .asynchronous import AsyncClient
from .delivery import Lost
from .edge import Batch
from .shapes import ServiceError
from .verbs import Client, Decision

__all__ = ["AsyncClient", "Batch", "Client", "Decision", "Lost", "ServiceError"]
