"""Receivers of webhooks on this machine, which write down what comes."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from prudent.service.log.store import Store
from prudent.service.work.outbox import name_of

try:
    from standardwebhooks import Webhook
except ImportError:  # tests of signatures say that it is missing
    Webhook = None

QUIET = 20.0
"""Seconds without a try after which nothing more is expected from a worker that runs."""


class Received(NamedTuple):
    """A message as it came; its signature was right."""

    id: str
    type: str
    data: Any
    answered: int


def messages_of(store: Store, name: str) -> list[str]:
    """The ids of the messages that tell the decisions of an experiment, in their order."""
    experiment = store.experiment(name)
    assert experiment is not None
    events = store.events(experiment.id, 0, experiment.seq)
    return [name_of(experiment, event, link) for event, link in events if event.kind == "asked"]


class Receiver:
    """Answers with `status`, which may depend on the data of a message, or as `behaves(handler)` does; `secret` is that
    of the target."""

    def __init__(self) -> None:
        self.headers, self.secret = {}, ""
        self.status: Any = 204
        self.behaves: Any = None
        self.refuses = 0  # of so many messages one
        self.received: list[Received] = []
        self.tries = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.tries += 1
                body = self.rfile.read(int(self.headers["content-length"]))
                if receiver.behaves is not None:
                    receiver.behaves(self)
                    return
                if Webhook is not None:
                    Webhook(receiver.secret).verify(body, dict(self.headers))
                found = json.loads(body)
                refused = receiver.refuses and receiver.tries % receiver.refuses == 0
                status = receiver.status(found["data"]) if callable(receiver.status) else receiver.status
                status = 503 if refused else status
                receiver.received.append(Received(self.headers["webhook-id"], found["type"], found["data"], status))
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?from=prudent"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def taken(self) -> list[Received]:
        """What it has said that it took."""
        return [one for one in self.received if 200 <= one.answered < 300]

    def waits(self, done: Any, seconds: float = 20.0) -> None:
        """Until that is true of it."""
        ends = time.monotonic() + seconds
        while not done(self):
            assert time.monotonic() < ends, (self.received, self.tries)
            time.sleep(0.01)

    def check(self, expected: list[str], kills: int) -> tuple[int, int]:
        """Every decision was taken, in its order, and again only after a kill; how many, and how many again."""
        had, since = -1, time.monotonic()
        while expected and time.monotonic() < since + QUIET:
            if expected[-1] in {one.id for one in self.taken}:
                break
            had, since = (had, since) if had == self.tries else (self.tries, time.monotonic())
            time.sleep(0.05)
        taken = [one.id for one in self.taken]
        first = list(dict.fromkeys(taken))
        assert not (lost := set(expected) - set(first)), f"{len(lost)} of {len(expected)} are lost, such as {min(lost)}"
        assert first == expected, "told in another order, or of what is not in the log"
        repeats = len(taken) - len(expected)
        assert repeats <= kills, "a receiver that had answered was told again without a kill"
        return len(expected), repeats

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
