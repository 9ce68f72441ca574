"""Every Python block of these pages runs as it stands, and prints the text block that follows it.

(docs/paper/theory.md has a test of its own.)
"""

import ast
import doctest
import functools
import importlib
import re
import runpy
from pathlib import Path

import pytest

import prudent
from prudent.arms.base import arms
from prudent.base.registry import KEY
from prudent.cli import catalogue_pages
from prudent.paper import FIGURES, figure
from prudent.plan import guesses, suitable
from prudent.policies.contract import policies
from prudent.risk.base import risks
from prudent.study import load, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = sorted(DOCS.rglob("*.md"))
NUMBER = r"-?\d+\.?\d*(?:e-?\d+)?"
PAGES = [
    "README.md",
    "docs/index.md",
    "docs/start/which-policy.md",
    "docs/researchers/write-a-policy.md",
    "docs/tutorials/researcher.md",
    "docs/tutorials/practitioner.md",
    "docs/tutorials/contributor.md",
    "docs/concepts/regret.md",
    "docs/concepts/confidence.md",
    "docs/researchers/arms.md",
    "docs/practitioners/identification.md",
    "docs/concepts/leaping.md",
    "docs/concepts/exact.md",
    "docs/practitioners/live.md",
    "docs/researchers/lower-bounds.md",
    "docs/researchers/mv-imed.md",
    "docs/practitioners/plan.md",
    "docs/literature/policies.md",
    "docs/practitioners/portfolios.md",
    "docs/researchers/results.md",
    "docs/concepts/risks.md",
    "docs/researchers/studies.md",
    "docs/researchers/worlds.md",
    "docs/practitioners/evaluation.md",
]


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("page", "registry"), [("literature/policies", policies), ("researchers/arms", arms), ("concepts/risks", risks)]
)
def test_the_page_of_a_kind_names_them_all(page, registry):
    text = (ROOT / f"docs/{page}.md").read_text()
    ours = [entry.name for entry in registry.entries() if entry.factory.__module__.startswith("prudent.")]
    assert [name for name in ours if not re.search(rf"`{name}[(`]", text)] == []


@pytest.mark.parametrize(
    ("law", "risk", "horizon", "tried", "left_out"),
    [
        ("bernoulli(0.2..0.4)", "mean", 500, "bernoulli-thompson", "discounted(mv-imed)"),
        ("bernoulli(0.2..0.4)", "mean-variance(rho=0.5)", 500, "bernoulli-mv-imed", "bernoulli-thompson"),
        ("gaussian(0..1, 1)", "mean-variance(rho=1)", 5_000, "prudent", "bernoulli-mv-imed"),
        ("beta(2, 1..3)", "cvar(0.1)", 500, "b-cvts", "prudent"),
        ("beta(2, 1..3)", "cvar(0.1)", 5_000, "", "b-cvts"),
    ],
)
def test_which_policy_is_what_a_plan_tries(law, risk, horizon, tried, left_out):
    """The page of that name and `prudent plan` agree on who takes part."""
    fit = {policies.spec(policy).partition("(")[0] for policy in suitable(risk, horizon, guesses([f"2 * {law}"]))[0]}
    assert fit >= ({tried} if tried else set())
    assert left_out.partition("(")[0] not in fit
    page = (DOCS / "start/which-policy.md").read_text("utf-8")
    assert all(f"`{name.partition('(')[0]}" in page for name in (tried, left_out))


def test_the_study_of_the_docs_runs(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/researchers/studies.md").read_text(), flags=re.DOTALL)
    path = tmp_path / "study.toml"
    path.write_text(text.replace("runs = 200", "runs = 2").replace("10_000", "1_000"))
    study = load(path)
    assert run(study, tmp_path / "out").table().height == len(study.cells) == (12 + 1) * 3 * 3 * 5


def test_a_room_lists_all_of_its_pages():
    """The tables of contents of the index and of the rooms reach every page, so the site has no lost ones."""
    listed = {"index"}
    for page in DOCS.rglob("index.md"):
        for table in re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL):
            for line in table.splitlines():
                if line and not line.startswith(":"):
                    name = line.split("<")[-1].rstrip(">")
                    listed |= {str(found.relative_to(DOCS).with_suffix("")) for found in page.parent.glob(f"{name}.*")}
    assert {str(page.relative_to(DOCS).with_suffix("")) for page in MARKDOWN} - listed == set()


