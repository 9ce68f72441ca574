"""One way to write a file: all of it or nothing."""

import errno
import os
import re
import time
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

from prudent.base.errors import PrudentError

PART = re.compile(r"\..+\.[0-9a-f]{32}\.part")
FORGOTTEN = 3600.0
"""Seconds after which a file that waits for its name was left by a process that died."""


def write(path: str | os.PathLike[str], data: bytes | str, *, only_new: bool = False) -> Path:
    """All of `data` under `path` or nothing, even if the power fails; with `only_new` a file that is there stays.

    The data goes into a file beside it first, is synced, and takes the name then.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent.absolute())
        try:
            with beside.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            take_name = _take_if_free if only_new else os.replace
            take_name(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        fix = "make room, change the rights, or choose another place"
        raise PrudentError(f"cannot write {path}: {error.strerror or error}; {fix}") from error
    return path


@cache
def _sweep(folder: Path) -> None:
    """Remove what killed processes left in the folder, once in the life of this one."""
    for entry in os.scandir(folder):
        with suppress(OSError):
            if PART.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > FORGOTTEN:
                os.unlink(entry)


def _take_if_free(beside: Path, path: Path) -> None:
    """A link fails if the name is taken, at one stroke. Where there are no links, looking first is nearly as good."""
    try:
        os.link(beside, path)
    except (AttributeError, OSError):
        if not os.path.lexists(path):
            os.replace(beside, path)


def _sync_folder(folder: Path) -> None:
    """The new name survives a power failure too, on systems that can sync a folder; Windows cannot open one."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC):  # the disk failed, not the idea
            raise
