"""The command line as a page, from what click knows of it."""

import re
from collections.abc import Iterator
from typing import Any

import click

from prudent.cli import main


def commands(_: str) -> str:
    """A section for each command, and for each command of a group."""
    return "\n".join(
        part for name, command in sorted(main.commands.items()) for part in section(f"prudent {name}", command)
    )


def section(path: str, command: click.Command) -> Iterator[str]:
    """What a command does, how it is called, and its options; then the commands below it."""
    level = "##" if path.count(" ") == 1 else "###"
    context = click.Context(command, info_name=path)
    yield f"{level} `{path}`\n\n{text(command.help)}\n"
    yield f"```text\n{' '.join(command.collect_usage_pieces(context)).join([path + ' ', ''])}\n```\n"
    rows = [row for parameter in command.get_params(context) if (row := option(parameter, context))]
    if rows:
        yield "| option | what it does |\n|---|---|\n" + "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for name, below in sorted(command.commands.items()):
            yield from section(f"{path} {name}", below)


def option(parameter: click.Parameter, context: click.Context) -> str:
    """A row of the table; arguments and --help have none."""
    record: Any = parameter.get_help_record(context)
    if record is None or isinstance(parameter, click.Argument) or "--help" in parameter.opts:
        return ""
    form, words = record
    return f"| `{form}` | {text(words)} |".replace("\n", " ")


def text(words: str | None) -> str:
    """Help as Markdown: paragraphs as click writes them, and no mark-up by chance."""
    plain = (words or "").replace("\b\n", "").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    marked = re.sub(r"(?<![`\w-])(--[a-z][a-z-]+)", r"`\1`", plain)
    return "\n".join(line.strip() for line in marked.splitlines())
