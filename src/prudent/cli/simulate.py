"""The commands `simulate` and `identify`."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import click

from prudent.base.text import counted, number, risk_name, with_error
from prudent.cli.output import answer, arms_option, json_option, progress_bar, risk_option, run_options, warn_of_runs

SHOWN = ("regret", "gap", "exploration", "twins", "pseudo_regret", "gap_regret", "reward_mean", "reward_variance")
MOST_ARMS = 4
"""Arms whose pulls the table shows; the JSON has all."""


@click.command(short_help="Simulate policies on a bandit.")
@arms_option
@risk_option
@click.option("--policy", "policies", multiple=True, required=True, metavar="POLICY", help="A policy; may be repeated.")
@click.option("--horizon", type=float, required=True, metavar="N", help="Rounds of a run.")
@run_options(500, "Independent runs.")
@click.option(
    "--batch", type=float, default=1, show_default=True, metavar="B", help="Rewards are seen B rounds at a time."
)
@click.option("--engine", default="auto", show_default=True, help="auto, stepping, leaping, interpreted or gpu.")
@click.option(
    "--scale", metavar="X", help="How large rewards are: a number, or auto to take it from the arms; else as published."
)
@json_option
def simulate(
    arms: tuple[str, ...], risk: str, policies: tuple[str, ...], scale: str | None, as_json: bool, **settings: Any
) -> None:
    """Simulate policies on a bandit and print their regret per round, with error bars."""
    from prudent.engine.simulate import simulate as play
    from prudent.policies.contract import policies as registered

    results = results_of(play, registered, policies, arms, risk, scale=_number_or_text(scale), **settings)
    first, summaries = results[0], [result.summary() for result in results]
    batch = int(settings["batch"])
    facts = {"horizon": first.horizon, "batch": batch, "runs": len(first), "seed": first.seed, "risk": str(first.risk)}
    late = f" in batches of {batch:,}" if batch > 1 else ""
    title = title_of(first, counted(first.horizon, "round") + late)
    rows = [summary_row(summary, first.bandit.names) for summary in summaries]
    answer(as_json, {**facts, "policies": summaries}, title, rows, left=("policy",))


@click.command(short_help="Find the best arm of a bandit.")
@arms_option
@risk_option
@click.option("--strategy", "strategies", multiple=True, required=True, metavar="STRATEGY", help="May be repeated.")
@click.option("--budget", type=float, metavar="N", help="Number of pulls; or give --delta.")
@click.option("--delta", type=float, metavar="D", help="Probability of a wrong answer; or give --budget.")
@run_options(500, "Independent searches.")
@click.option("--most-pulls", type=float, help="With --delta, where a search ends undecided; 1e7.")
@json_option
def identify(arms: tuple[str, ...], risk: str, strategies: tuple[str, ...], as_json: bool, **settings: Any) -> None:
    """Search for the best arm, and print how often the answer is wrong and how many pulls it took."""
    from prudent.engine.search import identify as search
    from prudent.policies.contract import strategies as registered

    results = results_of(search, registered, strategies, arms, risk, **settings)
    first, summaries = results[0], [result.summary() for result in results]
    facts = {"budget": first.budget, "delta": first.delta, "runs": len(first), "seed": first.seed}
    title = title_of(first, counted(first.budget, "pull") if first.budget else f"delta {number(first.delta)}")
    rows = [search_row(summary, first.bandit.names) for summary in summaries]
    answer(as_json, {**facts, "risk": str(first.risk), "strategies": summaries}, title, rows, left=("strategy",))


def _number_or_text(given: str | None) -> float | str | None:
    try:
        return given if given is None else float(given)
    except ValueError:
        return given


def results_of(run: Any, kind: Any, specs: Sequence[str], arms: Sequence[str], risk: str, **settings: Any) -> list[Any]:
    """What `run` leaves for each spec of a kind, policies or strategies."""
    from prudent.bandit import Bandit
    from prudent.risk.base import risks

    # Every name is read before the first run, so that a typo in the last one does not cost the others' time.
    bandit, measure, players = Bandit(arms), risks.parse(risk), [kind.parse(text) for text in specs]

    def play(player: Any, **given: Any) -> Any:
        return run(bandit, player, risk=measure, **{**settings, **given})

    # With --delta nobody knows how many rounds a search takes.
    if length := next((name for name in ("horizon", "budget") if settings.get(name)), None):
        plays = [lambda rounds, one=one, **given: play(one, **{length: rounds}, **given) for one in players]
        warn_of_runs(plays, len(bandit), settings[length], settings["runs"], settings["workers"])
    with progress_bar(run.__name__, len(players) * settings["runs"]) as advance:
        return [play(player, progress=advance) for player in players]


def title_of(result: Any, setting: str) -> str:
    """`2 arms, mean, 1,000 rounds, 500 runs (± standard error)`."""
    parts = counted(len(result.bandit), "arm"), risk_name(result.risk), setting, counted(len(result), "run")
    return f"{', '.join(parts)} (± standard error)"


def summary_row(summary: dict[str, Any], arms: Sequence[str]) -> dict[str, str]:
    """The columns of one policy; what its risk measure does not define is left out."""
    row = {"policy": summary["policy"]}
    for name in SHOWN:
        if (mean := summary[name]) is not None and (name != "gap_regret" or summary["regret"] is None):
            shown = with_error(mean, summary[f"{name}_se"]) if name.endswith("regret") else number(mean, 3)
            row[name.replace("_", " ")] = shown
    return row | pulls_columns(summary, arms)


def search_row(summary: dict[str, Any], arms: Sequence[str]) -> dict[str, str]:
    """The columns of one strategy."""
    error = summary["error_probability"]
    return {
        "strategy": summary["strategy"],
        "error probability": with_error(error["value"], error["se"]),
        "95 % interval": f"{number(error['low'], 3)} – {number(error['high'], 3)}",
        "undecided": number(summary["undecided"], 3),
        "simple regret": with_error(summary["simple_regret"], summary["simple_regret_se"]),
        "pulls": with_error(summary["stopping_time"], summary["stopping_time_se"]),
        **pulls_columns(summary, arms),
    }


def pulls_columns(summary: dict[str, Any], arms: Sequence[str]) -> dict[str, str]:
    """The pulls of the first arms."""
    pulls = zip(arms, summary["pulls"], summary["pulls_se"] or [None] * len(arms), strict=True)
    return {f"pulls, {name}": with_error(mean, error) for name, mean, error in islice(pulls, MOST_ARMS)}


COMMANDS = (simulate, identify)
