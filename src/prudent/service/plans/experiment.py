"""From a plan to an experiment, which begins with the outcomes of the pilot."""

from collections.abc import Iterator, Mapping
from typing import Any

from prudent.base.errors import PrudentError, shown
from prudent.service.spec import Spec, decoded

PILOT = "pilot"
"""What `experiment.json` has beside the spec: the outcomes of each option with which the policy begins."""

MOST = 1000
"""Rewards of one request."""


def spec_of_plan(given: Any) -> Spec:
    """The spec of what `prudent plan` wrote: its `experiment.json`, or all of its JSON, which holds the same."""
    return decoded({name: value for name, value in experiment_of(given).items() if name != PILOT})


def experiment_of(given: Any) -> dict[str, Any]:
    """The experiment of a plan, as it was written."""
    found = given.get("experiment", given) if isinstance(given, Mapping) else given
    if not isinstance(found, Mapping):
        written = "experiment.json, or what `prudent plan --json` prints"
        raise PrudentError(f"plan: must be an object of JSON, {written}, got {shown(found)}")
    return dict(found)


def pilot_of_plan(given: Any) -> Iterator[list[dict[str, Any]]]:
    """The outcomes of the pilot as rewards from outside, as many as a request takes at once. Their keys say which they
    are, so that they count once however often they are sent."""
    pilot = experiment_of(given).get(PILOT, {})
    if not isinstance(pilot, Mapping) or not all(isinstance(outcomes, list) for outcomes in pilot.values()):
        raise PrudentError(f"plan: {PILOT} must hold a list of outcomes for each option, got {shown(pilot)}")
    rewards = [
        {"arm": arm, "reward": reward, "key": f"pilot {number} {arm}"[:200]}
        for arm, outcomes in pilot.items()
        for number, reward in enumerate(outcomes, 1)
    ]
    for first in range(0, len(rewards), MOST):
        yield rewards[first : first + MOST]
