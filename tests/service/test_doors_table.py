"""What `curl` without a token gets from every route and every page, as docs/reference/http.md has it.

`PYTHONPATH=tests python tests/service/test_doors_table.py` writes the table again.
"""

import re
import tempfile
from pathlib import Path

from helpers.service.served_experiments import InProcessService

PAGE = Path(__file__).parents[2] / "docs/reference/http.md"
BEGIN, END = "<!-- what nobody needs a token for: begin -->\n", "<!-- end -->\n"
PLACES = {
    "experiment": "one",
    "decision": "1-2-0123456789",
    "batch": "1-2-0123456789",
    "token": "abcdefgh",
    "webhook": "0123456789abcdef",
    "problem": "busy",
    "plan": "0123456789abcdef",
    "file": "style.css",
}


def table(site) -> str:
    """Each route of the application, with what it answers to somebody without a token, and nothing else."""
    rows = ["| verb and path | without a token |", "|---|---|"]
    for route in site.app.routes:
        path = re.sub(r"\{(\w+)\}", lambda name: PLACES[name[1]], route.path)
        answer = site(route.method, path, b"" if route.method != "GET" else None, token=None)
        rows.append(f"| `{route.method} {route.path}` | {said(route, answer)} |")
    return "\n".join(rows) + "\n"


def said(route, answer) -> str:
    """The answer in words."""
    if answer.status == 303:
        return "303, to the form to sign in"
    if answer.headers["content-type"] == "application/problem+json":
        return f"{answer.status}, {answer.json['title'].lower()}"
    if answer.status >= 400:
        return f"{answer.status}, " + (
            "refused: forms come from pages of the service" if answer.body else "and no more"
        )
    words = " ".join(route.does.__doc__.split())
    return f"{answer.status}: {words[0].lower()}{words[1:].rstrip('.')}"


def made() -> str:
    with tempfile.TemporaryDirectory() as folder:
        site = InProcessService(f"{folder}/a.db")
        site.pages()
        found = table(site)
        site.close()
    return found


def test_the_table_of_the_docs_is_what_curl_gets():
    assert made() == PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


def test_nothing_but_these_is_open():
    """A new route that needs no token is a decision, and not an oversight."""
    with tempfile.TemporaryDirectory() as folder:
        site = InProcessService(f"{folder}/a.db")
        site.pages()
        free = {f"{route.method} {route.path}" for route in site.app.routes if not route.scope}
        site.close()
    assert free == {
        "GET /healthz",
        "GET /readyz",
        "GET /openapi.json",
        "GET /problems/{problem}",
        "GET /login",
        "POST /login",
        "POST /logout",
        "GET /static/{file}",
    }


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + made() + END + rest.partition(END)[2], "utf-8")
