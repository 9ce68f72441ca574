"""The query and the body of a request, as the types of its route, or as the fields and files of a form; everything
that is no such thing is refused."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from prudent.base.errors import near
from prudent.service.http.routes import MULTIPART, Route
from prudent.service.problems import RequestError

MAX_FIELDS = 300
"""Fields of one form, or of an address of a page."""

_CUT_SHORT = "the form cannot be read; was it cut short?"
_CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)


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


async def read_body(request: Request, headers: Mapping[bytes, bytes], limit: int, *kinds: str) -> bytes:
    """The whole body, if it is of one of these kinds and not too long. That it comes in time is the server's
    business."""
    length = headers.get(b"content-length", b"0")
    if not re.fullmatch(rb"[0-9]+", length):
        raise RequestError("bad-request", "Content-Length: must be a whole number")
    expected = int(length) if b"transfer-encoding" not in headers else 0
    if (expected or b"transfer-encoding" in headers) and media_type(headers) not in kinds:
        raise RequestError("not-json-type", f"pass the header Content-Type: {kinds[0]}", hang_up=True)
    body = bytearray()
    if expected <= limit:
        async for part in request.stream():
            body += part
            if len(body) > limit:
                break
    if max(expected, len(body)) > limit:
        raise RequestError("too-large", f"the body must have at most {limit:,} bytes; send it in parts")
    return bytes(body)


def media_type(headers: Mapping[bytes, bytes]) -> str:
    """What the body is, without parameters."""
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")


def read_fields(text: bytes, wrong: str = "the query of the address cannot be understood") -> dict[str, str]:
    """The fields of the address of a page, or of a form without files."""
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise RequestError("bad-request", wrong) from None
    return dict(pairs)


def read_form(headers: Mapping[bytes, bytes], body: bytes) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    """The fields of a form, and its files by their fields: the name that each was called, and what it holds."""
    if media_type(headers) != MULTIPART:
        return read_fields(body, _CUT_SHORT), {}
    # Fields are UTF-8, as pages of this service say; a codec of the sender's choice could take long.
    kind = _CHARSET.sub("", headers[b"content-type"].decode("latin-1"))
    return asyncio.run(_parts(Headers({"content-type": kind}), body))


async def _parts(headers: Headers, body: bytes) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = _WholeForm(headers, stream(), max_fields=MAX_FIELDS, max_files=MAX_FIELDS, max_part_size=len(body) + 1)
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    try:
        for name, part in (await parser.parse()).multi_items():
            if not isinstance(part, UploadFile):
                fields[name] = part
            elif part.filename:  # a field for a file that was left empty has no name
                files[name] = safe_name(part.filename), await part.read()
    except MultiPartException:
        parser.ended = False
    finally:
        parser.close_files()
    if not parser.ended:
        raise RequestError("bad-request", _CUT_SHORT)
    return fields, files


class _WholeForm(MultiPartParser):
    """Notices the end of the form, without which it was cut short. Files stay in memory, since the body is small."""

    spool_max_size = 0
    ended = False

    def on_end(self) -> None:
        self.ended = True

    def close_files(self) -> None:
        """Close all files, also that of a part that was cut short, which is in no form."""
        for file in self._files_to_close_on_error:
            file.close()


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
