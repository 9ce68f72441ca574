"""Plans in the browser: type or upload what is known, let the plan be computed, start the experiment.

Whatever is typed is kept in the database, so that nothing is lost if the tab closes.
"""

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import HTMLResponse, RedirectResponse, Response

from prudent.base.errors import PrudentError, shown
from prudent.service.http.routes import BODY, HTML, Call, Route
from prudent.service.messages import NAME, TellMany, Told
from prudent.service.pages.app import page
from prudent.service.plans.computing import FOUND
from prudent.service.plans.drafts import PILOT, Draft, Drafts
from prudent.service.plans.experiment import pilot_of_plan, spec_of_plan
from prudent.service.plans.planner import Planner
from prudent.service.plans.questions import Seen, number_of, rows_of
from prudent.service.problems import RequestError
from prudent.service.spec import Spec, check_text
from prudent.service.views import words
from prudent.service.work.children import BrokenError, Computer, EndedError, in_own_thread
from prudent.service.work.service import Service

LARGEST = 2**20
"""Bytes of an uploaded file."""

UPLOAD = 2 * BODY
"""Bytes of the form with its file."""

SECONDS = 30.0
"""How long it may take to understand what was typed."""

LONGEST = 20_000
"""Characters of all fields together."""

PICTURE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""The policy of pictures, and of the page as a file: matplotlib styles its shapes one by one. They cannot act."""

log = logging.getLogger("prudent.service")

THEN = {"retire": "take the option out", "pause": "pause the experiment", "stop": "stop the experiment"}


class Planning:
    """The pages of plans. Who may create experiments may plan them; a plan is seen with the token that made it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.drafts = Drafts(service.store, service.write, service.now)
        database = service.store.database
        path: Path | None = getattr(database, "path", None)  # that of a file; of others no folder is known that lasts
        folder = None if path is None else path.with_name(f"{path.name}-plans")
        self.planner = Planner(self.drafts, alone=not database.several_workers, folder=folder)
        self.start, self._reader = self.planner.start, Computer()
        one = "/plan/{plan}"
        self.routes = [
            _page("GET", "/plan", self.all),
            _page("POST", "/plan", self.new),
            _page("GET", one, self.draft),
            _page("POST", one, self.change),
            _page("GET", f"{one}/live", self.live),
            _page("POST", f"{one}/start", self.begin),
            _page("GET", f"{one}/{{file}}", self.file),
        ]

    def close(self) -> None:
        """End what is being computed."""
        self._reader.close()
        self.planner.close()

    async def _found(self, call: Call) -> Draft:
        return await asyncio.to_thread(self.drafts.find, call.id, call.by)

    async def all(self, call: Call) -> Response:
        """All plans of this token."""
        drafts = await asyncio.to_thread(self.drafts.mine, call.by)
        rows = [(each, title_of(each), state_of(each), words.moment(each.changed)) for each in drafts]
        return await page("plans.html.j2", 200, call, rows=rows)

    async def new(self, call: Call) -> Response:
        """A new plan, with an address of its own from the beginning."""
        many = len(await asyncio.to_thread(self.drafts.mine, call.by))
        return _to(await asyncio.to_thread(self.drafts.create, call.by, title=f"Plan {many + 1}"))

    async def draft(self, call: Call) -> Response:
        """The form, how far the computation is, or the plan."""
        return await self._shown(call, await self._found(call))

    async def live(self, call: Call) -> Response:
        """What changes while it is computed; nothing if nothing has."""
        draft = await self._found(call)
        headers = {"etag": draft.tag, "cache-control": "no-cache"}
        if call.headers.get(b"if-none-match", b"").decode("latin-1") == draft.tag:
            return Response(status_code=304, headers=headers)
        known = await asyncio.to_thread(self._known, draft)
        template = "draft-form.html.j2" if draft.state == "editing" else "draft-live.html.j2"
        found = await page(template, 200, call, **known)
        found.headers.update(headers)
        return found

    async def _shown(self, call: Call, draft: Draft, status: int = 200, wrong: str = "", **more: Any) -> Response:
        known = await asyncio.to_thread(self._known, draft)
        return await page("draft.html.j2", status, call, **{**known, "wrong": wrong or known["wrong"], **more})

    def _known(self, draft: Draft) -> dict[str, Any]:
        """All that the page of a plan says."""
        from prudent.results.page import typeset

        seen = msgspec.json.decode(draft.seen, type=Seen)
        found = None
        if draft.state == "done":
            found = msgspec.json.decode(self.drafts.file(draft.id, FOUND) or b"{}")
        percent = 100.0 * draft.done / draft.total if draft.total else None
        return {
            "draft": draft, "form": draft.form, "seen": seen, "wrong": draft.words or seen.wrong, "found": found,
            "title": title_of(draft), "percent": percent, "ahead": self.drafts.ahead(draft), "typeset": typeset,
            "rows": rows_of(draft.form), "given": {}, "then": THEN, "started": draft.started,
        }  # fmt: skip

    async def change(self, call: Call) -> Response:
        """Save, check, compute, cancel, copy or delete, as the button says."""
        name, draft, what = call.id, await self._found(call), call.form.pop("do", "check")
        if what == "cancel":
            await asyncio.to_thread(self.drafts.cancel, name)
        elif what == "copy":
            return _to(await asyncio.to_thread(self.drafts.create, draft.token, draft))
        elif what == "delete":
            await asyncio.to_thread(self.drafts.delete, name)
            return RedirectResponse("/plan", 303)
        else:
            await self._save(call, name, more=what == "more")
            if what == "keep":
                return Response(status_code=204)
            seen = await self._look(name)
            if what == "compute" and not seen.wrong and seen.judged:
                await asyncio.to_thread(self.drafts.enqueue, name)
                self.planner.wake()
            elif what == "compute" and not seen.wrong:
                ask = "How much risk do you tolerate? Answer the question under “How much risk”, or give ρ."
                return await self._shown(call, await self._found(call), 422, ask)
            elif what == "compute":
                return await self._shown(call, await self._found(call), 422)
        return _to(name)

    async def _save(self, call: Call, name: str, more: bool) -> None:
        names = [name for name in call.form if name not in ("pilot", "drop", "rows")]
        fields = {name: call.form[name].replace("\r\n", "\n") for name in names}
        if sum(map(len, (*fields, *fields.values()))) > LONGEST:
            raise RequestError("too-large", f"the fields must have at most {LONGEST:,} characters together")
        try:
            check_text("form", "its fields", "".join((*fields, *fields.values())), lines=True)
        except PrudentError as error:
            raise RequestError("invalid", str(error)) from None
        upload = call.files.get("pilot")
        if upload is not None and len(upload[1]) > LARGEST:
            fix = "take a sample of its rows, or use `prudent plan` on the command line"
            raise RequestError("too-large", f"{upload[0]}: must have at most {LARGEST:,} bytes; {fix}")
        rows = {"rows": "more"} if more else {}
        drop = call.form.get("drop") == "yes"
        await asyncio.to_thread(self.drafts.save, name, {**fields, **rows}, upload, drop)

    async def _look(self, name: str) -> Seen:
        """Understand what was typed, in a process of its own, and keep that, so that the page need not."""

        def act() -> Seen:
            draft = self.drafts.find(name)
            files = {draft.file: self.drafts.file(name, PILOT) or b""} if draft.file else {}
            question = msgspec.json.encode((draft.form, draft.file))
            try:
                raw = self._reader.compute("look", question, seconds=SECONDS, files=files)
            except EndedError:
                fix = "take a smaller file, or use `prudent plan` on the command line"
                raw = msgspec.json.encode(Seen(f"This took more than {SECONDS:g} seconds, so it was ended; {fix}."))
            except BrokenError as error:
                log.error("what was typed in a plan broke the computation: %s", error)
                raw = msgspec.json.encode(Seen("An error of the service, which its log describes."))
            self.drafts.keep_seen(name, raw.decode())
            return msgspec.json.decode(raw, type=Seen)

        found: Seen = await in_own_thread(act)
        return found

    async def begin(self, call: Call) -> Response:
        """Start the experiment. Pressed twice, it is started once."""
        name, draft = call.id, await self._found(call)
        given = await asyncio.to_thread(self.drafts.file, name, FOUND)
        if draft.state != "done" or given is None:
            raise RequestError("conflict", "the plan is not computed yet")
        try:
            if draft.spec is None:
                made = started_with(msgspec.json.decode(given)["experiment"], call.form)
                spec = spec_of_plan(made)
                spec.settled()
                if call.token is not None and not call.token.covers(spec.name):
                    raise RequestError("not-allowed", f"this token may not create an experiment called {spec.name}")
                text = await asyncio.to_thread(self.drafts.start, name, msgspec.json.encode(spec).decode())
            else:
                text = draft.spec
            spec = msgspec.json.decode(text, type=Spec)
            await asyncio.to_thread(self._create, name, spec, draft.token)
            await asyncio.to_thread(self._begin, name, spec, draft.token, call.form)
        except PrudentError as error:
            status = error.status if isinstance(error, RequestError) else 422
            return await self._shown(call, await self._found(call), status, str(error), given=call.form)
        return RedirectResponse(f"/e/{spec.name}", 303)

    def _create(self, name: str, spec: Spec, by: int) -> None:
        try:
            self.service.create(spec, by)
        except RequestError as error:
            if error.kind in ("name-taken", "invalid"):  # otherwise it may have been created
                self.drafts.start_failed(name)
            raise

    def _begin(self, draft: str, spec: Spec, by: int, form: dict[str, str]) -> None:
        """The pilot's outcomes are the first rewards, unless the experiment is to begin from nothing."""
        found = self.drafts.file(draft, FOUND)
        if found is None or form.get("begin", "pilot") != "pilot":
            return
        for some in pilot_of_plan(msgspec.json.decode(found)):
            self.service.run(spec.name, TellMany([Told(**each) for each in some]), by=by)

    async def file(self, call: Call) -> Response:
        """A picture of the plan, or all of it as a file to keep."""
        file, draft = call.names["file"], await self._found(call)
        if not file.endswith((".svg", ".html")):
            raise RequestError("not-found", "there is nothing at this address")
        data = await asyncio.to_thread(self.drafts.file, draft.id, file)
        if data is None:
            raise RequestError("not-found", "there is nothing at this address")
        headers = {"content-security-policy": PICTURE, "etag": f'"{draft.attempt}"'}
        if file.endswith(".svg"):
            return Response(data, 200, {**headers, "cache-control": "private, max-age=3600"}, "image/svg+xml")
        return HTMLResponse(data, 200, {**headers, "content-disposition": 'attachment; filename="plan.html"'})


