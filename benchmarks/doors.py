"""Knock at every door of a service of one's own: does anything break, leak or keep others waiting?

`python benchmarks/doors.py` starts a service on loopback and sends it 10,000 requests that nobody should send: raw
bytes that are nearly HTTP, forms and uploads that are nearly forms, every route with bodies and addresses out of their
bounds, and texts that would open files or compute for long. It counts answers of 5xx (those of 503 say that something
is computed already), tracebacks and texts of callers in the log, paths of this machine in answers, and the longest wait
of somebody else who asks for decisions meanwhile. All should be 0, and the wait below 2 s. A sample of it is a test.
"""

import argparse
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

EXPERIMENT = {"name": "e", "arms": ["a", "b"], "policy": "mv-lcb(rho=1)", "support": [0, 1], "horizon": 1000}
FORM = "application/x-www-form-urlencoded"
MARK = "s3cret"
"""What callers write, which must not be in the log."""

TEXTS = [
    "", "0,5", "-1", "1e999", "nan", "\x00", "a\n", "é" * 50, "<script>", "{{7*7}}", "' OR 1=1--", "../../etc/passwd",
    "%0d%0aX: y", "[" * 500, "9" * 400, MARK, 'empirical("/etc/passwd", "x")', 'empirical("/dev/zero","x")', "a:b",
    "mixture([gaussian(0, 1)], [1])", "npts", "inf", "∞", "from-scipy(norm, [], 0, 1)", "1" * 300 + "(",
]  # fmt: skip
PATHS = [
    "/", "/login", "/logout", "/e/e", "/e/e/live", "/e/e/report", "/e/e/pause", "/e/e/retire", "/explore", "/plan",
    "/plan/0123456789abcdef", "/plan/0123456789abcdef/start", "/static/style.css", "/v1/experiments",
    "/v1/experiments/e",
    "/v1/experiments/e/decisions", "/v1/experiments/e/rewards", "/v1/experiments/e/retire", "/v1/experiments/e/batches",
    "/v1/experiments/e/estimates", "/v1/experiments/e/export", "/v1/experiments/e/events", "/v1/tokens", "/metrics",
    "/v1/decisions/1-2-ab/reward", "/v1/batches/1-2-ab", "/healthz", "/readyz", "/openapi.json", "/problems/busy",
]  # fmt: skip
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "CONNECT"]
LEAK = re.compile(rb"Traceback|site-packages|/usr/|/home/|/root/|root:|\.py\b")


class Service:
    """A service of its own, with an experiment and somebody who is signed in."""

    def __init__(self, folder: str) -> None:
        command = [sys.executable, "-m", "prudent", "serve", "--port", "0", "--database", f"{folder}/a.db"]
        self._log = Path(folder, "log")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(":")[2])
        self.token = self.process.stdout.readline().split()[-1]
        made = self.ask("POST", "/v1/experiments", json.dumps(EXPERIMENT).encode(), self.bearer, "application/json")
        assert b" 201 " in made[:20], made
        form = urlencode({"token": self.token}).encode()
        signed = self.ask(
            "POST", "/login", form, "Sec-Fetch-Site: same-origin\r\n", "application/x-www-form-urlencoded"
        )
        self.cookie = re.search(rb"set-cookie: (prudent=[\w-]+)", signed)[1].decode()  # type: ignore[index]

    @property
    def bearer(self) -> str:
        """The header with the token."""
        return f"Authorization: Bearer {self.token}\r\n"

    def say(self, raw: bytes, patience: float = 60.0) -> bytes:
        """What it answers to these bytes until it hangs up, or for so many seconds."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60.0) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(raw)
            connection.settimeout(patience)
            parts = []
            with contextlib.suppress(OSError):
                while part := connection.recv(2**16):
                    parts.append(part)
            return b"".join(parts)

    def ask(self, method: str, path: str, body: bytes, more: str, kind: str) -> bytes:
        """The answer to a request that is whole."""
        return self.say(request(method, path, body, more, kind))

    def stop(self) -> str:
        """End it; what its log says."""
        self.process.terminate()
        self.process.wait(timeout=30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return self._log.read_text("utf-8", "replace")


def request(method: str, path: str, body: bytes, more: str, kind: str) -> bytes:
    """The bytes of a request that is whole."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}"
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return head.encode("utf-8", "surrogatepass") + b"\r\n" + body


