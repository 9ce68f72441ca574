"""From a study to its cells, with every problem on the way.

Specs may hold the names of ranges in braces. A cell has one value for each name its bandit, risk and policy use, so
a name used twice, as in `mean-variance(rho={rho})` and `mv-lcb(rho={rho})`, varies together.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prudent.arms.base import arms as arm_registry
from prudent.bandit import Bandit
from prudent.engine.simulation import choose_engine
from prudent.errors import PrudentError, check_integer, near
from prudent.policies.base import Policy
from prudent.policies.base import policies as policy_registry
from prudent.policies.binding import bind, check_rewards
from prudent.risk.base import RiskMeasure
from prudent.risk.base import risks as risk_registry
from prudent.study.cells import Cell, Entry, Path, Problem
from prudent.study.ranges import assignments, filled, holes, values_of

if TYPE_CHECKING:
    from prudent.study.spec import Study

MOST_CELLS = 1_000_000
KEEP = ("summary", "runs")


class Expansion:
    """A study on its way to cells, and the problems met."""

    def __init__(self, study: "Study") -> None:
        self.study = study
        self.problems: dict[Problem, None] = {}
        self.ranges: dict[str, list[float]] = {}
        self.made: dict[tuple[Any, ...], Any] = {}
        self.fitting: dict[tuple[Any, ...], bool] = {}

    def attempt(self, path: Path, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What `make` returns; None if it finds a problem."""
        try:
            return make(*args, **kwargs)
        except PrudentError as error:
            self.problems[Problem(path, str(error))] = None
            return None

    def expand(self) -> tuple[list[Entry], list[Problem]]:
        """All cells, and all problems."""
        study = self.study
        if not isinstance(study.ranges, Mapping):
            return [], [Problem(("ranges",), f"must be a table of ranges by name, got {study.ranges!r}")]
        for name, given in study.ranges.items():
            self.attempt(("ranges", name), _check_range_name, name)
            self.ranges[name] = self.attempt(("ranges", name), values_of, "range", given) or [0.0]
        runs = self.attempt(("runs",), check_integer, "study", "runs", study.runs, low=1)
        seed = self.attempt(("seed",), check_integer, "study", "seed", study.seed, low=0)
        self.attempt(("engine",), _one_of, "engine", study.engine, ("auto", "stepping", "leaping"))
        self.attempt(("keep",), _one_of, "keep", study.keep, KEEP)
        horizons = self.attempt(("horizons",), whole_horizons, study.horizons) or []
        bandits = self.templates("bandits", study.bandits, Mapping)
        risks = self.templates("risks", study.risks, Sequence)
        policies = self.templates("policies", study.policies, Sequence)
        self.unused(bandits, risks, policies)
        entries = self.product(bandits, risks, policies, horizons, (runs or 1, seed or 0, study.engine))
        return entries, list(self.problems)

    def templates(self, kind: str, given: Any, wanted: Any) -> dict[Path, Any]:
        """The items of one kind by path; those with holes nothing can fill are problems."""
        if isinstance(given, str) or not isinstance(given, wanted) or not given:
            shape = "tables of arms by name" if kind == "bandits" else "a list of specs"
            self.problems[Problem((kind,), f"must be {shape}, at least one, got {given!r}")] = None
            return {}
        items = given.items() if isinstance(given, Mapping) else enumerate(given)
        found: dict[Path, Any] = {(kind, name): item for name, item in items}
        for path, item in list(found.items()):
            for name in _names_in(item):
                if name not in self.ranges:
                    self.problems[Problem(path, f"no range is called {{{name}}}; {near(name, self.ranges)}")] = None
                    found.pop(path, None)
        return found

    def unused(self, *kinds: Mapping[Path, Any]) -> None:
        """A range that nothing uses is a mistake, unless it follows from another."""
        used = {name for items in kinds for item in items.values() for name in _names_in(item)}
        if not self.problems:
            for name in self.ranges.keys() - used:
                text = f"is used in no arm, risk or policy; write {{{name}}} where it belongs, or leave it out"
                self.problems[Problem(("ranges", name), text)] = None

    def product(
        self,
        bandits: Mapping[Path, Any],
        risks: Mapping[Path, Any],
        policies: Mapping[Path, Any],
        horizons: Sequence[int],
        settings: tuple[int, int, str],
    ) -> list[Entry]:
        """The cells of every combination that can be played."""
        triples = [(b, r, p) for b in bandits for r in risks for p in policies]
        names = {(b, r, p): _names_in(bandits[b], risks[r], policies[p]) for b, r, p in triples}
        total = sum(math.prod(len(self.ranges[name]) for name in names[t]) for t in triples) * len(horizons)
        if total > MOST_CELLS:
            self.problems[Problem((), f"{total:,} cells are more than {MOST_CELLS:,}; take fewer steps")] = None
            return []
        entries = []
        for b, r, p in triples:
            items = ((b, bandits[b]), (r, risks[r]), (p, policies[p]))
            for values in assignments(names[b, r, p], self.ranges):
                bandit, risk, policy = (self.built(path, item, values) for path, item in items)
                if bandit is None or risk is None or policy is None:
                    continue
                self.attempt(b, bandit.best, risk)
                for n in horizons:
                    if self.fits(p, policy, risk, n, bandit):
                        cell = Cell(bandit, risk, policy, n, *settings)
                        entries.append(Entry(cell.key(), cell, str(b[1]), values))
        return entries

    def built(self, path: Path, item: Any, values: Mapping[str, float]) -> Any:
        """The bandit, risk or policy at a path with its values filled in; made once for all cells that share it."""
        known = {name: values[name] for name in _names_in(item)}
        place = (path, *known.values())
        if place not in self.made:
            if path[0] == "bandits":
                self.made[place] = self.bandit(path, item, known)
            else:
                self.made[place] = self.attempt(path, _risk if path[0] == "risks" else _policy, filled(item, known))
        return self.made[place]

    def bandit(self, path: Path, item: Any, values: Mapping[str, float]) -> Bandit | None:
        """Arms made one by one, so that a problem is found where it stands."""
        if isinstance(item, Bandit):
            return item
        if isinstance(item, str) or not isinstance(item, (Mapping, Sequence)):
            self.problems[Problem(path, f"arms must be a list of arms, or arms by name, got {item!r}")] = None
            return None
        named = item.items() if isinstance(item, Mapping) else enumerate(item)
        arms = {name: self.attempt((*path, name), _arm, filled(arm, values)) for name, arm in named}
        if None in arms.values():
            return None
        names = [str(name) for name in arms] if isinstance(item, Mapping) else None
        bandit: Bandit | None = self.attempt(path, Bandit, list(arms.values()), names)
        return bandit

    def fits(self, path: Path, policy: Policy, risk: RiskMeasure, horizon: int, bandit: Bandit) -> bool:
        """Whether the policy can play here; asked once for all bandits alike."""
        leaping = self.study.engine == "leaping"
        place = (id(policy), id(risk), horizon, id(bandit) if leaping else (len(bandit), bandit.support))

        def ready() -> bool:
            check_rewards(policy, *bandit.support)
            bound = bind(policy, risk, horizon, len(bandit))
            if leaping:
                choose_engine("leaping", bandit, policy, bound)
            return True

        if place not in self.fitting:
            self.fitting[place] = self.attempt(path, ready) is True
        return self.fitting[place]


