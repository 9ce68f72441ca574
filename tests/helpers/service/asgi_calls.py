"""Calls an ASGI application without a socket."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any, NamedTuple


class Answered(NamedTuple):
    """Status, headers and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def call(  # noqa: PLR0913
    app: Any,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: Iterable[tuple[str, str | bytes]] = (),
    host: str = "localhost",
    parts: Iterable[bytes] | None = None,
    client: str | None = None,
) -> Answered:
    """One request. `body` is JSON unless it is bytes; `parts` are sent one by one, without a length."""
    path, _, query = path.partition("?")
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs: list[tuple[str, str | bytes]] = [("host", host)]
    pairs += [] if token is None else [("authorization", f"Bearer {token}")]
    given = [name for name, _ in headers]
    pairs += [("content-type", "application/json")] if (raw or parts) and "content-type" not in given else []
    pairs += [("content-length", str(len(raw)))] if raw and "content-length" not in given else []
    encoded = [(n.encode(), v if isinstance(v, bytes) else v.encode()) for n, v in (*pairs, *headers)]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": encoded}
    scope |= {} if client is None else {"client": (client, 1234)}
    waiting = iter([raw] if parts is None else [*parts, b""] if isinstance(parts, list) else parts)
    sent: list[Any] = []

    async def receive() -> Any:
        part = next(waiting, None)
        if part is None:  # the caller waits for the answer
            await asyncio.Event().wait()
        return {"type": "http.request", "body": part, "more_body": parts is not None and bool(part)}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answered(start["status"], found, b"".join(message.get("body", b"") for message in rest))