def case(rng: random.Random, service: Service) -> bytes:
    """One thing that nobody should send."""
    who = rng.choice([service.bearer, f"Cookie: {service.cookie}\r\n", "", f"Authorization: Bearer {MARK}\r\n"])
    more = who + rng.choice(["Sec-Fetch-Site: same-origin\r\n"] * 3 + ["Sec-Fetch-Site: cross-site\r\n", ""])
    made = {"raw": _raw, "form": _form, "json": _json, "address": _address}[
        rng.choice(["raw", "form", "json", "json", "address"])
    ]
    return made(rng, more)


def _json(rng: random.Random, more: str) -> bytes:
    def value(depth: int = 0) -> Any:
        kinds = [None, True, rng.randint(-(10**18), 10**18), rng.uniform(-1e308, 1e308), rng.choice(TEXTS)]
        if depth < 3:
            kinds += [[value(depth + 1)], {rng.choice([*TEXTS, *KEYS]): value(depth + 1) for _ in range(3)}]
        return rng.choice(kinds)

    body = {rng.choice(KEYS): value() for _ in range(rng.randint(0, 5))}
    raw = json.dumps(body if rng.random() < 0.9 else value()).encode()
    if rng.random() < 0.2:
        raw = raw[: rng.randint(0, len(raw))] + rng.choice([b"", b"\xff", b"[" * 9000, b"}"])
    return request(rng.choice(METHODS[:4]), rng.choice(PATHS), raw, more, "application/json")


KEYS = ["name", "arms", "policy", "risk", "support", "horizon", "count", "unit", "rewards", "decision", "reward", "arm"]
KEYS += ["reason", "key", "scopes", "experiments", "expires", "rewards", "guardrails", "metrics", "fallback", "plan"]


def _form(rng: random.Random, more: str) -> bytes:
    fields = {rng.choice(["token", "then", "reason", "arm", "do", "laws", "rho", "people", "x"]): rng.choice(TEXTS)}
    path = rng.choice(PATHS[:12])
    if rng.random() < 0.4:
        return request(
            "POST", path, urlencode(fields, errors="replace").encode(), more, "application/x-www-form-urlencoded"
        )
    edge = rng.choice(["XX", "X" * 300, '"XX"', "", "X X", "é"])
    parts = [
        f'--XX\r\n{rng.choice(["Content-Disposition: form-data; ", "", "X" * 5000 + ": "])}name="{name}"'
        f"{rng.choice(['', '; filename=' + MARK, '; filename*=utf-8%27%27x'])}\r\n{rng.choice(ENCODINGS)}\r\n{text}\r\n"
        for name, text in fields.items()
    ]
    body = ("".join(parts) * rng.choice([1, 1, 400]) + rng.choice(["--XX--\r\n", "--XX", ""])).encode()
    return request("POST", path, body, more, f"multipart/form-data; {rng.choice(['boundary', 'BOUNDARY', 'x'])}={edge}")


ENCODINGS = ["", "Content-Transfer-Encoding: base64\r\n", "Content-Transfer-Encoding: s3cret\r\n", "\0: x\r\n"]


def _address(rng: random.Random, more: str) -> bytes:
    text = quote(rng.choice(TEXTS), safe=rng.choice(["", "/%:@"]), errors="replace")
    name = rng.choice(["arms", "rho", "policy", "horizon", "then", "level", "after", "limit", "format", "x"])
    path = rng.choice([f"{rng.choice(PATHS)}?{name}={text}", f"{rng.choice(PATHS)}/{text}", f"/{text}"])
    return request(rng.choice(METHODS), path.replace(" ", "%20"), b"", more, "")


