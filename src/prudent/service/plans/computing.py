"""Computes one plan: a job of a child process of the service, in a folder of its own.

The folder holds the file if there is one. Beside the answer the job leaves how far it has come.
"""

from pathlib import Path
from typing import Any

import msgspec

from prudent.service.plans.questions import Question, asked, options_of

PROGRESS, FOUND, PAGE = "progress.txt", "found.json", "plan.html"
"""The file that says how far it is; what was found, and the plan as a file to keep, both in the answer."""


def answer(question: bytes) -> bytes:
    """The job of the child process: from the fields and the name of the file to the files that a plan leaves."""
    fields, file = msgspec.json.decode(question, type=tuple[dict[str, str], str])
    out = Path(_name(fields))
    found = compute(asked(fields), Path(file) if file else None, out)
    pictures = {path.name: path.read_bytes() for path in sorted((out / "figures").glob("*.svg"))}
    files = {FOUND: msgspec.json.encode(found), PAGE: (out / PAGE).read_bytes(), **pictures}
    return msgspec.msgpack.encode(files)


def _name(fields: dict[str, str]) -> str:
    from prudent.plan.experiment import name_of

    return name_of(fields.get("title", ""))


def compute(question: Question, file: Path | None, out: Path) -> dict[str, Any]:
    """The plan as the command line makes it, and all that its page says."""
    from prudent import PrudentError
    from prudent.engine.threads import usable_cores
    from prudent.plan import advise, experiment_of
    from prudent.plan.page import contents, write_page

    notes: list[str] = []
    options = options_of(question, file, notes)
    if question.risk is None:
        raise PrudentError("risk: ρ is not chosen yet")
    advice = advise(
        options, question.risk, question.horizon, out, policies=question.policies, draws=question.draws,
        runs=question.runs, seed=question.seed, seconds=question.seconds, workers=max(1, usable_cores() // 2),
        progress=keep_progress, **question.facts,
    )  # fmt: skip
    context = contents(advice, out, notes)
    write_page(advice, out, context)
    parts = [part.plain() for part in context["parts"] if part.name != "run"]
    kept = {name: context[name] for name in ("title", "facts", "answer", "cautions")}
    return {**kept, "parts": parts, "experiment": experiment_of(advice, out.name), "folder": out.name}


def keep_progress(share: float) -> None:
    """Write down how far it has come."""
    beside = Path(f"{PROGRESS}.new")
    beside.write_text(f"{round(1000.0 * share)} 1000")
    beside.replace(PROGRESS)
