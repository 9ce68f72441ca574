"""What can go wrong with a request, as RFC 9457 has it: a kind with a status, and a sentence that says what to do."""

from typing import Any, NamedTuple

from prudent.errors import PrudentError


class Kind(NamedTuple):
    """A kind of problem: its HTTP status, and its title."""

    status: int
    title: str


KINDS = {
    "not-json": Kind(400, "The body is not valid JSON"),
    "bad-request": Kind(400, "The request cannot be understood"),
    "no-token": Kind(401, "A token is needed"),
    "not-allowed": Kind(403, "The token does not allow this"),
    "foreign-host": Kind(403, "The host name of the request is not one of this service"),
    "not-found": Kind(404, "There is nothing here"),
    "no-such-method": Kind(405, "This address does not take this method"),
    "too-slow": Kind(408, "The request did not arrive in time"),
    "conflict": Kind(409, "This does not fit the present state"),
    "name-taken": Kind(409, "Another experiment has this name"),
    "other-reward": Kind(409, "Another reward is recorded already"),
    "not-running": Kind(409, "The experiment does not answer now"),
    "window-closed": Kind(410, "The reward came after its window had closed"),
    "state-changed": Kind(412, "The experiment has changed since you looked"),
    "too-large": Kind(413, "The body is too large"),
    "not-json-type": Kind(415, "The body must be JSON"),
    "invalid": Kind(422, "A value is not allowed"),
    "key-reused": Kind(422, "The key was used for another request"),
    "too-many": Kind(429, "Too many requests"),
    "unavailable": Kind(503, "The service cannot answer now"),
    "busy": Kind(503, "Too many requests are waiting"),
}


class RequestError(PrudentError):
    """A request that is refused, with the reason. `extra` are further members of the answer."""

    def __init__(self, kind: str, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.extra = kind, detail, extra

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    def as_dict(self, instance: str | None = None) -> dict[str, Any]:
        """The members of the answer, `application/problem+json`."""
        known = {"type": f"/problems/{self.kind}", "title": KINDS[self.kind].title, "status": self.status}
        where = {} if instance is None else {"instance": instance}
        return {**known, "detail": self.detail, **where, **self.extra}
