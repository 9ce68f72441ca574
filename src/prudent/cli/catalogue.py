"""The commands `policies`, `risks`, `arms`, `strategies` and `cite`: what there is, and where it comes from."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from prudent.cli.output import answer, json_option

if TYPE_CHECKING:
    from prudent.base.registry import Entry, Registry


@click.command(short_help="List the policies.")
@click.option("--portfolio", is_flag=True, help="List the policies that learn mixes of arms instead.")
@json_option
def policies(portfolio: bool, as_json: bool) -> None:
    """List the policies: the risk they serve, papers, assumptions, parameters, and the engine that runs them."""
    from prudent.cli import catalogue_pages
    from prudent.policies.contract import ANY
    from prudent.policies.contract import policies as registered
    from prudent.portfolio.policies.base import portfolio_policies

    if portfolio:
        seen = {entry.name: getattr(entry.factory, "feedback", "") for entry in portfolio_policies.entries()}
        print_entries("portfolio policies", portfolio_policies, as_json, lambda entry: {"sees": seen[entry.name]})
        return

    def more(entry: "Entry") -> dict[str, str]:
        return {"risk": entry.facts.get("serves", ANY), "engine": catalogue_pages.engine(entry.name)}

    print_entries("policies", registered, as_json, more)


@click.command(short_help="List the risk measures.")
@json_option
def risks(as_json: bool) -> None:
    """List the risk measures, their papers, assumptions and parameters."""
    from prudent.risk.base import risks as registered

    print_entries("risk measures", registered, as_json, lambda _: {})


@click.command(short_help="List the strategies of identify.")
@json_option
def strategies(as_json: bool) -> None:
    """List the strategies of `identify`, their papers, assumptions and parameters."""
    from prudent.policies.contract import strategies as registered

    print_entries("strategies", registered, as_json, lambda entry: {"needs": entry.facts.get("needs", "")})


@click.command(short_help="List the distributions of rewards.")
@json_option
def arms(as_json: bool) -> None:
    """List the laws that an arm can have: their parameters, and an example with the interval of its rewards."""
    from prudent.arms.base import arms as registered
    from prudent.cli import catalogue_pages

    facts, rows = [], []
    for entry in registered.entries():
        words = {"support": catalogue_pages.support(entry), "example": entry.facts.get("example", "")}
        own = {"name": entry.name, "aliases": list(entry.aliases), "summary": entry.summary}
        facts.append({**own, "parameters": entry.parameters, **words})
        name = ", ".join((entry.name, *(f"or {alias}" for alias in entry.aliases)))
        rows.append({"name": name, "rewards": entry.summary, "parameters": ", ".join(entry.parameters), **words})
    answer(as_json, facts, f"{len(rows)} laws of arms", rows, left=rows[0])


@click.command(short_help="Print BibTeX for anything in the package.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="The package and the whole bibliography.")
def cite(names: tuple[str, ...], everything: bool) -> None:
    """Print BibTeX for policies, risk measures or strategies by name, for papers by key, or for `prudent` itself.

    Unknown names are listed at the end; the exit code is then 2.
    """
    from prudent.base.errors import PrudentError
    from prudent.cli import catalogue_pages

    if not names and not everything:
        raise click.UsageError("name what to cite, such as mv-lcb, Sani12 or prudent, or take --all")
    found, unknown = catalogue_pages.every_entry() if everything else {}, []
    for name in names:
        try:
            found |= catalogue_pages.entries_of(name)
        except PrudentError as error:
            unknown.append(str(error))
    if found:
        click.echo("\n\n".join(found.values()))
    if unknown:
        raise PrudentError("\n".join(unknown))


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


COMMANDS = (policies, risks, arms, strategies, cite)
