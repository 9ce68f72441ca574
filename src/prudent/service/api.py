"""The API: one table of routes, from which the paths, the checks of tokens and bodies, and the OpenAPI text follow.

Every function is short, since the service does the work. What is read from the database is read in another thread, so
that nobody else waits for it.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

import prudent
from prudent.service import answers
from prudent.service import messages as m
from prudent.service.computing import in_own_thread
from prudent.service.http import encode, unknown
from prudent.service.metrics import MEDIA
from prudent.service.problems import ADVICE, KINDS, RequestError
from prudent.service.routes import JSON, NDJSON, Call, Reply, Route
from prudent.service.spec import Spec
from prudent.service.tokens import MadeToken, NewToken, TokenInfo

PAGE = 10_000
"""Lines of the log that one answer holds at most."""

VERIFYING = threading.Lock()
SLOW = ThreadPoolExecutor(1, "prudent-slow")


class FromPlan(m.Request):
    """An experiment as `prudent plan` recommends it: what the command wrote as JSON."""

    plan: dict[str, Any]


class Level(Struct, forbid_unknown_fields=True):
    """The probability with which all intervals of an arm hold at all times."""

    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95


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


async def tell_many(call: Call) -> Reply:
    """Many rewards. The status is 207 if any of them was refused."""
    found = await verb(call)
    return Reply(207 if found.refused else 200, encode(found))


async def create(call: Call) -> Reply:
    """Create an experiment. The same again is no error."""
    spec = call.body
    if isinstance(spec, FromPlan):
        from prudent.service.planning.experiment import spec_of_plan

        spec = spec_of_plan(spec.plan)
    if call.token is not None and not call.token.covers(spec.name):
        raise RequestError("not-allowed", "the token is for other experiments")
    status, new = await asyncio.to_thread(call.service.create, spec, call.by)
    return Reply(201 if new else 200, encode(status), headers=[("location", f"/v1/experiments/{spec.name}")])


async def experiments(call: Call) -> list[m.Status]:
    """All experiments that the token is for."""
    found = await asyncio.to_thread(call.service.experiments)
    return [status for status in found if call.token is None or call.token.covers(status.experiment)]


async def experiment(call: Call) -> Reply:
    """An experiment with its spec. The ETag changes with every event."""
    return await _unless_known(call, lambda view: encode(answers.shown(view)))


async def decision(call: Call) -> m.Decision:
    """A decision with its reward."""
    return await asyncio.to_thread(call.service.decision, call.id)


async def estimates(call: Call) -> Reply:
    """What is known of the arms: estimates, and intervals that are valid however often you look."""

    def made(view: Any) -> bytes:
        recent, key, seq = call.app.recent, (call.experiment, call.query.level), view.fold.seq
        if key not in recent or recent[key][0] != seq:
            if len(recent) >= 100:
                recent.clear()
            recent[key] = seq, encode(answers.estimates(view, call.query.level))
        found: bytes = recent[key][1]
        return found

    return await _unless_known(call, made)


async def events(call: Call) -> Reply:
    """The log, a line for each event."""
    after, limit = call.query.after, call.query.limit
    lines = await asyncio.to_thread(call.service.events, call.experiment, after, limit)
    more = f"/v1/experiments/{call.experiment}/events?after={lines[-1]['seq']}&limit={limit}" if lines else ""
    headers = [("link", f'<{more}>; rel="next"')] if len(lines) == limit else []
    return Reply(200, b"".join(encode(line) + b"\n" for line in lines), NDJSON, headers)


async def export(call: Call) -> Reply:
    """All decisions with their rewards."""
    kind = call.query.format
    view = await call.service.look(call.experiment)
    file = f'attachment; filename="{call.experiment}.{kind}"'
    parts = answers.exported(call.service, view, kind)
    return Reply(200, parts, answers.MEDIA[kind], [("content-disposition", file)])


async def report(call: Call) -> Reply:
    """The report for whoever decides, as one file of HTML."""
    from prudent.service.site.report import reply

    view = await call.service.look(call.experiment)
    made: Reply = await in_own_thread(lambda: reply(call.service, view))  # it may wait for a forecast
    return made


async def state(call: Call) -> Reply:
    """The state of the agent, which `prudent.Agent.from_json` reads."""
    view = await call.service.look(call.experiment)
    text = await asyncio.to_thread(view.fold.agent.to_json)
    return Reply(200, text.encode(), headers=[("prudent-seq", str(view.fold.seq))])


async def verify(call: Call) -> answers.Checked:
    """Replay the whole log, and compare. This takes its time, so that only one is verified at a time."""
    if not VERIFYING.acquire(blocking=False):
        raise RequestError("busy", "a log is being verified already; try again in a moment")

    def act() -> Any:
        try:
            return call.service.verify(call.experiment)
        finally:
            VERIFYING.release()

    return answers.Checked(**(await in_own_thread(act))._asdict())


async def create_token(call: Call) -> MadeToken:
    """Make a token. It is shown this once."""
    asked: NewToken = call.body
    make = partial(call.service.tokens.create, asked.scopes, asked.experiments, asked.expires, asked.note)
    text, token = await asyncio.to_thread(make)
    return MadeToken(token=text, **msgspec.structs.asdict(token.info()))


async def tokens(call: Call) -> list[TokenInfo]:
    """All tokens, without their secrets."""
    return [token.info() for token in await asyncio.to_thread(call.service.tokens.all)]


async def revoke(call: Call) -> Reply:
    """End a token at once."""
    await asyncio.to_thread(call.service.tokens.revoke, call.id)
    return Reply(204)


async def healthz(call: Call) -> Ready:
    """Whether the process answers."""
    return Ready(True, [])


async def readyz(call: Call) -> Reply:
    """Whether the service can do its work; if not, why."""
    reasons = await call.service.readiness()
    return Reply(503 if reasons else 200, encode(Ready(not reasons, reasons, call.service.alarms)))


async def metrics(call: Call) -> Reply:
    """Numbers for Prometheus."""
    return Reply(200, await asyncio.to_thread(call.app.metrics.text), MEDIA)


async def version(call: Call) -> Version:
    """Which software answers."""
    return Version(prudent.__version__)


async def openapi(call: Call) -> Reply:
    """This API as OpenAPI 3.1."""
    from prudent.service.openapi import document

    return Reply(200, document(ROUTES))


async def problem(call: Call) -> ProblemKind:
    """What a kind of problem means."""
    if call.id not in KINDS:
        raise unknown("problem")
    kind = KINDS[call.id]
    return ProblemKind(f"/problems/{call.id}", kind.title, kind.status, ADVICE[call.id])


async def _unless_known(call: Call, body: Callable[[Any], bytes]) -> Reply:
    """An answer that is made and sent only if something has happened since the caller's, which its ETag says."""
    if b"if-none-match" in call.headers:
        row = await asyncio.to_thread(call.service.store.experiment, call.experiment)
        if row is not None and call.has(f'"{row.seq}"'):
            return Reply(304, headers=_tag(row.seq))
    view = await call.service.look(call.experiment)
    # One at a time, since they compute for milliseconds, in which decisions should go on.
    made = await asyncio.get_running_loop().run_in_executor(SLOW, body, view)
    return Reply(200, made, headers=_tag(view.fold.seq))