def _names_in(*items: Any) -> list[str]:
    """The ranges that specs use, in order of appearance."""
    texts: list[Any] = []
    for item in items:
        arms = list(item.values()) if isinstance(item, Mapping) else item
        texts += arms if isinstance(arms, (list, tuple)) and not hasattr(arms, "_fields") else [arms]
    return list(dict.fromkeys(name for text in texts for name in holes(text)))


def _arm(given: Any) -> Any:
    return arm_registry.parse(given) if isinstance(given, str) else given


def _risk(given: Any) -> RiskMeasure:
    made = risk_registry.parse(given) if isinstance(given, str) else given
    if not isinstance(made, RiskMeasure):
        raise PrudentError(f"must be a risk measure such as mean-variance(rho=1), got {given!r}")
    return made


def _policy(given: Any) -> Any:
    return policy_registry.parse(given) if isinstance(given, str) else given


def whole_horizons(given: Any) -> list[int]:
    """Horizons as whole numbers; those of a range are rounded."""
    scaled = isinstance(given, Mapping)
    numbers = values_of("horizons", given)
    return list(
        dict.fromkeys(check_integer("study", "horizons", round(n) if scaled else n, low=1, high=2**53) for n in numbers)
    )


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise PrudentError(f"{name} must be one of {', '.join(allowed)}, got {value!r}; {near(str(value), allowed)}")


def _check_range_name(name: str) -> None:
    from prudent.study.play import COLUMNS

    if not name.isidentifier() or name in COLUMNS:
        raise PrudentError(f"a range cannot be called {name!r}; take a word that is no column of the results")
