"""Files and folders as arguments: checked before anything is computed, so that no work is lost at its end."""

import os
from pathlib import Path

import click

from prudent.base.errors import PrudentError


class FilePath(click.Path):
    """The name of a file or folder that a system can have."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        text = str(value)
        if not text.strip():
            self.fail("a name must not be empty; write . for the current folder", param, ctx)
        if "\0" in text:
            self.fail("a name cannot hold a zero byte", param, ctx)
        try:
            sizes = [len(part.encode()) for part in Path(text).parts]
        except UnicodeEncodeError:
            self.fail(f"{text!r} is not UTF-8; rename it with plain letters", param, ctx)
        if max(sizes, default=0) > LONGEST_NAME or sum(sizes) > LONGEST_PATH:
            self.fail(f"names have up to {LONGEST_NAME} letters, and all together {LONGEST_PATH:,}", param, ctx)
        return Path(text)


LONGEST_NAME, LONGEST_PATH = 255, 3_000
"""What systems take, less what is added to a path."""

FILE = FilePath()
OTHER = "choose another place (--out)"


def check_folder(owner: str, folder: Path, inside: str = "") -> None:
    """Refuse a folder that cannot be made or written into, for a file `inside` perhaps; nothing is made yet."""
    cannot = f"{owner}: cannot write {folder / inside}"
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise PrudentError(f"{cannot}: {there} is a file and no folder; {OTHER}")
        if not os.access(there, os.W_OK | os.X_OK):
            raise PrudentError(f"{cannot}: no right to write into {there}; {OTHER}")
    except OSError as error:
        raise PrudentError(f"{cannot}: {error.strerror or error}; {OTHER}") from error


def check_file(owner: str, path: Path) -> None:
    """Refuse a file that cannot be written; nothing is made yet."""
    check_folder(owner, path.parent, path.name)
    if path.is_dir():
        raise PrudentError(f"{owner}: cannot write {path}: it is a folder; {OTHER}")
