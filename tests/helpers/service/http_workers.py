"""A worker that serves HTTP with the server that users run, and a connection to it that speaks like `workers.Line`."""

import http.client
import json
import os
from pathlib import Path
from typing import Any

PATHS = {
    "create": ("POST", "/v1/experiments"),
    "webhook": ("POST", "/v1/webhooks"),
    "Ask": ("POST", "/v1/experiments/{experiment}/decisions"),
    "TellMany": ("POST", "/v1/experiments/{experiment}/rewards"),
    "Tell": ("PUT", "/v1/decisions/{decision}/reward"),
}


class HTTPLine:
    """A connection to a worker that serves HTTP; its file says at which port, and with which token."""

    def __init__(self, path: Path, patience: float = 30.0) -> None:
        port, self._token = path.read_text().split()
        self._connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=patience)

    def call(self, kind: str, experiment: str = "", **parts: Any) -> Any:
        """The answer, or OSError if the worker has ended; what it refuses comes back as {"problem": kind, …}."""
        method, path = PATHS[kind]
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        headers |= {"Idempotency-Key": parts["key"]} if "key" in parts else {}
        path = path.format(experiment=experiment, **parts)
        try:
            self._connection.request(method, path, json.dumps(parts.get("spec", parts.get("body"))), headers)
            answer = self._connection.getresponse()
            found = json.loads(answer.read())
        except http.client.HTTPException as error:
            raise ConnectionResetError from error
        return found if answer.status < 300 else {"problem": found["type"].rpartition("/")[2], **found}

    def close(self) -> None:
        self._connection.close()


def serve(service: Any, path: str, database: str) -> None:
    """Serve HTTP until killed; SIGTERM closes in peace. The first token is kept beside the database."""
    from prudent.service.http import server

    kept, words = Path(f"{database}.token"), []

    def say(line: str) -> None:
        words.append(line)
        if "pru_" in line:
            kept.write_text(line.rsplit(maxsplit=1)[-1])
        if kept.exists() and not Path(path).exists():
            Path(path + ".new").write_text(f"{words[0].rpartition(':')[2]} {kept.read_text()}")
            os.rename(path + ".new", path)  # now it is ready

    server._service = lambda *settings: service  # type: ignore[assignment]
    server.serve(server.Settings(database=database, port=0, rate=1e9), say)
