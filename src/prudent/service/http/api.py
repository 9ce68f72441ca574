"""The API: one table of routes, from which the paths, the checks of tokens and bodies, and the OpenAPI text follow.

Every function is short, since the service does the work. What is read from the database is read in another thread, so
that nobody else waits for it.
"""

import asyncio
import threading
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response, StreamingResponse

import prudent
from prudent.service import messages as m
from prudent.service.http import flags
from prudent.service.http.app import encode, unknown
from prudent.service.http.metrics import MEDIA
from prudent.service.http.routes import JSON, NDJSON, Call, Route
from prudent.service.http.tokens import MadeToken, NewToken, TokenInfo
from prudent.service.http.webhooks import MadeWebhook, NewWebhook, WebhookInfo
from prudent.service.problems import ADVICE, KINDS, RequestError
from prudent.service.spec import Spec
from prudent.service.views import export as files
from prudent.service.views import replies
from prudent.service.work.children import in_own_thread

PAGE = 10_000
"""Lines of the log that one answer holds at most."""

VERIFYING = threading.Lock()


class FromPlan(m.Request):
    """An experiment as `prudent plan` recommends it: what the command wrote as JSON."""

    plan: dict[str, Any]


class Asked(Struct, forbid_unknown_fields=True):
    """The probability with which each interval holds at all times, and the arm with which the others are compared."""

    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95
    control: m.Label | None = None


class Page(Struct, forbid_unknown_fields=True):
    """Lines of the log after the one of this number, so many at most."""

    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    limit: Annotated[int, Meta(ge=1, le=PAGE)] = 1000


class Export(Struct, forbid_unknown_fields=True):
    """The format of a file."""

    format: Literal["csv", "parquet", "ndjson"] = "csv"


class Version(m.Answer):
    """Which software answers."""

    prudent: str


class Ready(m.Answer):
    """Whether the service can answer, and if not, why. `alarms` are what somebody should look at although it can."""

    ready: bool
    reasons: list[str]
    alarms: list[str] = msgspec.field(default_factory=list)


class ProblemKind(m.Answer):
    """A kind of problem: what it means, and what to do."""

    type: str
    title: str
    status: int
    advice: str


async def verb(call: Call) -> Any:
    """A change of an experiment."""
    return await call.service.do(
        call.experiment, call.body, decision=call.id or None, key=call.key, by=call.by, if_match=call.if_match
    )


async def tell_many(call: Call) -> Response:
    """Many rewards. The status is 207 if any of them was refused."""
    found = await verb(call)
    return _json(found, 207 if found.refused else 200)


async def create(call: Call) -> Response:
    """Create an experiment. The same again is no error."""
    spec, rewards = call.body, []
    if isinstance(spec, FromPlan):
        from prudent.service.plans.experiment import pilot_of_plan, spec_of_plan

        rewards, spec = list(pilot_of_plan(spec.plan)), spec_of_plan(spec.plan)
    if call.token is not None and not call.token.covers(spec.name):
        raise RequestError("not-allowed", "the token is for other experiments")
    status, new = await asyncio.to_thread(call.service.create, spec, call.by)
    for some in rewards:
        await call.service.do(spec.name, m.TellMany([m.Told(**each) for each in some]), by=call.by)
    return _json(status, 201 if new else 200, location=f"/v1/experiments/{spec.name}")


async def experiments(call: Call) -> list[m.Status]:
    """All experiments that the token is for."""
    found = await asyncio.to_thread(call.service.experiments)
    return [status for status in found if call.token is None or call.token.covers(status.experiment)]


async def experiment(call: Call) -> Response:
    """An experiment with its spec. The ETag changes with every event."""
    if (same := await _unchanged(call)) is not None:
        return same
    view = await call.service.look(call.experiment)
    return Response(encode(replies.shown(view)), 200, _tag(view.seq), JSON)


async def decision(call: Call) -> m.Decision:
    """A decision with its reward."""
    return await asyncio.to_thread(call.service.decision, call.id)


async def estimates(call: Call) -> Response:
    """What is known of the arms: estimates, and intervals that are valid however often you look."""
    if (same := await _unchanged(call)) is not None:
        return same
    views, asked = call.service.views, (call.query.level, call.query.control)
    view = await views.now(call.experiment)
    made = await views.once(view, ("estimates", *asked), lambda: encode(replies.estimates(view, *asked)))
    return Response(made, 200, _tag(view.seq), JSON)


async def events(call: Call) -> Response:
    """The log, a line for each event."""
    after, limit = call.query.after, call.query.limit
    lines = await asyncio.to_thread(call.service.events, call.experiment, after, limit)
    more = f"/v1/experiments/{call.experiment}/events?after={lines[-1]['seq']}&limit={limit}" if lines else ""
    headers = {"link": f'<{more}>; rel="next"'} if len(lines) == limit else None
    return Response(b"".join(encode(line) + b"\n" for line in lines), 200, headers, NDJSON)


