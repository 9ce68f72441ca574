"""The pages over HTTP: sign in with a token, look, and act.

The token travels in a cookie that scripts cannot read and other sites cannot send. A form is taken only from a page of
this service. What people wrote is text everywhere: templates escape it, and no page allows inline script or style.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prudent import __version__
from prudent.errors import PrudentError
from prudent.service import messages as m
from prudent.service.api import SLOW
from prudent.service.problems import RequestError
from prudent.service.routes import Reply
from prudent.service.service import Service, View
from prudent.service.site import charts, words
from prudent.service.site.facts import facts, progress
from prudent.service.site.forecasting import forecast_section
from prudent.service.site.forms import form_of, read_form
from prudent.service.site.fresh import PAUSE, Fresh, Kept
from prudent.service.site.listing import AT_A_TIME, listing
from prudent.service.site.parts import alarms, controls, health, over_time
from prudent.service.tokens import Token
from prudent.text import count, minus, number

HTML = "text/html; charset=utf-8"
STATIC = {"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"}
STATIC["plan.js"] = STATIC["script.js"]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
COOKIE = "prudent"
LATELY = 1000
"""The last decisions, whose shares are shown beside those of all."""

LARGE = 200_000
"""Bytes of a page that is not put together while others wait."""

SHOWN = 15
"""The last events."""

VERBS: dict[str, type[Any]] = {
    "pause": m.Pause,
    "resume": m.Resume,
    "freeze": m.Freeze,
    "retire": m.Retire,
    "add": m.AddArm,
    "stop": m.Stop,
}


class Visit:
    """A request for a page: its path, its form, and whose it is."""

    def __init__(
        self, method: str, path: str, headers: Mapping[bytes, bytes], query: dict[str, str], form: dict[str, str]
    ) -> None:
        self.method, self.path, self.headers, self.query, self.form = method, path, headers, query, form
        self.token: Token | None = None
        self.files: dict[str, tuple[str, bytes]] = {}

    def may(self, scope: str, experiment: str | None = None) -> bool:
        """Whether this visitor may do it."""
        token = self.token
        return token is not None and token.allows(scope) and (experiment is None or token.covers(experiment))


Handler = Callable[..., Awaitable[Reply]]


class Site:
    """Answers for pages. `routes` are methods and patterns of paths, whose groups are handed on. With `exploring`
    the page to explore needs no token. For `pause` seconds pages may show what was computed before."""

    def __init__(self, service: Service, *, exploring: bool = False, pause: float = PAUSE) -> None:
        self.service, self.exploring = service, exploring
        self.fresh, self.short = Fresh(service, self._shown, pause), Fresh(service, _in_short, pause)
        self.routes: list[tuple[str, re.Pattern[str], Handler]] = [
            ("GET", re.compile(r"/"), self.all),
            ("GET", re.compile(r"/login"), self.ask_for_token),
            ("POST", re.compile(r"/login"), self.sign_in),
            ("POST", re.compile(r"/logout"), self.sign_out),
            ("GET", re.compile(r"/e/([a-z0-9-]{1,63})"), self.experiment),
            ("GET", re.compile(r"/e/([a-z0-9-]{1,63})/live"), self.live),
            ("GET", re.compile(r"/e/([a-z0-9-]{1,63})/report"), self.report),
            ("POST", re.compile(r"/e/([a-z0-9-]{1,63})/([a-z]+)"), self.act),
            ("GET", re.compile(r"/explore"), self.explore),
            ("GET", re.compile(r"/static/([a-z.]+)"), self.static),
        ]
        from prudent.service.site.planning import Planning

        self.planning = Planning(service)
        self.routes += self.planning.routes

    def takes(self, path: str) -> bool:
        """Whether the path is one of a page."""
        return any(pattern.fullmatch(path) for _, pattern, _ in self.routes)

    def refused(self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], error: RequestError) -> Reply:
        """A page that says what is wrong with a request that could not be read."""
        reply = self._trouble(Visit(scope["method"], scope["path"], headers, {}, {}), error)
        return reply._replace(headers=[*reply.headers, ("connection", "close")])

    async def answer(self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], body: bytes) -> Reply:
        """The reply to a request whose host has been checked."""
        method, path = scope["method"], scope["path"]
        visit = Visit(method, path, headers, form_of(scope["query_string"]), {})
        try:
            visit.form, visit.files = read_form(headers, body)
            visit.token = await self._token(headers)
            for known, pattern, handler in self.routes:
                found = pattern.fullmatch(path)
                if found and known == ("GET" if method == "HEAD" else method):
                    return await handler(visit, *found.groups())
            raise RequestError("no-such-method", "this address does not take this method", allow=["GET"])
        except RequestError as error:
            return self._trouble(visit, error)

    async def _token(self, headers: Mapping[bytes, bytes]) -> Token | None:
        tokens = self.service.tokens
        await tokens.current()
        found = re.search(rb"(?:^|;\s*)" + COOKIE.encode() + rb"=([A-Za-z0-9_]{1,100})", headers.get(b"cookie", b""))
        return tokens.find(found[1].decode()) if found else None

    def _trouble(self, visit: Visit, error: RequestError) -> Reply:
        """A page that says what went wrong; without a token, the one to sign in."""
        if error.kind in ("no-token", "not-allowed") and visit.token is None:
            if visit.path.endswith("/live"):
                return Reply(401, b"", HTML)
            return Reply(303, headers=[("location", f"/login?then={quote(visit.path)}")])
        return page("trouble.html.j2", error.status, visit, title=error.as_dict()["title"], detail=error.detail)

    # Signing in

    async def ask_for_token(self, visit: Visit) -> Reply:
        """The form for a token."""
        return page("login.html.j2", 200, visit, wrong=False, then=inner(visit.query.get("then", "/")))

    async def sign_in(self, visit: Visit) -> Reply:
        """Keep the token in a cookie, if it is valid."""
        text = visit.form.get("token", "").strip()
        if self.service.tokens.find(text) is None:
            return page("login.html.j2", 401, visit, wrong=True, then=visit.form.get("then", "/"))
        return Reply(303, headers=[("location", inner(visit.form.get("then", "/"))), cookie(text)])

    async def sign_out(self, visit: Visit) -> Reply:
        """Forget the token."""
        return Reply(303, headers=[("location", "/login"), cookie("")])

    # Looking

    async def all(self, visit: Visit) -> Reply:
        """The list of experiments."""
        if not visit.may("read"):
            raise RequestError("no-token", "sign in first")
        names = [name for name in await asyncio.to_thread(self.service.store.names) if visit.may("read", name)]
        listed = listing(names, visit.query)
        rows = [(await self.short.of(name)).known for name in listed.names]
        return page("list.html.j2", 200, visit, rows=rows, listed=listed, many=len(names) > AT_A_TIME)

    async def experiment(self, visit: Visit, name: str) -> Reply:
        """The page of an experiment."""
        fragment, tag = await self._fragment(await self._look(visit, name), visit)

        def made() -> Reply:
            return page("experiment.html.j2", 200, visit, name=name, tag=tag, fragment=Markup(fragment.decode()))

        return await asyncio.to_thread(made) if len(fragment) > LARGE else made()

    async def live(self, visit: Visit, name: str) -> Reply:
        """What changes of it; nothing if there was no event since."""
        fragment, tag = await self._fragment(await self._look(visit, name), visit)
        headers = [("etag", f'"{tag}"'), ("cache-control", "no-cache")]
        if visit.headers.get(b"if-none-match", b"").decode("latin-1") == f'"{tag}"':
            return Reply(304, headers=headers)
        return Reply(200, fragment, HTML, [("content-security-policy", POLICY), *headers])

    async def _fragment(self, kept: Kept, visit: Visit) -> tuple[bytes, str]:
        """What changes of a page, for those who may change the experiment or for others, and what tells it apart."""
        known, broken = kept.known, [*self.service.follower.alarms, *self.service.clock_alarms]
        may = visit.may("admin", known["facts"].name) and known["facts"].state != "stopped"
        playing = tuple(arm.label for arm in known["facts"].arms if not arm.retired)
        made = self.service.forecasts.last(known["number"], playing)  # it comes later than what else is known
        key = may, len(broken), made.seq if made else 0
        if key not in kept.parts:
            more = {"may": may, "alarms": [*known["alarms"], *broken]}
            if made and made.seq > known["forecast"]["position"]:
                more["forecast"] = forecast_section(made, known["facts"].units.cost)
            known = {**known, **more}
            kept.parts[key] = await asyncio.get_running_loop().run_in_executor(SLOW, rendered, "live.html.j2", known)
        return kept.parts[key], f"{kept.seq}-{key[1]}-{key[2]}"

    async def report(self, visit: Visit, name: str) -> Reply:
        """The report, a page of its own that can be kept as a file."""
        from prudent.service.site.report import reply

        check_may_look(visit, name)
        view = await self.service.look(name)
        return await asyncio.to_thread(reply, self.service, view)

    async def _look(self, visit: Visit, name: str) -> Kept:
        check_may_look(visit, name)
        return await self.fresh.of(name)

    def _shown(self, view: View) -> dict[str, Any]:
        """All that the page of an experiment says."""
        fold, number_ = view.fold, view.experiment.id
        recent = self.service.recent(number_, LATELY)
        known = facts(view.experiment.name, fold, recent)
        events = self.service.store.events(number_, max(0, fold.seq - SHOWN), SHOWN)
        return {
            "facts": known,
            "alarms": alarms(view),
            "health": health(view, self.service.store.oldest_open(number_)),
            "bar": lambda arm: charts.bar(arm.share, arm.recent, f"Share of {arm.label}"),
            "lately": sum(recent.values()),
            "meter": charts.split_bar(known.within, known.moving, "Variance within arms, and from moving between them"),
            "costs": charts.intervals(
                [(arm.cost_value, arm.interval, arm.retired or arm.excluded) for arm in known.arms], "Cost of each arm"
            ),
            "number": number_,
            "forecast": forecast_section(self.service.forecasts.of(number_, fold), known.units.cost),
            "charts": over_time(fold.labels, self.service.store.series(number_), known.units),
            "events": [(words.moment(event.at), words.told(event, fold.labels)) for event, _ in reversed(events)],
            "controls": controls(known),
            "progress": progress(known),
        }

    async def explore(self, visit: Visit) -> Reply:
        """What policies do on arms of one's own."""
        from prudent.service.site import explore

        if not (self.exploring or visit.may("read")):
            raise RequestError("no-token", "sign in first")
        asked, shown, wrong = explore.question_of(visit.query), None, ""
        try:
            shown = await asyncio.to_thread(explore.seen, asked)
        except PrudentError as error:
            wrong = str(error)
        pictures = [] if shown is None else explore.pictures(shown)
        known = {"asked": asked, "shown": shown, "wrong": wrong, "pictures": pictures, "policies": explore.choices()}
        return page("explore.html.j2", 422 if wrong else 200, visit, **known)

    # Acting

    async def act(self, visit: Visit, name: str, verb: str) -> Reply:
        """Carry out what a form says, with its reason."""
        if not visit.may("admin", name):
            raise RequestError("not-allowed", "this needs a token that may change this experiment")
        check_from_here(visit.headers)
        if verb not in VERBS:
            raise RequestError("not-found", "there is nothing at this address")
        given = {field: visit.form.get(field, "") for field in VERBS[verb].__struct_fields__}
        try:
            request: Any = msgspec.convert(given, VERBS[verb])
        except msgspec.ValidationError as error:
            raise RequestError("invalid", str(error)) from None
        await self.service.do(name, request, by=visit.token.number if visit.token else 0)
        self.fresh.outdated(name)
        self.short.outdated(name)
        return Reply(303, headers=[("location", f"/e/{name}")])

    async def static(self, visit: Visit, name: str) -> Reply:
        """The style sheet and the script."""
        if name not in STATIC:
            raise RequestError("not-found", "there is nothing at this address")
        return Reply(200, static_file(name), STATIC[name], [("cache-control", "max-age=3600")])


