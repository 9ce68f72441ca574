"""OpenFeature's own clients evaluate experiments as flags, and report rewards as tracking events."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.service.running_server import running_servers
from helpers.service.served_experiments import FLAGS

pytest.importorskip("openfeature.contrib.provider.ofrep", reason="pip install openfeature-provider-ofrep")
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails

PAGE = (Path(__file__).parents[2] / "docs/practitioners/openfeature.md").read_text("utf-8")
JAVASCRIPT = Path(__file__).parents[1] / "helpers/service/openfeature_client.cjs"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_servers() as start:
        server = start(str(tmp_path_factory.mktemp("server") / "a.db"))
        server.read_token()
        for flag in FLAGS[1:]:
            assert server.ask("POST", "/v1/experiments", flag)[0] == 201
        yield server
        server.stop()


@pytest.fixture(scope="module")
def page(server):
    """The names of the example of the documentation, which has run."""
    (spec,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert server.ask("POST", "/v1/experiments", json.loads(spec))[0] == 201
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRUDENT_SERVER", f"http://127.0.0.1:{server.port}")
        patch.setenv("SHOP_TOKEN", server.token)
        exec(compile(block, "docs/practitioners/openfeature.md", "exec"), names)
    return names


def reward_of(server, decision):
    return json.loads(server.ask("GET", f"/v1/decisions/{decision}")[1])["reward"]


def test_the_example_of_the_page_has_a_decision_and_its_reward(server, page):
    details = page["client"].get_string_details("layout", "none", page["visitor"])
    assert details.value == page["layout"]
    assert reward_of(server, details.flag_metadata["decision"]) == 1.0


def test_the_python_client_of_openfeature(server, page):
    client, ann = page["client"], EvaluationContext("py-ann", {"segment": "mobile"})
    details = client.get_string_details("layout", "none", ann)
    assert details.value in ("wide", "narrow")
    assert (details.variant, details.reason, details.error_code) == (details.value, Reason.SPLIT, None)
    assert client.get_string_value("layout", "none", ann) == details.value
    assert client.get_boolean_details("banner", False, ann).variant in ("true", "false")
    assert client.get_float_value("price", 0.0, ann) in (9.0, 9.5)
    for flag, context, code in (
        ("nothing", ann, ErrorCode.FLAG_NOT_FOUND),
        ("layout", EvaluationContext(), ErrorCode.TARGETING_KEY_MISSING),
    ):
        wrong = client.get_string_details(flag, "none", context)
        assert (wrong.value, wrong.error_code) == ("none", code)
    client.track("bought", ann, TrackingEventDetails(value=1.0))
    assert reward_of(server, details.flag_metadata["decision"]) == 1.0


def test_the_javascript_client_of_openfeature(server):
    """npm install --prefix DIR @openfeature/server-sdk @openfeature/ofrep-provider, then NODE_PATH=DIR/node_modules."""
    modules = Path(os.environ.get("NODE_PATH", "/nothing"))
    if shutil.which("node") is None or not (modules / "@openfeature/ofrep-provider").is_dir():
        pytest.skip("node or OpenFeature's packages for it are not installed")
    command = ["node", str(JAVASCRIPT), f"http://127.0.0.1:{server.port}", server.token]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert found["layout"]["reason"] == "SPLIT"
    assert found["again"] == found["layout"]["value"] == found["layout"]["variant"]
    assert isinstance(found["banner"]["value"], bool)
    assert found["price"]["value"] in (9, 9.5)
    assert (found["nobody"]["value"], found["nobody"]["errorCode"]) == ("none", "TARGETING_KEY_MISSING")
    assert (found["nothing"]["value"], found["nothing"]["errorCode"]) == ("none", "FLAG_NOT_FOUND")
    (result,) = found["tracked"]["results"]
    assert result["recorded"]["decision"] == found["layout"]["flagMetadata"]["decision"]
