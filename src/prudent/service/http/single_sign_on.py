"""Single sign-on: a proxy that is trusted says in a header who somebody is, and roles say what they may do on pages.

The header counts only if the connection itself comes from an address of the proxy; what others send is not looked at.
Programs have tokens all the same: no route of the API reads these headers.
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from prudent.base.errors import PrudentError, near, shown
from prudent.service.http.tokens import SCOPES
from prudent.service.problems import RequestError

EVERYBODY = "*"
"""The role of everybody whom the proxy names."""

LONGEST = 200
"""Characters of a name."""


class Person(NamedTuple):
    """Whom the proxy names, and what they may do."""

    name: str
    scopes: frozenset[str]


class SingleSignOn:
    """Who somebody is, by the header of a proxy at one of these addresses; `roles` are groups with their scopes, and
    the header of the groups has commas between them."""

    def __init__(
        self, header: str, addresses: Sequence[str], roles: Mapping[str, frozenset[str]], groups: str = ""
    ) -> None:
        self._header, self._groups = header.lower().encode(), groups.lower().encode()
        self._networks = [ipaddress.ip_network(address) for address in addresses]
        self._roles = roles

    def person(self, scope: Any, headers: Mapping[bytes, bytes]) -> Person | None:
        """Whom the proxy names; None if the request does not come from it, or names nobody."""
        client = scope.get("client")
        if client is None or not self._trusts(client[0]) or self._header not in headers:
            return None
        names = [name for name, _ in scope["headers"]]
        if any(names.count(name) > 1 for name in (self._header, self._groups) if name):
            raise RequestError("bad-request", "the proxy names somebody twice")
        name = _text(headers[self._header])
        if not 1 <= len(name) <= LONGEST:
            raise RequestError("bad-request", f"the proxy gives a name that has not 1 to {LONGEST} characters")
        groups = {part.strip() for part in _text(headers.get(self._groups, b"")).split(",")} | {EVERYBODY}
        return Person(name, frozenset().union(*(self._roles.get(group, ()) for group in groups)))

    def _trusts(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in network for network in self._networks)


def single_sign_on(
    header: str, addresses: Sequence[str], roles: Sequence[str], groups: str, *, behind_proxy: bool
) -> SingleSignOn | None:
    """The one of these settings, or None without a header; what cannot be safe is refused."""
    if not header:
        if addresses or roles or groups:
            raise PrudentError("serve: --trust-from, --trust-groups and --role need --trust-header, which names people")
        return None
    if not behind_proxy:
        raise PrudentError("serve: --trust-header needs --behind-proxy, because only a proxy can know who somebody is")
    for name in (header, groups):
        if name and not re.fullmatch(r"[A-Za-z0-9-]{1,100}", name):
            raise PrudentError(f"serve: a header is named by letters, digits and hyphens, got {shown(name)}")
    if not addresses:
        raise PrudentError("serve: --trust-header needs --trust-from, the address of the proxy, such as 10.0.0.2")
    for address in addresses:
        _check_address(address)
    if not roles:
        raise PrudentError("serve: --trust-header needs --role, such as --role '*=read' or --role owners=admin")
    return SingleSignOn(header, addresses, dict(map(_role, roles)), groups)


def _check_address(address: str) -> None:
    try:
        network = ipaddress.ip_network(address)
    except ValueError:
        raise PrudentError(
            f"serve: --trust-from must be an address or a network, such as 10.0.0.2, got {shown(address)}"
        ) from None
    if network.is_loopback or network.overlaps(type(network)("127.0.0.0/8" if network.version == 4 else "::1/128")):
        raise PrudentError(
            f"serve: --trust-from must not be this machine, got {address}: everybody on it could be anybody; let the"
            " proxy reach the service at another address"
        )


def _role(text: str) -> tuple[str, frozenset[str]]:
    group, equals, scopes = text.partition("=")
    if not (group and equals):
        raise PrudentError(f"serve: --role must be a group and scopes, such as owners=admin, got {shown(text)}")
    some = [scope.strip() for scope in scopes.split(",")]
    for scope in some:
        if scope not in SCOPES:
            raise PrudentError(f"serve: --role {group} has an unknown scope {shown(scope)}; {near(scope, SCOPES)}")
    return group, frozenset(some)


def _text(given: bytes) -> str:
    try:
        found = given.decode("utf-8").strip()
    except UnicodeDecodeError:
        found = given.decode("latin-1").strip()
    if not found.isprintable():
        raise RequestError("bad-request", "the proxy gives a name that cannot be printed")
    return found
