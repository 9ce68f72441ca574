"""Arms that are out of the race, retired or excluded, are drawn muted on each page that draws intervals; no others."""

import re

import pytest

from helpers.service.html_pages import get
from helpers.service.served_experiments import InProcessService
from prudent.service import messages as m
from prudent.service.spec import decoded

SPEC = {
    "name": "race",
    "arms": ["good", "bad", "gone", "close"],
    "policy": "round-robin",
    "risk": "mean",
    "support": [0, 1],
    "horizon": 5000,
}
WORTH = {"good": 0.9, "bad": 0.1, "gone": 0.88, "close": 0.87}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = InProcessService(str(tmp_path_factory.mktemp("site") / "a.db"))
    site.pages(pause=0.0)
    site.service.create(decoded(SPEC))
    for _ in range(4):
        made = site.service.run("race", m.Ask(count=60)).decisions
        site.service.run("race", m.TellMany([m.Told(WORTH[each.arm], each.decision) for each in made]))
    site.service.run("race", m.BODIES["retire"]("gone", "no longer sold"))
    yield site
    site.close()


@pytest.mark.parametrize("path", ["/e/race", "/e/race/report"])
def test_a_retired_arm_and_one_that_cannot_be_best_are_muted(site, path):
    page = get(site, path).body.decode()
    for arm, kind in (("good", "line"), ("bad", "muted"), ("gone", "muted"), ("close", "line")):
        for what in ("Mean of ", "How much more than good: "):
            (picture,) = re.findall(rf'<svg [^>]*aria-label="{what}{arm}".*?</svg>', page) or [""]
            assert picture or (arm, what[0]) == ("good", "H")  # the control is not compared with itself
            assert set(re.findall(r'<circle class="(\w+)"', picture)) <= {kind}
            assert set(re.findall(r'<line class="(\w+)"', picture)) <= {kind, "grid"}
