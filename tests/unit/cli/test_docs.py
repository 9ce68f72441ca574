"""`prudent docs` shows the pages, and the help of every command fits beside its name."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from prudent import PrudentError
from prudent.cli import COMMANDS, docs, main

PAGES = Path(__file__).parents[3] / "docs"


def printed(*args: str) -> str:
    done = CliRunner().invoke(main, ["docs", *args])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_page_is_listed_and_shown():
    listed = re.findall(r"^- (\S+):", printed(), flags=re.MULTILINE)
    assert len(listed) == len({*listed}) == len(list(PAGES.glob("*/*.md")))
    text = (PAGES / "concepts/leaping.md").read_text("utf-8")
    assert printed("leaping").strip() == printed("concepts/leaping.md").strip() == text.strip()


def test_what_only_the_site_can_show_is_left_out():
    assert "toctree" in (PAGES / "concepts/index.md").read_text("utf-8")
    assert not re.search("toctree|<!--", printed("concepts") + printed("gallery"))


def test_a_page_that_there_is_not_gets_a_near_one():
    with pytest.raises(PrudentError, match="NAME must be a page, got leapin; did you mean leaping"):
        docs.docs.callback("leapin", False)


def test_a_page_opens_in_a_browser(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(docs.webbrowser, "open", opened.append)
    monkeypatch.setattr(docs.tempfile, "tempdir", str(tmp_path))
    printed("policies", "--browser")
    (page,) = tmp_path.glob("*-policies.html")
    assert opened == [page.as_uri()]
    text = page.read_text("utf-8")
    assert "<table>" in text
    assert f'<base href="{(PAGES / "literature").as_uri()}/">' in text


def all_commands(group: click.Group) -> list[click.Command]:
    below = [command for command in group.commands.values() if isinstance(command, click.Group)]
    return [*group.commands.values(), *(command for each in below for command in all_commands(each))]


def test_short_help_is_whole():
    assert not [command.name for command in main.commands.values() if len(command.get_short_help_str(80)) > 45]
    shown = [command.get_short_help_str(64) for command in all_commands(main)]  # beside the names of `prudent trial`
    assert not [text for text in shown if text.endswith("...")]


def test_every_command_is_in_one_group():
    assert sorted(command.name for group in COMMANDS.values() for command in group) == sorted(main.commands)