def _tag(seq: int) -> list[tuple[str, str]]:
    return [("etag", f'"{seq}"'), ("cache-control", "no-cache")]


ONE = "/v1/experiments/{experiment}"
DECISION = "/v1/decisions/{decision}"
KEYED = ("Idempotency-Key",)
CHANGE = ("Idempotency-Key", "If-Match")
SEEN = ("If-None-Match",)
IN_THE_WAY = ("conflict", "not-running", "key-reused")


def _changes(name: str, body: Any, status: int = 200) -> Route:
    """A change of an experiment by a person, with a reason."""
    problems = ("conflict", "key-reused", "state-changed")
    return Route("POST", f"{ONE}/{name}", "admin", verb, body, m.Status, (status, 200), problems, headers=CHANGE)


ROUTES = (
    Route("POST", "/v1/experiments", "admin", create, (Spec, FromPlan), m.Status, (201, 200), ("name-taken",)),
    Route("GET", "/v1/experiments", "read", experiments, answer=list[m.Status]),
    Route("GET", ONE, "read", experiment, answer=answers.Shown, statuses=(200, 304), headers=SEEN),
    _changes("pause", m.Pause),
    _changes("resume", m.Resume),
    _changes("freeze", m.Freeze),
    _changes("stop", m.Stop),
    _changes("forget", m.Forget),
    _changes("arms", m.AddArm, 201),
    _changes("retire", m.Retire),
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
        answer=answers.Estimates,
        statuses=(200, 304),
        query=Level,
        headers=SEEN,
    ),
    Route("GET", f"{ONE}/events", "read", events, answer=(NDJSON,), query=Page),
    Route("GET", f"{ONE}/export", "read", export, answer=tuple(answers.MEDIA.values()), query=Export),
    Route("GET", f"{ONE}/report", "read", report, answer=("text/html",)),
    Route("GET", f"{ONE}/state", "read", state, answer=(JSON,)),
    Route("POST", f"{ONE}/verify", "admin", verify, answer=answers.Checked, problems=("busy",)),
    Route("POST", "/v1/tokens", "admin", create_token, NewToken, MadeToken, (201,), whole=True),
    Route("GET", "/v1/tokens", "admin", tokens, answer=list[TokenInfo], whole=True),
    Route("DELETE", "/v1/tokens/{token}", "admin", revoke, statuses=(204,), whole=True),
    Route("GET", "/healthz", "", healthz, answer=Ready),
    Route("GET", "/readyz", "", readyz, answer=Ready, statuses=(200, 503)),
    Route("GET", "/metrics", "read", metrics, answer=("text/plain",), whole=True),
    Route("GET", "/version", "read", version, answer=Version),
    Route("GET", "/openapi.json", "", openapi, answer=(JSON,)),
    Route("GET", "/problems/{problem}", "", problem, answer=ProblemKind),
)
