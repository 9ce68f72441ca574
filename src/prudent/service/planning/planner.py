"""Computes the plans that wait, one at a time, in a process of its own that steps back behind the service."""

import contextlib
import logging
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from prudent.service.planning.computing import FOUND, PROGRESS, QUESTION, WRONG
from prudent.service.planning.drafts import PILOT, Draft, Drafts
from prudent.service.problems import RequestError
from prudent.service.store import StoreError

LONGEST = 1800.0
"""Seconds that a plan may take."""

LOOK, SAY = 0.3, 1.0
"""Seconds between two looks at the process, and between two words to the database."""

IDLE = 2.0
"""Seconds between two looks at what waits, which another process of the service may have accepted."""

NICE = 10
"""How far the process steps back; 0 takes as much as others."""

log = logging.getLogger("prudent.service")


class Planner:
    """A thread that takes drafts which wait. `alone` says that no other process works on the database."""

    def __init__(self, drafts: Drafts, *, alone: bool, longest: float = LONGEST) -> None:
        self.drafts, self._alone, self._longest = drafts, alone, longest
        self._closing, self._wanted = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

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
        if self._thread is not None:
            self._thread.join(timeout=10.0)

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
            except Exception:
                log.exception("a plan could not be computed")
                with contextlib.suppress(RequestError, StoreError):
                    self.drafts.end(draft, "editing", "An error of the service, which its log describes.")

    def _compute(self, draft: Draft) -> None:
        """One plan, from the question to the files that it leaves."""
        with tempfile.TemporaryDirectory(prefix="prudent-plan-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            (folder / QUESTION).write_bytes(msgspec.json.encode((draft.form, draft.file)))
            if draft.file:
                (folder / draft.file).write_bytes(self.drafts.file(draft.id, PILOT) or b"")
            with (folder / "trouble.txt").open("wb") as trouble:
                child = subprocess.Popen(
                    [sys.executable, "-m", "prudent.service.planning.computing", name, str(NICE)],
                    stdin=subprocess.DEVNULL,
                    stdout=trouble,
                    stderr=trouble,
                )
                try:
                    words = self._watch(draft, child, folder)
                finally:
                    child.kill()
                    child.wait()
            if self._closing.is_set() and words is not None:
                self.drafts.end(draft, "waiting")
            elif words is not None:
                self.drafts.end(draft, "editing", words)
            elif self.drafts.is_wanted(draft):
                self._keep(draft, child.returncode, folder)

    def _watch(self, draft: Draft, child: "subprocess.Popen[bytes]", folder: Path) -> str | None:
        """Wait for the process; None when it has ended or is no longer wanted, else why it must end."""
        begun = said = time.monotonic()
        while child.poll() is None:
            if self._closing.wait(LOOK):
                return "The service is stopping."
            now = time.monotonic()
            if now - begun > self._longest:
                return (
                    f"The computation took more than {self._longest / 60.0:g} minutes, so it was ended. Ask for fewer"
                    " people, fewer lengths or fewer options, or run `prudent plan` on a machine of your own."
                )
            with contextlib.suppress(RequestError, StoreError):  # a database that does not answer now may do so later
                if not self.drafts.is_wanted(draft):
                    return None
                if now - said >= SAY:
                    said = now
                    draft = _as_far_as(draft, folder)
                    self.drafts.going_on(draft, draft.done, draft.total)
        return None

    def _keep(self, draft: Draft, status: int, folder: Path) -> None:
        """What the process left."""
        if status == 1 and (folder / WRONG).exists():
            return self.drafts.end(draft, "editing", (folder / WRONG).read_text("utf-8"))
        if status != 0 or not (folder / FOUND).exists():
            trouble = (folder / "trouble.txt").read_text("utf-8", "replace")[-2000:]
            log.error("a plan could not be computed (status %s): %s", status, trouble)
            return self.drafts.end(draft, "editing", "An error of the service, which its log describes.")
        found = (folder / FOUND).read_bytes()
        out = folder / msgspec.json.decode(found)["folder"]
        pictures = {path.name: path.read_bytes() for path in sorted((out / "figures").glob("*.svg"))}
        return self.drafts.end(
            draft, "done", files={FOUND: found, "plan.html": (out / "plan.html").read_bytes(), **pictures}
        )


def _as_far_as(draft: Draft, folder: Path) -> Draft:
    """The draft with how far the process says it has come."""
    try:
        done, total = map(int, (folder / PROGRESS).read_text().split())
    except (OSError, ValueError):
        return draft
    return draft._replace(done=done, total=total)
