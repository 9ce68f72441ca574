"""From a plan to an experiment."""

from collections.abc import Mapping
from typing import Any

from prudent.errors import PrudentError, shown
from prudent.service.spec import Spec, decoded

WRITTEN = "experiment.json, or what `prudent plan --json` prints"


def spec_of_plan(given: Any) -> Spec:
    """The spec of what `prudent plan` wrote: its `experiment.json`, or all of its JSON, which holds the same."""
    if not isinstance(given, Mapping):
        raise PrudentError(f"plan: must be an object of JSON, {WRITTEN}, got {shown(given)}")
    found = given.get("experiment", given)
    if not isinstance(found, Mapping) or "policy" not in found:
        raise PrudentError(f"plan: must be {WRITTEN}, got an object with {', '.join(map(str, given)) or 'nothing'}")
    return decoded(dict(found))
