"""The experiment that a plan recommends, as the service takes it."""

import re
import shlex
from pathlib import Path
from typing import Any

from prudent.plan.advise import Advice, check_advice
from prudent.plan.elicit import Pilot

FILE = "experiment.json"


def experiment_of(advice: Advice, name: str = "trial") -> dict[str, Any]:
    """What `prudent trial create` and the service's API take; of the support only what is known. `pilot` holds the
    outcomes with which the policy begins."""
    trial = check_advice("experiment_of", advice).trial
    found: dict[str, Any] = {"name": name_of(name), "arms": list(trial.names), "policy": advice.recommended}
    found["control"] = trial.names[0]
    found |= {"risk": str(trial.risk), "horizon": advice.horizon + trial.told, "floor": 0.0}
    if (ends := trial.limits) is not None:
        found["support"] = list(ends)
    if not trial.outcome.larger_is_better:
        found["larger_is_better"] = False
    if trial.outcome.unit:
        found["unit"] = trial.outcome.unit
    if trial.told:
        pilots = [option for option in trial.options if isinstance(option, Pilot)]
        found["pilot"] = {option.name: list(option.outcomes) for option in pilots}
    return found


def name_of(text: str) -> str:
    """A name that an experiment may have: small letters, digits and hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-")
    return plain or "trial"


def lines_to_serve(out: Path) -> str:
    """The commands that run the trial over HTTP, for programs."""
    return f"{shlex.join(['prudent', 'trial', 'create', str(out / FILE)])}\nprudent serve\n"


def missing(advice: Advice) -> list[str]:
    """What should be added to the experiment before it is created, in sentences."""
    floor = (
        f'Each decision is logged with the probability of its option. To judge other policies by this log, set "floor"'
        f" in {FILE} to the smallest probability of an option, such as 0.05; it is 0 in the plan."
    )
    if advice.trial.limits is not None:
        return [floor]
    return [
        floor,
        f'{FILE} does not say between which limits outcomes lie, because no limits are known. Add "support": [smallest,'
        " largest] to it, or plan again with --support. Without it there are no confidence intervals, and guardrails"
        " cannot be watched.",
    ]
