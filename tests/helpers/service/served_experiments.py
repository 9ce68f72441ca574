"""The whole service in this process: a database, an application, a token for each scope, two experiments."""

import asyncio

from helpers.service.asgi_calls import Answered, call
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.http.tokens import SCOPES
from prudent.service.log.store import open_store
from prudent.service.pages.app import Site as Pages
from prudent.service.work.service import Service

EXPERIMENT = {
    "arms": ["a", "b"],
    "policy": "mv-lcb(rho=1)",
    "support": [0, 1],
    "horizon": 1000,
    "seed": 1,
    "fallback": "a",
    "metrics": {"delay": {"support": [0, 10]}},
}

FLAG = {"policy": "thompson", "support": [0, 1], "sticky": True, "seed": 1}
FLAGS = [
    {**FLAG, "name": "layout", "arms": ["wide", "narrow"], "fallback": "wide"},
    {**FLAG, "name": "banner", "arms": ["true", "false"], "metrics": {"delay": {"support": [0, 10]}}},
    {**FLAG, "name": "price", "arms": ["9", "9.5"], "support": [0, 100], "rewards": {"event": "paid"}},
]


class InProcessService:
    """Calls the application; `token` is a scope, for a token of that scope, or a token, or None."""

    def __init__(self, where, clock=None, **settings):
        self.service = Service(open_store(where, relaxed=True), clock, patience=3600.0).start()
        self.app = App(self.service, ROUTES, **settings)
        self.loop = asyncio.new_event_loop()
        self.sessions = {}
        self.tokens = {scope: self.service.tokens.create([scope])[0] for scope in SCOPES}
        for name in ("one", "two"):
            assert self("POST", "/v1/experiments", {"name": name, **EXPERIMENT}).status == 201

    def __call__(self, method, path, body=None, token="admin", **about) -> Answered:
        token = self.tokens.get(token, token)
        return self.loop.run_until_complete(call(self.app, method, path, body, token=token, **about))

    def pages(self, **settings):
        """The pages, which the application answers from now on."""
        self.app.show(Pages(self.service, **settings))
        return self.app.site

    def session(self, token="admin") -> str:
        """The session of somebody who has signed in with a token."""
        if token not in self.sessions:
            known = self.service.tokens.find(self.tokens.get(token, token))
            self.sessions[token] = self.loop.run_until_complete(self.service.sessions.create(known))
        return self.sessions[token]

    def decision(self, experiment="one"):
        """The id of a new decision."""
        answer = self("POST", f"/v1/experiments/{experiment}/decisions", {})
        return answer.json["decisions"][0]["decision"]

    def close(self):
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self.app.close()
