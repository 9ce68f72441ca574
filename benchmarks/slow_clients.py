"""What slow callers do to others: answers to decisions alone, and beside 500 that drip and 1,000 that say nothing.

    ulimit -n 4096; python benchmarks/slow_clients.py

Half of the slow ones send a header a byte a second, half a body. The service cuts headers after 10 s and bodies after
30 s, so that this takes a minute.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

SPEC = {"name": "shop", "arms": ["A", "B"], "policy": "mv-lcb(rho=1)", "support": [0, 1], "horizon": 10**6}
SLOW = {"header": 250, "body": 250, "nothing": 1000}
CLIENTS = 8


async def main(port: int, token: str) -> None:
    def request(path: str, body: str, length: int | None = None) -> bytes:
        size = len(body) if length is None else length
        return (
            f"POST /v1/experiments{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n{body}"
        ).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, raw: bytes) -> None:
        writer.write(raw)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head)[0]))
        assert head.startswith(b"HTTP/1.1 201"), head

    async def client(until: float, times: list[float]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < until:
            start = time.perf_counter()
            await answer(reader, writer, request("/shop/decisions", "{}"))
            times.append(1000.0 * (time.perf_counter() - start))
        writer.close()

    async def steady(what: str, seconds: float = 5.0) -> None:
        times: list[float] = []
        await asyncio.gather(*(client(time.monotonic() + seconds, times) for _ in range(CLIENTS)))
        times.sort()
        middle, high = times[len(times) // 2], times[int(0.99 * len(times))]
        print(f"{what:12} {len(times) / seconds:6.0f} a second, median {middle:5.1f} ms, 99 % below {high:5.1f} ms")

    async def slow(kind: str) -> float:
        begun = {"header": b"GET / HTTP/1.1\r\nX: ", "body": request("/shop/decisions", "", 1000), "nothing": b""}
        start = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(begun[kind])
        while True:
            try:
                if not await asyncio.wait_for(reader.read(1000), 1.0):
                    break
            except TimeoutError:
                writer.write(b"" if kind == "nothing" else b" ")
            except ConnectionError:
                break
        writer.close()
        return time.monotonic() - start

    await answer(*await asyncio.open_connection("127.0.0.1", port), request("", json.dumps(SPEC)))
    await steady("alone")
    others = {kind: [asyncio.ensure_future(slow(kind)) for _ in range(count)] for kind, count in SLOW.items()}
    await asyncio.sleep(2.0)
    await steady("beside slow")
    for kind, tasks in others.items():
        ends = await asyncio.gather(*tasks)
        print(f"{len(ends):,} slow ones ({kind}) were cut off after {min(ends):.1f} to {max(ends):.1f} s")
    await steady("alone")


def served(act: Callable[[int, str], Awaitable[None]]) -> None:
    """Run it against a service of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "prudent", "serve", "--database", str(Path(folder) / "shop.db"), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(re.findall(r":(\d+)$", server.stdout.readline().strip())[0])
            token = re.findall(r"pru_\w+", server.stdout.readline())[0]
            try:
                asyncio.run(act(port, token))
            finally:
                server.terminate()


if __name__ == "__main__":
    served(main)
