"""What every route answers when all is well, and the headers that go with it."""

import csv
import io
import json
import threading
from datetime import datetime

import polars
import pytest
from prometheus_client.parser import text_string_to_metric_families

import prudent
from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent import Agent
from prudent.service.http import api
from prudent.service.http.api import ROUTES
from prudent.service.log.store import StoreError
from prudent.service.problems import ADVICE, KINDS

ARMS = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", 'plain, "quoted"', "b"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "prudent.db"))
    yield site
    site.close()


def made(site, name, **more):
    assert site("POST", "/v1/experiments", {**EXPERIMENT, "name": name, **more}).status == 201
    return f"/v1/experiments/{name}"


def played(site, name, rounds, **more):
    """An experiment with so many rewards, which are told as they were asked for."""
    path = made(site, name, **more)
    for i in range(rounds):
        decision = site("POST", f"{path}/decisions", {}).json["decisions"][0]["decision"]
        answer = site(
            "PUT", f"/v1/decisions/{decision}/reward", {"reward": (i * 7 % 10) / 10, "metrics": {"delay": i % 10}}
        )
        assert answer.status == 201
    return path


def test_an_experiment_is_created_once(site):
    body = {**EXPERIMENT, "name": "once"}
    first, second = (site("POST", "/v1/experiments", body) for _ in range(2))
    assert (first.status, second.status) == (201, 200)
    assert first.json["experiment"] == second.json["experiment"] == "once"
    assert first.headers["location"] == "/v1/experiments/once"
    other = site("POST", "/v1/experiments", {**body, "horizon": 7})
    assert (other.status, other.json["type"]) == (409, "/problems/name-taken")


def test_an_experiment_is_shown_with_its_spec_and_its_tag(site):
    path = made(site, "shown", note="why")
    answer = site("GET", path)
    assert answer.json["spec"]["note"] == "why"
    assert answer.json["spec"]["arms"] == ["a", "b"]
    assert len(answer.json["chain"]) == 64
    assert answer.headers["etag"] == f'"{answer.json["seq"]}"'
    assert "shown" in [status["experiment"] for status in site("GET", "/v1/experiments").json]
    assert site("GET", "/v1/experiments/nobody").status == 404


@pytest.mark.parametrize("path", ["", "/estimates", "/estimates?level=0.9"])
def test_nothing_is_sent_again_until_something_happened(site, path):
    where = f"{made(site, 'tagged' + str(len(path)))}"
    tag = site("GET", where + path).headers["etag"]
    for given in (tag, "*", f'"x", {tag}', f"W/{tag}"):
        again = site("GET", where + path, headers=[("if-none-match", given)])
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    site("POST", f"{where}/decisions", {})
    answer = site("GET", where + path, headers=[("if-none-match", tag)])
    assert (answer.status, answer.headers["etag"] != tag) == (200, True)


def test_estimates_are_computed_once_for_an_event(site, monkeypatch):
    path = made(site, "frugal")
    computed = []
    real = api.replies.estimates
    monkeypatch.setattr(api.replies, "estimates", lambda *given: computed.append(given) or real(*given))
    first = site("GET", f"{path}/estimates")
    assert site("GET", f"{path}/estimates").body == first.body
    site("GET", f"{path}/estimates", headers=[("if-none-match", first.headers["etag"])])
    assert len(computed) == 1
    site("GET", f"{path}/estimates?level=0.9")
    site("POST", f"{path}/decisions", {})
    assert site("GET", f"{path}/estimates").json["seq"] == 2
    assert len(computed) == 3


def test_a_change_may_be_meant_for_one_state_only(site):
    path = made(site, "matched")
    tag = site("GET", path).headers["etag"]
    site("POST", f"{path}/decisions", {})
    late = site("POST", f"{path}/pause", {"reason": "x"}, headers=[("if-match", tag)])
    assert (late.status, late.json["type"]) == (412, "/problems/state-changed")
    tag = site("GET", path).headers["etag"]
    assert site("POST", f"{path}/pause", {"reason": "x"}, headers=[("if-match", tag)]).status == 200
    assert site("POST", f"{path}/resume", {"reason": "x"}, headers=[("if-match", "*")]).status == 200
    for bad in ("1", 'W/"1"', '"x"', '"1", "2"', "", '"' + "9" * 19 + '"'):
        answer = site("POST", f"{path}/pause", {"reason": "x"}, headers=[("if-match", bad)])
        assert (answer.status, answer.json["type"]) == (400, "/problems/bad-request")


