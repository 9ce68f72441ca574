"""The command line. Each module reads the arguments of a command, calls the library and prints; imports are lazy."""

from typing import Any

import click

from prudent.cli import bounds, catalogue, evaluate, paper, plan, portfolio, serve, simulate, study, trial, warm_up
from prudent.cli.trouble import open_closed_streams, orderly_end, report, short_warnings
from prudent.errors import shortened
from prudent.text import DOCS


class Commands(click.Group):
    """A group whose errors of every kind end in a line or two on stderr and exit code 2."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        open_closed_streams()
        with orderly_end(), short_warnings():
            return super().main(*args, **kwargs)

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


@click.group(cls=Commands, epilog=f"Documentation: {DOCS}")
@click.version_option(package_name="prudent")
@click.option("--debug", is_flag=True, envvar="PRUDENT_DEBUG", help="Show Python's traceback of an error as well.")
def main(debug: bool) -> None:
    """Risk-averse bandits: plan a trial, run it live, report its risk."""


single = (
    bounds.bounds,
    evaluate.evaluate,
    paper.paper,
    portfolio.portfolio,
    plan.plan,
    serve.serve,
    trial.trial,
    warm_up.warm_up,
)
for command in (*simulate.COMMANDS, *single, *study.COMMANDS, *catalogue.COMMANDS):
    main.add_command(command)
