"""The pages over HTTP: sign in with a token, look, and act.

Signing in begins a session, whose cookie scripts cannot read and other sites cannot send. A form is taken only from a
page of this service. What people wrote is text everywhere: templates escape it, and no page allows inline script or
style.
"""

import logging
import re
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import msgspec
from jinja2 import Environment
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from prudent import __version__
from prudent.base.errors import PrudentError
from prudent.results.page import design, environment
from prudent.service import messages as m
from prudent.service.http.accesses import last_accesses
from prudent.service.http.app import Rates, headers_of
from prudent.service.http.routes import FORMS, HTML, Call, Route
from prudent.service.http.sessions import COOKIE
from prudent.service.http.tokens import SCOPES, Token
from prudent.service.pages import explore
from prudent.service.pages.experiment import shown
from prudent.service.pages.forecasting import forecast_section
from prudent.service.pages.listing import SORTS, listing
from prudent.service.pages.parts import alarms
from prudent.service.pages.settings import settings_of
from prudent.service.problems import RequestError
from prudent.service.verbs import VERBS
from prudent.service.views.answers import STATES
from prudent.service.views.cache import PAUSE
from prudent.service.views.facts import facts
from prudent.service.views.view import View
from prudent.service.views.words import moment
from prudent.service.work.children import BrokenError, EndedError, in_own_thread
from prudent.service.work.service import Service

log = logging.getLogger("prudent.service")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
LINES = 200
"""Lines of who came in that are shown."""

SMALL = 4096
"""Bytes of the form to sign in."""

SIGN_INS, AT_ONCE = 0.5, 10.0
"""Sign-ins with a wrong token that an address may try in a second in the long run, and at once."""


class Site:
    """The pages of a service, as `routes`. With `open_explore` the page to explore needs no token. Cookies are `secure`
    if there is TLS. For `pause` seconds pages may show what was computed before."""

    def __init__(
        self, service: Service, *, open_explore: bool = False, secure: bool = False, pause: float = PAUSE
    ) -> None:
        from prudent.service.pages.planning import Planning

        self.service, self._secure = service, secure
        service.views.pause = pause
        self.explorer, self.planning = explore.Explorer(), Planning(service)
        self._wrong = Rates(SIGN_INS, room=AT_ONCE)
        self._files = StaticFiles(packages=[("prudent.service.pages", "static"), ("prudent.results", "static")])
        one = "/e/{experiment}"
        self.routes = [
            _page("GET", "/", "read", self.all),
            _page("GET", "/login", "", self.ask_for_token),
            _page("POST", "/login", "", self.sign_in, limit=SMALL),
            _page("POST", "/logout", "", self.sign_out, limit=SMALL),
            _page("GET", one, "read", self.experiment),
            _page("GET", f"{one}/live", "read", self.live),
            _page("GET", f"{one}/report", "read", self.report),
            *(_page("POST", f"{one}/{verb.name}", "admin", self.act) for verb in VERBS if verb.by_people),
            Route("GET", "/access", "admin", self.access, answer=(HTML,), page=True, whole=True),
            _page("GET", "/explore", "" if open_explore else "read", self.explore),
            Route("GET", "/static/{file}", "", self.static, answer=("text/css", "text/javascript")),
            *self.planning.routes,
        ]

    def close(self) -> None:
        """End what is being computed."""
        self.explorer.close()
        self.planning.close()

    def trouble(self, call: Call, error: RequestError) -> Response:
        """A page that says what went wrong; without a token, the one to sign in."""
        if error.kind == "no-token":
            if call.path.endswith("/live"):
                return HTMLResponse(status_code=401)
            return RedirectResponse(f"/login?then={quote(inner(call.address))}", 303)
        found = rendered("trouble.html.j2", error.status, call, title=error.as_dict()["title"], detail=error.detail)
        found.headers.update(headers_of(error))
        return found

    # Signing in

    async def ask_for_token(self, call: Call) -> Response:
        """The form for a token."""
        return await page("login.html.j2", 200, call, wrong=False, then=inner(call.query.get("then", "/")))

    async def sign_in(self, call: Call) -> Response:
        """Begin a session, if the token is valid. An address that tries many wrong ones has to wait."""
        if (wait := self._wrong.left(call.caller)) > 0.0:
            raise RequestError("too-many", "too many wrong tokens came from your address; wait", retry_after=wait)
        then = inner(call.form.get("then", "/"))
        await self.service.tokens.current()
        token = self.service.tokens.find(call.form.get("token", "").strip())
        if token is None:
            self._wrong.wait(call.caller)
            return await page("login.html.j2", 401, call, wrong=True, then=then)
        found = RedirectResponse(then, 303)
        session = await self.service.sessions.create(token, call.caller)
        found.set_cookie(COOKIE, session, secure=self._secure, httponly=True, samesite="strict")
        return found

    async def sign_out(self, call: Call) -> Response:
        """End the session."""
        if call.token is not None and COOKIE in call.request.cookies:
            await self.service.sessions.end(call.request.cookies[COOKIE], call.token, call.caller)
        found = RedirectResponse("/login", 303)
        found.delete_cookie(COOKIE, secure=self._secure, httponly=True, samesite="strict")
        return found

    # Looking

    async def all(self, call: Call) -> Response:
        """The list of experiments."""
        known = await in_own_thread(self.service.store.beginnings)
        some = [each for each in known if call.may("read", each.name)]
        listed = listing(some, call.query, self.service.tokens.called)
        rows = [(each, await self._short(each.name)) for each in listed.rows]
        return await page(
            "list.html.j2",
            200,
            call,
            rows=rows,
            listed=listed,
            many=len(some) > 1,
            archived=bool(some),
            states=STATES,
            sorts=SORTS,
        )

    async def experiment(self, call: Call) -> Response:
        """The page of an experiment."""
        name, query = call.experiment, settings_of(call.query).query
        fragment, tag = await self._fragment(await self.service.views.lately(name), call)
        known = {"name": name, "tag": tag, "query": query, "fragment": Markup(fragment.decode())}
        return await page("experiment.html.j2", 200, call, **known)

    async def live(self, call: Call) -> Response:
        """What changes of it; nothing if there was no event since."""
        fragment, tag = await self._fragment(await self.service.views.lately(call.experiment), call)
        headers = {"etag": f'"{tag}"', "cache-control": "no-cache", "content-security-policy": POLICY}
        if call.headers.get(b"if-none-match", b"").decode("latin-1") == f'"{tag}"':
            return Response(status_code=304, headers=headers)
        return HTMLResponse(fragment, 200, headers)

    async def _short(self, name: str) -> dict[str, Any]:
        views = self.service.views
        view = await views.lately(name)
        return await views.once(view, "short", lambda: _in_short(view))

    async def _fragment(self, view: View, call: Call) -> tuple[bytes, str]:
        """What changes of a page, for those who may change the experiment or for others, and what tells it apart."""
        views, settings, state = self.service.views, settings_of(call.query), view.state
        broken = [*self.service.follower.alarms, *self.service.clock_alarms]
        may = call.may("admin", view.experiment.name)
        # A forecast comes later than what else is known.
        made = self.service.forecasts.last(view.experiment.id, tuple(state.agent.arms))
        key = settings, may, len(broken), made.seq if made else 0

        def render() -> bytes:
            known = shown(self.service, view, settings)
            if made and made.seq > known["forecast"]["position"]:
                known["forecast"] = forecast_section(made, known["facts"])
            known |= {"may": may, "alarms": [*known["alarms"], *broken]}
            return templates().get_template("live.html.j2").render(known).encode()

        return await views.once(view, key, render), f"{view.seq}-{key[2]}-{key[3]}"

    async def report(self, call: Call) -> Response:
        """The report, a page of its own that can be kept as a file."""
        from prudent.service.pages.report import reply

        view = await self.service.look(call.experiment)
        made: Response = await in_own_thread(lambda: reply(self.service, view))
        return made

    async def explore(self, call: Call) -> Response:
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

    async def access(self, call: Call) -> Response:
        """The tokens, and who came in."""
        tokens = self.service.tokens
        known = await in_own_thread(tokens.all)
        lines = await in_own_thread(lambda: last_accesses(self.service.store, LINES))
        last = {line.token: line.at for line in reversed(lines) if line.what == "signed in"}
        rows = [(token, until(token, self.service.now()), last.get(token.number)) for token in reversed(known)]
        return await page(
            "access.html.j2", 200, call, rows=rows, lines=lines, called=tokens.called, moment=moment, scopes=SCOPES
        )

    # Acting

    async def act(self, call: Call) -> Response:
        """Carry out what a form says, with its reason."""
        body = m.BODIES[call.path.rpartition("/")[2]]
        given = {field: text for field in body.__struct_fields__ if (text := call.form.get(field, ""))}
        try:
            request = msgspec.convert(given, body)
        except msgspec.ValidationError as error:
            raise RequestError("invalid", str(error)) from None
        await self.service.do(call.experiment, request, by=call.by)
        self.service.views.forget(call.experiment)
        if body.verb.erases:
            return RedirectResponse("/", 303)
        return RedirectResponse(f"/e/{call.experiment}{settings_of(call.query).query}", 303)

    async def static(self, call: Call) -> Response:
        """The style sheet and the script."""
        try:
            found = await self._files.get_response(call.names["file"], call.request.scope)
        except HTTPException:
            raise RequestError("not-found", "there is nothing at this address") from None
        found.headers["cache-control"] = "max-age=3600"
        return found


