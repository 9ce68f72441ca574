"""docs/practitioners/service.md does what it says: its commands, curl's too, run in order against a real service."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from helpers.service.served_command import ServedCommand
from prudent.cli import main
from prudent.service.http.api import ROUTES
from prudent.service.spec import decoded

pytestmark = [
    pytest.mark.xdist_group("trial"),
    pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="needs curl and bash"),
]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/practitioners/service.md").read_text("utf-8")
BLOCK = re.compile(r"```(sh|python)\n(.*?)```(?:\n```(text|json)\n(.*?)```)?", re.DOTALL)
ID = re.compile(r"\b\d+-\d+-[0-9a-f]{10}\b")
FEWER = " --rho 1 --policy exp-exp --draws 10 --runs 2"
NUMBER = re.compile(r"\d[\d,.]*")


class Reader:
    """Somebody who types what the page says: `prudent` runs in this process, since it takes seconds to start, and the
    rest in a shell."""

    def __init__(self, folder):
        self.folder, self.service, self.names, self.id = folder, None, {"__name__": "page"}, ""
        self.environment = {"COLUMNS": "80"}

    def types(self, text):
        """What the terminal shows."""
        if text == "prudent serve\n":
            self.service = ServedCommand(self.folder)
            return ""
        lines = text.replace("\\\n", " ").replace(" --rho 1", FEWER).replace("20000", "200").splitlines()
        return "".join(self.line(line) for line in lines)

    def line(self, line):
        """What one line shows. What it exports holds for the next ones."""
        line = ID.sub(lambda found: self.id or found[0], line)
        if self.service is not None:
            line = line.replace("http://127.0.0.1:8080", self.service.url).replace("pru_…", self.service.token)
        if line.startswith("export "):
            inner = re.fullmatch(r"export (\w+)=\$\((.*)\)", line)
            given = {inner[1]: self.line(inner[2]).strip()} if inner else dict(x.split("=") for x in line.split()[1:])
            self.environment |= given
            return ""
        if line.startswith("prudent "):
            done = CliRunner().invoke(main, shlex.split(line)[1:], env=self.environment)
            assert done.exit_code == 0, f"{line}\n{done.output}"
            shown = done.stdout
        else:
            environment = {**os.environ, **self.environment}
            shown = subprocess.run(
                ["bash", "-euc", line], check=True, cwd=self.folder, env=environment, capture_output=True, text=True
            ).stdout
        self.id = found[0] if (found := ID.search(shown)) else self.id
        return shown

    def runs(self, text, capsys, monkeypatch):
        """What a script prints."""
        for name in ("PRUDENT_SERVER", "PRUDENT_TOKEN", "SHOP_TOKEN"):
            monkeypatch.setenv(name, self.environment[name])
        exec(compile(text, "docs/practitioners/service.md", "exec"), self.names)
        return capsys.readouterr().out


def shape(value):
    """A tree of JSON without its numbers and ids, and without its choices."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items() if name not in ("arm", "decision")}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.slow
def test_the_page_from_its_beginning_to_its_end(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) >= 9
    assert sum("curl" in block[1] for block in blocks) >= 2
    reader = Reader(tmp_path)
    try:
        for language, text, kind, printed in blocks:
            shown = reader.types(text) if language == "sh" else reader.runs(text, capsys, monkeypatch)
            if kind == "json":
                assert shape(json.loads(shown)) == shape(json.loads(printed))
            elif kind == "text":
                assert NUMBER.sub("#", printed.strip()) in NUMBER.sub("#", shown)
                assert "miss" not in printed or printed.strip() == shown.strip()
        assert (tmp_path / "monday.db").stat().st_size > 10_000
    finally:
        if reader.service is not None:
            reader.service.stop()


def test_the_example_of_an_experiment_is_one():
    (text,) = re.findall(r"```json\n(\{\n.*?)```", PAGE, re.DOTALL)
    spec = decoded(text).settled()
    assert spec.waits
    assert spec.guardrails
    assert spec.sticky


def test_the_addresses_of_the_page_are_there():
    """What the page calls by its path is a route."""
    known = {re.sub(r"\{\w+\}", "{}", route.path) for route in ROUTES}
    for path in re.findall(r"`(?:GET|POST|PUT|DELETE) (/[\w/{}]+)`", PAGE):
        assert re.sub(r"\{\w+\}", "{}", path) in known
    ends = {path.rpartition("/")[2] for path in known}
    named = re.findall(r"`(?:GET |POST |PUT )?…/(\w+)`", PAGE) + re.findall(r"`/(\w+)`", PAGE)
    assert set(named) <= ends
    assert len(named) > 5


def test_the_arithmetic_of_the_page():
    """10⁹ decisions a day, with the figures of the table."""
    a_second = 1e9 / 86_400
    assert round(a_second, -2) == 11_600
    assert round(2 * a_second, -2) == 23_100
    batches = 1e9 / 10_000
    assert round(2 * batches / 86_400, 1) == 2.3
    (each,) = map(float, re.findall(r"\((\d+) bytes for a batch", PAGE))
    assert f"{batches * each / 1e6:.0f} MB ({each:.0f} bytes for a batch" in PAGE
    assert f"after {10_000 / (a_second / 20):.0f} s with 20 edges" in PAGE
