"""What can go wrong with a request, as RFC 9457 has it: a kind with a status, and a sentence that says what to do."""

from typing import Any, NamedTuple

from prudent.base.errors import PrudentError


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
    "not-json-type": Kind(415, "The body is of another type than it must be"),
    "invalid": Kind(422, "A value is not allowed"),
    "key-reused": Kind(422, "The key was used for another request"),
    "too-many": Kind(429, "Too many requests"),
    "internal": Kind(500, "An error of the service"),
    "unavailable": Kind(503, "The service cannot answer now"),
    "busy": Kind(503, "Too many requests are waiting"),
}

ADVICE = {
    "not-json": "Check the body with a JSON validator. NaN, infinity and members given twice are not allowed.",
    "bad-request": "A header, the query or the request line is malformed. The detail says which.",
    "no-token": "Pass Authorization: Bearer and a token that is valid, not expired and not revoked.",
    "not-allowed": "Ask whoever runs the service for a token with the scope or the experiment that the detail names.",
    "foreign-host": "Use an address of the service, or let whoever runs it add this one with --allowed-host.",
    "not-found": "Check the address. Ids of decisions and batches belong to the service that gave them.",
    "no-such-method": "The header Allow says what this address takes.",
    "too-slow": "Send the request faster, or in smaller parts.",
    "conflict": "Look at the experiment or the decision, and decide anew. The same request will fail again.",
    "name-taken": "Choose another name. With the same spec the answer would have been 200.",
    "other-reward": "The first reward stands, because the policy may have acted on it. `stands` is its value.",
    "not-running": "Use an arm of your own choice; the experiment is paused or stopped, and has no fallback arm.",
    "window-closed": "The default was counted, or the decision was taken back. A longer window needs a new experiment.",
    "state-changed": "Get the experiment again, look at what has changed, and repeat with its new ETag.",
    "too-large": "Send less at once: up to 1,000 rewards a request.",
    "not-json-type": "Pass the header Content-Type that the detail names: application/json for the API.",
    "invalid": "The detail says which value is not allowed, and what is.",
    "key-reused": "Make a new Idempotency-Key for each request, and keep it for every try of that request.",
    "too-many": "Wait for as many seconds as Retry-After says. Many rewards fit into one request.",
    "internal": "This is an error of the software. The log of the service says more; please report it.",
    "unavailable": "Try again with the same key, after as many seconds as Retry-After says. It never counts twice.",
    "busy": "Try again with the same key, after as many seconds as Retry-After says.",
}
"""What to do about each kind, for whoever opens its address."""


class RequestError(PrudentError):
    """A request that is refused, with the reason. `extra` are further members of the answer; after one that cannot be
    trusted to end where it seems to, the service should `hang_up`."""

    def __init__(self, kind: str, detail: str, *, hang_up: bool = False, **extra: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.hang_up, self.extra = kind, detail, hang_up, extra

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    def as_dict(self, instance: str | None = None) -> dict[str, Any]:
        """The members of the answer, `application/problem+json`."""
        known = {"type": f"/problems/{self.kind}", "title": KINDS[self.kind].title, "status": self.status}
        where = {} if instance is None else {"instance": instance}
        return {**known, "detail": self.detail, **where, **self.extra}
