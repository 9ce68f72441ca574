"""Experiments as feature flags, by OpenFeature's remote evaluation protocol, and tracking events as rewards."""

import pytest

from helpers.service.served_experiments import FLAGS, InProcessService
from prudent.service.http import flags
from prudent.service.http.flags import kind_of

PATH = "/ofrep/v1/evaluate/flags"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    for flag in FLAGS:
        assert site("POST", "/v1/experiments", flag).status == 201
    yield site
    site.close()


def evaluated(site, flag, unit, **about):
    context = {} if unit is None else {"targetingKey": unit}
    return site("POST", f"{PATH}/{flag}", {"context": context}, "decide", **about)


def tracked(site, event, unit, **details):
    return site("POST", "/v1/track", {"event": event, "context": {"targetingKey": unit}, "details": details}, "reward")


def test_a_unit_gets_one_decision_however_often_its_flag_is_evaluated(site):
    first = evaluated(site, "layout", "ann")
    assert first.status == 200
    assert first.json["key"] == "layout"
    assert first.json["value"] == first.json["variant"]
    assert first.json["reason"] == "SPLIT"
    decision = site("GET", f"/v1/decisions/{first.json['metadata']['decision']}").json
    assert (decision["arm"], decision["propensity"]) == (first.json["variant"], first.json["metadata"]["propensity"])
    asked = site("GET", "/v1/experiments/layout").json["seq"]
    assert [evaluated(site, "layout", "ann").json for _ in range(3)] == [first.json] * 3
    assert site("GET", "/v1/experiments/layout").json["seq"] == asked


def test_what_is_wrong_is_said_in_the_words_of_the_protocol(site):
    def said(answer):
        return answer.status, answer.json["errorCode"], answer.json.get("key")

    assert said(evaluated(site, "nothing", "ann")) == (404, "FLAG_NOT_FOUND", "nothing")
    assert said(evaluated(site, "one", "ann")) == (404, "FLAG_NOT_FOUND", "one")  # it is not sticky
    assert said(evaluated(site, "NO-NAME", "ann")) == (404, "FLAG_NOT_FOUND", "NO-NAME")
    assert said(evaluated(site, "layout", None)) == (400, "TARGETING_KEY_MISSING", "layout")
    assert said(evaluated(site, "layout", "")) == (400, "TARGETING_KEY_MISSING", "layout")
    assert said(evaluated(site, "layout", 7)) == (400, "INVALID_CONTEXT", "layout")
    assert said(evaluated(site, "layout", "a" * 501)) == (400, "INVALID_CONTEXT", "layout")
    assert said(site("POST", f"{PATH}/layout", b"{", "decide")) == (400, "PARSE_ERROR", "layout")
    assert said(site("POST", f"{PATH}/layout", {"context": 3}, "decide")) == (400, "PARSE_ERROR", "layout")
    assert said(site("POST", PATH, {"context": {}}, "decide")) == (400, "TARGETING_KEY_MISSING", None)
    assert said(site("POST", PATH, {"context": {}}, "reward")) == (403, "GENERAL", None)
    assert said(site("POST", f"{PATH}/layout", {}, None)) == (401, "GENERAL", "layout")


def test_a_later_version_of_the_protocol_may_send_more(site):
    body = {"context": {"targetingKey": "ann", "segment": {"any": ["thing"]}}, "later": 1}
    assert site("POST", f"{PATH}/layout", body, "decide").status == 200


def test_all_flags_at_once_with_a_tag_that_changes_with_them(site, monkeypatch):
    body = {"context": {"targetingKey": "bulk"}}
    first = site("POST", PATH, body, "decide")
    assert [flag["key"] for flag in first.json["flags"]] == ["banner", "layout", "price"]
    assert first.json["flags"][1] == evaluated(site, "layout", "bulk").json
    tag = [("if-none-match", first.headers["etag"])]
    same = site("POST", PATH, body, "decide", headers=tag)
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", first.headers["etag"])
    other = site("POST", PATH, {"context": {"targetingKey": "other"}}, "decide", headers=tag)
    assert other.status == 200
    some = site.service.tokens.create(["decide"], ["layout"])[0]
    assert [flag["key"] for flag in site("POST", PATH, body, some).json["flags"]] == ["layout"]
    monkeypatch.setattr(flags, "MOST", 2)
    refused = site("POST", PATH, body, "decide")
    assert (refused.status, refused.json["errorCode"]) == (400, "PARSE_ERROR")
    assert "3 flags, and at most 2" in refused.json["errorDetails"]