def _raw(rng: random.Random, more: str) -> bytes:
    method, path = rng.choice(METHODS), rng.choice(PATHS)
    first = rng.choice([f"{method} {path} HTTP/1.1", f"{method} {path}", f"{method} http://evil/{MARK} HTTP/1.1", "x"])
    headers = rng.choices(
        ["Host: localhost", "Host: evil", "Content-Length: 5", "Content-Length: 05", "Content-Length: -1",
         "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding : chunked", " folded",
         "Expect: 100-continue", "Upgrade: websocket", "Connection: Upgrade", "X: " + "a" * rng.choice([1, 40_000]),
         "Content-Type: multipart/form-data; " + "boundary=" * 7 + " " * 20_000 + "x", "Cookie: prudent=" + MARK,
         "Content-Type: application/json", "If-Match: \x01", "Range: bytes=0-", "X-Forwarded-For: 1.1.1.1"],
        k=rng.randint(0, 6),
    )  # fmt: skip
    tail = rng.choice(
        ["", "{}", "2\r\n{}\r\n0\r\n\r\n", "2\r\n{}\r\n0\r\nAuthorization: x\r\n\r\n", "zz\r\n", "fffffffff\r\n"]
    )
    text = "\r\n".join([first, *headers]) + f"\r\n{more}" + rng.choice(["\r\n", "\r\n", "\n", ""]) + tail
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.2:
        place = rng.randrange(len(raw))
        raw = raw[:place] + bytes([rng.randrange(256)]) + raw[place + 1 :]
    return raw


class Others:
    """Somebody who asks for decisions all the time, and how long each has taken."""

    def __init__(self, service: Service) -> None:
        self.waits: list[float] = []
        self._over = threading.Event()
        self._ask = lambda: service.ask(
            "POST", "/v1/experiments/e/decisions", b"{}", service.bearer, "application/json"
        )
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(0.05):
            since = time.monotonic()
            found = self._ask()
            assert found[9:12] in (b"201", b"409"), found  # some may have paused the experiment
            self.waits.append(time.monotonic() - since)

    def stop(self) -> float:
        """The longest wait."""
        self._over.set()
        self._thread.join()
        return max(self.waits, default=0.0)


def knock(cases: int, seconds: float, seed: int) -> dict[str, Any]:
    """What so many requests find, or as many as there is time for."""
    rng, found = random.Random(seed), {"requests": 0, "answered at once": 0, "5xx": 0, "refused as busy": 0, "leaks": 0}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        service = Service(folder)
        others, ends = Others(service), time.monotonic() + seconds
        try:
            while found["requests"] < cases and time.monotonic() < ends:
                raw = case(rng, service)
                answer = service.say(raw, 0.3)  # what is not whole is waited for longer, until its deadline
                found["requests"] += 1
                status = re.match(rb"HTTP/1.1 ([0-9]{3}) ", answer)
                found["answered at once"] += status is not None
                found["refused as busy"] += status is not None and status[1] == b"503"
                wrong = status is not None and status[1] >= b"500" and status[1] != b"503"
                found["5xx"] += wrong
                leaks = bool(LEAK.search(answer)) or folder.encode() in answer
                found["leaks"] += leaks
                if wrong or leaks:
                    print(f"{raw[:500]!r}\n  → {answer[:500]!r}", file=sys.stderr)
        finally:
            longest, log = others.stop(), service.stop()
    lines = [line for line in log.splitlines() if MARK in line]
    return {**found, "tracebacks": log.count("Traceback") + log.count("unexpected"), "told in the log": len(lines)} | {
        "longest wait of others, s": round(longest, 2)
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    for name, value in knock(given.cases, given.seconds, given.seed).items():
        print(f"{name}: {value}")
