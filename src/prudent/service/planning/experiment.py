"""From a plan to an experiment."""

from collections.abc import Mapping
from typing import Any

from prudent.errors import PrudentError, shown
from prudent.service.spec import Spec, decoded


def spec_of_plan(given: Any) -> Spec:
    """The spec of what `prudent plan` wrote: its `experiment.json`, or all of its JSON, which holds the same."""
    found = given.get("experiment", given) if isinstance(given, Mapping) else given
    if not isinstance(found, Mapping):
        written = "experiment.json, or what `prudent plan --json` prints"
        raise PrudentError(f"plan: must be an object of JSON, {written}, got {shown(found)}")
    return decoded(dict(found))
