"""The catalogue: every entry is complete, every key has its BibTeX, and the commands print them."""

import json
import re

import pytest
from click.testing import CliRunner

from prudent import PrudentError, catalogue
from prudent.cli import main
from prudent.policies.base import policies, strategies
from prudent.risk.base import risks

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
        assert key in catalogue.cite(name)


def test_the_bibliography_is_well_formed():
    for key, text in catalogue.bibliography().items():
        assert text.count("{") == text.count("}")
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.MULTILINE))
        assert {"author", "title", "year"} <= set(fields)
        # The key's digits are the year in which the work became known, at most a few before it was printed.
        assert 0 <= (int(fields["year"]) - int(key[-2:])) % 100 <= 1


def test_engines_and_the_risk_that_policies_serve():
    assert catalogue.engine("mv-lcb") == "leaping"
    assert catalogue.engine("npts") == "stepping"
    assert policies.get("b-cvts").facts["serves"] == "cvar"
    assert policies.get("ucb1").facts["serves"] == "mean"


def test_commands_list_everything():
    for command, registry in (("policies", policies), ("risks", risks), ("strategies", strategies)):
        table = CliRunner().invoke(main, [command])
        assert table.exit_code == 0
        listed = json.loads(CliRunner().invoke(main, [command, "--json"]).stdout)
        assert [row["name"] for row in listed] == registry.names()
        assert all(name in table.stdout for name in registry.names())


def test_cite_by_name_and_by_key():
    told = CliRunner().invoke(main, ["cite", "mv-lcb", "Sani12", "va-lucb"])
    assert told.stdout.count("@") == 2
    assert "Sani, Amir" in told.stdout
    with pytest.raises(PrudentError, match="did you mean mv-lcb"):
        catalogue.cite("mvlcb")


@pytest.mark.parametrize("name", [None, 5, [], {}, object(), b"x", float("nan")], ids=lambda name: type(name).__name__)
@pytest.mark.parametrize("ask", [catalogue.cite, catalogue.engine])
def test_what_is_no_name_is_refused_in_words(ask, name):
    with pytest.raises(PrudentError, match="name must be"):
        ask(name)
