"""A real Chromium, spoken to through a pipe with its DevTools protocol; it needs nothing but the program."""

import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from importlib.resources import files
from importlib.util import find_spec

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = "axe_playwright_python"
"""The package that carries axe-core; of it only that file is used."""

FLAGS = (
    "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run"
    " --disable-extensions --disable-background-networking --disable-component-update --hide-scrollbars"
)


class Browser:
    """One window. `errors` are what the console said, `requests` all addresses that pages asked for."""

    def __init__(self, patience: float = 240.0) -> None:
        self.patience = patience
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.loaded = self.width = 0
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        take, self._out = os.pipe()
        self._in, give = os.pipe()
        command = f'exec "$0" {FLAGS} --user-data-dir="$1" about:blank 3<&{take} 4>&{give} 2>/dev/null'
        self._process = subprocess.Popen(["bash", "-c", command, CHROMIUM, self._folder], pass_fds=(take, give))
        os.close(take)
        os.close(give)
        self._answers: dict[int, dict] = {}
        self._arrived = threading.Condition()
        self._numbers, self._session = itertools.count(1), None
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.send(f"{part}.enable")

    def _listen(self) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while part := os.read(self._in, 2**16):
                *messages, rest = (rest + part).split(b"\0")
                for message in messages:
                    self._hear(json.loads(message))

    def _hear(self, message: dict) -> None:
        told = message.get("params", {})
        kind = message.get("method")
        with self._arrived:
            if "id" in message:
                self._answers[message["id"]] = message
            elif kind == "Page.loadEventFired":
                self.loaded += 1
            elif kind == "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            elif kind == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(told["exceptionDetails"])[:500])
            elif kind == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
                self.errors.append(json.dumps(told["args"])[:500])
            elif kind == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                self.errors.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
            self._arrived.notify_all()

    def send(self, method: str, **params):
        """A command, and its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        message |= {} if self._session is None else {"sessionId": self._session}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        with self._arrived:
            assert self._arrived.wait_for(lambda: number in self._answers, self.patience), f"{method}: no answer"
            answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def size(self, width: int, height: int) -> None:
        """The size of the window; small ones are telephones."""
        self.width = width
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def darken(self, scheme: str) -> None:
        """What the person prefers: dark or light."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, url: str) -> None:
        """Open an address, and wait until it is there."""
        before = self.loaded
        self.send("Page.navigate", url=url)
        self._load(before)

    def press(self, selector: str) -> None:
        """Press a button or a link that leads to a page, and wait for that."""
        before = self.loaded
        script = "(() => { const it = document.querySelector(%s); it?.click(); return !!it })()"
        assert self.run(script % json.dumps(selector)), f"there is no {selector}"
        self._load(before)

    def _load(self, before: int) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.loaded > before, self.patience), "the page does not come"

    def run(self, script: str):
        """What a script gives."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str):
        """Wait until a script gives something, which is returned."""
        limit = time.monotonic() + self.patience
        while not (found := self.run(script)):
            assert time.monotonic() < limit, f"{script}\n{self.text()}"
            time.sleep(0.1)
        return found

    def text(self) -> str:
        """The words of the page."""
        return self.run("document.body.innerText")

    def fill(self, **fields: str) -> None:
        """Type into fields, by their names."""
        for name, text in fields.items():
            self.run(
                f"(() => {{ const it = document.querySelector('[name={json.dumps(name)}]'); it.value ="
                f" {json.dumps(text)}; it.dispatchEvent(new Event('input', {{bubbles: true}})) }})()"
            )

    def attach(self, name: str, path: str) -> None:
        """Choose a file."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=f'[name="{name}"]')["nodeId"]
        self.send("DOM.setFileInputFiles", files=[path], nodeId=node)

    def picture(self, *, height: int | None = None) -> bytes:
        """The window as PNG."""
        clip = {"x": 0, "y": 0, "width": self.width, "height": height or self.run("innerHeight"), "scale": 1}
        return base64.b64decode(self.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])

    def violations(self) -> list[str]:
        """What axe-core calls serious or critical."""
        self.run((files(AXE) / "axe.min.js").read_text("utf-8") + "; true")
        found = self.run("axe.run(document, {resultTypes: ['violations']}).then(it => it.violations)")
        return [
            f"{each['id']}: {each['help']}: {', '.join(node['html'][:200] for node in each['nodes'][:3])}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    def too_wide(self) -> list[str]:
        """What reaches beyond the window's edge, outside of boxes that scroll."""
        return self.run(  # the window of a telephone grows with what is too wide, so its own width says nothing
            "[...document.querySelectorAll('main *')].filter(it => !it.closest('.scroll, thead, pre, svg') &&"
            f" it.getBoundingClientRect().right > {self.width + 1}).map(it => it.outerHTML.slice(0, 200))"
        )

    def cut_words(self) -> list[str]:
        """Words of pictures that are cut by the edge of their picture."""
        return self.run(
            "[...document.querySelectorAll('svg.chart')].flatMap(svg => { const box = svg.getBoundingClientRect();"
            " return [...svg.querySelectorAll('text')].filter(it => { const its = it.getBoundingClientRect();"
            " return its.width && (its.left < box.left - 1 || its.right > box.right + 1 || its.top < box.top - 1"
            " || its.bottom > box.bottom + 1) }).map(it => it.textContent) })"
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._ear.join(timeout=10.0)
        for end in (self._out, self._in):
            with contextlib.suppress(OSError):
                os.close(end)
        shutil.rmtree(self._folder, ignore_errors=True)


def has_axe() -> bool:
    """Whether axe-core is installed; where tests run by themselves it must be."""
    found = find_spec(AXE) is not None
    assert found or not os.environ.get("CI"), f"axe-core is missing: pip install --no-deps {AXE}"
    return found
