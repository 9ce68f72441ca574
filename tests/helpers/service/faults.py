"""Faults that a service must not have, for tests that must notice them. They are applied inside a worker."""

from typing import Any


def apply(name: str | None) -> None:
    """Give this process a fault."""
    if name is not None:
        faults = {"early": answer_before_commit, "cache": keys_in_memory, "ahead": keep_the_agent}
        (faults | {"hasty": note_before_sending, "forgetful": note_nothing})[name]()


def answer_before_commit() -> None:
    """Only every fifth transaction is committed, with those before it."""
    from prudent.service.log.sqlite import SQLite

    begin, commit, count = SQLite.begin, SQLite.commit, 0

    def begin_or_go_on(self: Any) -> None:
        if not self._writer.in_transaction:
            begin(self)

    def commit_later(self: Any) -> None:
        nonlocal count
        count += 1
        if count % 5 == 0:
            commit(self)

    SQLite.begin, SQLite.commit = begin_or_go_on, commit_later  # type: ignore[method-assign]


def keys_in_memory() -> None:
    """Keys are kept in a cache instead of in the transaction."""
    from prudent.service.log.store import Store

    cache: dict[Any, Any] = {}

    def used_keys(self: Any, number: int, keys: Any) -> dict[bytes, Any]:
        return {key: cache[number, key] for key in keys if (number, key) in cache}

    def add_used_keys(self: Any, number: int, keys: Any) -> None:
        cache.update({(number, known.key): known for known in keys})

    Store.used_keys, Store.add_used_keys = used_keys, add_used_keys  # type: ignore[method-assign]


def keep_the_agent() -> None:
    """The state in memory stays as it is after a commit that failed, and nobody compares it with the log."""
    from prudent.service.work.writer import Writer

    fold_of = Writer._state

    def trusted(self: Any, experiment: Any) -> Any:
        return self._states.get(experiment.id) or fold_of(self, experiment)

    Writer.forget = lambda self: None  # type: ignore[method-assign]
    Writer._state = trusted  # type: ignore[method-assign]


def note_before_sending() -> None:
    """A message of a webhook is noted as taken before it is sent."""
    from prudent.service.work.outbox import Outbox

    sent = Outbox._sent

    def noted_and_sent(self: Any, target: Any, experiment: Any, event: Any, link: bytes) -> bool:
        self._save(target, experiment.id, event.seq)
        return sent(self, target, experiment, event, link)

    Outbox._sent = noted_and_sent  # type: ignore[method-assign]


def note_nothing() -> None:
    """Which messages of webhooks were taken is kept in memory alone."""
    from prudent.service.work.outbox import Outbox

    Outbox._save = lambda self, target, number, seq: None  # type: ignore[method-assign]
