"""The pages over HTTP: sign in with a token, look, and act.

Signing in begins a session, whose cookie scripts cannot read and other sites cannot send. A form is taken only from a
page of this service. What people wrote is text everywhere: templates escape it, and no page allows inline script or
style.
"""

import asyncio
import logging
import re
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prudent import __version__
from prudent.errors import PrudentError
from prudent.service import messages as m
from prudent.service.api import SLOW
from prudent.service.computing import BrokenError, EndedError, in_own_thread
from prudent.service.http import Rates, headers_of, session_of
from prudent.service.problems import RequestError
from prudent.service.routes import FORMS, HTML, Call, Reply, Route
from prudent.service.service import Service, View
from prudent.service.sessions import COOKIE
from prudent.service.site import charts, explore, words
from prudent.service.site.facts import facts, progress
from prudent.service.site.forecasting import forecast_section
from prudent.service.site.fresh import PAUSE, Fresh, Kept
from prudent.service.site.listing import AT_A_TIME, listing
from prudent.service.site.parts import alarms, controls, health, over_time
from prudent.text import count, minus, number

log = logging.getLogger("prudent.service")
STATIC = {"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"}
STATIC["plan.js"] = STATIC["script.js"]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SMALL = 4096
"""Bytes of the form to sign in."""

SIGN_INS, AT_ONCE = 0.5, 10.0
"""Sign-ins with a wrong token that an address may try in a second in the long run, and at once."""

LATELY = 1000
"""The last decisions, whose shares are shown beside those of all."""

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


