"""What the pages cost: bytes, requests, time to answer, and how many asks a second 20 open pages take away.

    python benchmarks/page.py                       with 1,000,000 decisions and 20 arms
    python benchmarks/page.py --decisions 100000

Times depend on the machine and on what else it does. So processor time is given beside the time that passed, and asks
a second with and without pages are measured in turns.
"""

import argparse
import asyncio
import contextlib
import http.client
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prudent.service import messages as m
from prudent.service.http.api import ROUTES
from prudent.service.http.app import App
from prudent.service.log.store import open_store
from prudent.service.pages.app import Site
from prudent.service.pages.experiment import shown
from prudent.service.pages.settings import Settings
from prudent.service.spec import decoded
from prudent.service.views.view import View
from prudent.service.work.service import Service
from service import _call, _cpu, _load_http, show

ARMS = [f"variant {i}" for i in range(20)]
SPEC = {"name": "shop", "arms": ARMS, "policy": "mv-lcb(c=1, unbiased=True)", "risk": "mean-variance(rho=1)"}
SPEC |= {"horizon": 10**6, "support": [0, 1], "fallback": ARMS[0]}
PAGES = 20
SECONDS, TURNS = 5.0, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    print(f"{'':64}{'measured':>14}{'demanded':>14}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.db"
        answers(path, given.decisions)
        first_look(path)
        beside_asks(path, given.seconds)


def answers(path: Path, decisions: int) -> None:
    """The first page, then what changes of it, at so many decisions."""
    service = Service(open_store(str(path), relaxed=True), patience=0.0).start()
    service.create(decoded(SPEC))
    filled(service, decisions)
    while service.follower._states[1].seq < service.view("shop").state.seq - 500:  # so that pictures have their points
        time.sleep(0.5)
    site = Site(service)
    app = App(service, ROUTES).show(site)
    loop = asyncio.new_event_loop()
    session = loop.run_until_complete(service.sessions.create(service.tokens.create(["admin"])[1]))

    def get(address: str, tag: str = "") -> tuple[int, dict[str, str], bytes]:
        return loop.run_until_complete(called(app, address, session, tag))

    _, _, page = get("/e/shop")
    found = sorted(set(re.findall(rb'(?:src|href)="(/static/[^"]*)"', page)))
    size = len(page) + sum(len(get(address.decode())[2]) for address in found)
    show("first page: bytes with style sheet and script, uncompressed", f"{size:,}", "≤ 200,000")
    show("  requests", f"{1 + len(found)}", "≤ 4")
    tag = get("/e/shop/live")[1]["etag"]
    view = service.view("shop")
    views = [View(view.experiment, view.state) for _ in range(16)]  # each computes what it is asked for once
    shown(service, views.pop(), Settings())
    many = [timed(lambda each=each: shown(service, each, Settings())) for each in views]
    show(f"what a page says, computed at {decisions:,} decisions", f"{middle(many, 0):.1f} ms")
    show("  processor time; a page is shown for 50 times as long", f"{middle(many, 1):.1f} ms", "≤ 60 ms")
    kept = [timed(lambda: get("/e/shop/live")) for _ in range(200)]
    show("/live, 200", f"{middle(kept, 0):.2f} ms", "≤ 20 ms")
    tag = get("/e/shop/live")[1]["etag"]  # a forecast may have come
    same = [timed(lambda: get("/e/shop/live", tag)) for _ in range(200)]
    assert get("/e/shop/live", tag)[0] == 304
    show("/live, 304", f"{middle(same, 0):.2f} ms", "≤ 2 ms")
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    service.close()


def filled(service: Service, decisions: int) -> None:
    """So many decisions with rewards, a thousand at a time."""
    rng = random.Random(1)
    means = dict(zip(ARMS, (0.2 + 0.02 * i for i in range(len(ARMS))), strict=True))
    for start in range(0, decisions, 1000):
        made = service.run("shop", m.Ask(count=min(1000, decisions - start))).decisions
        told = [m.Told(float(rng.random() < means[each.arm]), decision=each.decision) for each in made]
        service.run("shop", m.TellMany(told))


def timed(act: Any) -> tuple[float, float]:
    """Milliseconds that passed, and of the processor in this thread."""
    since, cpu = time.perf_counter(), time.thread_time()
    act()
    return 1e3 * (time.perf_counter() - since), 1e3 * (time.thread_time() - cpu)


def middle(times: list[tuple[float, float]], which: int) -> float:
    return statistics.median(each[which] for each in times)


async def called(app: App, address: str, session: str, tag: str) -> tuple[int, dict[str, str], bytes]:
    """The answer of the application to a browser."""
    headers = [(b"host", b"localhost"), (b"cookie", f"prudent={session}".encode())]
    headers += [(b"if-none-match", tag.encode())] if tag else []
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": address, "query_string": b"", "headers": headers}
    scope["asgi"] = {"spec_version": "2.4"}  # or a file waits for who hangs up, and nobody does
    begun: dict[str, Any] = {}
    body = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        begun.update(message) if message["type"] == "http.response.start" else body.extend(message["body"])

    await app(scope, receive, send)
    return begun["status"], {name.decode(): value.decode() for name, value in begun["headers"]}, bytes(body)


def first_look(path: Path) -> None:
    """What somebody waits for who looks right after the service has started: its answer, and the first paint."""
    with serving(path) as (server, port, token):
        session = signed_in(port, token)
        time.sleep(3.0)  # what a start does by itself
        connection, cpu, since = http.client.HTTPConnection("127.0.0.1", port), _cpu(server.pid), time.perf_counter()
        connection.request("GET", "/e/shop", headers={"Cookie": f"prudent={session}"})
        size = len(connection.getresponse().read())
        passed = time.perf_counter() - since
        show(f"first look after a start ({size:,} bytes), processor time", f"{_cpu(server.pid) - cpu:.2f} s")
        show("  time that passed", f"{passed:.2f} s", "≤ 0.3 s")
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
        from helpers.browser import CHROMIUM, Browser

        if CHROMIUM is None:
            return
        browser = Browser()
        browser.size(1280, 900)
        browser.go(f"http://127.0.0.1:{port}/login")
        browser.fill(token=token)
        browser.press("main form button")
        paints = []
        for _ in range(5):
            browser.go(f"http://127.0.0.1:{port}/e/shop")
            paints.append(browser.until("performance.getEntriesByType('paint')[0]?.startTime"))
        browser.close()
        show("first paint in Chromium, the middle of five", f"{statistics.median(paints):.0f} ms", "≤ 300 ms")


@contextlib.contextmanager
def serving(path: Path) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """A server of this database: its process, its port and a token."""
    command = [sys.executable, "-m", "prudent", "serve", "--database", str(path), "--port", "0", "--rate", "1e9"]
    made = [sys.executable, "-m", "prudent", "trial", "token", "--scope", "admin", "--database", str(path)]
    token = subprocess.run(made, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        yield server, int(line.split("http://")[1].split()[0].rstrip("/.,;").rpartition(":")[2]), token
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def beside_asks(path: Path, seconds: float) -> None:
    """Asks and tells a second with 20 pages open, and without, in turns."""
    with serving(path) as (server, port, token):
        _call(port, token, "GET", "/v1/experiments", None)
        asyncio.run(loaded(port, token, 4.0, 1))  # the first look compiles what a forecast needs, once
        rates: dict[bool, list[float]] = {False: [], True: []}
        costs: dict[bool, list[float]] = {False: [], True: []}
        polls = 0
        for turn in range(2 * TURNS):
            cpu = _cpu(server.pid)
            done, seen = asyncio.run(loaded(port, token, seconds, PAGES if turn % 2 else 0))
            rates[bool(turn % 2)].append(done / seconds)
            costs[bool(turn % 2)].append((_cpu(server.pid) - cpu) / done)
            polls += seen
    without, beside = (statistics.median(rates[open_]) for open_ in (False, True))
    show("asks and tells a second", f"{without:,.0f}")
    show(f"  with {PAGES} pages open ({polls / TURNS / seconds:.1f} polls a second)", f"{beside:,.0f}")
    show("  that is fewer by", f"{1.0 - beside / without:.1%}", "≤ 5 %")
    alone, more = (statistics.median(costs[open_]) for open_ in (False, True))
    show("processor time of the server a command, more by", f"{more / alone - 1.0:.1%}", "≤ 5 %")


async def loaded(port: int, token: str, seconds: float, pages: int) -> tuple[int, int]:
    """Commands that clients get done, and polls of pages beside them."""
    session = signed_in(port, token)
    polls = [asyncio.ensure_future(polling(port, session, seconds, 2.0 * i / PAGES)) for i in range(pages)]
    done = await _load_http(port, token, seconds)
    return done, sum(await asyncio.gather(*polls))


def signed_in(port: int, token: str) -> str:
    """The session of somebody at a browser."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", "/login", f"token={token}", headers)
    cookie = connection.getresponse().headers["set-cookie"]
    connection.close()
    return cookie.removeprefix("prudent=").partition(";")[0]


async def polling(port: int, session: str, seconds: float, delay: float) -> int:
    """A page that polls as its script does."""
    until, tag, wait, polls = time.perf_counter() + seconds, "", 2.0, 0
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        head = f"GET /e/shop/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: prudent={session}\r\n"
        writer.write((head + (f"If-None-Match: {tag}\r\n" if tag else "") + "\r\n").encode())
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(answer.split()[1])
        assert status in (200, 304), answer
        tag = answer.split("etag: ")[1].split("\r\n")[0]
        if status == 200:
            await reader.readexactly(int(answer.split("content-length: ")[1].split("\r\n")[0]))
        polls, wait = polls + 1, 2.0 if status == 200 else min(30.0, 1.5 * wait)
        await asyncio.sleep(min(wait, max(0.0, until - time.perf_counter())))
    writer.close()
    return polls


if __name__ == "__main__":
    main()
