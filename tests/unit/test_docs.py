"""Every Python block of these pages runs as it stands. (docs/theory.md and docs/live.md have tests of their own.)"""

import re
from pathlib import Path

import pytest

from prudent.study import load, run

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/identification.md",
    "docs/leaping.md",
    "docs/plan.md",
    "docs/portfolios.md",
    "docs/risks.md",
    "docs/studies.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_study_of_the_docs_runs(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/studies.md").read_text(), flags=re.DOTALL)
    path = tmp_path / "study.toml"
    path.write_text(text.replace("runs = 200", "runs = 2").replace("10_000", "1_000"))
    study = load(path)
    assert run(study, tmp_path / "out").table().height == len(study.entries) == (12 + 1) * 3 * 3 * 5
