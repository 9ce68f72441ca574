"""The document of the API is the committed one, and random requests made from it get the answers that it promises."""

import json
import os
import re
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import one_of, randoms, sampled_from
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent.service.http.api import ROUTES
from prudent.service.http.openapi import document
from prudent.service.problems import KINDS

COMMITTED = Path(__file__).parents[2] / "docs/reference/openapi.json"


def test_the_document_is_the_committed_one():
    """If not: python -m prudent.service.http.openapi > docs/reference/openapi.json"""
    assert document(ROUTES) == COMMITTED.read_bytes()


def test_the_document_says_everything():
    whole = json.loads(document(ROUTES))
    operations = [one for path in whole["paths"].values() for one in path.values()]
    assert len(operations) == len(ROUTES)
    assert len({one["operationId"] for one in operations}) == len(ROUTES)
    assert all(one["summary"].endswith(".") for one in operations)
    assert sum("security" in one for one in operations) == sum(bool(route.scope) for route in ROUTES)


def test_the_page_of_the_api_names_every_route_problem_and_metric(tmp_path):
    page = (COMMITTED.parent / "http.md").read_text()
    rows = re.findall(r"^\| `(\w+) (/\S*)` \| (\w+) \|", page, re.MULTILINE)
    assert sorted(rows) == sorted((route.method, route.path, route.scope or "none") for route in ROUTES)
    for name, kind in KINDS.items():
        (row,) = [line for line in page.splitlines() if line.startswith("|") and f"`{name}`" in line]
        assert str(kind.status) in row
    site = InProcessService(str(tmp_path / "prudent.db"))
    shown = set(re.findall(r"^# TYPE (prudent_\w+)", site("GET", "/metrics").body.decode(), re.MULTILINE))
    site.close()
    shown = {name for name in shown if not name.endswith("_created")}
    assert set(re.findall(r"`(prudent_\w+)", page)) == shown


def test_the_document_is_served(tmp_path):
    site = InProcessService(str(tmp_path / "prudent.db"))
    assert site("GET", "/openapi.json", token=None).body == document(ROUTES)
    site.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(
        str(tmp_path_factory.mktemp("site") / "prudent.db"), hosts=["testserver", "localhost"], rate=1e9
    )
    SITES.append(site)
    yield site
    site.close()


RANDOM = {"deadline": None, "database": None, "phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    ignored_auth,
]


SITES = []
randoms().validate()  # imports what Hypothesis would import in the middle of a test, where Python 3.11 may fail


async def latest(scope, receive, send):
    """The application, which there is only when a test runs; it must not stop after each call."""
    assert scope["type"] == "http"
    await SITES[-1].app(scope, receive, send)


SCHEMA = schemathesis.openapi.from_dict(json.loads(document(ROUTES)))
SCHEMA.app = latest
OPERATIONS = {each.ok().label: each.ok() for each in SCHEMA.get_all_operations()}
EXAMPLES = int(os.environ.get("PRUDENT_EXAMPLES", "0"))


@pytest.mark.parametrize("label", OPERATIONS)
def test_random_requests_get_the_answers_that_the_document_promises(site, label):
    """For a longer search: PRUDENT_EXAMPLES=1000 pytest tests/service/test_http_openapi.py"""
    operation = OPERATIONS[label]
    sent = operation.body or operation.query or operation.path_parameters or operation.headers
    name = f"api-{list(OPERATIONS).index(label)}"
    site("POST", "/v1/experiments", {**EXPERIMENT, "name": name})

    cases = one_of(operation.as_strategy(mode) for mode in GenerationMode if mode != GenerationMode.NEGATIVE or sent)

    @settings(max_examples=EXAMPLES or 5, derandomize=not EXAMPLES, **RANDOM)
    @given(cases, sampled_from([True, True, False]))
    def check(case, there):
        if there:  # mostly of something that is there
            ids = {"experiment": name, "decision": site.decision(name), "batch": site.decision(name)}
            case.path_parameters = {key: ids.get(key, value) for key, value in (case.path_parameters or {}).items()}
        case.call_and_validate(headers={"Authorization": f"Bearer {site.tokens['admin']}"}, checks=CHECKS)

    check()
