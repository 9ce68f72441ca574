"""`prudent trial` and `prudent serve`: on a database alone, through a running service, and what is refused in words."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.service.served_command import ServedCommand
from prudent import Agent, PrudentError
from prudent.cli import main
from prudent.cli import serve as serving
from prudent.cli.experiments import sentences
from prudent.client import ServiceError
from prudent.plan import guesses
from prudent.plan.experiment import name_of
from prudent.plan.trial import Trial
from prudent.service.http import server as servers
from prudent.service.http.local import client_of
from prudent.service.log.store import open_store
from prudent.service.plans.experiment import pilot_of_plan, spec_of_plan
from prudent.service.work.service import Service

pytestmark = pytest.mark.xdist_group("trial")
SPEC = {
    "name": "shop", "arms": ["old", "new"], "policy": "mv-lcb(range=1.0)", "risk": "mean-variance(rho=1)",
    "horizon": 50, "support": [-1, 1], "seed": 7, "fallback": "old", "metrics": {"latency": {"support": [0, 500]}},
}  # fmt: skip


def prudent(*args, code=0, **environment):
    """What a command prints, on a terminal of 80 columns; --json is read."""
    done = CliRunner().invoke(main, [*map(str, args)], env={"COLUMNS": "80", **environment})
    assert done.exit_code == code, done.output
    if code:
        return " ".join(done.stderr.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if "--json" not in args)
    return json.loads(done.stdout) if "--json" in args else done.stdout


@pytest.fixture(autouse=True)
def this_process_goes_on(monkeypatch):
    """A process that serves opens no file that a spec names, for good; here it also runs other tests."""
    monkeypatch.setattr("prudent.base.registry._may_open", True)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with the spec of an experiment."""
    monkeypatch.chdir(tmp_path)
    Path("experiment.json").write_text(json.dumps(SPEC))
    return tmp_path


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("running")
    service = ServedCommand(folder)
    service.folder = folder
    yield service
    if service.process.poll() is None:
        service.stop()


def life_of_an_experiment(where):
    """Every command once; `where` says where the service is."""
    assert "shop is running, with 2 arms." in prudent("trial", "create", "experiment.json", **where)
    assert prudent("trial", "create", "experiment.json", "--json", **where)["seq"] == 1
    first, second = prudent("trial", "ask", "shop", "--count", 2, "--json", **where)
    assert {first["arm"], second["arm"]} == {"old", "new"}
    told = prudent("trial", "tell", first["id"], "-0.5", "--metric", "latency=120", **where)
    assert told.strip() == f"{first['arm']}: the reward −0.5 counts now."
    assert "recorded before" in prudent("trial", "tell", first["id"], "-0.5", "--metric", "latency=120", **where)
    assert "the reward -0.5 is recorded" in prudent("trial", "tell", first["id"], "0.5", code=2, **where)
    assert "the decision is withdrawn" in prudent("trial", "withdraw", second["id"], **where)
    shown = prudent("trial", "show", "shop", **where)
    assert "shop: running, mv-lcb(range=1.0), at event 5" in shown
    assert "nothing is decided" in shown
    assert prudent("trial", "show", "shop", "--json", **where)["estimates"]["level"] == 0.95
    assert "with the arms old, new, newer" in prudent("trial", "add", "shop", "newer", "--reason", "asked", **where)
    assert "with the arms old, new." in prudent("trial", "retire", "shop", "newer", "--reason", "slow", **where)
    assert "shop is frozen to old" in prudent("trial", "freeze", "shop", "old", "--reason", "audit", **where)
    assert "shop is running" in prudent("trial", "resume", "shop", "--reason", "done", **where)
    assert "shop is paused" in prudent("trial", "pause", "shop", "--reason", "night", **where)
    asked = prudent("trial", "ask", "shop", **where)
    assert "– (not counted)" in asked
    assert "the experiment is paused" in asked
    assert "paused" in prudent("trial", "list", **where)
    assert prudent("trial", "export", "shop", "--out", "all.csv", **where).strip() == "all.csv"
    assert re.search(r"-0\.5,1\.0,0\.0,.*,120\.0", Path("all.csv").read_text())
    assert prudent("trial", "export", "shop", "--format", "ndjson", "--json", **where)["file"] == "shop.ndjson"
    assert len(Path("shop.ndjson").read_text().splitlines()) == 2
    assert prudent("trial", "export", "shop", "--json", **where)["in_batches"] == 0
    assert "shop is stopped" in prudent("trial", "stop", "shop", "--reason", "enough", **where)
    assert prudent("trial", "report", "shop", **where).strip() == "shop.html"
    assert prudent("trial", "report", "shop", "--out", "r.html", "--json", **where) == {"file": "r.html"}
    assert "Stopped: enough" in Path("r.html").read_text(encoding="utf-8")
    assert prudent("trial", "verify", "shop", **where).strip() == "The log of shop is whole: 11 events."
    assert "shop is archived" in prudent("trial", "archive", "shop", "--reason", "autumn", **where)
    old = ("--days", 0.5, "--reason", "kept for long enough")
    assert "No experiment has stopped" in prudent("trial", "purge", *old, **where)
    young = ("--days", 1e-9, "--reason", "kept for long enough")
    assert prudent("trial", "purge", *young, "--dry-run", **where).strip() == "Would be deleted: shop."
    assert prudent("trial", "purge", *young, "--json", **where) == {"deleted": ["shop"], "old": ["shop"]}
    assert "There are no experiments yet." in prudent("trial", "list", **where)
    assert prudent("trial", "verify", "shop", **where).strip() == "The log of shop is whole: 1 event."