def test_a_decision_and_its_reward(site):
    decision = site.decision()
    assert site("GET", f"/v1/decisions/{decision}").json["state"] == "open"
    path = f"/v1/decisions/{decision}/reward"
    first, second = (site("PUT", path, {"reward": 1}) for _ in range(2))
    assert (first.status, second.status) == (201, 200)
    other = site("PUT", path, {"reward": 0})
    assert (other.status, other.json["type"], other.json["stands"]) == (409, "/problems/other-reward", 1.0)
    shown = site("GET", f"/v1/decisions/{decision}").json
    assert (shown["state"], shown["reward"]) == ("done", 1.0)
    assert site("POST", f"/v1/decisions/{decision}/withdraw").status == 409


def test_decisions_that_wait_are_activated_or_withdrawn(site):
    path = "/v1/experiments/one/decisions"
    asked = site("POST", path, {"count": 2, "activate": "later"}).json["decisions"]
    first, second = (decision["decision"] for decision in asked)
    assert site("PUT", f"/v1/decisions/{first}/reward", {"reward": 1}).status == 409
    assert site("POST", f"/v1/decisions/{first}/activate").json["state"] == "open"
    assert site("PUT", f"/v1/decisions/{first}/reward", {"reward": 1}).status == 201
    assert site("POST", f"/v1/decisions/{second}/withdraw").json["state"] == "withdrawn"


def test_many_rewards_have_a_result_each(site):
    decision = site.decision()
    rewards = [
        {"decision": decision, "reward": 0.5},
        {"decision": "1-1-0000000000", "reward": 0.5},
        {"arm": "a", "key": "old-1", "reward": 0.25},
        {"arm": "a", "key": "old-1", "reward": 0.25},
        {"arm": "a", "reward": 0.25},
    ]
    results = site("POST", "/v1/experiments/one/rewards", {"rewards": rewards}).json["results"]
    assert [result["status"] for result in results] == [201, 404, 201, 200, 422]
    assert results[1]["problem"]["type"] == "/problems/not-found"
    too_many = {"rewards": [{"decision": decision, "reward": 0.5}] * 1001}
    assert site("POST", "/v1/experiments/one/rewards", too_many).status == 422


def test_the_life_of_an_experiment(site):
    path = made(site, "life")
    reason = {"reason": "because"}
    assert site("POST", f"{path}/pause", reason).json["status"] == "paused"
    fallback = site("POST", f"{path}/decisions", {}).json["decisions"][0]
    assert (fallback["decision"], fallback["arm"]) == (None, "a")
    assert site("POST", f"{path}/pause", reason).status == 409
    assert site("POST", f"{path}/freeze", {**reason, "arm": "b"}).json["frozen_to"] == "b"
    assert site("POST", f"{path}/resume", reason).json["status"] == "running"
    added = site("POST", f"{path}/arms", {**reason, "arm": "c"})
    assert (added.status, added.json["arms"]) == (201, ["a", "b", "c"])
    assert site("POST", f"{path}/retire", {**reason, "arm": "b"}).json["arms"] == ["a", "c"]
    assert site("POST", f"{path}/fallbacks", {"count": 3}).status == 200
    assert site("GET", path).json["fell_back"] == 3
    assert site("POST", f"{path}/forget", reason).status == 200
    assert site("POST", f"{path}/stop", reason).json["status"] == "stopped"
    assert site("POST", f"{path}/resume", reason).status == 409
    assert site("POST", f"{path}/pause", {}).status == 422


def test_batches(site):
    path = made(site, "batches", metrics={})
    key = [("idempotency-key", "b1")]
    first, second = (site("POST", f"{path}/batches", {"count": 10}, headers=key) for _ in range(2))
    assert (first.status, second.status) == (201, 200)
    batch = first.json
    assert sum(batch["arms"].values()) == 10
    body = {"arms": {arm: {"count": n, "mean": 0.5, "variance": 0.1} for arm, n in batch["arms"].items() if n}}
    merged = [site("PUT", f"/v1/batches/{batch['batch']}", body).status for _ in range(2)]
    assert merged == [201, 200]


