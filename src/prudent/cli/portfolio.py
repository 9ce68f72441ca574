"""The command `portfolio`."""

from pathlib import Path
from typing import Any

import click

from prudent.base.json_text import to_json
from prudent.base.text import counted, number, with_error
from prudent.cli.output import answer, json_option, progress_bar, run_options, warn_of_runs
from prudent.cli.paths import FILE, check_folder
from prudent.cli.tables import print_text

PRICES = "Say what the file holds: prices, of which simple returns p_t/p_{t−1} − 1 are taken, or returns as they are."
MIDDLE = "Default: the ρ whose best mix has a mean halfway between those of the steadiest mix and of the largest mean."


@click.command(short_help="Learn mixes of correlated arms.")
@click.argument("table", type=FILE, metavar="CSV")
@click.option("--column", "columns", multiple=True, help="A column to use; may be repeated. Default: all with numbers.")
@click.option("--prices/--returns", "prices", default=None, help=PRICES)
@click.option("--rho", type=float, help=f"Tolerance for risk, in the unit of returns; inf means mean only. {MIDDLE}")
@click.option("--short", is_flag=True, help="Allow negative weights.")
@click.option("--upper", type=float, help="The largest weight of an arm.")
@click.option("--feedback", default="full", show_default=True, help="What is seen: full, semi-bandit or bandit.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds in a run.")
@run_options(20, "Independent runs.")
@click.option("--out", type=FILE, help="A folder for figures and portfolio.json.")
@json_option
def portfolio(table: Path, columns: tuple[str, ...], out: Path | None, as_json: bool, **settings: Any) -> None:
    """Compute the efficient frontier of a CSV of returns, one row per period, and the mix that a learner finds.

    For a file of prices, the oldest row first, give --prices. Columns that look like prices (all values positive, and
    either a mean above 5 or each value close to the one before) are an error unless --prices or --returns is given.

    Rows are resampled independently, so any dependence of one period on the next is ignored.
    """
    from prudent.base.errors import check_integer
    from prudent.base.files import write
    from prudent.engine.jobs import MAX_ROUNDS
    from prudent.portfolio import EmpiricalJoint, PortfolioBandit, report

    check_integer("portfolio", "horizon", settings["horizon"], low=1, high=MAX_ROUNDS)
    if out is not None:
        check_folder("portfolio", out)
    prices, limits = settings.pop("prices"), {name: settings[name] for name in ("upper", "short")}
    with progress_bar("reading"):
        law = EmpiricalJoint.from_csv(table, columns or None, prices)
        bandit = PortfolioBandit(law)
    chosen = settings["rho"] is None
    if chosen:
        with progress_bar("choosing ρ"):
            settings["rho"] = bandit.middle_rho(upper=settings["upper"])

    def learn(horizon: float, **given: Any) -> Any:
        return report.learn(bandit, **{**settings, "horizon": horizon, **given})

    warn_of_runs([learn], len(bandit), settings["horizon"], settings["runs"], settings["workers"])
    with progress_bar("portfolio", settings["runs"]) as advance:
        learned = learn(settings["horizon"], progress=advance)
    said = report.remarks(learned, chosen=chosen, from_prices=len(law.rows) if prices else 0)
    with progress_bar("finding the frontier"):
        facts = report.facts(learned, **limits) | {"remarks": said}
    learner, size = facts["learned"], f"{counted(facts['horizon'], 'round')}, {counted(facts['runs'], 'run')}"
    regret = with_error(learner["regret"], learner["regret_se"])
    title = f"{learner['policy']}, ρ = {number(facts['rho'])}, {size}: regret {regret} (± standard error)"
    answer(as_json, facts, title, mixes(facts), left=("arm",))
    for sentence in () if as_json else said:
        print_text(sentence)
    if out is not None:  # after the answer, which a full disk must not cost
        write(out / "portfolio.json", to_json(facts))
        with progress_bar("drawing"):
            made = report.draw(learned, out, **limits)
        for path in () if as_json else made:
            click.echo(path)


def mixes(facts: dict[str, Any]) -> list[dict[str, str]]:
    """One row per arm that has weight, then what the mixes earn."""
    best, learned = facts["best"], facts["learned"]
    pairs = {arm: (best["weights"][arm], learned["weights"][arm]) for arm in facts["arms"]}
    shown = {arm: [f"{x:.3f}" for x in pair] for arm, pair in pairs.items() if max(map(abs, pair)) >= 0.0005}
    for moment in ("mean", "variance"):
        earned = with_error(learned[f"reward_{moment}"], learned[f"reward_{moment}_se"])
        shown[f"{moment} of rewards"] = [number(best[moment]), earned]
    return [{"arm": name, "best mix": one, "learned mix": other} for name, (one, other) in shown.items()]
