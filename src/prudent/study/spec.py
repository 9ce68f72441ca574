"""A study is data: bandits × risks × policies × horizons, each cell simulated `runs` times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from prudent.bandit import Bandit
from prudent.policies.base import Policy, spec
from prudent.risk.base import RiskMeasure
from prudent.study.cells import Labelled, StudyError
from prudent.study.expand import Expansion, whole_horizons
from prudent.study.ranges import values_of


@dataclass(frozen=True)
class Study:
    """A grid of questions. Bandits are named; arms, risks and policies are objects or specs; numbers lists or ranges.

    `Study({"easy": ["gaussian(1, 0.05)", "gaussian({mu}, 0.25)"]}, ["mv-lcb", "exp-exp"], ["mean-variance(rho=0)"],
    horizons=[1e3, 1e4], runs=500, ranges={"mu": {"from": 0.4, "to": 1.5, "steps": 12}})`

    A bandit is a `Bandit`, a list of arms, or arms by name. `keep` is what is stored of each cell: its "summary", or
    its "runs" as well.
    """

    bandits: Mapping[str, Any]
    policies: Sequence[Policy | str]
    risks: Sequence[RiskMeasure | str]
    horizons: Any
    runs: int
    seed: int = 0
    engine: str = "auto"
    keep: str = "summary"
    ranges: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def cells(self) -> list[Labelled]:
        """All cells, in order. The whole study is checked first: a `StudyError` holds every mistake found."""
        cells, mistakes = Expansion(vars(self)).expand()
        if mistakes:
            raise StudyError(mistakes)
        return cells

    def as_dict(self) -> dict[str, Any]:
        """The study as JSON can hold it, objects by their specs."""
        return {
            "bandits": {name: _arms_as_text(arms) for name, arms in self.bandits.items()},
            "policies": [item if isinstance(item, str) else spec(item) for item in self.policies],
            "risks": list(map(str, self.risks)),
            "horizons": whole_horizons(self.horizons),
            "runs": int(self.runs),
            "seed": int(self.seed),
            "engine": self.engine,
            "keep": self.keep,
            "ranges": {name: values_of(name, given) for name, given in self.ranges.items()},
        }


def _arms_as_text(given: Any) -> Any:
    if isinstance(given, Bandit):
        given = dict(zip(given.names, given.arms, strict=True))
    if isinstance(given, Mapping):
        return {str(name): str(arm) for name, arm in given.items()}
    return list(map(str, given))
