"""A fake of the service, small enough to be wrong on purpose: it can be silent, busy, or lose its answers."""

import contextlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeService:
    """Answers decisions, rewards, batches and fallbacks of one experiment; keeps what it was sent.

    `trouble` is what goes wrong with the next requests, in turn: "silent" (the connection ends before anything is
    done), "lost" (it is done, and the answer never comes), "slow" (the answer comes when the service ends), a status
    with its headers, or the bytes to be sent.
    """

    def __init__(self) -> None:
        self.trouble: deque[Any] = deque()
        self.seen: list[tuple[str, str, Any, str | None]] = []
        self.decisions: dict[str, str] = {}
        self.rewards: dict[str, float] = {}
        self.fallbacks: dict[str, int] = {}
        self.batches: dict[str, Any] = {}
        self.connections = 0
        self.lock = threading.Lock()
        self.ending = threading.Event()

    def __enter__(self) -> "FakeService":
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                outer.handle(self)

            do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815, as the base class spells them

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        sent = json.loads(body) if body else None
        key = request.headers["Idempotency-Key"]
        with self.lock:
            trouble = self.trouble.popleft() if self.trouble else None
            self.seen.append((request.command, request.path, sent, key))
            if isinstance(trouble, tuple):
                status, headers = trouble
                return self.answer(request, status, {"type": "/problems/busy", "detail": "come back"}, headers)
            if isinstance(trouble, bytes):
                request.close_connection = True
                with contextlib.suppress(OSError):  # the client may have had enough
                    request.wfile.write(trouble)
                return None
            if trouble == "silent":
                request.close_connection = True
                return None
            status, said = self.do(request.path, sent, key)
        if trouble == "lost":
            request.close_connection = True
            return None
        if trouble == "slow":
            self.ending.wait()
        if trouble == "page":
            said = b"<html>Bad gateway</html>"
        return self.answer(request, status, said, {"Connection": "close"} if trouble == "close" else {})

    def answer(self, request: BaseHTTPRequestHandler, status: int, said: Any, headers: dict[str, str]) -> None:
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        kind = "text/html" if body.startswith(b"<") else "application/json"
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": kind, **headers}.items():
            request.send_header(name, value)
        with contextlib.suppress(OSError):  # the client may have gone
            request.end_headers()
            request.wfile.write(body)

    def do(self, path: str, sent: Any, key: str | None) -> tuple[int, Any]:  # noqa: PLR0911, one for each resource
        last = path.rpartition("/")[2]
        if last == "decisions":
            again = f"{key}.0" in self.decisions
            made = [f"{key}.{i}" for i in range(sent["count"])]
            self.decisions |= dict.fromkeys(made, "A")
            found = [{"decision": id, "arm": self.decisions[id], "state": "open", "at": 0, "new": 1} for id in made]
            return 200 if again else 201, {"decisions": found, "again": again}
        if last == "reward":
            return self.told(path.split("/")[3], sent["reward"])
        if last == "rewards":
            results = [self.told(each["decision"], each["reward"]) for each in sent["rewards"]]
            return 200, {"results": [{"status": s, "problem" if s > 399 else "recorded": r} for s, r in results]}
        if last == "fallbacks":
            self.fallbacks[str(key)] = sent["count"]
            return 200, {"experiment": "e", "status": "running"}
        if last == "batches":
            return 201, {"batch": "b1", "arms": {"A": sent["count"] - 10, "B": 10}, "seed": 7}
        if "/batches/" in path:
            again = self.batches.setdefault(last, sent) == sent
            return 200 if again else 409, {"batch": last}
        return 404, {"type": "/problems/not-found", "detail": f"there is no {path}"}

    def told(self, id: str, reward: float) -> tuple[int, Any]:
        stands = self.rewards.setdefault(id, reward)
        if stands != reward:
            return 409, {"type": "/problems/other-reward", "detail": f"{stands} stands", "stands": stands}
        return 201, {"decision": id, "arm": "A", "reward": reward, "counted": "now"}
