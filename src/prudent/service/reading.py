"""The query and the body of a request, as the types of its route, or as the fields and files of a form; everything
that is no such thing is refused."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, FormParser, parse_options_header

from prudent.errors import near
from prudent.service.problems import RequestError
from prudent.service.routes import FORM, MULTIPART, Route

MOST_FIELDS = 300
"""Fields of one form, or of an address of a page."""

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
    """The whole body, if it is of one of these kinds and not too long. That it comes in time is the server's
    business."""
    length = headers.get(b"content-length", b"0")
    if not re.fullmatch(rb"[0-9]+", length):
        raise RequestError("bad-request", "Content-Length: must be a whole number")
    expected = int(length) if b"transfer-encoding" not in headers else 0
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    if (expected or b"transfer-encoding" in headers) and media not in kinds:
        raise RequestError("not-json-type", f"pass the header Content-Type: {kinds[0]}", hang_up=True)
    body, more = bytearray(), True
    while more and max(expected, len(body)) <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if more or len(body) > limit:
        raise RequestError("too-large", f"the body must have at most {limit:,} bytes; send it in parts")
    return bytes(body)


def read_fields(text: bytes) -> dict[str, str]:
    """The fields of the address of a page."""
    try:
        return dict(parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise RequestError("bad-request", "the query of the address cannot be understood") from None


def read_form(headers: Mapping[bytes, bytes], body: bytes) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    """The fields of a form, and its files by their fields: the name that each was called, and what it holds."""
    media, options = parse_options_header(headers.get(b"content-type", FORM.encode()))
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    text = bytes.decode if media == MULTIPART.encode() else _unquoted

    def take(part: Any) -> None:
        if len(fields) + len(files) >= MOST_FIELDS:
            raise FormParserError("too many fields")
        name = text(part.field_name or b"")
        if isinstance(part, Field):
            fields[name] = text(part.value or b"")
        elif part.file_name:  # a field for a file that was left empty has no name
            part.file_object.seek(0)
            files[name] = safe_name(part.file_name.decode()), part.file_object.read()

    ended: list[bool] = []
    limits = {"MAX_FIELDS": MOST_FIELDS, "MAX_MEMORY_FILE_SIZE": len(body) + 1, "UPLOAD_ERROR_ON_BAD_CTE": True}
    try:
        boundary = options.get(b"boundary") if media == MULTIPART.encode() else None
        parser = FormParser(
            media.decode("latin-1"), take, take, on_end=lambda: ended.append(True), boundary=boundary, config=limits
        )
        parser.write(body)
        parser.finalize()
    except (FormParserError, ValueError):
        raise RequestError("bad-request", "the form cannot be read; was it cut short?") from None
    if not ended:
        raise RequestError("bad-request", "the form cannot be read; was it cut short?")
    return fields, files


def _unquoted(text: bytes) -> str:
    return unquote_plus(text.decode("ascii"), errors="strict")


def safe_name(given: str) -> str:
    """The name of a file as it may stand in a folder and in a sentence; it ends with .csv."""
    plain = re.sub(r"[^\w. -]+", "_", re.split(r"[/\\]", given)[-1]).strip(" .")[:80]
    return plain if plain.lower().endswith(".csv") and len(plain) > 4 else f"{plain or 'pilot'}.csv"


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