class Site:
    """The pages of a service, as `routes`. With `open_explore` the page to explore needs no token. Cookies are `secure`
    if there is TLS. For `pause` seconds pages may show what was computed before."""

    def __init__(
        self, service: Service, *, open_explore: bool = False, secure: bool = False, pause: float = PAUSE
    ) -> None:
        from prudent.service.site.planning import Planning

        self.service, self._secure = service, secure
        self.fresh, self.short = Fresh(service, self._shown, pause), Fresh(service, _in_short, pause)
        self.explorer, self.planning = explore.Explorer(), Planning(service)
        self._wrong = Rates(SIGN_INS, room=AT_ONCE)
        one = "/e/{experiment}"
        self.routes = [
            _page("GET", "/", "read", self.all),
            _page("GET", "/login", "", self.ask_for_token),
            _page("POST", "/login", "", self.sign_in, limit=SMALL),
            _page("POST", "/logout", "", self.sign_out, limit=SMALL),
            _page("GET", one, "read", self.experiment),
            _page("GET", f"{one}/live", "read", self.live),
            _page("GET", f"{one}/report", "read", self.report),
            *(_page("POST", f"{one}/{verb}", "admin", self.act) for verb in VERBS),
            _page("GET", "/explore", "" if open_explore else "read", self.explore),
            Route("GET", "/static/{file}", "", self.static, answer=tuple(STATIC.values())),
            *self.planning.routes,
        ]

    def close(self) -> None:
        """End what is being computed."""
        self.explorer.close()
        self.planning.close()

    def trouble(self, call: Call, error: RequestError) -> Reply:
        """A page that says what went wrong; without a token, the one to sign in."""
        if error.kind == "no-token":
            if call.path.endswith("/live"):
                return Reply(401, b"", HTML)
            return Reply(303, headers=[("location", f"/login?then={quote(call.path)}")])
        reply = rendered("trouble.html.j2", error.status, call, title=error.as_dict()["title"], detail=error.detail)
        return reply._replace(headers=[*reply.headers, *headers_of(error)])

    # Signing in

    async def ask_for_token(self, call: Call) -> Reply:
        """The form for a token."""
        return await page("login.html.j2", 200, call, wrong=False, then=inner(call.query.get("then", "/")))

    async def sign_in(self, call: Call) -> Reply:
        """Begin a session, if the token is valid. An address that tries many wrong ones has to wait."""
        if (wait := self._wrong.left(call.caller)) > 0.0:
            raise RequestError("too-many", "too many wrong tokens came from your address; wait", retry_after=wait)
        then = inner(call.form.get("then", "/"))
        await self.service.tokens.current()
        token = self.service.tokens.find(call.form.get("token", "").strip())
        if token is None:
            self._wrong.wait(call.caller)
            return await page("login.html.j2", 401, call, wrong=True, then=then)
        session = await self.service.sessions.create(token)
        return Reply(303, headers=[("location", then), self._cookie(session)])

    async def sign_out(self, call: Call) -> Reply:
        """End the session."""
        if call.token is not None:
            await self.service.sessions.end(session_of(call.headers))
        return Reply(303, headers=[("location", "/login"), self._cookie("")])

    def _cookie(self, session: str) -> tuple[str, str]:
        """The header that keeps a session, or forgets it."""
        more = ("; Secure" if self._secure else "") + ("" if session else "; Max-Age=0")
        return "set-cookie", f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{more}"

    # Looking

    async def all(self, call: Call) -> Reply:
        """The list of experiments."""
        known = await in_own_thread(self.service.store.names)
        names = [name for name in known if call.may("read", name)]
        listed = listing(names, call.query)
        rows = [(await self.short.of(name)).known for name in listed.names]
        return await page("list.html.j2", 200, call, rows=rows, listed=listed, many=len(names) > AT_A_TIME)

    async def experiment(self, call: Call) -> Reply:
        """The page of an experiment."""
        name, kept = call.experiment, await self.fresh.of(call.experiment)
        fragment, tag = await self._fragment(kept, call)
        return await page("experiment.html.j2", 200, call, name=name, tag=tag, fragment=Markup(fragment.decode()))

    async def live(self, call: Call) -> Reply:
        """What changes of it; nothing if there was no event since."""
        fragment, tag = await self._fragment(await self.fresh.of(call.experiment), call)
        headers = [("etag", f'"{tag}"'), ("cache-control", "no-cache")]
        if call.headers.get(b"if-none-match", b"").decode("latin-1") == f'"{tag}"':
            return Reply(304, headers=headers)
        return Reply(200, fragment, HTML, [("content-security-policy", POLICY), *headers])

    async def _fragment(self, kept: Kept, call: Call) -> tuple[bytes, str]:
        """What changes of a page, for those who may change the experiment or for others, and what tells it apart."""
        known, broken = kept.known, [*self.service.follower.alarms, *self.service.clock_alarms]
        may = call.may("admin", known["facts"].name) and known["facts"].state != "stopped"
        playing = tuple(arm.label for arm in known["facts"].arms if not arm.retired)
        made = self.service.forecasts.last(known["number"], playing)  # it comes later than what else is known
        key = may, len(broken), made.seq if made else 0
        if key not in kept.parts:
            more = {"may": may, "alarms": [*known["alarms"], *broken]}
            if made and made.seq > known["forecast"]["position"]:
                more["forecast"] = forecast_section(made, known["facts"].units.cost)
            template = templates().get_template("live.html.j2")
            loop = asyncio.get_running_loop()  # one at a time, as whatever computes for pages
            kept.parts[key] = await loop.run_in_executor(SLOW, lambda: template.render(**{**known, **more}).encode())
        return kept.parts[key], f"{kept.seq}-{key[1]}-{key[2]}"

    async def report(self, call: Call) -> Reply:
        """The report, a page of its own that can be kept as a file."""
        from prudent.service.site.report import reply

        view = await self.service.look(call.experiment)
        made: Reply = await in_own_thread(lambda: reply(self.service, view))
        return made

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

    async def explore(self, call: Call) -> Reply:
        """What policies do on arms of one's own."""
        asked, answer, wrong = explore.question_of(call.query), None, ""
        try:
            answer = await self.explorer.answer(call, asked)
        except EndedError as error:
            raise explore.refused(error) from None
        except BrokenError as error:
            log.error("a computation for the page to explore broke: %s", error)
            wrong = "this question broke the computation, which is an error of ours; the log of the service says more"
        except RequestError:
            raise
        except PrudentError as error:
            wrong = str(error)
        pictures = [] if answer is None else explore.pictures(answer)
        known = {"asked": asked, "shown": answer, "wrong": wrong, "pictures": pictures, "policies": explore.choices()}
        return await page("explore.html.j2", 422 if wrong else 200, call, **known)

    # Acting

    async def act(self, call: Call) -> Reply:
        """Carry out what a form says, with its reason."""
        kind = VERBS[call.path.rpartition("/")[2]]
        given = {field: text for field in kind.__struct_fields__ if (text := call.form.get(field, ""))}
        try:
            request: Any = msgspec.convert(given, kind)
        except msgspec.ValidationError as error:
            raise RequestError("invalid", str(error)) from None
        await self.service.do(call.experiment, request, by=call.by)
        self.fresh.outdated(call.experiment)
        self.short.outdated(call.experiment)
        return Reply(303, headers=[("location", f"/e/{call.experiment}")])

    async def static(self, call: Call) -> Reply:
        """The style sheet and the script."""
        name = call.names["file"]
        if name not in STATIC:
            raise RequestError("not-found", "there is nothing at this address")
        return Reply(200, static_file(name), STATIC[name], [("cache-control", "max-age=3600")])


def _in_short(view: View) -> dict[str, Any]:
    """What the list says of an experiment."""
    return {"facts": facts(view.experiment.name, view.fold, {}), "alarms": alarms(view)}


def _page(method: str, path: str, scope: str, does: Any, *, limit: int = FORMS) -> Route:
    return Route(method, path, scope, does, answer=(HTML,), limit=limit, page=True)


async def page(template: str, status: int, call: Call, **known: Any) -> Reply:
    """A template with what is known, rendered beside everything else, since a page may be large."""
    made: Reply = await in_own_thread(lambda: rendered(template, status, call, **known))
    return made


def rendered(template: str, status: int, call: Call, **known: Any) -> Reply:
    """A template with what is known, at once."""
    text = templates().get_template(template).render(**known, who=call.token is not None, version=__version__)
    return Reply(status, text.encode(), HTML, [("content-security-policy", POLICY)])


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


def inner(path: str) -> str:
    """A path of this service, and of no other."""
    return path if re.fullmatch(r"/[A-Za-z0-9/_-]*", path) and not path.startswith("//") else "/"
