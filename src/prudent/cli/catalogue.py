"""The commands `policies`, `risks`, `strategies` and `cite`: what there is, and where it comes from."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import print_table

if TYPE_CHECKING:
    from prudent.catalogue import Entry


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
def policies(as_json: bool) -> None:
    """List the policies: the risk they optimise, their engines, assumptions, parameters and papers."""
    from prudent import catalogue
    from prudent.policies import registry

    more: dict[str, Callable[[str], str]] = {"risk": catalogue.minds, "engine": catalogue.engine}
    print_entries("policies", catalogue.entries(registry), as_json, more)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
def risks(as_json: bool) -> None:
    """List the risk measures, their papers, assumptions and parameters."""
    from prudent import catalogue
    from prudent.risk import registry

    print_entries("risk measures", catalogue.entries(registry), as_json, {})


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
def strategies(as_json: bool) -> None:
    """List the strategies of `identify`, their papers, assumptions and parameters."""
    from prudent import catalogue
    from prudent.identification import registry

    print_entries("strategies", catalogue.entries(registry), as_json, {})


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX for policies, risk measures or strategies by name, or for papers by key."""
    from prudent import catalogue

    click.echo("\n\n".join(dict.fromkeys(catalogue.cite(name) for name in names)))


def print_entries(title: str, found: "list[Entry]", as_json: bool, more: dict[str, Callable[[str], str]]) -> None:
    """One row per entry, with further columns computed from its name."""
    from rich.markup import escape
    from rich.table import Table

    extras = {entry.name: {column: compute(entry.name) for column, compute in more.items()} for entry in found}
    if as_json:
        click.echo(json.dumps([{**entry._asdict(), **extras[entry.name]} for entry in found]))
        return
    table = Table(title=f"{len(found)} {title}", show_lines=True)
    for column in ("name", "what it does", *more, "assumes", "parameters", "paper"):
        table.add_column(column)
    for entry in found:
        parameters = ", ".join(f"{name}={shown(value)}" for name, value in entry.parameters.items())
        cells = (entry.name, entry.summary, *extras[entry.name].values(), entry.assumes, parameters)
        table.add_row(*map(escape, (*cells, ", ".join(entry.papers))))
    print_table(table)


def shown(value: Any) -> str:
    """A default; … where the problem or the user gives the value."""
    return "…" if value is None else str(value)
