"""Webhooks: what happens is told to receivers, signed, in order, and until they have taken it."""

import base64
import json
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("standardwebhooks", reason="pip install standardwebhooks")
from helpers.service.served_experiments import EXPERIMENT, InProcessService
from helpers.service.webhook_receivers import Receiver
from prudent.cli import main
from prudent.service import messages as m
from prudent.service.http.webhooks import NewWebhook
from prudent.service.log.store import open_store
from prudent.service.problems import RequestError
from prudent.service.spec import decoded
from prudent.service.work import outbox, post
from prudent.service.work.service import Service

SPEC = decoded({**EXPERIMENT, "name": "one"})


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(autouse=True)
def haste(monkeypatch):
    monkeypatch.setattr(outbox, "TICK", 0.02)
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 0.05)


def served(database, **settings):
    service = Service(open_store(database, relaxed=True), patience=3600.0, private_webhooks=True, **settings).start()
    service.create(SPEC)
    return service


def told(service, receiver, **asked):
    """A new target: this receiver."""
    made = service.webhooks.create(NewWebhook(receiver.url, **asked))
    receiver.secret = made.secret
    return made


def pause(service, reason, verb="pause"):
    service.run("one", m.BODIES[verb](reason))


def reasons(receiver):
    return [one.data["body"]["reason"] for one in receiver.taken]


def test_what_people_do_is_told_in_order_and_once(database, receiver):
    service = served(database)
    pause(service, "before")
    told(service, receiver)
    service.outbox.start()
    for i in range(3):
        pause(service, f"resume {i}", "resume")
        pause(service, f"pause {i}")
    receiver.waits(lambda it: len(it.taken) == 6)
    time.sleep(0.2)
    service.close()
    assert reasons(receiver) == [f"{verb} {i}" for i in range(3) for verb in ("resume", "pause")]
    assert receiver.tries == 6
    first = receiver.received[0]
    assert first.type == "experiment.resumed"
    assert first.data["experiment"] == "one"
    assert first.data["words"] == "Resumed: resume 0"
    assert len({one.id for one in receiver.received}) == 6


def test_a_target_is_told_what_it_asked_for_and_of_no_unit(database, receiver):
    service = served(database)
    service.create(decoded({**EXPERIMENT, "name": "other"}))
    told(service, receiver, events=["decision", "guardrail"], experiments=["one"])
    service.outbox.start()
    made = [service.run(name, m.Ask(unit="ann"), key=f"key {name}").decisions[0] for name in ("other", "one")]
    service.run("one", m.Tell(0.5), decision=made[1].decision)
    pause(service, "no decision")
    receiver.waits(lambda it: len(it.taken) == 1)
    time.sleep(0.2)
    service.close()
    (one,) = receiver.received
    assert (one.type, one.data["decision"], one.data["label"]) == ("experiment.asked", made[1].decision, made[1].arm)
    assert not {"unit", "key", "link", "by"} & one.data.keys()


def test_guardrails_and_alarms_are_told(database, receiver):
    service = served(database)
    rail = {"watch": "mean", "below": 0.4, "then": "retire", "arm": "b"}
    service.create(decoded({**EXPERIMENT, "name": "railed", "guardrails": [rail]}))
    told(service, receiver, events=["guardrail", "state"])
    service.outbox.start()
    rewards = [m.Told(0.0, arm="b", key=str(i)) for i in range(200)]
    service.run("railed", m.TellMany(rewards))
    receiver.waits(lambda it: len(it.taken) == 2)
    service.close()
    assert [one.type for one in receiver.taken] == ["experiment.guardrail", "experiment.arm_retired"]
    assert "below 0.4" in receiver.taken[0].data["words"]