def _page(method: str, path: str, does: Any) -> Route:
    return Route(method, path, "admin", does, answer=(HTML,), limit=UPLOAD, page=True)


def started_with(experiment: dict[str, Any], form: dict[str, str]) -> dict[str, Any]:
    """The experiment of a plan with what is said when it is started: its name, and how it is run."""
    name = form.get("name", "").strip()
    if not re.fullmatch(NAME, name):
        raise PrudentError(f"name: must be up to 63 small letters, digits and hyphens, got {shown(name)}")
    made = {**experiment, "name": name}
    if form.get("begin", PILOT) != PILOT and (pilot := made.pop(PILOT, {})):
        made["horizon"] -= sum(map(len, pilot.values()))  # its outcomes would have been rounds of the policy
    if fallback := form.get("fallback", ""):
        made["fallback"] = fallback
    if window := form.get("window", "").strip():
        made["rewards"] = {"window": window}
        if default := form.get("default", "").strip():
            made["rewards"]["default"] = number_of("what counts without an outcome", default)
    if limit := form.get("limit", "").strip():
        side = "below" if experiment.get("larger_is_better", True) else "above"
        then = form.get("then", "")
        made["guardrails"] = [{"watch": "mean", side: number_of("limit", limit), "then": then}]
    return made


def title_of(draft: Draft) -> str:
    """What a plan is called."""
    return draft.form.get("title", "").strip() or "Plan without a name"


def state_of(draft: Draft) -> str:
    """How far a plan has come."""
    if draft.spec is not None:
        return "started"
    return {"editing": "being written", "waiting": "waits", "computing": "is computed", "done": "ready"}[draft.state]


def _to(name: str) -> Response:
    return RedirectResponse(f"/plan/{name}", 303)
