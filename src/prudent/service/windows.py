"""What happens when windows close. It is written down as events, so that a replay needs no clock."""

from typing import Any

import msgspec

from prudent.service.rails import after_reward
from prudent.service.store import Store
from prudent.service.work import Work

MOST = 500
"""Windows that one transaction closes; decisions wait no longer than that takes."""


def sweep(work: Work, store: Store) -> bool:
    """Count what is due, in the order in which windows closed; whether there is more."""
    rows = store.due(work.experiment.id, work.now, MOST)
    default = work.fold.spec.rewards.default
    for row in rows:
        assert row.arm is not None
        work.decisions[row.seq] = row
        parts: dict[str, Any] = {"decision": row.seq, "arm": row.arm}
        if row.state == "told":
            details = None if row.body is None else {"metrics": msgspec.json.decode(row.body)}
            work.record("counted", 0, details, value=row.value, **parts)
        elif default is not None:
            work.record("defaulted", 0, value=default + 0.0, **parts)
        else:
            work.record("expired", 0, **parts)
            continue
        after_reward(work, row.arm)
    return len(rows) == MOST
