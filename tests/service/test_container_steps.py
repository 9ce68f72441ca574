"""The steps of `deploy/Dockerfile` and `deploy/compose.yaml` without a registry: the wheel is built as the
image builds it, installed into an empty environment, and served as somebody without rights; the image says how it is.
"""

import json
import os
import re
import shlex
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
pytest.importorskip("hatchling", reason="the wheel is built by hatchling")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="the image is one of Linux")]

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
STEPS = (ROOT / "deploy/compose.yaml").read_text("utf-8")
NOBODY = "nobody" if os.geteuid() == 0 else None
HOST = "trials.example.org"


def entry(image):
    """What the image runs."""
    (name,) = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)[1])
    return [str(image / "bin" / name)]


@pytest.fixture(scope="module")
def home():
    """A folder of somebody without rights."""
    folder = Path(tempfile.mkdtemp(prefix="prudent-image-"))
    folder.chmod(0o755)
    if NOBODY:
        shutil.chown(folder, NOBODY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def image(home, tmp_path_factory):
    """The environment of the image: the wheel as the Dockerfile builds it; what it needs is that of the tests."""
    folder = tmp_path_factory.mktemp("build")
    (build,) = re.findall(r"&& (pip wheel .*) --wheel-dir /wheels \.$", DOCKERFILE, re.MULTILINE)
    source = folder / "source"
    for name in ("src", "docs"):  # of what COPY takes, what the wheel is made of
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    pip = [sys.executable, "-m", *shlex.split(build), "--no-index", "--quiet"]
    subprocess.run([*pip, "--wheel-dir", str(folder), "."], cwd=source, check=True)
    (wheel,) = folder.glob("prudent-*.whl")
    place = home / "environment"
    venv.create(place, with_pip=False)
    python = place / "bin/python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*install, str(wheel)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text("\n".join(site.getsitepackages()))  # what the wheel needs comes from a registry
    found = subprocess.run(
        [python, "-c", "import prudent; print(prudent.__file__)"], cwd=home, user=NOBODY, env={},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.startswith(str(packages))
    return place


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Container:
    """The command of a container, at another port than 8080, which may be taken here."""

    def __init__(self, image, home, command):
        self.image, self.home, self.port = image, home, free_port()
        self.about = {"cwd": home, "user": NOBODY, "env": {"HOME": str(home), "NUMBA_CACHE_DIR": str(home / "cache")}}
        self.process = subprocess.Popen([*entry(image), *command, "--port", str(self.port)], **self.about)

    def healthy(self):
        """What the health check of the image says, once it has had its time to start."""
        program, *arguments = healthcheck()
        check = [str(self.image / "bin" / program), *(text.replace("8080", str(self.port)) for text in arguments)]
        until = time.monotonic() + 60.0
        while subprocess.run(check, capture_output=True, check=False, **self.about).returncode:
            assert self.process.poll() is None, "the service has ended"
            assert time.monotonic() < until, "the service does not become healthy"
            time.sleep(0.3)
        return True

    def get(self, path, host, token=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Host": host})
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=10.0) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20.0)


def healthcheck():
    return json.loads(re.search(r"HEALTHCHECK.*?CMD (\[.*?\])\n", DOCKERFILE, re.DOTALL)[1])


def served_command():
    return json.loads(re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[1])


def test_the_image_serves_and_is_healthy(image, home):
    token = subprocess.run(
        [*entry(image), "trial", "token", "--scope", "admin"], cwd=home, user=NOBODY, env={"HOME": str(home)},
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    container = Container(image, home, served_command())
    try:
        assert container.healthy()
        assert container.get("/v1/experiments", "localhost", token) == 200
        assert container.get("/v1/experiments", "localhost") == 401
        assert (home / "prudent.db").stat().st_mode & 0o777 == 0o600
    finally:
        assert container.stop() in (0, -signal.SIGTERM)


def test_without_a_token_the_image_refuses_to_be_reached(image, home):
    """A check must be able to fail."""
    (home / "empty").mkdir()
    if NOBODY:
        shutil.chown(home / "empty", NOBODY)
    container = Container(image, home / "empty", served_command())
    assert container.process.wait(60.0) == 2
    with pytest.raises(AssertionError, match="has ended"):
        container.healthy()


def test_the_composition_serves_with_two_workers(image, home, postgres):
    address = postgres.new_database("composed")
    (first,) = re.findall(r"run --rm prudent (.*)", STEPS)
    given = COMPOSE["services"]["prudent"]["command"]
    used = [re.sub(r"\$\{SITE[^}]*\}", HOST, text) for text in given]
    (database,) = {text.partition("=")[2] for text in used if text.startswith("--database=")}
    assert shlex.split(first)[-1] == database
    token = subprocess.run(
        [*entry(image), *(text.replace(database, address) for text in shlex.split(first))], cwd=home, user=NOBODY,
        env={"HOME": str(home)}, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    container = Container(image, home, [text.replace(database, address) for text in used])
    try:
        assert container.healthy()
        assert [container.get("/v1/experiments", HOST, token) for _ in range(4)] == [200] * 4
        assert container.get("/v1/experiments", "elsewhere.example", token) == 403
    finally:
        assert container.stop() in (0, -signal.SIGTERM)
