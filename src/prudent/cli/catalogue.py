"""The commands `policies`, `risks`, `strategies` and `cite`: what there is, and where it comes from."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import answer, json_option

if TYPE_CHECKING:
    from prudent.registry import Entry, Registry


@click.command()
@json_option
def policies(as_json: bool) -> None:
    """List the policies: the risk they serve, papers, assumptions, parameters, and the engine that runs them."""
    from prudent import catalogue
    from prudent.policies.base import ANY
    from prudent.policies.base import policies as registered

    def more(entry: "Entry") -> dict[str, str]:
        return {"risk": entry.facts.get("serves", ANY), "engine": catalogue.engine(entry.name)}

    print_entries("policies", registered, as_json, more)


@click.command()
@json_option
def risks(as_json: bool) -> None:
    """List the risk measures, their papers, assumptions and parameters."""
    from prudent.risk.base import risks as registered

    print_entries("risk measures", registered, as_json, lambda _: {})


@click.command()
@json_option
def strategies(as_json: bool) -> None:
    """List the strategies of `identify`, their papers, assumptions and parameters."""
    from prudent.policies.base import strategies as registered

    print_entries("strategies", registered, as_json, lambda entry: {"needs": entry.facts.get("needs", "")})


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX for policies, risk measures or strategies by name, or for papers by key."""
    from prudent import catalogue

    click.echo("\n\n".join(dict.fromkeys(catalogue.cite(name) for name in names)))


def print_entries(title: str, known: "Registry[Any]", as_json: bool, more: "Callable[[Entry], dict[str, str]]") -> None:
    """One row per entry, with further columns computed from it."""
    facts, rows = [], []
    for entry in known.entries():
        words = {**more(entry), "assumes": entry.assumes}
        lists = {"parameters": entry.parameters, "papers": entry.papers}
        facts.append({"name": entry.name, "summary": entry.summary, **words, **lists})
        given = ", ".join(f"{name}={'…' if value is None else value}" for name, value in entry.parameters.items())
        words |= {"parameters": given, "paper": ", ".join(entry.papers)}
        rows.append({"name": entry.name, "what it does": entry.summary, **words})
    answer(as_json, facts, f"{len(rows)} {title}", rows, left=rows[0])


COMMANDS = (policies, risks, strategies, cite)
