"""The same verbs for programs with an event loop: each call runs on a thread of a pool, since it mostly waits."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from .delivery import Lost
from .verbs import Client
from .wire import whole

P = ParamSpec("P")
R = TypeVar("R")


def _on_a_thread(
    verb: Callable[Concatenate[Client, P], R],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, R]]:
    async def call(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> R:
        called = functools.partial(verb, self.client, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self.pool, called)

    functools.update_wrapper(call, verb)
    return call


class AsyncClient:
    """`Client` with verbs to be awaited; `threads` calls can wait at once. A call that is cancelled goes on alone."""

    def __init__(
        self, url: str, token: str, experiment: str | None = None, *, threads: int = 32, **settings: Any
    ) -> None:
        whole("AsyncClient", "threads", threads, 1)
        self.client = Client(url, token, experiment, **settings)
        self.pool = ThreadPoolExecutor(threads, "prudent-client")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Deliver what waits, and close the connections."""
        await asyncio.get_running_loop().run_in_executor(self.pool, self.client.close)
        self.pool.shutdown(wait=False)

    @property
    def lost(self) -> Lost:
        """What did not reach the policy so far."""
        return self.client.lost

    ask = _on_a_thread(Client.ask)
    ask_many = _on_a_thread(Client.ask_many)
    tell = _on_a_thread(Client.tell)
    tell_many = _on_a_thread(Client.tell_many)
    activate = _on_a_thread(Client.activate)
    withdraw = _on_a_thread(Client.withdraw)
    decision = _on_a_thread(Client.decision)
    batch = _on_a_thread(Client.batch)
    report = _on_a_thread(Client.report)
    create = _on_a_thread(Client.create)
    make_token = _on_a_thread(Client.make_token)
    tokens = _on_a_thread(Client.tokens)
    make_webhook = _on_a_thread(Client.make_webhook)
    webhooks = _on_a_thread(Client.webhooks)
    remove_webhook = _on_a_thread(Client.remove_webhook)
    revoke = _on_a_thread(Client.revoke)
    experiments = _on_a_thread(Client.experiments)
    show = _on_a_thread(Client.show)
    estimates = _on_a_thread(Client.estimates)
    state = _on_a_thread(Client.state)
    events = _on_a_thread(Client.events)
    export = _on_a_thread(Client.export)
    write_report = _on_a_thread(Client.write_report)
    verify = _on_a_thread(Client.verify)
    change = _on_a_thread(Client.change)
    pause = _on_a_thread(Client.pause)
    resume = _on_a_thread(Client.resume)
    freeze = _on_a_thread(Client.freeze)
    stop = _on_a_thread(Client.stop)
    add_arm = _on_a_thread(Client.add_arm)
    retire = _on_a_thread(Client.retire)
    archive = _on_a_thread(Client.archive)
    restore = _on_a_thread(Client.restore)
    delete = _on_a_thread(Client.delete)
    forget = _on_a_thread(Client.forget)
