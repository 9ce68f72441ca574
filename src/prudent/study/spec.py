"""A study is data: bandits × risks × policies × horizons, each cell simulated `runs` times."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from prudent.bandit import Bandit
from prudent.policies.contract import Policy, spec
from prudent.policies.learners import Learner
from prudent.policies.units import Units, check_scale
from prudent.risk.base import RiskMeasure
from prudent.study.cells import Labelled, StudyError
from prudent.study.expand import Expansion, Progress, whole_horizons
from prudent.study.ranges import values_of


@dataclass(frozen=True)
class Study:
    """A grid of simulations: every policy on every bandit under every risk for every horizon.

    Parameters
    ----------
    bandits
        By name; each is a `Bandit`, a list of arms, or arms by name. Arms are laws or specs.
    policies, risks
        Objects or specs. Specs may hold the name of a range in braces, as in `"gaussian({mu}, 0.25)"`. A policy may be
        a learner (docs: worlds).
    horizons
        A list, or `{"from": …, "to": …, "steps": …, "scale": "log"}`.
    runs, seed, engine, scale
        As for `simulate`.
    keep
        What is stored of each cell: its "summary", or its "runs" as well.
    ranges
        Numbers by name, each a list or `{"from": …, "to": …, "steps": …}`.

    Examples
    --------
    >>> from prudent.study import Study
    >>> arms = ["gaussian(1, 0.05)", "gaussian({mu}, 0.25)"]
    >>> ranges = {"mu": {"from": 0.4, "to": 1.5, "steps": 12}}
    >>> study = Study({"easy": arms}, ["mv-lcb", "exp-exp"], ["variance"], [1_000, 10_000], runs=50, ranges=ranges)
    >>> len(study.cells)
    48
    """

    bandits: Mapping[str, object]
    policies: Sequence[Policy | Learner | str]
    risks: Sequence[RiskMeasure | str]
    horizons: object
    runs: int
    seed: int = 0
    engine: str = "auto"
    scale: object = None
    keep: str = "summary"
    ranges: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def cells(self) -> list[Labelled]:
        """All cells, in order. The whole study is checked first: a `StudyError` holds every mistake found."""
        return self.expand()

    def expand(self, progress: Progress = lambda made, total: None) -> list[Labelled]:
        """The `cells`, which `progress` counts while they are made: it is called with those made so far and with all.

        Mistakes that show before a range is filled in are found first, and then a large study is not expanded.
        """
        if "cells" not in vars(self):
            asked = {name: vars(self)[name] for name in self.__dataclass_fields__}
            with no_collection():
                cells, mistakes = Expansion(asked).expand(progress)
            if mistakes:
                raise StudyError(mistakes)
            vars(self)["cells"] = cells
        return self.cells

    def as_dict(self) -> dict[str, Any]:
        """The study as JSON can hold it, objects by their specs."""
        _ = self.cells  # a study with mistakes has no such form
        settings = {"runs": int(self.runs), "seed": int(self.seed), "engine": self.engine, "keep": self.keep}
        return {
            "bandits": {name: _arms_as_text(arms) for name, arms in self.bandits.items()},
            "policies": [item if isinstance(item, str) else spec(item) for item in self.policies],
            "risks": list(map(str, self.risks)),
            "horizons": whole_horizons(self.horizons),
            **settings,
            **({} if self.scale is None else {"scale": _scale_as_data(self.scale)}),
            "ranges": {name: values_of(name, given) for name, given in self.ranges.items()},
        }


@contextmanager
def no_collection() -> Iterator[None]:
    """Python's search for garbage would visit a million new cells again and again, and find none."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()


def _scale_as_data(given: object) -> Any:
    scale = check_scale("study", given)
    if not isinstance(scale, Units):
        return scale
    known = {name: value for name, value in scale._asdict().items() if value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}


def _arms_as_text(given: Any) -> Any:
    if isinstance(given, Bandit):
        given = dict(zip(given.names, given.arms, strict=True))
    if isinstance(given, Mapping):
        return {str(name): str(arm) for name, arm in given.items()}
    return list(map(str, given))