def test_what_is_not_taken_is_sent_again_with_the_same_id_and_later_ones_wait(database, receiver, monkeypatch):
    service = served(database)
    target = told(service, receiver)
    receiver.status = 500
    service.outbox.start()
    pause(service, "first")
    pause(service, "second", "resume")
    receiver.waits(lambda it: it.tries >= 3)
    assert {one.data["body"]["reason"] for one in receiver.received} == {"first"}
    assert len({one.id for one in receiver.received}) == 1
    (known,) = [each.info() for each in service.webhooks.all()]
    assert known.failures >= 2
    assert known.trouble == "status 500"
    assert known.again > known.created
    assert service.alarms == ["1 receiver of webhooks has not taken the last message; GET /v1/webhooks says why."]
    receiver.status = 200
    receiver.waits(lambda it: len(it.taken) == 2)
    assert reasons(receiver) == ["first", "second"]
    (known,) = [each.info() for each in service.webhooks.all()]
    assert (known.id, known.failures, known.trouble) == (target.id, 0, "")
    service.close()


def test_what_is_taken_ends_the_count_of_failures(tmp_path, receiver, monkeypatch):
    service = served(str(tmp_path / "a.db"))
    told(service, receiver)
    receiver.status = 500
    service.outbox.start()
    pause(service, "first")
    receiver.waits(lambda it: it.tries >= 3)
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 60.0)
    receiver.status = lambda data: 200 if data["body"]["reason"] == "first" else 500
    pause(service, "second", "resume")
    receiver.waits(lambda it: it.taken and it.received[-1].data["body"]["reason"] == "second")
    time.sleep(0.2)
    (known,) = service.webhooks.all()
    service.close()
    assert known.failures == 1
    assert 40_000 < known.again - service.now() < 80_000


def test_pauses_grow_up_to_an_hour_and_as_long_as_the_receiver_asks(database, monkeypatch):
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 5.0)
    service = served(database)
    service.webhooks.create(NewWebhook("https://example.org/"))
    (target,) = service.webhooks.all()

    def seconds(failures, wait=0.0):
        before = service.now()
        service.outbox._fail(target._replace(failures=failures), "no", wait)
        return (service.webhooks.all()[0].again - before) / 1000.0

    assert [0.7 * 5 * 2**n < seconds(n) < 1.3 * 5 * 2**n + 1 for n in range(9)] == [True] * 9
    assert 2600 < seconds(10_000) < 4501
    assert 599 < seconds(0, 600.0) < 602
    assert 3599 < seconds(0, 1e9) < 3602
    service.close()


def test_a_receiver_that_is_gone_or_sends_elsewhere_is_told_nothing_more_or_nothing_else(database, receiver):
    service, elsewhere = served(database), Receiver()
    told(service, receiver)
    receiver.status, receiver.headers = 302, {"location": elsewhere.url}
    service.outbox.start()
    pause(service, "first")
    receiver.waits(lambda it: it.tries >= 2)
    assert elsewhere.tries == 0
    receiver.status = 410
    receiver.waits(lambda it: it.received[-1].answered == 410)
    tries = receiver.tries
    time.sleep(0.3)
    assert receiver.tries == tries
    assert service.webhooks.all()[0].gone is not None
    assert service.alarms == []
    service.close()
    elsewhere.close()


def test_a_service_that_starts_again_goes_on_where_it_was(database, receiver):
    service = served(database)
    told(service, receiver)
    service.outbox.start()
    pause(service, "first")
    receiver.waits(lambda it: len(it.taken) == 1)
    service.close()
    service = served(database)
    pause(service, "while nothing is sent", "resume")
    service.close()
    service = served(database)
    service.outbox.start()
    receiver.waits(lambda it: len(it.taken) == 2)
    service.close()
    assert reasons(receiver) == ["first", "while nothing is sent"]


def test_of_two_services_one_sends(postgres, receiver, request):
    database = postgres.new_database("webhooks")
    services = [served(database), served(database)]
    told(services[0], receiver, events=["decision"])
    for service in services:
        service.outbox.start()
    for i in range(40):
        services[i % 2].run("one", m.Ask())
    receiver.waits(lambda it: len(it.taken) >= 40)
    time.sleep(0.2)
    assert receiver.tries == 40
    (target,) = services[0].webhooks.all()
    first, second = sorted(services, key=lambda service: service.outbox._name != target.holder)
    first.close()  # the other one takes over at once
    second.run("one", m.Ask())
    receiver.waits(lambda it: len(it.taken) == 41, 5.0)
    second.close()


