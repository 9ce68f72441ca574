"""The command line. Each module reads the arguments of a command, calls the library and prints; imports are lazy.

bounds.py            the command `bounds`
catalogue.py         the commands `policies`, `risks`, `arms`, `strategies` and `cite`: what there is
catalogue_pages.py   what there is: the engine that runs a policy, and the papers behind everything that is registered
docs.py              the command `docs`: the pages of the documentation, which come with the package
evaluate.py          the command `evaluate`
experiments.py       experiments as the terminal has them: files and words to read, and numbers
output.py            what commands share: options, answers, progress, and a warning of what takes long
paper.py             the command `paper`
paths.py             files and folders as arguments: checked before anything is computed
pivot.py             one measure of a study with one label across, for the terminal or as LaTeX for a paper
plan.py              the command `plan`
portfolio.py         the command `portfolio`
reach.py             how commands reach experiments: a running service, or its database while no service runs
serve.py             the command `serve`, and the copy of its database
simulate.py          the commands `simulate` and `identify`
study.py             the command `study`: run, show, plot, compare, compact
tables.py            tables that fit: columns where the terminal is wide enough for them
trial.py             the commands `trial …`: experiments of a service, or of its database while no service runs
trouble.py           what ends a command before its time, in words: mistakes, the system's refusals, faults of prudent
warm_up.py           the command that compiles ahead, for images and clusters
"""

from typing import Any

import click

from prudent.base.errors import shortened
from prudent.cli import (
    bounds,
    catalogue,
    docs,
    evaluate,
    paper,
    plan,
    portfolio,
    serve,
    simulate,
    study,
    trial,
    warm_up,
)
from prudent.cli.trouble import open_closed_streams, orderly_end, report, short_warnings


class Commands(click.Group):
    """A group whose errors of every kind end in a line or two on stderr and exit code 2."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        open_closed_streams()
        with orderly_end(), short_warnings():
            return super().main(*args, **kwargs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(each.name or "", each.get_short_help_str()) for each in group])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = shortened(error.message)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort, SystemExit, KeyboardInterrupt, BrokenPipeError):
            raise  # click ends these quietly
        except BaseException as error:  # a panic of polars is no Exception
            report(error, ctx.params.get("debug", False))
            ctx.exit(2)


@click.group(cls=Commands, epilog="Documentation: prudent docs")
@click.version_option(package_name="prudent")
@click.option("--debug", is_flag=True, envvar="PRUDENT_DEBUG", help="Show Python's traceback of an error as well.")
def main(debug: bool) -> None:
    """Risk-averse bandits: plan a trial, run it live, report its risk."""


COMMANDS = {
    "Simulate": (*simulate.COMMANDS, bounds.bounds, study.study, portfolio.portfolio, paper.paper),
    "Plan and run": (plan.plan, serve.serve, trial.trial, evaluate.evaluate),
    "Look up": (*catalogue.COMMANDS, docs.docs, warm_up.warm_up),
}
"""The commands in the groups that the help shows."""

for group in COMMANDS.values():
    for command in group:
        main.add_command(command)
