"""The fields of a form, and the files that come with it."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs

from prudent.service.problems import RequestError
from prudent.service.routes import MULTIPART

MOST_FIELDS = 300
"""Fields of one form."""

BOUNDARY = re.compile(rb'boundary="?([0-9A-Za-z\'()+_,./:=? -]{1,70})"?\s*(?:;|$)')
NAMED = re.compile(r'(?:^|;)\s*(name|filename)="((?:[^"\\\r\n]|\\.)*)"')


def form_of(body: bytes) -> dict[str, str]:
    """The fields of a form, or of an address."""
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise RequestError("bad-request", "the form cannot be read") from None
    return {name: values[-1] for name, values in fields.items()}


def read_form(headers: Mapping[bytes, bytes], body: bytes) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    """The fields of a form, and its files by their fields: the name that each was called, and what it holds."""
    media, _, more = headers.get(b"content-type", b"").partition(b";")
    if media.strip().lower() != MULTIPART.encode():
        return form_of(body), {}
    found = BOUNDARY.search(more.strip())
    parts = body.split(b"--" + found[1]) if found else []
    if len(parts) < 2 or not parts[-1].startswith(b"--") or len(parts) > MOST_FIELDS + 2:
        raise RequestError("bad-request", "the form cannot be read; was it cut short?")
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for part in parts[1:-1]:
        head, blank, data = part.partition(b"\r\n\r\n")
        if not blank or not data.endswith(b"\r\n"):
            raise RequestError("bad-request", "the form cannot be read; was it cut short?")
        try:
            names = dict(NAMED.findall(_disposition(head.decode())))
            if "filename" not in names:
                fields[names["name"]] = data[:-2].decode()
            elif names["filename"]:  # a field for a file that was left empty has no name
                files[names["name"]] = safe_name(names["filename"]), data[:-2]
        except (KeyError, UnicodeDecodeError):
            raise RequestError("bad-request", "the form cannot be read") from None
    return fields, files


def _disposition(head: str) -> str:
    lines = [line for line in head.split("\r\n") if line.lower().startswith("content-disposition:")]
    return lines[0].partition(":")[2] if lines else ""


def safe_name(given: str) -> str:
    """The name of a file as it may stand in a folder and in a sentence; it ends with .csv."""
    plain = re.sub(r"[^\w. -]+", "_", re.split(r"[/\\]", given)[-1]).strip(" .")[:80]
    return plain if plain.lower().endswith(".csv") and len(plain) > 4 else f"{plain or 'pilot'}.csv"