def test_a_whole_experiment_without_a_server(home):
    life_of_an_experiment({})
    assert sorted(path.name for path in home.iterdir()) == [
        "all.csv", "experiment.json", "prudent.db", "prudent.db.lock", "r.html", "shop.csv", "shop.html", "shop.ndjson",
    ]  # fmt: skip


def test_a_whole_experiment_through_a_running_service(home, running):
    life_of_an_experiment(running.environment)


def test_tokens_are_made_listed_and_revoked(home, running):
    assert prudent("trial", "token", "--list", code=2).endswith("begin with: prudent trial create experiment.json")
    made = prudent("trial", "token", "--scope", "read", "--days", 2, "--note", "for the page", **running.environment)
    text = made.strip()
    assert text.startswith("pru_")
    named = prudent("trial", "token", "--list", **running.environment)
    assert "for the page" in named
    assert text not in named
    reader = {**running.environment, "PRUDENT_TOKEN": text}
    assert isinstance(prudent("trial", "list", "--json", **reader), list)
    assert "needs the scope admin" in prudent("trial", "create", "experiment.json", code=2, **reader)
    assert "is revoked" in prudent("trial", "token", "--revoke", text.split("_")[1], **running.environment)
    assert "revoked 20" in prudent("trial", "token", "--list", **running.environment)
    assert "pass a valid token" in prudent("trial", "list", code=2, **reader)
    assert prudent("trial", "token", "--scope", "admin", "--json")["scopes"] == ["admin"]  # for a service to come


def test_a_database_that_is_served_can_be_copied_and_not_used(home, running):
    database = running.folder / "prudent.db"
    prudent("trial", "create", "experiment.json", "--name", "copied", **running.environment)
    used = prudent("trial", "list", "--database", database, code=2)
    assert "in use by another process of prudent; use its address (--server URL)" in used
    copied = prudent("serve", "--database", database, "backup", "copy.db")
    assert copied.startswith("copy.db: ")
    assert "copied" in prudent("trial", "list", "--database", "copy.db")
    assert "is whole: 1 event." in prudent("trial", "verify", "copied", "--database", "copy.db")
    assert "is there already" in prudent("serve", "--database", database, "backup", "copy.db", code=2)


def test_a_copy_is_whole_while_others_write(home):
    """Pages that are written during the copy do not make it begin again, and are not half in it."""
    writing = "import sqlite3, sys, itertools\ndb = sqlite3.connect('busy.db')\n"
    writing += (
        "for i in itertools.count():\n    db.execute('INSERT INTO t VALUES (?, ?)', (i, 'x' * 500)); db.commit()\n"
    )
    with sqlite3.connect("busy.db") as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (i INTEGER, text TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(-i, "y" * 500) for i in range(1, 5000)])
    database.close()
    writer = subprocess.Popen([sys.executable, "-c", writing])
    try:
        while not Path("busy.db-wal").exists() or Path("busy.db-wal").stat().st_size < 10_000:
            time.sleep(0.01)
        prudent("serve", "--database", "busy.db", "backup", "copy.db")
    finally:
        writer.kill()
        writer.wait()
    copy = sqlite3.connect("copy.db")
    assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    rows = [row[0] for row in copy.execute("SELECT i FROM t WHERE i >= 0")]
    copy.close()
    assert rows == list(range(len(rows)))
    assert not list(home.glob("*.part"))