async def export(call: Call) -> Response:
    """All decisions with their rewards."""
    kind = call.query.format
    view = await call.service.look(call.experiment)
    file = f'attachment; filename="{call.experiment}.{kind}"'
    parts = files.exported(call.service, view, kind)
    return StreamingResponse(parts, 200, {"content-disposition": file}, files.MEDIA[kind])


async def report(call: Call) -> Response:
    """The report for whoever decides, as one file of HTML."""
    from prudent.service.pages.report import reply

    view = await call.service.look(call.experiment)
    made: Response = await in_own_thread(lambda: reply(call.service, view))  # it may wait for a forecast
    return made


async def state(call: Call) -> Response:
    """The state of the agent, which `prudent.Agent.from_json` reads."""
    view = await call.service.look(call.experiment)
    text = await asyncio.to_thread(view.state.agent.to_json)
    return Response(text, 200, {"prudent-seq": str(view.state.seq)}, JSON)


async def verify(call: Call) -> replies.Checked:
    """Replay the whole log, and compare. This takes its time, so that only one is verified at a time."""
    if not VERIFYING.acquire(blocking=False):
        raise RequestError("busy", "a log is being verified already; try again in a moment")

    def act() -> Any:
        try:
            return call.service.verify(call.experiment)
        finally:
            VERIFYING.release()

    return replies.Checked(**(await in_own_thread(act))._asdict())


async def create_token(call: Call) -> MadeToken:
    """Make a token. It is shown this once."""
    asked: NewToken = call.body
    make = partial(call.service.tokens.create, asked.scopes, asked.experiments, asked.expires, asked.note, call.by)
    text, token = await asyncio.to_thread(make)
    return MadeToken(token=text, **msgspec.structs.asdict(token.info()))


async def tokens(call: Call) -> list[TokenInfo]:
    """All tokens, without their secrets."""
    return [token.info() for token in await asyncio.to_thread(call.service.tokens.all)]


async def revoke(call: Call) -> Response:
    """End a token at once."""
    await asyncio.to_thread(call.service.tokens.revoke, call.id, call.by)
    return Response(status_code=204)


async def create_webhook(call: Call) -> MadeWebhook:
    """Name a receiver that is told what happens from now on. Its secret is shown this once."""
    made: MadeWebhook = await asyncio.to_thread(call.service.webhooks.create, call.body)
    return made


async def webhooks(call: Call) -> list[WebhookInfo]:
    """All receivers of webhooks, without their secrets, and whether they answer."""
    return [target.info() for target in await asyncio.to_thread(call.service.webhooks.all)]


async def remove_webhook(call: Call) -> Response:
    """Tell a receiver nothing more."""
    await asyncio.to_thread(call.service.webhooks.remove, call.id)
    return Response(status_code=204)


async def healthz(call: Call) -> Ready:
    """Whether the process answers."""
    return Ready(True, [])


async def readyz(call: Call) -> Response:
    """Whether the service can do its work; if not, why."""
    reasons = await call.service.readiness()
    return _json(Ready(not reasons, reasons, call.service.alarms), 503 if reasons else 200)


async def metrics(call: Call) -> Response:
    """Numbers for Prometheus."""
    return Response(await asyncio.to_thread(call.app.metrics.text), media_type=MEDIA)


async def version(call: Call) -> Version:
    """Which software answers."""
    return Version(prudent.__version__)


async def openapi(call: Call) -> Response:
    """This API as OpenAPI 3.1."""
    from prudent.service.http.openapi import document

    return Response(document(ROUTES), media_type=JSON)


async def problem(call: Call) -> ProblemKind:
    """What a kind of problem means."""
    if call.id not in KINDS:
        raise unknown("problem")
    kind = KINDS[call.id]
    return ProblemKind(f"/problems/{call.id}", kind.title, kind.status, ADVICE[call.id])


async def _unchanged(call: Call) -> Response | None:
    """That nothing has happened since the caller's answer, which its ETag says; None if something has."""
    if b"if-none-match" not in call.headers:
        return None
    row = await asyncio.to_thread(call.service.store.experiment, call.experiment)
    return Response(status_code=304, headers=_tag(row.seq)) if row is not None and call.has(f'"{row.seq}"') else None


def _tag(seq: int) -> dict[str, str]:
    return {"etag": f'"{seq}"', "cache-control": "no-cache"}


def _json(answer: Struct, status: int, **headers: str) -> Response:
    return Response(encode(answer), status, headers, JSON)


ONE = "/v1/experiments/{experiment}"
DECISION = "/v1/decisions/{decision}"
FLAGS = "/ofrep/v1/evaluate/flags"
KEYED = ("Idempotency-Key",)
CHANGE = ("Idempotency-Key", "If-Match")
SEEN = ("If-None-Match",)
IN_THE_WAY = ("conflict", "not-running", "key-reused")


