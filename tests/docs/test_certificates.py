"""The certificates of minimax regret that the documentation offers prove what they claim."""

import json
from pathlib import Path

import pytest

from prudent.theory.coins.checker import check

CERTIFICATES = sorted((Path(__file__).parents[2] / "docs/paper/certificates").glob("*.json"))
PAGE = Path(__file__).parents[2] / "docs/paper/minimax.md"


def given(path):
    return json.loads(path.read_text("utf-8"))


def prove(path):
    low, high = check(given(path))
    assert given(path)["lower"] <= low <= high <= given(path)["upper"]


@pytest.mark.parametrize("path", [path for path in CERTIFICATES if given(path)["horizon"] <= 32], ids=lambda p: p.stem)
def test_short_certificates_are_proofs(path):
    prove(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in CERTIFICATES if 32 < given(path)["horizon"] <= 100], ids=lambda p: p.stem
)
def test_longer_certificates_are_proofs(path):
    prove(path)


def test_the_table_has_every_certificate():
    text = PAGE.read_text("utf-8")
    assert len(CERTIFICATES) > 30
    for path in CERTIFICATES:
        (row,) = (line for line in text.splitlines() if f"certificates/{path.name})" in line)
        assert f"| {given(path)['lower']:.6f} | {given(path)['upper']:.6f} |" in row
