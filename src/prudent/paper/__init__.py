"""The seed, executable: one module per figure, its settings as data at the top."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from prudent.errors import PrudentError

FIGURES = ("fig2-left",)


def make(
    name: str, out: Path, *, runs: int, seed: int, workers: int | None, progress: Callable[..., Any]
) -> list[Path]:
    """Make one figure under `out`; returns the files made."""
    if name not in FIGURES:
        raise PrudentError(f"paper: unknown figure {name!r}; known: {', '.join(FIGURES)}")
    made: list[Path] = import_module(f"prudent.paper.{name.replace('-', '_')}").make(
        out, runs=runs, seed=seed, workers=workers, progress=progress
    )
    return made
