"""The query and the body of a request, as the types of its route; everything that is no such thing is refused."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from prudent.errors import near
from prudent.service.problems import RequestError
from prudent.service.routes import JSON, Route

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class GoneError(Exception):
    """The caller hung up before the request was whole."""


def read_query(route: Route, text: bytes) -> Any:
    """The query as the type of the route."""
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise RequestError("bad-request", "the query of the address cannot be understood") from None
    known = () if route.query is None else route.query.__struct_fields__
    given = dict(pairs)
    for name in given:
        if name not in known:
            raise RequestError("invalid", f"query: unknown parameter; {near(name[:50], known)}")
    if len(given) < len(pairs):
        raise RequestError("bad-request", "query: each parameter must be given once")
    return None if route.query is None else msgspec.convert(given, route.query, strict=False)


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], limit: int, *kinds: str) -> bytes:
    """The whole body, if it is of one of these kinds (JSON if none is named) and not too long. That it comes in time is
    the server's business."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise RequestError("bad-request", "Content-Length: must be a whole number")
    body, more = bytearray(), True
    while more and len(length) <= 12 and max(int(length), len(body)) <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if more or len(body) > limit:
        raise RequestError("too-large", f"the body must have at most {limit:,} bytes; send it in parts")
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    wanted = kinds or (JSON,)
    if body and media.decode("latin-1") not in wanted:
        raise RequestError("not-json-type", f"pass the header Content-Type: {wanted[0]}")
    return bytes(body)


def decoded(route: Route, raw: bytes) -> Any:
    """The body as the type of the route. An empty one is an object without members."""
    raw = raw or b"{}"
    try:
        parsed = _once(raw.decode())
    except (ValueError, RecursionError) as error:
        raise RequestError("not-json", f"body: {error}") from None
    first, *others = types_of(route.body)
    for kind in others:  # a body of another type is known by its first member
        first = kind if isinstance(parsed, dict) and kind.__struct_fields__[0] in parsed else first
    return _decoder(first).decode(raw)


def types_of(body: Any) -> tuple[Any, ...]:
    """The types that a body may have."""
    return body if isinstance(body, tuple) else () if body is None else (body,)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose members have different names. Otherwise two readers may see two different bodies."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member of an object is given twice")
    return found


_once = json.JSONDecoder(object_pairs_hook=_pairs).decode


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