def test_an_answer_that_could_not_be_written_down_is_not_asked_for_again(database, receiver):
    service = served(database)
    told(service, receiver)
    write = service.outbox._write
    fail = []

    def failing(act):
        if fail and "move" in getattr(act, "__name__", ""):
            fail.pop()
            raise RequestError("unavailable", "not now")
        return write(act)

    service.outbox._write = failing
    fail += [1]
    service.outbox.start()
    pause(service, "first")
    receiver.waits(lambda it: len(it.taken) == 1)
    pause(service, "second", "resume")
    receiver.waits(lambda it: len(it.taken) == 2)
    service.close()
    assert reasons(receiver) == ["first", "second"]


def test_only_an_administrator_of_everything_names_receivers(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"))
    body = {"url": "https://example.org/hook"}
    for token in ("decide", "reward", "read", site.service.tokens.create(["admin"], ["one"])[0]):
        assert site("POST", "/v1/webhooks", body, token).status == 403
        assert site("GET", "/v1/webhooks", token=token).status == 403
    made = site("POST", "/v1/webhooks", body)
    assert made.status == 201
    assert made.json["events"] == ["alarm", "guardrail", "state"]
    assert made.json["secret"].startswith("whsec_")
    (listed,) = site("GET", "/v1/webhooks").json
    assert "secret" not in listed
    assert listed["id"] == made.json["id"]
    refused = site("POST", "/v1/webhooks", {"url": "https://127.0.0.1/"})
    assert (refused.status, "--allow-private-webhooks" in refused.json["detail"]) == (422, True)
    for _ in range(19):
        assert site("POST", "/v1/webhooks", body).status == 201
    assert site("POST", "/v1/webhooks", body).status == 409
    assert site("DELETE", f"/v1/webhooks/{listed['id']}").status == 204
    assert site("DELETE", f"/v1/webhooks/{listed['id']}").status == 404
    site.close()


def test_the_receiver_of_the_documentation_reads_what_comes(tmp_path):
    page = (Path(__file__).parents[2] / "docs/practitioners/operations.md").read_text("utf-8")
    ((block, printed),) = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", page, re.DOTALL)
    exec(compile(block, "docs/practitioners/operations.md", "exec"), names := {})
    service = Service(open_store(str(tmp_path / "a.db")), patience=3600.0, private_webhooks=True).start()
    service.create(decoded({**EXPERIMENT, "name": "checkout"}))
    service.run("checkout", m.BODIES["pause"]("the shop is closed"))
    experiment = service.store.experiment("checkout")
    (event, _) = service.store.events(experiment.id, 1, 1)[0]
    service.close()
    body, secret, at = outbox.message(experiment, event), b"x" * 32, int(time.time())
    signed = post.signature(secret, "evt_1", at, body)
    headers = {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signed}
    assert names["received"](base64.b64encode(secret).decode(), headers, body) == printed.strip()


def test_the_commands_name_list_and_remove_receivers(tmp_path):
    def prudent(*given, code=0):
        done = CliRunner().invoke(main, ["trial", "webhook", *given, "--database", str(tmp_path / "a.db")])
        assert done.exit_code == code, done.output
        return done.output

    assert "pass the URL" in prudent(code=2)
    secret = prudent("https://example.org/hook", "--event", "guardrail", "--note", "pager")
    assert len(base64.b64decode(secret.strip().removeprefix("whsec_"))) == 32
    (made,) = json.loads(prudent("--list", "--json"))
    assert (made["url"], made["events"], made["note"]) == ("https://example.org/hook", ["guardrail"], "pager")
    assert "example.org" in prudent("--list")
    assert "told nothing more" in prudent("--remove", made["id"])
    assert "no webhooks yet" in prudent("--list")
    assert "no such webhook" in prudent("--remove", made["id"], code=2)
