"""The catalogue: every entry is complete, every key has its BibTeX, and the commands print them."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from prudent import PrudentError
from prudent.arms.base import arms
from prudent.cli import catalogue_pages, main
from prudent.policies.contract import policies, strategies
from prudent.portfolio import portfolio_policies
from prudent.risk.base import risks

LISTS = {
    ("policies",): policies,
    ("policies", "--portfolio"): portfolio_policies,
    ("risks",): risks,
    ("arms",): arms,
    ("strategies",): strategies,
}

OURS = [
    (registry, name)
    for registry in (policies, risks, strategies)
    for name in registry.names()
    if registry.get(name).factory.__module__.startswith("prudent.")  # other tests may register their own
]


@pytest.mark.parametrize(("registry", "name"), OURS, ids=lambda value: value if isinstance(value, str) else value.kind)
def test_every_entry_has_a_summary_a_paper_and_its_assumptions(registry, name):
    entry = registry.get(name)
    assert entry.papers
    assert entry.assumes
    assert 10 < len(entry.summary) < 200
    for key in entry.papers:
        assert key in catalogue_pages.cite(name)


def test_the_bibliography_is_well_formed():
    for key, text in catalogue_pages.bibliography().items():
        assert text.count("{") == text.count("}")
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.MULTILINE))
        assert {"author", "title", "year"} <= set(fields)
        # The key's digits are the year in which the work became known, at most a few before it was printed.
        assert 0 <= (int(fields["year"]) - int(key[-2:])) % 100 <= 1


def test_engines_and_the_risk_that_policies_serve():
    assert catalogue_pages.engine("mv-lcb") == "leaping"
    assert catalogue_pages.engine("npts") == "stepping"
    assert policies.get("b-cvts").facts["serves"] == "cvar"
    assert policies.get("ucb1").facts["serves"] == "mean"


def test_commands_list_everything():
    for command, registry in LISTS.items():
        table = CliRunner().invoke(main, command)
        assert table.exit_code == 0
        listed = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
        assert [row["name"] for row in listed] == registry.names()
        assert all(name in table.stdout for name in registry.names())


def test_cite_by_name_and_by_key():
    told = CliRunner().invoke(main, ["cite", "mv-lcb", "Sani12", "va-lucb"])
    assert told.stdout.count("@") == 2
    assert "Sani, Amir" in told.stdout
    with pytest.raises(PrudentError, match="did you mean mv-lcb"):
        catalogue_pages.cite("mvlcb")


def test_arms_are_listed_with_aliases_and_examples_that_can_be_run():
    listed = {row["name"]: row for row in json.loads(CliRunner().invoke(main, ["arms", "--json"]).stdout)}
    assert listed["gaussian"]["aliases"] == ["normal"]
    assert listed["gaussian"]["parameters"] == {"mean": None, "variance": None}
    for name, row in listed.items():
        if arms.get(name).factory.__module__.startswith("prudent."):
            assert arms.parse(row["example"]).name == name
            assert row["support"]
    assert listed["exponential"]["support"] == "[0, ∞)"
    assert listed["student-t"]["support"] == "(−∞, ∞)"
    assert "gaussian, or normal" in CliRunner().invoke(main, ["arms"]).stdout


def test_the_package_is_cited_with_the_paper_as_its_own_file_has_it():
    told = catalogue_pages.cite("prudent")
    assert told.count("@") == 2
    assert "@inproceedings{Sani12" in told
    own = (Path(__file__).parents[3] / "CITATION.cff").read_text("utf-8")
    for field in ("title", "version"):
        assert re.search(rf'^{field}: "?(.*?)"?$', own, flags=re.MULTILINE)[1] in told
    assert re.search(r'name: "(.*)"', own)[1] in told


def test_portfolio_policies_are_cited():
    assert "Continuous mean-covariance bandits" in catalogue_pages.cite("mc-ucb")


def test_an_unknown_name_does_not_take_the_others_down():
    told = CliRunner().invoke(main, ["cite", "nobody", "mvts", "noone"])
    assert told.exit_code == 2
    assert "Zhu20" in told.stdout
    assert "'nobody'" in told.stderr
    assert "'noone'" in told.stderr


def test_everything_is_cited_once():
    told = CliRunner().invoke(main, ["cite", "--all", "mvts"])
    assert told.exit_code == 0
    keys = re.findall(r"^@\w+\{(\w+),", told.stdout, flags=re.MULTILINE)
    assert sorted(keys) == sorted(["prudent", *catalogue_pages.bibliography()])
    assert CliRunner().invoke(main, ["cite"]).exit_code == 2


@pytest.mark.parametrize("name", [None, 5, [], {}, object(), b"x", float("nan")], ids=lambda name: type(name).__name__)
@pytest.mark.parametrize("ask", [catalogue_pages.cite, catalogue_pages.engine])
def test_what_is_no_name_is_refused_in_words(ask, name):
    with pytest.raises(PrudentError, match="name must be"):
        ask(name)
