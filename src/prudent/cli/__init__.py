"""The command line. Each module reads the arguments of a command, calls the library and prints; imports are lazy."""

from typing import Any

import click

from prudent.cli import bounds, catalogue, paper, plan, portfolio, simulate, study
from prudent.errors import PrudentError


class Commands(click.Group):
    """A group whose bad input ends in one line on stderr and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PrudentError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)


@click.group(cls=Commands)
@click.version_option(package_name="prudent")
def main() -> None:
    """Risk-averse bandits: plan a trial, run it live, report its risk."""


single = (bounds.bounds, paper.paper, portfolio.portfolio, plan.plan)
for command in (*simulate.COMMANDS, *single, *study.COMMANDS, *catalogue.COMMANDS):
    main.add_command(command)