def _in_short(view: View) -> dict[str, Any]:
    """What the list says of an experiment."""
    return {"facts": facts(view.experiment.name, view.fold, {}), "alarms": alarms(view)}


def page(template: str, status: int, visit: Visit, **known: Any) -> Reply:
    """A template with what is known."""
    text = rendered(template, {**known, "who": visit.token is not None, "version": __version__})
    return Reply(status, text, HTML, [("content-security-policy", POLICY)])


def rendered(template: str, known: dict[str, Any]) -> bytes:
    """The text of a template; of an experiment with thousands of arms it takes seconds, and belongs in a thread."""
    return templates().get_template(template).render(**known).encode()


@cache
def templates() -> Environment:
    """The templates, which escape what they are given."""
    made = Environment(
        loader=PackageLoader("prudent.service.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    made.filters["count"] = count
    made.filters["number"] = shown
    return made


def shown(value: float | None, digits: int = 4) -> str:
    """A number as pages show it."""
    return minus(number(value, digits))


@cache
def static_file(name: str) -> bytes:
    """A file that every page needs."""
    return files("prudent.service.site").joinpath("static", name).read_bytes()


def check_may_look(visit: Visit, name: str) -> None:
    """Refuse who may not see an experiment."""
    if not visit.may("read", name):
        raise RequestError("not-allowed", "sign in with a token that may look at this experiment")


def check_from_here(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a form that another site made."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        here = site == b"same-origin"
    else:  # a browser from before 2023
        here = urlsplit(headers.get(b"origin", b"")).netloc == headers.get(b"host", b"-")
    if not here:
        raise RequestError("not-allowed", "this form does not come from a page of this service")


def cookie(token: str) -> tuple[str, str]:
    """The header that keeps a token, or forgets it."""
    life = "" if token else "; Max-Age=0"
    return "set-cookie", f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{life}"


def inner(path: str) -> str:
    """A path of this service, and of no other."""
    return path if re.fullmatch(r"/[A-Za-z0-9/_-]*", path) and not path.startswith("//") else "/"