def test_what_is_known_of_the_arms(site):
    path = played(site, "known", 30)
    answer = site("GET", f"{path}/estimates?level=0.9").json
    agent = Agent.from_json(site("GET", f"{path}/state").body)
    known, intervals = agent.estimates(), agent.intervals(0.9)
    assert answer["level"] == 0.9
    assert [arm["pulls"] for arm in answer["arms"]] == [arm.pulls for arm in known]
    assert sum(arm["told"] for arm in answer["arms"]) == sum(arm["pulls"] for arm in answer["arms"]) == 30
    assert [arm["cost"] for arm in answer["arms"]] == [arm.cost for arm in known]
    for name in ("mean", "variance", "cost"):
        ends = [list(getattr(each, name)) for each in intervals]
        assert [arm[f"{name}_interval"] for arm in answer["arms"]] == ends
    assert answer["leader"]["sentence"] == str(agent.leader(0.9))
    assert answer["summary"]["sentence"] == str(agent.summary(0.9))
    assert answer["summary"]["variance"] == pytest.approx(answer["summary"]["within"] + answer["summary"]["moving"])
    assert (answer["rails"], answer["why"]) == ([], None)
    assert (answer["control"], answer["arms"][1]["cost_difference"]) == (None, None)
    best = agent.posterior()
    assert (answer["posterior"], [arm["best"] for arm in answer["arms"]]) == (str(best), list(best.best.values()))


def test_how_arms_differ_from_a_control(site):
    path = played(site, "apart", 30)
    control = Agent.from_json(site("GET", f"{path}/state").body).arms[0]
    answer = site("GET", f"{path}/estimates?level=0.9&control={control}").json
    agent = Agent.from_json(site("GET", f"{path}/state").body)
    assert answer["control"] == control
    for arm, known in zip(answer["arms"], agent.differences(control, 0.9), strict=True):
        for name in ("mean", "deviation", "cost"):
            ends = getattr(known, name)
            assert arm[f"{name}_difference"] == (None if ends is None else list(ends))
    refused = site("GET", f"{path}/estimates?control=nobody")
    assert refused.status == 422
    assert "estimates: control must be one of the arms, got 'nobody'" in refused.json["detail"]


def test_an_arm_whose_rewards_get_lost_is_told(tmp_path, clock):
    site = InProcessService(str(tmp_path / "prudent.db"), clock)
    assert site("GET", "/v1/experiments/one/estimates").json["answered"] is None  # nothing closes here
    path = made(
        site, "lossy", rewards={"window": "1 h", "default": 0}, policy="round-robin", risk="mean-variance(rho=1)"
    )
    asked = site("POST", f"{path}/decisions", {"count": 200}).json["decisions"]
    rewards = [{"decision": d["decision"], "reward": 1} for i, d in enumerate(asked) if d["arm"] == "a" or i % 4 == 1]
    results = site("POST", f"{path}/rewards", {"rewards": rewards}).json["results"]
    assert {result["status"] for result in results} == {201}
    open_ones = site("GET", f"{path}/estimates").json["answered"]
    assert (open_ones["less"], open_ones["rates"]["a"]) == (None, [0.0, 1.0])  # no window has closed yet
    clock.advance(3601)
    site.service.close_windows()
    answer = site("GET", f"{path}/estimates").json
    assert (answer["answered"]["less"], answer["answered"]["more"]) == ("b", "a")
    assert answer["answered"]["sentence"].startswith("b is answered less often than a")
    low, high = answer["answered"]["rates"]["b"]
    lost = answer["arms"][1]
    assert low < lost["told"] / lost["asked"] < high
    assert lost["told"] + lost["defaulted"] == lost["pulls"]
    site.close()


def test_a_guardrail_that_has_acted_is_told(site):
    rail = {"watch": "mean", "metric": "delay", "above": 5, "then": "freeze", "to": "a", "arm": "b"}
    path = made(site, "rail", guardrails=[rail], policy="round-robin", risk="mean-variance(rho=1)")
    for _ in range(3):
        asked = site("POST", f"{path}/decisions", {"count": 100}).json["decisions"]
        rewards = [{"decision": d["decision"], "reward": 1, "metrics": {"delay": 9}} for d in asked if d["arm"] == "b"]
        if rewards:
            site("POST", f"{path}/rewards", {"rewards": rewards})
    answer = site("GET", f"{path}/estimates").json
    assert (answer["rails"], answer["status"]) == ([{"rail": 0, "arm": "b"}], "frozen")
    assert 'prudent_guardrail_fired_total{experiment="rail"} 1.0' in site("GET", "/metrics").body.decode()


