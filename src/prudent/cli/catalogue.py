"""The commands `policies`, `risks`, `strategies` and `cite`: what there is, and where it comes from."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import print_rows

if TYPE_CHECKING:
    from prudent.registry import Entry

json_option = click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")


@click.command()
@json_option
def policies(as_json: bool) -> None:
    """List the policies: the risk they serve, papers, assumptions, parameters, and the engine that runs them."""
    from prudent import catalogue
    from prudent.policies.base import ANY
    from prudent.policies.base import policies as registered

    more: dict[str, Callable[[Entry], str]] = {
        "risk": lambda entry: entry.facts.get("serves", ANY),
        "engine": lambda entry: catalogue.engine(entry.name),
    }
    print_entries("policies", registered.entries(), as_json, more)


@click.command()
@json_option
def risks(as_json: bool) -> None:
    """List the risk measures, their papers, assumptions and parameters."""
    from prudent.risk.base import risks as registered

    print_entries("risk measures", registered.entries(), as_json, {})


@click.command()
@json_option
def strategies(as_json: bool) -> None:
    """List the strategies of `identify`, their papers, assumptions and parameters."""
    from prudent.policies.base import strategies as registered

    print_entries("strategies", registered.entries(), as_json, {"needs": lambda entry: entry.facts.get("needs", "")})


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX for policies, risk measures or strategies by name, or for papers by key."""
    from prudent import catalogue

    click.echo("\n\n".join(dict.fromkeys(catalogue.cite(name) for name in names)))


def print_entries(title: str, found: "list[Entry]", as_json: bool, more: "dict[str, Callable[[Entry], str]]") -> None:
    """One row per entry, with further columns computed from it."""
    rows = []
    for entry in found:
        facts = {"name": entry.name, "summary": entry.summary, **{column: make(entry) for column, make in more.items()}}
        parameters: dict[str, Any] = {"parameters": entry.parameters, "papers": entry.papers}
        rows.append({**facts, "assumes": entry.assumes, **parameters})
    if as_json:
        click.echo(json.dumps(rows))
        return
    shown = []
    for row in rows:
        given = ", ".join(f"{name}={'…' if value is None else value}" for name, value in row["parameters"].items())
        cells = {**row, "parameters": given, "papers": ", ".join(row["papers"])}
        shown.append({{"summary": "what it does", "papers": "paper"}.get(name, name): cells[name] for name in cells})
    print_rows(f"{len(found)} {title}", shown, left=shown[0], lines=True)