def test_formulas_are_no_raw_tex():
    """Subscripts and powers in prose stand between dollars; code is code."""
    raw = re.compile(r"[A-Za-zα-ωΓΔΣ̂̃]_(?:\{|\*|[ijnt]\b)|\^[{(]")
    for page in MARKDOWN:
        text = re.sub(r"^ *```.*?^ *```|^\$\$.*?^\$\$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<!--.*?-->", "", text)
        assert raw.findall(text) == [], page


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in MARKDOWN)])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)[)#]", (ROOT / page).read_text("utf-8")):
        assert ((ROOT / page).parent / target).exists()


def test_the_readme_is_short_and_reads_in_a_clone():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= 900
    assert "https://" not in text


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {prudent.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_package_names_pages_that_exist():
    """Docstrings say (docs: leaping), for the page or room of that name; messages have the command that shows it."""
    texts = [path.read_text("utf-8") for path in [*(ROOT / "src").rglob("*.py"), ROOT / "CHANGELOG.md"]]
    named = {name for text in texts for name in re.findall(r"docs: ([a-z-]+)", text)}
    addressed = {name for text in texts for name in re.findall(r"\bpage\(['\"]([\w-]+)['\"]\)", text)}
    assert len(named) > 10
    assert named <= {name for page in MARKDOWN for name in (page.stem, page.parent.name)}
    assert len(addressed) > 2
    assert addressed <= {page.stem for page in MARKDOWN}


def test_no_message_names_a_path_of_the_repository():
    """Who installed the package has no such files; `prudent.base.text.page` gives the command that shows it."""
    found = [text for path in (ROOT / "src").rglob("*.py") for text in messages(ast.parse(path.read_text("utf-8")))]
    assert len(found) > 1_000
    assert not [text for text in found if re.search(r"docs[:/] ?[\w/-]+", text)]


def messages(tree):
    """The texts in a module, without docstrings and the notes below constants."""
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [node.value for node in texts if id(node) not in notes]


def test_every_paper_cited_is_in_the_bibliography_and_the_other_way_round():
    """Keys are cited in code, examples and docs; only references.bib says what they mean."""
    texts = [path for folder in ("src", "examples") for path in (ROOT / folder).rglob("*.py")]
    texts += MARKDOWN
    cited = {key for path in texts for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert cited == set(catalogue_pages.bibliography())


def test_no_reference_is_written_out_by_hand():
    """A key at the start of a line, then authors and a title, is a copy that would drift."""
    copied = re.compile(r"^\s*\[[A-Z][A-Za-z]+\d\d\] [A-Z][\w, -]*\. \*?[A-Z]", re.MULTILINE)
    assert copied.search("[Acerbi02] Acerbi. *Spectral measures of risk*. 2002.")
    texts = [path for folder in ("src", "examples", "docs") for path in (ROOT / folder).rglob("*.*")]
    assert not [path for path in texts if path.suffix in (".py", ".md") and copied.search(path.read_text("utf-8"))]


ENTRY_POINTS = (
    "simulate", "Comparison", "identify", "simulate_portfolio", "Bandit", "PortfolioBandit", "Agent", "Law",
    "RiskMeasure", "best_sequence", "study.Study", "study.run", "plan.advise", "plan.characteristics",
    "testing.check_policy",
)  # fmt: skip


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_entry_points_describe_their_parameters(name):
    assert "Parameters\n" in functools.reduce(getattr, name.split("."), prudent).__doc__ or name in (
        "Law",
        "RiskMeasure",
    )


@pytest.mark.parametrize("name", [*prudent.__all__, *(name for name in ENTRY_POINTS if "." in name)])
def test_every_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = functools.reduce(getattr, name.split("."), prudent)
    (test,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


EXAMPLES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src/prudent").rglob("*.py"))
    if ">>> " in (ast.get_docstring(ast.parse(path.read_bytes())) or "")
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_module_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name.removesuffix(".__init__"))
    (test,) = doctest.DocTestFinder(recurse=False).find(module, name, globs={})
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_page_of_the_figures_has_the_texts_of_the_figures(monkeypatch):
    """Its numbers are those of the report; what is computed without a simulation is compared."""
    monkeypatch.syspath_prepend(DOCS)
    maker = runpy.run_path(str(DOCS / "report.py"))
    page = (DOCS / "paper/figures.md").read_text(encoding="utf-8")
    typeset, as_table = maker["typeset"], maker["as_table"]
    for made in map(figure, FIGURES):
        assert f"\n## {made.title}\n" in page
        assert all(typeset(text) in page for text in (made.caption, made.settings, made.paper_says))
    exact = figure("configurations").finding({})
    assert f"**Measured.** {exact.verdict}\n\n{as_table(exact.table)}" in page
    pictures = re.findall(r"\(\.\./images/paper/(.*?)\)", page)
    assert len(pictures) == 12
    assert all((DOCS / "images/paper" / name).stat().st_size < 80_000 for name in pictures)
