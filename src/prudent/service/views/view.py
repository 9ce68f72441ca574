"""An experiment as it was at an event, and what is known of it then: one object for JSON, pages, report and metrics.

What takes time is computed when it is first asked for. What is made of it, such as a page, is kept beside it.
"""

import math
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from prudent.base.errors import PrudentError, near, shown
from prudent.live.answer_rates import Answers, answer_rates
from prudent.live.differences import Difference
from prudent.live.evidence import Estimate, Evidence
from prudent.live.intervals import Intervals, intervals
from prudent.live.stopping import Leader, Posterior
from prudent.live.summary import Summary
from prudent.risk.mean_variance import MeanVariance
from prudent.service import messages as m
from prudent.service.log.state import ExperimentState
from prudent.service.log.store import Experiment
from prudent.service.spec import LEVEL
from prudent.service.work.changes import status_of

MEAN = MeanVariance(math.inf)
"""Metrics have no risk measure of their own."""

MAX_MADE = 100
"""Things that are kept beside a view; a page may be asked for with many settings."""

Made = TypeVar("Made")


class View:
    """An experiment at an event. The state must be a copy, or be used before the next event comes."""

    def __init__(self, experiment: Experiment, state: ExperimentState) -> None:
        self.experiment, self.state, self.seq = experiment, state, state.seq
        self.born = time.monotonic()
        self._made: dict[Any, Any] = {}
        self._why: str | None = None

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives; for this key it is called once."""
        if key in self._made:
            found: Made = self._made[key]
            return found
        made = make()
        if len(self._made) < MAX_MADE:
            self._made[key] = made
        return made

    @property
    def status(self) -> m.Status:
        """In short."""
        return status_of(self.experiment.name, self.state)

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Of each arm."""
        return self.state.agent.estimates()

    @cached_property
    def asked(self) -> int:
        """All decisions."""
        return sum(tally.asked for tally in self.state.tally)

    @cached_property
    def posterior(self) -> Posterior:
        """The probability of each arm to be the best."""
        return self.state.agent.posterior()

    @cached_property
    def answers(self) -> Answers:
        """How often decisions of each arm were answered.

        Where rewards wait for their window, of decisions whose window has closed: those that are answered but still
        open do not count, since those that are not answered are known only later. Otherwise of decisions that were
        told, expired or withdrawn.
        """
        waits, counts = self.state.spec.waits, {}
        for known, tally in zip(self.estimates, self.state.tally, strict=True):
            answered = known.pulls - tally.defaulted - tally.outside
            withdrawn = 0 if waits else tally.withdrawn
            counts[known.arm] = answered + tally.defaulted + tally.expired + withdrawn, answered
        return answer_rates(counts)

    def intervals(self, level: float = LEVEL) -> list[Intervals] | None:
        """Of each arm, each with this probability; None where there are none, see `why`."""
        return self._if_bounded(("intervals", level), lambda: self.state.agent.intervals(level))

    def joint(self, level: float = LEVEL) -> list[Intervals] | None:
        """Of each arm, all together with this probability."""
        return self.intervals(1.0 - (1.0 - level) / len(self.state.labels))

    def leader(self, level: float = LEVEL) -> Leader | None:
        """Which arm is ahead; None where there are no intervals."""
        return self._if_bounded(("leader", level), lambda: self.state.agent.leader(level, foresee=False))

    def foreseen(self, level: float = LEVEL) -> Leader | None:
        """The leader, with how many rounds a decision may still take, which takes longer to compute."""
        return self._if_bounded(("foreseen", level), lambda: self.state.agent.leader(level))

    def differences(self, control: str, level: float = LEVEL) -> list[Difference] | None:
        """Each arm minus the control; None where there are no intervals."""
        if control not in self.state.numbers:
            allowed, hint = "one of the arms", near(control, self.state.labels)
            raise PrudentError(f"estimates: control must be {allowed}, got {shown(control)}; {hint}")
        make = self.state.agent.differences
        return self._if_bounded(("differences", control, level), lambda: make(control, level))

    def metric(self, name: str, level: float = LEVEL) -> list[tuple[Estimate, Intervals]]:
        """What is known of another metric under each arm; each interval has this probability."""
        return self.once(("metric", name, level), lambda: self._of_metric(name, level))

    def _of_metric(self, name: str, level: float) -> list[tuple[Estimate, Intervals]]:
        arms = [known[name] for known in self.state.metrics]
        evidence = Evidence(arms, MEAN, self.state.spec.metrics[name].support)
        return [(evidence.estimate(i), each) for i, each in enumerate(intervals(evidence, 1.0 - level))]

    def summary(self, level: float = LEVEL) -> Summary:
        """All rewards as one sequence."""
        return self.once(("summary", level), lambda: self.state.agent.summary(level))

    @property
    def why(self) -> str | None:
        """Why there are no intervals and no leader, if so."""
        self.leader()
        return self._why

    def _if_bounded(self, key: Any, make: Callable[[], Made]) -> Made | None:
        if self._why is not None:
            return None
        try:
            return self.once(key, make)
        except PrudentError as error:  # the support is not bounded
            self._why = str(error)
            return None
