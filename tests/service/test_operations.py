"""What operations need: files that fit the service, a log that programs read, and an upgrade without a pause."""

import json
import logging
import re
import shlex
from pathlib import Path

import pytest

from helpers.service.served_experiments import EXPERIMENT, InProcessService
from prudent import PrudentError
from prudent.cli.serve import serve
from prudent.service import messages as m
from prudent.service.http.api import ROUTES
from prudent.service.http.routes import PROBES
from prudent.service.log import store as store_module
from prudent.service.log.store import SCHEMA, open_store
from prudent.service.spec import decoded
from prudent.service.work.journal import AsJson
from prudent.service.work.service import Service

DEPLOY = Path(__file__).parents[2] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"), access_log=True)
    yield site
    site.close()


def test_alerts_and_the_dashboard_ask_for_numbers_that_there_are(site):
    site.decision()
    text = site("GET", "/metrics").body.decode()
    known = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? [^ ]+$", text, re.M):
        known.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    rules = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text("utf-8"))["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana/dashboard.json").read_text("utf-8"))["panels"]
    asked = [rule["expr"] for rule in rules] + [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(asked) > 15
    for expression in asked:
        names = set(re.findall(r"prudent_\w+", expression))
        assert names <= known.keys(), expression
        labels = set(re.findall(r"(\w+)=~?\"", expression)) | set(
            re.findall(r"\w+", " ".join(re.findall(r"(?:by|on) \(([^)]*)\)", expression)))
        )
        allowed = {label for name in names for label in known[name]} | {"job", "le"}
        assert labels <= allowed, expression
    for rule in rules:
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= {"experiment"}


def options(words):
    """That the command takes these words."""
    assert words[0] == "serve"
    return serve.make_context("serve", list(words[1:]), resilient_parsing=False).params


def test_the_image_serves_as_somebody_without_rights_and_tells_its_health():
    command = json.loads(re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.M)[1])
    assert options(command)["behind_proxy"]
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.M)
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT")
    check = re.search(r"HEALTHCHECK.*?CMD (\[.*?\])\n", DOCKERFILE, re.S)[1]
    (path,) = re.findall(r"http://127.0.0.1:8080(/\w+)", check)
    assert path in PROBES  # which are answered under any name, without a token
    compile(json.loads(check)[2], "check", "exec")
    for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.M):
        assert all((DEPLOY.parent / name).exists() for name in line.split())
    assert "latest" not in DOCKERFILE


def test_the_composition_fits_together():
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    services = found["services"]
    given = options(services["prudent"]["command"])
    assert given["workers"] == 2
    assert given["database"].startswith("postgresql://prudent@database/")
    assert services["prudent"]["build"]["dockerfile"] == "deploy/Dockerfile"
    assert set(services["prudent"]["depends_on"]) | set(services["proxy"]["depends_on"]) <= set(services)
    assert all("ports" not in services[name] for name in ("prudent", "database"))  # only the proxy is reached
    volumes = {each.partition(":")[0] for service in services.values() for each in service.get("volumes", ())}
    assert volumes == set(found["volumes"])
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    (command,) = re.findall(r"run --rm prudent (.*)", text)
    assert shlex.split(command)[:2] == ["trial", "token"]
    assert "--behind-proxy" in services["prudent"]["command"]


def test_a_line_of_the_log_is_json_without_what_people_sent(site, caplog):
    with caplog.at_level(logging.INFO, "prudent.service"):
        site("GET", "/v1/experiments/one/estimates?level=0.9")
        site("GET", "/nothing%0Asecret")
    lines = [json.loads(AsJson().format(record)) for record in caplog.records]
    first, second = (line for line in lines if "status" in line)
    assert (first["method"], first["path"], first["status"]) == ("GET", "/v1/experiments/{experiment}/estimates", 200)
    assert first["level"] == "info"
    assert first["milliseconds"] >= 0.0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["time"])
    assert second["status"] == 404
    assert "secret" not in json.dumps(second)
    assert len(AsJson().format(logging.LogRecord("a", 40, "", 1, "two\nlines", None, None)).splitlines()) == 1


def test_two_versions_of_the_software_work_side_by_side(database, monkeypatch):
    """An upgrade one process after the other, and back, if the newer tables only have more than the older ones."""

    def served(*changes):
        with monkeypatch.context() as patch:
            for name, value in changes:
                patch.setattr(store_module, name, value)
            service = Service(open_store(database, relaxed=True), patience=3600.0).start()
            service.create(decoded({**EXPERIMENT, "name": "one"}))
            service.run("one", m.Ask())
            assert service.verify("one").ok
            service.close()

    more = [*store_module.MIGRATIONS, ["ALTER TABLE experiment ADD COLUMN more TEXT"]]
    newer = [("MIGRATIONS", more), ("SCHEMA", SCHEMA + 1)]
    served()
    served(*newer)
    served()  # the older one is started again
    served(*newer)
    most = [*more, ["ALTER TABLE experiment ADD COLUMN most TEXT"]]
    served(("MIGRATIONS", most), ("SCHEMA", SCHEMA + 2), ("LEAST", SCHEMA + 1))
    with pytest.raises(PrudentError, match=f"newer version of prudent .tables {SCHEMA + 2}"):
        open_store(database)
    served(*newer)


def test_every_route_of_the_health_check_is_there():
    assert {route.path for route in ROUTES} >= set(PROBES)
