"""A server in a process of its own, with requests as bytes on a socket."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import time

PROGRAM = """
import sys, msgspec
from prudent.service.http.server import Settings, serve
serve(msgspec.json.decode(sys.argv[1], type=Settings), lambda line: print(line, flush=True))
"""
EXPERIMENT = {"name": "e", "arms": ["a", "b"], "policy": "mv-lcb(rho=1)", "support": [0, 1], "horizon": 1000}


class RunningServer:
    """A server in a process of its own; `before` is Python that it runs first."""

    def __init__(self, database, *, before="", **settings):
        text = json.dumps({"database": database, "port": 0, "header_seconds": 0.6, "body_seconds": 0.6, **settings})
        command = [sys.executable, "-c", before + PROGRAM, text]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        assert first, self.process.stderr.read()
        self.port = int(re.findall(r"http://[^ ]*:(\d+)", first)[0])
        self.token = None

    def read_token(self):
        self.token = re.findall(r"pru_\w+", self.process.stdout.readline())[0]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def ask(self, method, path, body=None, *, more=""):
        with self.connect() as connection:
            connection.sendall(self.request(method, path, body, more=f"Connection: close\r\n{more}"))
            return answer_of(connection)

    def request(self, method, path, body=None, *, more=""):
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n{more}"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n"
        return head.encode() + b"\r\n" + raw

    def stop(self, sign=signal.SIGTERM):
        """The exit code, and the seconds that it took."""
        since = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait(timeout=120)
        self.rest = self.process.stdout.read()
        self.process.stdout.close()
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        return code, time.monotonic() - since


def answer_of(connection):
    """Status and body of an answer; None if the connection was closed without one."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    raw = b"".join(parts)
    if not raw:
        return None
    head, _, body = raw.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body


@contextlib.contextmanager
def running_servers():
    """Starts servers, and ends those that a test that fails leaves behind."""
    started = []

    def start(*given, **settings):
        started.append(RunningServer(*given, **settings))
        return started[-1]

    yield start
    for server in started:
        if not server.process.stdout.closed:
            server.stop(signal.SIGKILL)
