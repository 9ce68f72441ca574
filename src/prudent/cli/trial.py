"""The commands `trial …`: experiments of a service, or of its database while no service runs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from prudent.base.errors import PrudentError, check_number
from prudent.base.text import count, counted, minus, number
from prudent.cli.experiments import apart_by, metric, read_spec, rows_in, sentences, state, time_of, until, within
from prudent.cli.output import answer, warn
from prudent.cli.paths import FILE, check_file
from prudent.cli.reach import opened, serving_packages, where, where_options
from prudent.cli.tables import print_text
from prudent.service.verbs import ENDED, VERBS, Verb

REASON = "Why, in a sentence; it is kept in the log."
OTHER_ARM = "The arm that becomes the fallback arm; needed if ARM is it."
FORMATS = ("csv", "parquet", "ndjson")
GROUPS = ("guardrail", "alarm", "state", "decision")
SCOPES = ("decide", "reward", "read", "admin")
DAY = 86_400_000


@click.group(short_help="Work with experiments of the service.")
def trial() -> None:
    """Create experiments, ask for arms, report rewards, look at results, stop.

    Commands work on the file of `prudent serve` while no service runs, and with --server URL on a service that does.
    """


@trial.command(short_help="Create the experiment that FILE describes.")
@click.argument("file", type=FILE)
@click.option("--name", help="The name of the experiment, instead of the one in the file.")
@where_options
def create(file: Path, name: str | None, as_json: bool, **settings: object) -> None:
    """Create the experiment that FILE describes: experiment.json of a plan, or one of your own.

    prudent trial create results/plan/experiment.json --name checkout
    """
    spec = read_spec(file) | ({} if name is None else {"name": name})
    if not settings["server"]:  # what is refused must not leave a new database behind
        with serving_packages("trial"):
            from prudent.service.plans.experiment import spec_of_plan
        spec_of_plan(spec).settled()
    with opened(**where(settings), new=True) as client:
        made = client.create({"plan": spec} if "pilot" in spec else spec)
    if as_json:
        answer(True, made, "", [])
        return
    print_text(f"{made['experiment']} is {made['status']}, with {counted(len(made['arms']), 'arm')}.")
    if spec.get("support") is None:
        print_text(
            'It has no support, so that there are no confidence intervals; to have them, create it with "support":'
            " [smallest, largest] under another name."
        )


@trial.command("list")
@where_options
def list_them(as_json: bool, **settings: object) -> None:
    """All experiments, in short."""
    with opened(**where(settings)) as client:
        found = client.experiments()
    if not found and not as_json:
        print_text("There are no experiments yet.")
        return
    rows = [
        {
            "experiment": each["experiment"],
            "state": state(each),
            "arms": ", ".join(each["arms"]),
            "events": count(each["seq"]),
            "last event": time_of(each["at"]),
        }
        for each in found
    ]
    answer(as_json, found, "Experiments", rows, left=("experiment", "state", "arms", "last event"))


@trial.command()
@click.argument("experiment")
@click.option("--unit", help="Whom or what the decision is for.")
@click.option("--among", multiple=True, metavar="ARM", help="Choose among these arms only.")
@click.option("--count", "many", type=int, default=1, show_default=True, help="How many decisions.")
@click.option("--later", is_flag=True, help="The decision is not used before it is activated.")
@where_options
def ask(
    experiment: str, unit: str | None, among: Sequence[str], many: int, later: bool, as_json: bool, **settings: object
) -> None:
    """Which arm to use now?"""
    if many < 1:
        raise PrudentError(f"trial: --count must be 1 or more, got {many}")
    with opened(**where(settings), experiment=experiment) as client:
        found = client.ask_many(many, among or None, "later" if later else "now", unit)
    rows = [
        {
            "decision": each.id or "– (not counted)",
            "arm": each.arm,
            "reward until": "–" if each.due is None else time_of(each.due),
            "why": each.why or "",
        }
        for each in found
    ]
    shown = rows if any(row["why"] for row in rows) else [{k: v for k, v in row.items() if k != "why"} for row in rows]
    answer(as_json, [each._asdict() for each in found], f"{experiment}: use", shown, left=tuple(shown[0]))


@trial.command(context_settings={"ignore_unknown_options": True})  # a reward may begin with a minus
@click.argument("decision")
@click.argument("reward", type=float)
@click.option("--metric", "metrics", multiple=True, metavar="NAME=NUMBER", help="Another number measured with it.")
@where_options
def tell(decision: str, reward: float, metrics: Sequence[str], as_json: bool, **settings: object) -> None:
    """Report the REWARD of a DECISION."""
    if not abs(reward) < float("inf"):
        raise PrudentError(f"trial: the reward must be a finite number, got {reward}")
    measured = dict(map(metric, metrics)) or None
    with opened(**where(settings)) as client:
        found = client.tell(decision, reward, measured)
    assert found is not None
    if as_json:
        answer(True, found, "", [])
        return
    again = " (it was recorded before)" if found.get("again") else ""
    print_text(f"{found['arm']}: the reward {minus(number(found['reward']))} counts {found['counted']}{again}.")


@trial.command(short_help="Say that a DECISION was not used.")
@click.argument("decision")
@where_options
def withdraw(decision: str, as_json: bool, **settings: object) -> None:
    """A DECISION was not used, and no reward will come."""
    with opened(**where(settings)) as client:
        found = client.withdraw(decision)
    if as_json:
        answer(True, found._asdict(), "", [])
    else:
        print_text(f"{found.arm}: the decision is {found.state}.")


@trial.command(short_help="Show the arms, with intervals.")
@click.argument("experiment")
@click.option("--level", type=float, default=0.95, show_default=True, help="The level of each interval.")
@click.option(
    "--control", metavar="ARM", help="Compare the other arms with this one; by default with that of the spec."
)
@where_options
def show(experiment: str, level: float, control: str | None, as_json: bool, **settings: object) -> None:
    """What is known of the arms, with intervals that stay valid however often you look."""
    check_number("trial", "level", level, low=0.0, high=1.0, open_low=True, open_high=True, hint="for 95 % pass 0.95")
    with opened(**where(settings), experiment=experiment) as client:
        whole, found = client.show(), client.estimates(level, control)
    rows = [
        {
            "arm": arm["arm"] + (" (retired)" if arm["retired"] else ""),
            "rewards": count(arm["pulls"]),
            "mean": within(arm, "mean"),
            "variance": within(arm, "variance"),
            "cost": within(arm, "cost"),
            "open": count(arm["open"]),
        }
        for arm in found["arms"]
    ]
    control = found["control"]
    title = f"{experiment}: {state(whole)}, {whole['spec']['policy']}, at event {count(whole['seq'])}"
    answer(as_json, {**whole, "estimates": found}, title, rows, left=("arm",))
    if as_json:
        return
    if control is not None:
        names = ("mean", "deviation", "cost")
        others = [arm for arm in found["arms"] if arm["arm"] != control]
        apart = [{"arm": arm["arm"], **{name: apart_by(arm, name) for name in names}} for arm in others]
        click.echo()
        answer(False, apart, f"Each arm minus {control}", apart, left=("arm",))
    for name in whole["spec"].get("metrics", {}):
        known = [
            {
                "arm": arm["arm"],
                "values": count(arm["metrics"][name]["count"]),
                "mean": within(arm["metrics"][name], "mean"),
            }
            for arm in found["arms"]
        ]
        click.echo()
        answer(False, known, name, known, left=("arm",))
    click.echo()
    for sentence in sentences(found):
        print_text(f"- {sentence}")


@trial.command(short_help="Write decisions and rewards into a file.")
@click.argument("experiment")
@click.option("--out", type=FILE, help="The file; by default named after the experiment.")
@click.option("--format", "kind", type=click.Choice(FORMATS), help="By default by the end of the file's name, or csv.")
@where_options
def export(experiment: str, out: Path | None, kind: Any, as_json: bool, **settings: Any) -> None:
    """Write all decisions with their rewards into a file."""
    ending = None if out is None else out.suffix.removeprefix(".").lower()
    chosen: Any = kind or (ending if ending in FORMATS else "csv")
    path = Path(f"{experiment}.{chosen}") if out is None else out
    check_file("trial", path)
    with opened(**where(settings), experiment=experiment) as client:
        asked = sum(arm["asked"] for arm in client.estimates()["arms"])
        client.export(path, chosen)
    merged = max(asked - rows_in(path, chosen), 0)
    if as_json:
        answer(True, {"file": str(path), "format": chosen, "in_batches": merged}, "", [])
        return
    click.echo(str(path))
    if merged:
        warn(f"{count(merged)} decisions of batches are not in it, because their rewards come merged.")


@trial.command(short_help="Write the report as one HTML file.")
@click.argument("experiment")
@click.option("--out", type=FILE, help="The file; by default named after the experiment.")
@where_options
def report(experiment: str, out: Path | None, as_json: bool, **settings: object) -> None:
    """Write the report for whoever decides: one HTML file, which prints on two pages."""
    path = Path(f"{experiment}.html") if out is None else out
    check_file("trial", path)
    with opened(**where(settings), experiment=experiment) as client:
        client.write_report(path)
    answer(as_json, {"file": str(path)}, "", []) if as_json else click.echo(str(path))


@trial.command(short_help="Replay the log and check every event.")
@click.argument("experiment")
@where_options
def verify(experiment: str, as_json: bool, **settings: object) -> None:
    """Replay the whole log, and check that every event is the one that was written."""
    with opened(**where(settings), experiment=experiment) as client:
        found = client.verify()
    if not found["ok"]:
        raise PrudentError(
            f"trial: the log of {experiment} is damaged from event {found['first_bad']} on: {found['why']}"
        )
    if as_json:
        answer(True, found, "", [])
    else:
        print_text(f"The log of {experiment} is whole: {counted(found['events'], 'event')}.")


@trial.command(short_help="Make, list or revoke tokens.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it allows; several are possible."
)
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="Only for these; by default for all.")
@click.option("--days", type=float, help="How long it is valid; by default until it is revoked.")
@click.option("--note", default="", help="What it is for.")
@click.option("--list", "listed", is_flag=True, help="List all tokens instead, without their secrets.")
@click.option("--revoke", metavar="ID", help="End a token instead, by its ID, the part between the underscores.")
@where_options
def token(listed: bool, revoke: str | None, as_json: bool, **settings: Any) -> None:
    """Make a token, which is printed this once; or list or revoke tokens.

    prudent trial token --scope decide --scope reward --experiment checkout
    """
    place = where(settings)
    if revoke is not None:
        with opened(**place) as client:
            client.revoke(revoke)
        answer(as_json, {"revoked": revoke}, "", []) if as_json else print_text(f"{revoke} is revoked.")
    elif listed:
        with opened(**place) as client:
            show_tokens(client.tokens(), as_json)
    else:
        make_token(place, as_json, **settings)


def make_token(
    place: dict[str, Any],
    as_json: bool,
    scopes: Sequence[str],
    experiments: Sequence[str],
    days: float | None,
    note: str,
) -> None:
    """A new token."""
    if not scopes:
        raise PrudentError(f"trial: a token needs --scope, one or more of {', '.join(SCOPES)}")
    if days is not None and not 0.0 < days <= 36_525.0:
        raise PrudentError(f"trial: --days must lie in (0, 36,525], got {days:g}")
    expires = None if days is None else round(datetime.now(UTC).timestamp() * 1000.0 + days * DAY)
    with opened(**place, new=True) as client:
        made = client.make_token(scopes, experiments or None, expires, note)
    answer(as_json, made, "", []) if as_json else click.echo(made["token"])


def show_tokens(found: list[dict[str, Any]], as_json: bool) -> None:
    """All tokens as a table."""
    if not found and not as_json:
        print_text("There are no tokens yet.")
        return
    rows = [
        {
            "id": each["id"],
            "scopes": ", ".join(each["scopes"]),
            "experiments": "all" if each.get("experiments") is None else ", ".join(each["experiments"]),
            "until": until(each),
            "note": each.get("note", ""),
        }
        for each in found
    ]
    answer(as_json, found, "Tokens", rows, left=tuple(rows[0]) if rows else ())


@trial.command(short_help="Delete stopped experiments that are old.")
@click.option("--days", type=float, required=True, help="Delete those in which nothing has happened for so long.")
@click.option("--reason", required=True, help=REASON)
@click.option("--dry-run", is_flag=True, help="Only say which these are.")
@where_options
def purge(days: float, reason: str, dry_run: bool, as_json: bool, **settings: object) -> None:
    """Delete all experiments that have stopped and are old, as `delete` does one.

    prudent trial purge --days 365 --reason "kept for a year" --dry-run
    """
    if not 0.0 < days <= 36_525.0:
        raise PrudentError(f"trial: --days must lie in (0, 36,525], got {days:g}")
    last = datetime.now(UTC).timestamp() * 1000.0 - days * DAY
    with opened(**where(settings)) as client:
        old = [each for each in client.experiments() if each["status"] in ENDED and each["at"] < last]
        names = [str(each["experiment"]) for each in old]
        for name in () if dry_run else names:
            client.experiment = name
            client.delete(reason)
    if as_json:
        answer(True, {"deleted": [] if dry_run else names, "old": names}, "", [])
    elif names:
        print_text(f"{'Would be deleted' if dry_run else 'Deleted'}: {', '.join(names)}.")
    else:
        print_text(f"No experiment has stopped and had its last event more than {days:g} days ago.")


@trial.command(short_help="Tell a receiver at URL what happens.")
@click.argument("url", required=False)
@click.option("--event", "events", multiple=True, type=click.Choice(GROUPS), help="Of what; several are possible.")
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="Only of these; by default of all.")
@click.option("--note", default="", help="What it is for.")
@click.option("--list", "listed", is_flag=True, help="List all receivers instead, and whether they answer.")
@click.option("--remove", metavar="ID", help="Tell a receiver nothing more, by its ID.")
@where_options
def webhook(url: str | None, listed: bool, remove: str | None, as_json: bool, **settings: Any) -> None:
    """Tell the receiver at URL what happens; its secret is printed this once. Or list or remove receivers.

    Without --event it is told of guardrails, alarms and changes of state.

    prudent trial webhook https://example.org/hook --event guardrail --event state
    """
    given = {name: settings.pop(name) for name in ("events", "experiments", "note")}
    if url is None and remove is None and not listed:
        raise PrudentError("trial: pass the URL of a receiver, such as https://example.org/hook; or --list")
    with opened(**where(settings), new=url is not None) as client:
        if remove is not None:
            client.remove_webhook(remove)
            answer(as_json, {"removed": remove}, "", []) if as_json else print_text(f"{remove} is told nothing more.")
        elif url is None:
            show_webhooks(client.webhooks(), as_json)
        else:
            events = given["events"] or GROUPS[:3]
            made = client.make_webhook(url, events, given["experiments"] or None, given["note"])
            answer(as_json, made, "", []) if as_json else click.echo(made["secret"])


def show_webhooks(found: list[dict[str, Any]], as_json: bool) -> None:
    """All receivers as a table."""
    if not found and not as_json:
        print_text("There are no webhooks yet.")
        return
    rows = [
        {
            "id": each["id"],
            "url": each["url"],
            "events": ", ".join(each["events"]),
            "experiments": "all" if each.get("experiments") is None else ", ".join(each["experiments"]),
            "note": each.get("note", ""),
            "trouble": "it is gone" if each.get("gone") else each.get("trouble", ""),
        }
        for each in found
    ]
    answer(as_json, found, "Webhooks", rows, left=tuple(rows[0]) if rows else ())


def _add_command(verb: Verb) -> None:
    """Add the command of a verb, which changes an experiment and has a reason."""

    def command(experiment: str, reason: str, as_json: bool, **settings: Any) -> None:
        named = {field.name: settings.pop(field.name) for field in verb.fields}
        with opened(**where(settings), experiment=experiment) as client:
            found = client.change(verb.path, reason, **named)
        if as_json:
            answer(True, found, "", [])
        elif verb.erases:
            print_text(f"{experiment} is deleted.")
        else:
            print_text(f"{experiment} is {state(found)}, with the arms {', '.join(found['arms'])}.")

    command.__doc__ = verb.hint
    wrapped = where_options(click.option("--reason", required=True, help=REASON)(command))
    for field in verb.fields:
        as_option = click.option(f"--{field.name}", metavar="ARM", help=OTHER_ARM)
        wrapped = (as_option if field.kind == "other" else click.argument(field.name))(wrapped)
    trial.command(verb.name)(click.argument("experiment")(wrapped))


for _verb in VERBS:
    if _verb.by_people:
        _add_command(_verb)
