"""Computes one plan in a process of its own: `python -m prudent.service.planning.computing FOLDER NICE`.

The folder holds the question, and the file if there is one. The process steps back behind all others, ends when its
parent does, and leaves how far it has come, and then what it found.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from prudent.errors import PrudentError
from prudent.service.planning.questions import Question, asked, in_words, options_of

QUESTION, PROGRESS, FOUND, WRONG = "question.json", "progress.txt", "found.json", "wrong.txt"


def main(folder: str, nice: str) -> int:
    """0 if there is a plan; 1 if there is none, and the words why."""
    with suppress(AttributeError, OSError):
        os.nice(int(nice))
    os.chdir(folder)  # so that messages and pages name files without it
    fields, file = msgspec.json.decode(Path(QUESTION).read_bytes(), type=tuple[dict[str, str], str])
    try:
        found = compute(asked(fields), Path(file) if file else None, Path(_name(fields)))
    except PrudentError as error:
        Path(WRONG).write_text(in_words(str(error), folder), "utf-8")
        return 1
    Path(FOUND).write_bytes(msgspec.json.encode(found))
    return 0


def _name(fields: dict[str, str]) -> str:
    from prudent.plan.experiment import name_of

    return name_of(fields.get("title", ""))


def compute(question: Question, file: Path | None, out: Path) -> dict[str, Any]:
    """The plan as the command line makes it, and all that its page says."""
    from prudent import MeanVariance
    from prudent.engine.threads import usable_cores
    from prudent.plan import advise, experiment_of, suitable
    from prudent.plan.advise import cells_of
    from prudent.plan.page import contents, write_page
    from prudent.plan.trial import Trial

    notes: list[str] = []
    options = options_of(question, file, notes)
    if question.rho is None:
        raise PrudentError("risk: ρ is not chosen yet")
    risk = MeanVariance(question.rho)
    trial = Trial.checked(options, risk, question.horizon, **question.facts)
    fit = question.policies or suitable(risk, trial.horizons[-1], options, **question.facts)[0]
    told = _Told(cells_of(trial, len(fit), question.draws))
    advice = advise(
        options, risk, question.horizon, out, policies=question.policies, draws=question.draws, runs=question.runs,
        seed=question.seed, workers=max(1, usable_cores() // 2), progress=told, **question.facts,
    )  # fmt: skip
    context = contents(advice, out, notes)
    write_page(advice, out, context)
    parts = [_plain(part) for part in context["parts"] if part.name != "run"]
    kept = {name: context[name] for name in ("title", "facts", "answer")}
    return {**kept, "parts": parts, "experiment": experiment_of(advice, out.name), "folder": out.name}


class _Told:
    """Writes down how far it has come, and ends the process if nobody waits for it."""

    def __init__(self, total: int) -> None:
        self.done, self.total, self.parent = 0, total, os.getppid()

    def __call__(self, cells: int) -> None:
        if os.getppid() != self.parent:
            sys.exit(3)
        self.done += cells
        beside = Path(f"{PROGRESS}.new")
        beside.write_text(f"{min(self.done, self.total)} {self.total}")
        beside.replace(PROGRESS)


def _plain(part: Any) -> dict[str, Any]:
    """A part of the page as JSON."""
    from prudent.report.page import table_rows

    table = part.table
    return {
        "name": part.name,
        "title": part.title,
        "text": list(part.text),
        "pictures": [(path.name, caption) for path, caption in part.pictures],
        "columns": [] if table is None else table.columns,
        "rows": [] if table is None else table_rows(table),
        "points": list(part.points),
        "code": part.code,
        "folded": [_plain(each) for each in part.folded],
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
