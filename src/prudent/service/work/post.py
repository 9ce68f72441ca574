"""One message to one receiver: signed as Standard Webhooks are, to an address that may be reached, within a deadline.

The name of the receiver is looked up once, and the connection goes to an address that was checked. Redirects are not
followed, proxies of the environment not used, and of an answer only status and headers are read.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import queue
import socket
import ssl
import threading
import time
import urllib.parse
from typing import NamedTuple

from prudent import __version__
from prudent.base.errors import PrudentError, shown
from prudent.client.shapes import Reply
from prudent.client.wire import TimedAnswer, wait_of

SECONDS = 15.0
"""What an attempt may take in all: to look the name up, to connect, to send, and to be answered."""

PORTS = {"https": 443, "http": 80}
LONGEST_WORDS = 200
"""Characters of why there is no answer."""

NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""Addresses of version 6 whose last four bytes are one of version 4."""


class Posted(NamedTuple):
    """What came of an attempt: the status, or 0 and why there is none; `wait` are the seconds that the receiver asks
    for."""

    status: int
    words: str
    wait: float = 0.0


def signature(secret: bytes, name: str, at: int, body: bytes) -> str:
    """HMAC-SHA256 over id, time in seconds, and body."""
    signed = hmac.digest(secret, b"%s.%d.%s" % (name.encode(), at, body), hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


def check_address(url: str, *, private: bool) -> urllib.parse.SplitResult:
    """The parts of the address of a receiver. `private` allows this machine and its network, and plain HTTP."""
    try:
        parts = urllib.parse.urlsplit(url)
        good = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
        plain = url.isascii() and url.isprintable() and " " not in url
    except ValueError:  # of a port, or of brackets
        good = plain = False
        parts = urllib.parse.urlsplit("")
    if not good or not plain or parts.fragment:
        raise PrudentError(f"webhook: url must be such as https://example.org/hook, got {shown(url)}")
    if parts.username is not None or parts.password is not None:
        raise PrudentError("webhook: url must hold no password; the signature says who sends")
    if private:
        return parts
    if parts.scheme != "https":
        raise PrudentError("webhook: url must begin with https://, since what is sent would travel readable")
    if _is_address(str(parts.hostname)) and not is_public(str(parts.hostname)):  # a name is looked up when it is used
        raise PrudentError(_NOT_PUBLIC)
    return parts


def _is_address(host: str) -> bool:
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


_NOT_PUBLIC = (
    "webhook: the address is of this machine, its network, or no single machine; if that is meant, start the service"
    " with --allow-private-webhooks"
)


def is_public(address: str) -> bool:
    """Whether it is of one machine somewhere in the Internet, and so is the address of version 4 in it, if any."""
    outer = ipaddress.ip_address(address.partition("%")[0])
    inner = None
    if isinstance(outer, ipaddress.IPv6Address):
        inner = outer.ipv4_mapped or outer.sixtofour or (outer.teredo and outer.teredo[1])
        if outer in NAT64:
            inner = ipaddress.IPv4Address(int(outer) & 0xFFFFFFFF)
    return all(each.is_global and not each.is_multicast for each in (outer, inner) if each is not None)


def post(url: str, secret: bytes, name: str, body: bytes, *, private: bool = False) -> Posted:
    """Send a message of that name, and wait for the answer. Whatever happens, it comes back."""
    ends = time.monotonic() + SECONDS
    try:
        parts = check_address(url, private=private)
        host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
        with contextlib.ExitStack() as stack:
            line = stack.enter_context(_connected(host, port, ends, private=private))
            if parts.scheme == "https":
                line.settimeout(_left(ends))
                line = stack.enter_context(ssl.create_default_context().wrap_socket(line, server_hostname=host))
            return _sent(parts, line, secret, name, body, ends)
    except PrudentError as error:
        return Posted(0, str(error))
    except TimeoutError:
        return Posted(0, f"no answer within {SECONDS:g} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        said = "".join(letter if letter.isprintable() else "?" for letter in str(error)[:LONGEST_WORDS])
        return Posted(0, said or type(error).__name__)


def _sent(
    parts: urllib.parse.SplitResult, line: socket.socket, secret: bytes, name: str, body: bytes, ends: float
) -> Posted:
    """What the receiver says to a message, on this connection."""
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port or PORTS[parts.scheme])
    connection.default_port = PORTS[parts.scheme]
    connection.sock, connection.response_class = line, TimedAnswer
    at = int(time.time())
    headers = {
        "content-type": "application/json",
        "user-agent": f"prudent/{__version__}",
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(secret, name, at, body),
    }
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    line.settimeout(_left(ends))
    connection.request("POST", path, body, headers)
    line.settimeout(_left(ends))
    answer = connection.getresponse()
    found = {key.lower(): value for key, value in answer.headers.items()}
    wait = wait_of(Reply(answer.status, found, b""))
    answer.close()
    return Posted(answer.status, f"status {answer.status}", wait)


def _connected(host: str, port: int, ends: float, *, private: bool) -> socket.socket:
    """A connection to the first address of the host that takes one; none if any of them is not for us."""
    addresses = _looked_up(host, port, _left(ends))
    if not private and not all(map(is_public, addresses)):
        raise PrudentError(_NOT_PUBLIC)
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), timeout=0.5 * _left(ends))
    return socket.create_connection((addresses[-1], port), timeout=_left(ends))


def _looked_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a name. The system's own search has no deadline, so that it goes on alone after ours."""
    found: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put(list(dict.fromkeys(str(address[0]) for *_, address in rows)))
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=look, daemon=True).start()
    try:
        addresses = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(addresses, Exception):
        raise OSError(f"the name {host} was not found: {addresses}")
    return addresses


def _left(ends: float) -> float:
    """The seconds until then."""
    left = ends - time.monotonic()
    if left <= 0.0:
        raise TimeoutError
    return left