def until(token: Token, now: int) -> str:
    """Whether a token is valid, and until when."""
    if token.revoked is not None:
        return f"revoked {moment(token.revoked)}"
    if token.expires is not None:
        return f"{'until' if now < token.expires else 'expired'} {moment(token.expires)}"
    return "valid"


def _in_short(view: View) -> dict[str, Any]:
    """What the list says of an experiment."""
    return {"facts": facts(view, {}, brief=True), "alarms": alarms(view)}


def _page(method: str, path: str, scope: str, does: Any, *, limit: int = FORMS) -> Route:
    return Route(method, path, scope, does, answer=(HTML,), limit=limit, page=True)


async def page(template: str, status: int, call: Call, **known: Any) -> Response:
    """A template with what is known, rendered beside everything else, since a page may be large."""
    made: Response = await in_own_thread(lambda: rendered(template, status, call, **known))
    return made


def rendered(template: str, status: int, call: Call, **known: Any) -> Response:
    """A template with what is known, at once."""
    text = templates().get_template(template).render(**known, me=call.token, version=__version__)
    return HTMLResponse(text, status, {"content-security-policy": POLICY})


def templates() -> Environment:
    """The templates, which escape what they are given."""
    return environment("prudent.service.pages/templates")


@cache
def whole_style() -> str:
    """The style sheet of pages, for one that is a file of its own."""
    return f"{design()}{files('prudent.service.pages').joinpath('static', 'style.css').read_text('utf-8')}"


def inner(path: str) -> str:
    """An address of this service, and of no other."""
    return path if re.fullmatch(r"/[A-Za-z0-9/_-]*(\?[\w&=%+.~:-]*)?", path, re.ASCII) and path[:2] != "//" else "/"
