"""The service of a database without a server, for programs here: requests go straight to the application."""

import asyncio
import json
import math
from typing import Any
from urllib.parse import unquote

from prudent.client import Client
from prudent.client.shapes import File, Reply, Shape, checked
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.http.routes import Call, Route
from prudent.service.http.tokens import Token
from prudent.service.work.service import Service

OWNER = Token(0, "", b"", frozenset({"admin"}), None, 0, None, None, "")
"""Whoever may write the database may do everything."""


class OwnersApp(App):
    """The application for the owner of the database, who needs no token."""

    async def _token(self, call: Call, route: Route) -> Token:
        return OWNER


class Local:
    """Requests of `prudent.client`, answered in this process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._app = OwnersApp(service, ROUTES, rate=math.inf)
        self._loop = asyncio.new_event_loop()

    def send(self, method: str, path: str, body: Any = None, key: str | None = None, shape: Shape = None) -> Reply:
        """The answer, as from a server."""
        data = b"" if body is None else json.dumps(body, allow_nan=False, default=float).encode()
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers += [] if key is None else [(b"idempotency-key", key.encode())]
        file = shape if isinstance(shape, File) else None
        return checked(self._loop.run_until_complete(self._answered(method, path, data, headers, file)), shape)

    async def _answered(
        self, method: str, path: str, data: bytes, headers: list[tuple[bytes, bytes]], file: File | None
    ) -> Reply:
        address, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": unquote(address), "query_string": query.encode()}
        begun: dict[str, Any] = {}
        given, parts = [data], list[bytes]()

        async def receive() -> dict[str, Any]:
            if given:
                return {"type": "http.request", "body": given.pop(), "more_body": False}
            await asyncio.Event().wait()  # the caller is here until the answer is
            raise AssertionError

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
            elif file is not None and begun["status"] < 300:
                file.into.write(message["body"])
            else:
                parts.append(message["body"])

        await self._app({**scope, "headers": headers}, receive, send)
        names = {name.decode(): value.decode() for name, value in begun["headers"]}
        return Reply(begun["status"], names, b"".join(parts))

    def forget(self) -> None:
        """There are no connections."""

    def close(self) -> None:
        """End the service."""
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
        self._service.close()


def client_of(service: Service, experiment: str | None = None) -> Client:
    """A client of a service in this process; closing it closes the service."""
    return Client.through(Local(service), experiment)