def test_without_a_support_there_are_estimates_but_no_intervals(site):
    path = made(site, "unbounded", support=None, policy="mv-lcb(rho=1, range=1)", metrics={})
    answer = site("GET", f"{path}/estimates").json
    assert answer["leader"] is None
    assert "support" in answer["why"]
    assert answer["arms"][0]["mean_interval"] is None


def test_the_log_in_pages(site):
    path = played(site, "log", 5)
    first = site("GET", f"{path}/events?limit=4")
    assert first.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in first.body.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4]
    assert first.headers["link"] == f'<{path}/events?after=4&limit=4>; rel="next"'
    rest = site("GET", f"{path}/events?after=4")
    assert [json.loads(line)["seq"] for line in rest.body.splitlines()] == list(range(5, 12))
    assert "link" not in rest.headers
    assert site("GET", f"{path}/events?after=100").body == b""
    for bad in ("limit=0", "limit=10001", "after=-1", "after=x", f"after={2**70}"):
        assert site("GET", f"{path}/events?{bad}").status == 422


def test_decisions_as_files(site, monkeypatch):
    monkeypatch.setattr("prudent.service.views.export.PAGE", 3)  # several pages
    path = played(site, "file", 10, arms=ARMS, fallback="b")
    text = site("GET", f"{path}/export")
    assert text.headers["content-disposition"] == 'attachment; filename="file.csv"'
    rows = list(csv.DictReader(io.StringIO(text.body.decode())))
    lines = [json.loads(line) for line in site("GET", f"{path}/export?format=ndjson").body.splitlines()]
    table = polars.read_parquet(site("GET", f"{path}/export?format=parquet").body)
    assert len(rows) == len(lines) == len(table) == 10
    assert [line["arm"] for line in lines] == table["arm"].to_list()
    names = ["decision", "arm", "state", "at", "due", "reward", "propensity", "floor", "without_chance", "delay"]
    assert table.columns == list(rows[0]) == names
    times = [datetime.fromisoformat(row["at"]) for row in rows]
    assert times == table["at"].to_list()
    assert [round(1000.0 * time.timestamp()) for time in times] == [line["at"] for line in lines]
    assert [float(row["propensity"]) for row in rows] == [line["propensity"] for line in lines] == [1.0] * 10
    assert table["propensity"].to_list() == [1.0] * 10
    assert table["floor"].to_list() == [float(row["floor"]) for row in rows] == [0.0] * 10
    assert {row["without_chance"] for row in rows} == {*table["without_chance"]} == {"[]"}
    assert [(line["floor"], line["without_chance"]) for line in lines] == [(0.0, [])] * 10
    assert [float(row["reward"]) for row in rows] == [line["reward"] for line in lines] == table["reward"].to_list()
    assert [float(row["delay"]) for row in rows] == list(range(10)) == table["delay"].to_list()
    # No cell begins as a formula does, and what was changed for that can be told.
    assert {row["arm"] for row in rows} == {"'" + arm if arm[0] in "=+-@" else arm for arm in table["arm"]}
    assert any(row["arm"].startswith("'=") for row in rows)


def test_metrics_and_the_control_of_the_spec_are_in_the_estimates(site):
    path = made(site, "metrics", arms=["a", "b"], metrics={"latency": {"support": [0, 100]}}, control="b")
    told: dict[str, list[float]] = {"a": [], "b": []}
    for i in range(40):
        decision = site("POST", f"{path}/decisions", {}).json["decisions"][0]
        told[decision["arm"]].append(20.0 + i)
        body = {"reward": 0.5, "metrics": {"latency": 20.0 + i}}
        assert site("PUT", f"/v1/decisions/{decision['decision']}/reward", body).status == 201
    found = site("GET", f"{path}/estimates?level=0.9").json
    assert found["control"] == "b"
    assert found["arms"][0]["mean_difference"] is not None
    assert site("GET", f"{path}/estimates?control=a").json["control"] == "a"
    alone = Agent("round-robin", ["a", "b"], risk="mean", support=(0, 100))
    for arm, values in told.items():
        for value in values:
            alone.tell(arm, value, asked=False)
    for arm, known, ends in zip(found["arms"], alone.estimates(), alone.intervals(0.9), strict=True):
        latency = arm["metrics"]["latency"]
        assert (latency["count"], latency["mean"]) == (known.pulls, pytest.approx(known.mean))
        assert latency["mean_interval"] == pytest.approx(list(ends.mean))
        assert latency["variance_interval"] == pytest.approx(list(ends.variance))
    wrong = site("POST", "/v1/experiments", {**EXPERIMENT, "name": "wrong", "control": "nobody"})
    assert (wrong.status, "'nobody'" in wrong.json["detail"]) == (422, True)