def test_a_paused_flag_gives_the_fallback_arm_or_leaves_the_program_its_default(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"))
    for flag in FLAGS[:2]:
        assert site("POST", "/v1/experiments", flag).status == 201
    evaluated(site, "banner", "early")
    for name in ("layout", "banner"):
        site("POST", f"/v1/experiments/{name}/pause", {"reason": "closed"})
    given = evaluated(site, "layout", "ann").json
    assert (given["value"], given["reason"]) == ("wide", "DISABLED")
    assert given["metadata"] == {"why": "the experiment is paused"}
    refused = evaluated(site, "banner", "ann")
    assert (refused.status, refused.json["errorCode"]) == (400, "GENERAL")
    assert evaluated(site, "banner", "early").json["reason"] == "SPLIT"  # a unit keeps its arm
    banner, layout = site("POST", PATH, {"context": {"targetingKey": "ann"}}, "decide").json["flags"]
    assert (banner["errorCode"], layout["value"]) == ("GENERAL", "wide")
    site.close()


def test_a_deleted_experiment_is_no_flag(tmp_path):
    site = InProcessService(str(tmp_path / "a.db"))
    for flag in FLAGS[:2]:
        assert site("POST", "/v1/experiments", flag).status == 201
    body = {"context": {"targetingKey": "ann"}}
    assert len(site("POST", PATH, body, "decide").json["flags"]) == 2
    for verb in ("stop", "delete"):
        assert site("POST", f"/v1/experiments/layout/{verb}", {"reason": "over"}).status == 200
    assert [flag["key"] for flag in site("POST", PATH, body, "decide").json["flags"]] == ["banner"]
    assert evaluated(site, "layout", "ann").json["errorCode"] == "FLAG_NOT_FOUND"
    site.close()


def test_an_event_is_the_reward_of_the_decision_of_its_unit_once(site):
    decision = evaluated(site, "layout", "buyer").json["metadata"]["decision"]
    (result,) = tracked(site, "layout", "buyer").json["results"]
    assert (result["experiment"], result["status"], result["recorded"]["decision"]) == ("layout", 201, decision)
    assert site("GET", f"/v1/decisions/{decision}").json["reward"] == 1.0
    assert tracked(site, "layout", "buyer", value=1).json["results"][0]["status"] == 200
    other = tracked(site, "layout", "buyer", value=0.5)
    assert (other.status, other.json["refused"]) == (207, 1)
    assert other.json["results"][0]["problem"]["type"] == "/problems/other-reward"
    assert site("GET", f"/v1/decisions/{decision}").json["reward"] == 1.0


def test_events_take_names_values_and_metrics_as_the_experiment_says(site):
    for flag in ("price", "banner"):
        evaluated(site, flag, "buyer")
    assert tracked(site, "price", "buyer", value=3).json == {"results": []}  # its event is another one
    assert tracked(site, "paid", "buyer").json["results"][0]["status"] == 422  # 1 is no price
    assert tracked(site, "paid", "buyer", value="3").json["results"][0]["status"] == 422
    assert tracked(site, "paid", "buyer", value=10**400).json["results"][0]["status"] == 422
    assert tracked(site, "paid", "buyer", value=3, delay=1).json["results"][0]["recorded"]["reward"] == 3.0
    recorded = tracked(site, "banner", "buyer", delay=2.5, place="door").json["results"][0]["recorded"]
    assert site("GET", f"/v1/decisions/{recorded['decision']}").json["metrics"] == {"delay": 2.5}
    nobody = tracked(site, "banner", "stranger")
    assert (nobody.status, nobody.json["results"][0]["status"]) == (207, 404)


def test_an_event_reaches_only_experiments_of_the_token(site):
    evaluated(site, "layout", "walled")
    token = site.service.tokens.create(["reward"], ["banner"])[0]
    body = {"event": "layout", "context": {"targetingKey": "walled"}}
    assert site("POST", "/v1/track", body, token).json == {"results": []}


def test_labels_read_as_values_only_if_all_do():
    assert [kind_of(arms) for arms in (["true", "false"], ["1", "2"], ["1", "2.5"])] == [bool, int, float]
    assert [kind_of(arms) for arms in (["true", "1"], ["True"], ["nan", "1"], ["1", "b"])] == [str] * 4
    flag = flags.Flag("x", None, bool)
    assert [flag.value(arm) for arm in ("true", "false", "later")] == [True, False, "later"]
