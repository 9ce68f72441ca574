"""Make the pictures of every page of the service: `PYTHONPATH=tests python docs/service_pictures.py [NAME …]`.

They are of `prudent serve --demo`, and of a plan that is computed in it. Look at them before you keep them.
"""

import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image

from helpers.browser import Browser

IMAGES = Path(__file__).parent / "images"
DESK, PHONE = (1200, 900), (390, 844)
DEMO = [sys.executable, "-m", "prudent", "serve", "--demo", "--port", "0"]
READY = 9000
"""Decisions of the first experiment of the demonstration that lie in the past."""

CSV = "variant,revenue\n" + "".join(
    f"{name},{mean + step * (i % 5 - 2)}\n"
    for name, mean, step in (("old", 52, 4), ("new", 58, 6), ("bold", 62, 10))
    for i in range(12)
)
FIELDS = {"title": "Shop", "unit": "EUR", "smallest": "0", "largest": "100", "less": "3", "steadier": "8"}
FIELDS |= {"instead": "12", "group": "variant", "outcome": "revenue", "people": "2000"}


def main(names: list[str]) -> None:
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        token = [server.stdout.readline() for _ in range(2)][1].strip()
        browser = Browser(300)
        try:
            pictures(browser, url, token, lambda name: not names or name in names)
        finally:
            browser.close()
            server.terminate()


def pictures(browser, url, token, wanted) -> None:
    """All pages, in the order in which somebody sees them."""

    def picture(name, path, size=DESK, *, dark=False, most=2000):
        if not wanted(name):
            return
        browser.darken("dark" if dark else "light")
        browser.size(*size)
        browser.go(f"{url}{path}")
        time.sleep(0.5)
        high = browser.run("document.documentElement.scrollHeight")
        keep(name, browser.picture(height=min(high, most)))
        browser.darken("light")

    browser.size(*DESK)
    browser.go(f"{url}/login")
    browser.fill(token=token)
    browser.press("main form button")
    wait(
        browser,
        f"{url}/e/easy",
        f"Number((/([\\d,]+) decisions/.exec(document.body.innerText) || [0, '0'])[1].replace(/,/g, '')) >= {READY}",
    )
    wait(browser, f"{url}/e/lost-answers", "document.body.innerText.includes('Chances of the arms')")
    wait(browser, f"{url}/e/guarded", "document.body.innerText.includes('A guardrail acted')")
    picture("list", "/", most=700)
    picture("desk", "/e/easy")
    picture("dark", "/e/lost-answers?axis=time", dark=True)
    picture("experiment", "/e/guarded", PHONE, most=1700)
    picture("report", "/e/lost-answers/report")
    picture("access", "/access", most=520)
    picture("explore", "/explore", most=1500)
    if wanted("plan-form") or wanted("plan"):
        address = drafted(browser, url)
        picture("plan-form", address, most=1500)
        browser.go(f"{url}{address}")
        browser.press("button[value=compute]")
        browser.until("document.body.innerText.includes('Start this experiment')")
        browser.until("[...document.images].every(it => it.complete && it.naturalWidth > 0)")
        picture("plan", address, most=1400)


def drafted(browser, url) -> str:
    """The address of a plan that is ready to be computed."""
    browser.go(f"{url}/plan")
    browser.press("main form button")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.csv"
        path.write_text(CSV)
        browser.attach("pilot", str(path))
        browser.fill(**{name: text for name, text in FIELDS.items() if name not in ("group", "outcome", "people")})
        browser.until("document.getElementById('saved').textContent === 'Saved.'")
        browser.press("button[value=check]")
    browser.fill(**{name: FIELDS[name] for name in ("group", "outcome", "people")}, policies="mv-lcb, mvts")
    browser.press("button[value=check]")
    return browser.run("location.pathname")


def wait(browser, address, script) -> None:
    """Look at a page until something is there."""
    until = time.monotonic() + 240.0
    while True:
        browser.go(address)
        if browser.run(script):
            return
        assert time.monotonic() < until, script
        time.sleep(2.0)


def keep(name: str, png: bytes) -> None:
    """A picture with few colours, which is small."""
    image = Image.open(BytesIO(png)).convert("RGB").quantize(128)
    path = IMAGES / f"service-{name}.png"
    image.save(path, optimize=True)
    print(f"{path.name}: {image.width} × {image.height}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
