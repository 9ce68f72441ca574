"""One table says with which verbs people change an experiment: a row more, and the API, its document, the command, the
page and the log have the verb. So a verb is written in few places."""

import subprocess
import sys
from pathlib import Path

import prudent
from prudent.client import AsyncClient, Client
from prudent.service.log.state import STATUS_AFTER
from prudent.service.verbs import VERBS

PACKAGE = Path(prudent.__file__).parent

INVENTED = """
import asyncio, json, sys
from prudent.service import verbs

verbs.VERBS += (
    verbs.Verb("mute", "muted", ("running",), "Say nothing of this arm.", "{arm} was muted{because}",
               fields=(verbs.Field("arm", "arm"),), title="Mute an arm"),
)
from click.testing import CliRunner
from prudent.cli import main
from prudent.service import messages
from prudent.service.http.api import ROUTES
from prudent.service.http.openapi import document
from prudent.service.log.events import KINDS
from prudent.service.log.store import open_store
from prudent.service.pages.parts import controls
from prudent.service.views.words import account
from prudent.service.work.service import Service

def prudent(*given):
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    return done.output

json.dump({"name": "e", "arms": ["a", "b"], "policy": "ucb1", "support": [0, 1]}, open("e.json", "w"))
assert any(route.path == "/v1/experiments/{experiment}/mute" and route.scope == "admin" for route in ROUTES)
whole = json.loads(document(ROUTES))
assert whole["components"]["schemas"]["Mute"]["required"] == ["arm", "reason"]
assert whole["paths"]["/v1/experiments/{experiment}/mute"]["post"]["summary"] == "Say nothing of this arm."
(control,) = [one for one in controls("running", ["a", "b"]) if one.verb.name == "mute"]
assert control.arms == ["a", "b"]
assert not [one for one in controls("paused", ["a", "b"]) if one.verb.name == "mute"]
prudent("trial", "create", "e.json")
assert "Say nothing of this arm." in prudent("trial", "mute", "--help")
assert "e is running" in prudent("trial", "mute", "e", "b", "--reason", "too loud")
assert "whole" in prudent("trial", "verify", "e")
service = Service(open_store("prudent.db")).start()
last = [event for event, _ in service.store.events(1, 1, 10)]
assert [account(event, ["a", "b"]) for event in last] == ["b was muted: too loud"]
service.close()
"""


def test_a_row_more_is_a_verb_more_everywhere(tmp_path):
    done = subprocess.run([sys.executable, "-c", INVENTED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


GUARDRAILS = {
    "service/spec.py",
    "service/work/watch.py",
    "service/pages/report.py",
    "service/pages/planning.py",
    "service/pages/demo.py",
}
"""They have a list of actions of their own, and words for them."""


def test_a_verb_is_written_in_four_files_at_most():
    rooms = ("service", "client", "cli")
    paths = [path for room in rooms for path in (PACKAGE / room).rglob("*.py")]
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in paths}
    for verb in VERBS:
        marks = f'"{verb.name}"', f"Client.{verb.name}"
        written = {path for path, text in texts.items() if any(mark in text for mark in marks)} - GUARDRAILS
        assert len(written) <= 4, (verb.name, written)


def test_every_verb_has_a_method_of_both_clients_and_changes_the_status_as_it_says():
    names = {verb.name: "add_arm" if verb.name == "add" else verb.name for verb in VERBS}
    assert all(hasattr(client, name) for client in (Client, AsyncClient) for name in names.values())
    assert STATUS_AFTER == {
        "resumed": "running",
        "paused": "paused",
        "frozen": "frozen",
        "stopped": "stopped",
        "archived": "archived",
        "restored": "stopped",
        "deleted": "deleted",
    }