def test_a_file_says_which_arms_could_be_taken_in_each_round(site, monkeypatch):
    monkeypatch.setattr("prudent.service.views.export.PAGE", 2)  # several pages
    path = made(site, "chances", arms=["a", "b", "c"], floor={"a": 0.2, "c": 0.05}, cap=0.9)

    def ask(**among):
        assert site("POST", f"{path}/decisions", among).status == 201

    ask()
    ask(among=["a", "c"])
    ask(among=["b", "c"], activate="later")
    assert site("POST", f"{path}/arms", {"arm": "d", "reason": "new"}).status == 201
    ask()
    assert site("POST", f"{path}/retire", {"arm": "c", "reason": "old"}).status == 200
    ask()
    assert site("POST", f"{path}/freeze", {"arm": "d", "reason": "for now"}).status == 200
    ask()
    lines = [json.loads(line) for line in site("GET", f"{path}/export?format=ndjson").body.splitlines()]
    # Among two arms the cap leaves 0.1 for the other one; a third one takes what b might have had.
    others = [["b", "d"], ["b", "d"], ["a", "d"], ["b", "d"], ["b", "c", "d"], ["a", "b", "c"]]
    assert [line["without_chance"] for line in lines] == others
    assert [line["floor"] for line in lines] == pytest.approx([0.05, 0.1, 0.1, 0.05, 0.2, 1.0])


def test_a_negative_number_stays_a_number_in_a_file(site):
    path = made(site, "losses", support=[-1, 0])
    decision = site("POST", f"{path}/decisions", {}).json["decisions"][0]["decision"]
    site("PUT", f"/v1/decisions/{decision}/reward", {"reward": -0.5})
    assert b",-0.5," in site("GET", f"{path}/export").body


def test_an_empty_experiment_is_an_empty_file(site):
    path = made(site, "empty")
    names = b"decision,arm,state,at,due,reward,propensity,floor,without_chance,delay\n"
    assert site("GET", f"{path}/export").body == names
    assert site("GET", f"{path}/export?format=ndjson").body == b""
    assert len(polars.read_parquet(site("GET", f"{path}/export?format=parquet").body)) == 0


def test_the_state_goes_on_elsewhere(site):
    path = played(site, "state", 6)
    answer = site("GET", f"{path}/state")
    assert answer.headers["prudent-seq"] == "13"
    agent = Agent.from_json(answer.body)
    arm = site("POST", f"{path}/decisions", {}).json["decisions"][0]["arm"]
    assert agent.ask() == arm


def test_the_log_is_verified(site):
    path = played(site, "verified", 3)
    answer = site("POST", f"{path}/verify").json
    assert (answer["ok"], answer["events"], answer["first_bad"]) == (True, 7, None)
    assert answer["chain"] == site("GET", path).json["chain"]


def test_a_verification_keeps_nobody_from_stopping(site, monkeypatch):
    threads = []
    real = site.service.verify
    monkeypatch.setattr(site.service, "verify", lambda name: threads.append(threading.current_thread()) or real(name))
    assert site("POST", "/v1/experiments/one/verify").status == 200
    assert threads[0].daemon
    assert site("POST", "/v1/experiments/nobody/verify").status == 404
    assert site("POST", "/v1/experiments/one/verify").status == 200  # an error does not keep others out


def test_one_verification_at_a_time(site):
    with api.VERIFYING:
        answer = site("POST", "/v1/experiments/one/verify")
    assert (answer.status, answer.json["type"]) == (503, "/problems/busy")
    assert answer.headers["retry-after"] == "1"
    assert site("POST", "/v1/experiments/one/verify").status == 200