def _change(body: type[m.Change]) -> Route:
    """A change of an experiment by a person, with a reason."""
    problems = ("conflict", "key-reused", "state-changed")
    statuses = (201, 200) if body.verb.created else (200, 200)
    return Route("POST", f"{ONE}/{body.verb.path}", "admin", verb, body, m.Status, statuses, problems, headers=CHANGE)


ROUTES = (
    Route("POST", "/v1/experiments", "admin", create, (Spec, FromPlan), m.Status, (201, 200), ("name-taken",)),
    Route("GET", "/v1/experiments", "read", experiments, answer=list[m.Status]),
    Route("GET", ONE, "read", experiment, answer=replies.Shown, statuses=(200, 304), headers=SEEN),
    *map(_change, m.BODIES.values()),
    Route(
        "POST",
        f"{ONE}/decisions",
        "decide",
        verb,
        m.Ask,
        m.Decisions,
        (201, 200),
        IN_THE_WAY,
        headers=KEYED,
        limit=2**16,
    ),
    Route("GET", DECISION, "read", decision, answer=m.Decision),
    Route(
        "PUT",
        f"{DECISION}/reward",
        "reward",
        verb,
        m.Tell,
        m.Recorded,
        (201, 200),
        ("conflict", "other-reward", "window-closed"),
    ),
    Route("POST", f"{DECISION}/activate", "reward", verb, m.Activate, m.Decision, problems=("conflict",)),
    Route(
        "POST", f"{DECISION}/withdraw", "reward", verb, m.Withdraw, m.Decision, problems=("conflict", "window-closed")
    ),
    Route("POST", f"{ONE}/rewards", "reward", tell_many, m.TellMany, m.Results, (200, 207)),
    Route("POST", f"{ONE}/batches", "decide", verb, m.Split, m.Batch, (201, 200), IN_THE_WAY, headers=KEYED),
    Route("PUT", "/v1/batches/{batch}", "reward", verb, m.Merge, m.Merged, (201, 200), ("conflict", "other-reward")),
    Route("POST", f"{ONE}/fallbacks", "decide", verb, m.Fallbacks, m.Status, problems=IN_THE_WAY, headers=KEYED),
    Route(
        "GET",
        f"{ONE}/estimates",
        "read",
        estimates,
        answer=replies.Estimates,
        statuses=(200, 304),
        query=Asked,
        headers=SEEN,
    ),
    Route("GET", f"{ONE}/events", "read", events, answer=(NDJSON,), query=Page),
    Route("GET", f"{ONE}/export", "read", export, answer=tuple(files.MEDIA.values()), query=Export),
    Route("GET", f"{ONE}/report", "read", report, answer=("text/html",)),
    Route("GET", f"{ONE}/state", "read", state, answer=(JSON,)),
    Route("POST", f"{ONE}/verify", "admin", verify, answer=replies.Checked, problems=("busy",)),
    Route("POST", "/v1/track", "reward", flags.track, flags.TrackingEvent, flags.AllTracked, (200, 207)),
    Route(
        "POST",
        f"{FLAGS}/{{experiment}}",
        "decide",
        flags.evaluate,
        flags.Evaluation,
        flags.Evaluated,
        problems=IN_THE_WAY,
        failure=flags.FlagFailure,
    ),
    Route(
        "POST",
        FLAGS,
        "decide",
        flags.evaluate_all,
        flags.Evaluation,
        flags.Evaluations,
        (200, 304),
        headers=SEEN,
        failure=flags.FlagFailure,
    ),
    Route("POST", "/v1/tokens", "admin", create_token, NewToken, MadeToken, (201,), whole=True),
    Route("GET", "/v1/tokens", "admin", tokens, answer=list[TokenInfo], whole=True),
    Route("DELETE", "/v1/tokens/{token}", "admin", revoke, statuses=(204,), whole=True),
    Route("POST", "/v1/webhooks", "admin", create_webhook, NewWebhook, MadeWebhook, (201,), ("conflict",), whole=True),
    Route("GET", "/v1/webhooks", "admin", webhooks, answer=list[WebhookInfo], whole=True),
    Route("DELETE", "/v1/webhooks/{webhook}", "admin", remove_webhook, statuses=(204,), whole=True),
    Route("GET", "/healthz", "", healthz, answer=Ready),
    Route("GET", "/readyz", "", readyz, answer=Ready, statuses=(200, 503)),
    Route("GET", "/metrics", "read", metrics, answer=("text/plain",), whole=True),
    Route("GET", "/version", "read", version, answer=Version),
    Route("GET", "/openapi.json", "", openapi, answer=(JSON,)),
    Route("GET", "/problems/{problem}", "", problem, answer=ProblemKind),
)