def test_a_service_ends_in_order(home):
    service = ServedCommand(home)
    prudent("trial", "create", "experiment.json", **service.environment)
    assert service.stop() in (0, 143)
    assert "running" in prudent("trial", "list")  # the file is free again


def test_the_server_may_take_its_time_to_end(monkeypatch, home):
    """Other commands are ended a second and a half after a signal; requests have longer."""
    found = []
    monkeypatch.setattr(servers, "serve", lambda settings: found.append((settings, signal.set_wakeup_fd(-1))))
    prudent("serve", "--port", 0, "--allowed-host", "a.example", "--behind-proxy", "--relaxed", "--access-log")
    ((settings, listening),) = found
    assert listening == -1
    assert settings == servers.Settings(
        port=0, allowed_hosts=("a.example",), behind_proxy=True, relaxed=True, access_log=True
    )


REFUSED = {
    "trial list": "there is no database prudent.db; name another with --database",
    "trial list --database .": ". is a folder; name a file in it, such as prudent.db",
    "trial list --database experiment.json": "experiment.json is not a database of prudent",
    "trial list --server http://127.0.0.1:9": "--server needs a token; set PRUDENT_TOKEN",
    "trial list --server localhost --token pru_a_b": "url must be such as https://trials.example.org, got 'localhost'",
    "trial create nowhere.json": "nowhere.json: No such file or directory",
    "trial create list.json": "list.json must hold an object of JSON",
    "trial create text.json": "text.json is not JSON: Expecting value: line 1",
    "trial create nan.json": "nan.json is not JSON: NaN is no number",
    "trial create digits.json": "digits.json is not JSON: Exceeds the limit",
    "trial create latin.json": "latin.json is not JSON: 'utf-8' codec",
    "trial create empty.json": "missing required field `name`",
    "trial create odd.json": "unknown field `colour`",
    "trial create experiment.json --name Shop!": "matching regex",
    "trial create experiment.json --database experiment.json": "experiment.json is not a database",
    "trial ask shop --count 0": "--count must be 1 or more, got 0",
    "trial show shop --level 95": "level must lie in (0, 1), got 95",
    "trial tell 1-2-x nan": "the reward must be a finite number, got nan",
    "trial tell 1-2-x 1 --metric latency": "--metric must be a name and a number, such as latency=120, got 'latency'",
    "trial tell 1-2-x 1 --metric latency=fast": "got 'latency=fast'",
    "trial token": "a token needs --scope, one or more of decide, reward, read, admin",
    "trial token --scope read --days -1": "--days must lie in (0, 36,525], got -1",
    "trial pause shop": "Missing option '--reason'",
    "serve --port 99999": "port must be a whole number from 0 to 65535, got 99999",
    "serve --workers 0": "workers must be a whole number from 1 to 64, got 0",
    "serve --rate 0": "rate must lie in (0, ∞), got 0",
    "serve --host 0.0.0.0": "host must be of this machine, such as 127.0.0.1, got '0.0.0.0'",
    "serve backup copy.db": "there is no database prudent.db",
    "serve --database postgresql://h/d backup copy.db": "a backup of PostgreSQL is made with its own pg_dump",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_done_is_refused_in_words_and_leaves_nothing(line, home):
    Path("list.json").write_text("[]")
    Path("text.json").write_text("arms: 2")
    Path("empty.json").write_text("{}")
    Path("nan.json").write_text('{"support": [0, NaN]}')
    Path("digits.json").write_text('{"horizon": ' + "9" * 9999 + "}")
    Path("latin.json").write_bytes(b'{"name": "caf\xe9"}')
    Path("odd.json").write_text(json.dumps({**SPEC, "colour": "red"}))
    before = sorted(home.iterdir())
    assert REFUSED[line] in prudent(*line.split(), code=2, PRUDENT_SERVER="", PRUDENT_TOKEN="")
    assert sorted(home.iterdir()) == before


def test_what_the_service_refuses_is_said_in_its_words(home):
    prudent("trial", "create", "experiment.json")
    assert "there is no experiment" in prudent("trial", "ask", "shep", code=2)
    assert "there is no decision '1-99-abc'" in prudent("trial", "tell", "1-99-abc", "1", code=2)
    Path("experiment.json").write_text(json.dumps({**SPEC, "horizon": 60}))
    assert "shop" in prudent("trial", "create", "experiment.json", code=2)
    assert "arm 'x' is unknown" in prudent("trial", "retire", "shop", "x", "--reason", "r", code=2)


def test_a_damaged_log_is_an_error(home):
    prudent("trial", "create", "experiment.json")
    prudent("trial", "ask", "shop")
    database = sqlite3.connect("prudent.db")
    with database:
        database.execute("UPDATE event SET at = at + 1 WHERE seq = 2")
    database.close()
    assert "the log of shop is damaged from event 2 on" in prudent("trial", "verify", "shop", code=2)


def test_windows_that_closed_meanwhile_are_counted_without_a_server(home):
    spec = {**SPEC, "rewards": {"window": 0.05, "default": 0.0}}
    Path("experiment.json").write_text(json.dumps(spec))
    prudent("trial", "create", "experiment.json")
    (asked,) = prudent("trial", "ask", "shop", "--json")
    while time.time() < asked["due"] / 1000:
        time.sleep(0.01)
    arms = prudent("trial", "show", "shop", "--json")["estimates"]["arms"]
    assert sum(arm["pulls"] for arm in arms) == 1


def test_the_client_and_the_service_understand_each_other(tmp_path):
    """Every verb of the client against the real application, without a server."""
    rewards = {"window": "1 h"}
    with client_of(Service(open_store(str(tmp_path / "trials.db"))).start(), "shop") as client:
        assert client.create({**SPEC, "rewards": rewards})["experiment"] == "shop"
        later = client.ask(activate="later", among=["new"])
        assert (later.arm, later.state, later.due) == ("new", "waiting", None)
        assert client.activate(later).due is not None
        assert client.decision(later.id).state == "open"
        told, unknown = client.tell_many([(later, 1.0, {"latency": 3}), ("1-9-x", 1.0)])
        assert (told["status"], unknown["status"]) == (201, 404)
        (outside,) = client.tell_many([{"arm": "old", "reward": 0.5, "key": "patient 17"}])
        assert outside["recorded"]["arm"] == "old"
        assert client.withdraw(client.ask()).state == "withdrawn"
        client._delivery.fell_back(3, None)
        assert client.ask(unit="somebody").counted
        assert client.show()["fell_back"] == 3
        assert client.forget("asked to")["status"] == "running"
        events = client.events(limit=4)
        assert [event["kind"] for event in events] == ["created", "asked", "activated", "told"]
        assert client.events(after=events[-1]["seq"])[0]["seq"] == 5
        assert Agent.from_json(client.state()).arms == ["old", "new"]
        assert [each["experiment"] for each in client.experiments()] == ["shop"]
        with pytest.raises(ServiceError) as refused:
            client.batch(10)
        assert refused.value.kind == "conflict"  # batches know no windows
    with client_of(Service(open_store(str(tmp_path / "trials.db"))).start(), "other") as client:
        client.create({name: value for name, value in SPEC.items() if name not in ("name", "metrics")})
        batch = client.batch(100)
        batch.tell_many(batch.take()[0], [1.0])
        assert batch.report()["unused"] == 99
        assert batch.report()["again"]


def test_what_needs_attention_is_said():
    arm = {"less": "new", "sentence": "new is answered less often than old."}
    found = {"leader": None, "why": "no support", "summary": {"rewards": 0}, "answered": None, "rails": []}
    assert list(sentences(found)) == ["There are no intervals: no support."]
    found |= {"summary": {"rewards": 3, "sentence": "So far."}, "answered": arm, "rails": [{"rail": 0, "arm": "new"}]}
    assert list(sentences(found))[1:] == ["So far.", arm["sentence"], "Guardrail 1 has acted on new."]
    found["changed"] = [{"arm": "new", "rewards": 9, "sentence": "The rewards of new have changed."}]
    assert "The rewards of new have changed. Nothing that is said of it here" in list(sentences(found))[3]
    found["answered"] = {"less": None, "sentence": "No arm is."}
    assert "No arm is." not in sentences(found)


def test_an_experiment_without_support_says_what_it_lacks(home):
    spec = {name: value for name, value in SPEC.items() if name not in ("support", "metrics")}
    Path("experiment.json").write_text(json.dumps(spec))
    assert "It has no support" in prudent("trial", "create", "experiment.json")
    prudent("trial", "ask", "shop")
    assert "There are no intervals: leader: the agent's support must be bounded" in " ".join(
        prudent("trial", "show", "shop").split()
    ).replace("intervals: intervals:", "intervals: leader:")


def test_a_missing_package_is_named(monkeypatch, home):
    monkeypatch.setitem(sys.modules, "prudent.service.http.server", None)
    assert "pip install '.[serve]'" in prudent("serve", code=2)
    assert serving.__name__ == "prudent.cli.serve"


def test_what_a_plan_writes_is_an_experiment(home):
    options = ["--option", "old: uniform(0, 1)", "--option", "new: gaussian(0..1, 2)", "--smaller-is-better"]
    plan = ["plan", *options, "--rho", 1, "--horizon", 40, "--draws", 10, "--runs", 2, "--policy", "exp-exp"]
    plan += ["--seconds", 1]
    shown = prudent(*plan, "--unit", "min", "--out", "My Plan")
    assert "prudent trial create 'My Plan/experiment.json'\nprudent serve\n" in shown
    assert 'Add "support": [smallest, largest] to it' in " ".join(shown.split())
    spec = json.loads(Path("My Plan/experiment.json").read_text())
    risk = {"policy": "exp-exp", "risk": "mean-variance(rho=1.0)", "horizon": 40}
    assert spec == {"name": "my-plan", "arms": ["new", "old"], **risk, "larger_is_better": False, "unit": "min",
                    "control": "new", "floor": 0.0}  # fmt: skip
    assert spec_of_plan({"recommended": "exp-exp", "experiment": spec}) == spec_of_plan(spec)
    made = prudent("trial", "create", "My Plan/experiment.json", "--name", "checkout", "--json")
    assert made["experiment"] == "checkout"
    with pytest.raises(PrudentError, match=r"must be an object of JSON, experiment\.json"):
        spec_of_plan([1])


def test_an_experiment_begins_with_what_the_pilot_of_its_plan_knows(home):
    """The outcomes are rewards from outside, once however often the experiment is created."""
    Path("pilot.csv").write_text("old,new\n" + "".join(f"{i % 2},{(i % 5) // 2}\n" for i in range(20)))
    plan = ["plan", "--pilot", "pilot.csv", "--rho", 1, "--horizon", 40, "--draws", 10, "--runs", 2]
    prudent(*plan, "--policy", "exp-exp", "--seconds", 1, "--out", "plan")
    for _ in range(2):
        prudent("trial", "create", "plan/experiment.json")
    found = prudent("trial", "show", "plan", "--json")["estimates"]
    assert {arm["arm"]: (arm["pulls"], arm["outside"]) for arm in found["arms"]} == {"new": (20, 20), "old": (20, 20)}
    spec = json.loads(Path("plan/experiment.json").read_text())
    with pytest.raises(PrudentError, match="pilot must hold a list of outcomes for each option"):
        list(pilot_of_plan({**spec, "pilot": {"old": 5}}))


def test_the_support_of_a_plan_is_that_of_its_options():
    binary = guesses(["a: bernoulli(0.1..0.2)", "b: beta(1..2, 3)"])
    other = guesses(["a: uniform(0.5..1, 2)", "b: uniform(0.5..1, 2)"])
    assert Trial.checked(binary, "mean-variance(rho=1)", 10).limits == (0.0, 1.0)
    assert Trial.checked(other, "mean-variance(rho=1)", 10).limits is None
    assert Trial.checked(other, "mean-variance(rho=1)", 10, support=(0, 2)).limits == (0.0, 2.0)
    halves = guesses(["a: bernoulli(0.1..0.2)", "b: uniform(0, 1)"])
    assert Trial.checked(halves, "mean-variance(rho=1)", 10, larger_is_better=False).limits == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Café №5", "caf-5"), ("--", "trial"), ("a" * 80, "a" * 63), ("results", "results"), ("a b_c", "a-b-c")],
)
def test_a_folder_gives_a_name_that_an_experiment_may_have(text, name):
    assert name_of(text) == name


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_an_export_says_how_many_decisions_of_batches_are_not_in_it(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    service = Service(open_store("prudent.db", relaxed=True), patience=3600.0).start()
    service.create(spec_of_plan({**SPEC, "metrics": {}}))
    with client_of(service, "shop") as client:
        client.batch(30)
        client.ask_many(3)
    done = CliRunner().invoke(main, ["trial", "export", "shop", "--format", kind])
    assert done.stderr == "Warning: 30 decisions of batches are not in it, because their rewards come merged.\n"