def test_numbers_for_prometheus_name_arms_and_no_units(site):
    path = made(site, "counted", arms=['an "arm"', "b\\"], fallback="b\\")
    site("POST", f"{path}/decisions", {"unit": "ann"})
    text = site("GET", "/metrics").body.decode()
    assert r'prudent_decisions_total{arm="an \"arm\"",experiment="counted"} 1.0' in text
    assert r'prudent_rewards_total{arm="b\\",experiment="counted",how="told"} 0.0' in text
    read = {one.name: one for one in text_string_to_metric_families(text)}
    arms = [sample.labels["arm"] for sample in read["prudent_decisions"].samples if "counted" in sample.labels.values()]
    assert arms == ['an "arm"', "b\\"]
    assert 'prudent_open_decisions{experiment="counted"} 1.0' in text
    assert 'prudent_request_seconds_count{method="POST",path="/v1/experiments/{experiment}/decisions"}' in text
    assert f'prudent_build_info{{version="{prudent.__version__}"}} 1.0' in text
    assert "prudent_commits_total" in text
    assert "prudent_queue_length" in text
    for secret in ("ann", *(token[13:] for token in site.tokens.values())):
        assert secret not in text


def test_health_readiness_version(site, monkeypatch):
    assert site("GET", "/healthz", token=None).json == {"ready": True, "reasons": []}
    assert site("GET", "/readyz", token=None).status == 200
    monkeypatch.setattr(site.service, "ready", lambda: ["the disk is full"])
    answer = site("GET", "/readyz", token=None)
    assert (answer.status, answer.json["reasons"]) == (503, ["the disk is full"])
    assert site("GET", "/healthz", token=None).status == 200
    assert site("GET", "/version").json == {"prudent": prudent.__version__}


def test_every_kind_of_problem_has_its_page(site):
    assert ADVICE.keys() == KINDS.keys()
    for name, kind in KINDS.items():
        page = site("GET", f"/problems/{name}", token=None).json
        assert (page["status"], page["title"], page["type"]) == (kind.status, kind.title, f"/problems/{name}")
        assert page["advice"].endswith(".")


def test_what_is_not_there_and_what_cannot_be_done(site):
    for path in (
        "/",
        "/v1",
        "/v1/",
        "/v1/experiments/",
        "/v1/experiments/one/",
        "/v2/experiments",
        "//healthz",
        "/v1//x",
    ):
        answer = site("GET", path)
        assert (answer.status, answer.json["type"]) == (404, "/problems/not-found"), path
    answer = site("PATCH", "/v1/experiments")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    assert site("GET", "/v1/experiments/one/pause").headers["allow"] == "POST"
    assert site("OPTIONS", "/v1/experiments", headers=[("origin", "https://evil.example")]).status == 405


def test_head_is_get_without_a_body(site):
    for path in ("/healthz", "/v1/experiments/one", "/v1/experiments/one/export", "/v1/experiments/one/events"):
        get, head = site("GET", path), site("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers == get.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80"]
)
def test_a_foreign_host_is_refused(site, host):
    answer = site("GET", "/v1/experiments", host=host)
    assert (answer.status, answer.json["type"]) == (403, "/problems/foreign-host")
    assert site("GET", "/openapi.json", token=None, host=host).status == 403
    assert site("GET", "/healthz", token=None, host=host).status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]", "[::1]:8080"])
def test_this_machine_is_no_foreign_host(site, host):
    assert site("GET", "/v1/experiments", host=host).status == 200


def test_every_answer_has_the_headers_of_safety(site):
    for answer in (site("GET", "/v1/experiments"), site("GET", "/nothing"), site("GET", "/healthz", token=None)):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert not any(name.startswith("access-control") for name in answer.headers)


def test_an_unexpected_error_says_nothing_of_the_inside(site, monkeypatch, caplog):
    def fail(*arguments):
        raise ZeroDivisionError("secret of the inside")

    monkeypatch.setattr(site.service, "experiments", fail)
    answer = site("GET", "/v1/experiments")
    assert (answer.status, answer.json["type"]) == (500, "/problems/internal")
    assert b"secret" not in answer.body
    assert "secret of the inside" in caplog.text


def test_a_database_that_is_away_is_no_error_of_ours(site, monkeypatch):
    def fail(*arguments):
        raise StoreError("connection to 10.0.0.7 refused")

    monkeypatch.setattr(site.service, "experiments", fail)
    answer = site("GET", "/v1/experiments")
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert b"10.0.0.7" not in answer.body


def test_a_full_queue_is_answered_at_once(site, monkeypatch):
    monkeypatch.setattr(site.service, "queue_limit", 0)
    answer = site("POST", "/v1/experiments/one/decisions", {})
    assert (answer.status, answer.json["type"]) == (503, "/problems/busy")
    assert int(answer.headers["retry-after"]) >= 1


def test_every_route_says_what_it_does():
    for route in ROUTES:
        assert route.does.__doc__
        assert route.kinds <= KINDS.keys()
