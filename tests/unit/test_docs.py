"""Every Python block of these pages runs as it stands, and prints the text block that follows it.

(docs/theory.md and docs/live.md have tests of their own.)
"""

import re
from pathlib import Path

import pytest

from prudent.policies import registry
from prudent.study import load, run

ROOT = Path(__file__).parents[2]
NUMBER = r"-?\d+\.?\d*(?:e-?\d+)?"
PAGES = [
    "README.md",
    "docs/identification.md",
    "docs/leaping.md",
    "docs/plan.md",
    "docs/policies.md",
    "docs/portfolios.md",
    "docs/risks.md",
    "docs/studies.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block, printed in blocks:
        exec(compile(block, page, "exec"), names)
        shown = capsys.readouterr().out
        assert not printed or same_print(shown, printed)


def same_print(shown, printed):
    """Word for word, and numbers to 5 % of them or 0.02: on another machine a last digit may turn a simulation."""
    (words, numbers), (wanted, expected) = (
        (re.sub(NUMBER, "#", text).split(), [float(number) for number in re.findall(NUMBER, text)])
        for text in (shown, printed)
    )
    return words == wanted and numbers == pytest.approx(expected, rel=0.05, abs=0.02)


def test_another_print_is_noticed():
    assert same_print("arm 2 [179 788  34]\n", "arm 2 [179  788 35]\n")
    assert not same_print("arm 2 0.3", "arm 2 0.4")
    assert not same_print("arm 2 0.3", "arms 2 0.3")


def test_the_page_of_policies_names_them_all():
    page = (ROOT / "docs/policies.md").read_text()
    assert all(f"`{name}`" in page for name in registry.names() if registry.get(name).__module__.startswith("prudent."))


def test_the_study_of_the_docs_runs(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/studies.md").read_text(), flags=re.DOTALL)
    path = tmp_path / "study.toml"
    path.write_text(text.replace("runs = 200", "runs = 2").replace("10_000", "1_000"))
    study = load(path)
    assert run(study, tmp_path / "out").table().height == len(study.cells) == (12 + 1) * 3 * 3 * 5
