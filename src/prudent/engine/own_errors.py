"""Errors in a user's own class, said by the line that they come from."""

import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from prudent.base.errors import PrudentError, near
from prudent.compile.announce import RefusedError
from prudent.compile.cache import foreign_code, is_known
from prudent.engine.question import Question, Settings
from prudent.policies.contract import spec

ROUNDS = 200
"""Rounds at most in which the error is looked for once more."""


def own_error(question: Question, asked: Settings, error: Exception) -> Exception:
    """The error that the same simulation ends with in plain Python, if the code of others is in it; else the error."""
    expected = isinstance(error, PrudentError) and not isinstance(error, RefusedError)
    if expected or not foreign_code(question.policy, question.risk, *question.bandit.arms):
        return error
    from prudent.engine.python.simulation import simulate_interpreted  # only this needs joblib

    horizon = min(int(asked["horizon"]), ROUNDS)
    again: Any = {**asked, "engine": "interpreted", "horizon": horizon, "runs": 1, "workers": 1, "snapshots": ()}
    again |= {"keep": None, "common": False, "batch": 1, "progress": None}
    try:
        simulate_interpreted(Question.checked(question.bandit, question.policy, again))
    except PrudentError as plain:
        return plain
    except Exception as plain:
        return _said(spec(question.policy), plain) or error
    return error


def _said(owner: str, error: Exception) -> PrudentError | None:
    """The user's last line on the way to an error, and the likely fix."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if not is_known(frame.f_globals.get("__name__")):
            return PrudentError(f"{owner}: {_place(frame, line)}: {type(error).__name__}: {error}{_fix(error)}")
    return None


def _place(frame: FrameType, line: int) -> str:
    (found,) = traceback.StackSummary.extract([(frame, line)])
    return f"{Path(found.filename).name}, line {line}, in {found.name}: {found.line}"


def _fix(error: Exception) -> str:
    if isinstance(error, AttributeError) and hasattr(error.obj, "_fields"):
        return f"; {near(error.name or '', error.obj._fields)}"
    if isinstance(error, ZeroDivisionError):
        return "; an arm is scored from its first pull on, and its variance is 0 then"
    return ""
