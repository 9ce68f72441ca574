"""Computes the plans that wait, one at a time, in a process of its own that steps back behind the service."""

import contextlib
import hashlib
import logging
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from prudent.base.errors import PrudentError
from prudent.service.log.store import StoreError
from prudent.service.plans.computing import PROGRESS
from prudent.service.plans.drafts import PILOT, Draft, Drafts
from prudent.service.plans.questions import in_words
from prudent.service.problems import RequestError
from prudent.service.work.children import BrokenError, Computer, EndedError

LONGEST = 1800.0
"""Seconds that a plan may take."""

SAY = 0.5
"""Seconds between two words to the database on how far it is."""

IDLE = 2.0
"""Seconds between two looks at what waits, which another process of the service may have accepted."""

log = logging.getLogger("prudent.service")


class Planner:
    """A thread that takes drafts which wait. `alone` says that no other process works on the database.

    Each is computed in a folder of its own in `folder`, where a computation goes on that was cut short: the study of a
    plan does not simulate again what it has. The folder is removed when the plan is done, changed or deleted.
    """

    def __init__(self, drafts: Drafts, *, alone: bool, folder: Path | None = None, longest: float = LONGEST) -> None:
        self.folder = folder
        self.drafts, self._alone, self._longest = drafts, alone, longest
        self._closing, self._wanted = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._computer = Computer()

    def start(self) -> None:
        """Begin to work."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._wanted.set()

    def close(self) -> None:
        """Stop. What is being computed waits for the next start."""
        self._closing.set()
        self._wanted.set()
        self._computer.close()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        begun = not self._alone
        while not self._closing.is_set():
            draft = None
            with contextlib.suppress(RequestError, StoreError):
                if not begun:
                    self.drafts.begin_again()
                    begun = True
                draft = self.drafts.take()
            if draft is None:
                self._wanted.wait(IDLE)
                self._wanted.clear()
                continue
            try:
                self._compute(draft)
            except (RequestError, StoreError) as error:
                log.error("a plan could not be kept: %s", error)
                self._closing.wait(IDLE)
            except Exception as error:
                log.error("a plan could not be computed: %s: %s", type(error).__name__, _broken(error))
                with contextlib.suppress(RequestError, StoreError):
                    self.drafts.end(draft, "editing", "An error of the service, which its log describes.")

    def _compute(self, draft: Draft) -> None:
        """One plan, from the question to the files that it leaves."""
        question = msgspec.json.encode((draft.form, draft.file))
        files = {draft.file: self.drafts.file(draft.id, PILOT) or b""} if draft.file else {}
        watch = _Watch(self.drafts, draft)
        try:
            place = self._place(draft, question, files)
            made = self._computer.compute(
                "plan", question, seconds=self._longest, wanted=watch, files=files, within=place
            )
        except EndedError as error:
            if error.late:
                self.drafts.end(draft, "editing", _too_long(self._longest))
            elif self._closing.is_set():
                self.drafts.end(draft, "waiting")
        except RequestError:
            self.drafts.end(draft, "waiting")  # the service is stopping
        except PrudentError as error:
            self.drafts.end(draft, "editing", in_words(str(error)))
            self._forget(draft)
        else:
            self.drafts.end(draft, "done", files=msgspec.msgpack.decode(made, type=dict[str, bytes]))
            self._forget(draft)

    def _place(self, draft: Draft, question: bytes, files: Mapping[str, bytes]) -> Path | None:
        """The folder of a draft, for just this question; those of others, and of drafts that are gone, are removed."""
        if self.folder is None:
            return None
        digest = hashlib.sha256(question + b"".join(files.values())).hexdigest()[:16]
        place = self.folder / f"{draft.id}-{digest}"
        waiting = self.drafts.unfinished()
        for old in self.folder.glob("*-*"):
            if old != place and (old.name.partition("-")[0] == draft.id or old.name.partition("-")[0] not in waiting):
                shutil.rmtree(old, ignore_errors=True)
        return place

    def _forget(self, draft: Draft) -> None:
        for old in [] if self.folder is None else self.folder.glob(f"{draft.id}-*"):
            shutil.rmtree(old, ignore_errors=True)


class _Watch:
    """Whether a draft is still wanted, asked while it is computed; tells the database how far it is."""

    def __init__(self, drafts: Drafts, draft: Draft) -> None:
        self._drafts, self._draft, self._said = drafts, draft, time.monotonic()

    def __call__(self, folder: Path) -> bool:
        with contextlib.suppress(RequestError, StoreError):  # a database that does not answer now may do so later
            if not self._drafts.is_wanted(self._draft):
                return False
            if time.monotonic() - self._said >= SAY:
                self._said = time.monotonic()
                self._draft = _as_far_as(self._draft, folder)
                self._drafts.going_on(self._draft, self._draft.done, self._draft.total)
        return True


def _broken(error: Exception) -> str:
    """What the log says of a fault: where it is, but not what the person wrote."""
    return str(error) if isinstance(error, BrokenError) else ""


def _too_long(seconds: float) -> str:
    return (
        f"The computation took more than {seconds / 60.0:g} minutes, so it was ended. Ask for fewer people, fewer"
        " lengths or fewer options, or run `prudent plan` on a machine of your own."
    )


def _as_far_as(draft: Draft, folder: Path) -> Draft:
    """The draft with how far the process says it has come."""
    try:
        done, total = map(int, (folder / PROGRESS).read_text().split())
    except (OSError, ValueError):
        return draft
    return draft._replace(done=done, total=total)
