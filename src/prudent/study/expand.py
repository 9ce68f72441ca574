"""From what a study asks for to its cells, with every mistake on the way.

Specs may hold the names of ranges in braces. A cell has one value for each name its bandit, risk and policy use, so
a name used twice, as in `mean-variance(rho={rho})` and `mv-lcb(rho={rho})`, varies together.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prudent.arms.base import arms
from prudent.bandit import Bandit
from prudent.engine.simulation import choose_engine
from prudent.errors import PrudentError, check_integer, near
from prudent.policies.base import Policy, Setting, policies
from prudent.policies.binding import bind, check_rewards
from prudent.risk.base import RiskMeasure, risks
from prudent.study.cells import Cell, Labelled, Mistake, Place
from prudent.study.ranges import filled, holes, values_of
from prudent.study.schema import COLUMNS, KEEP

MOST_CELLS = 1_000_000
ENGINES = ("auto", "stepping", "leaping")


class Expansion:
    """The fields of a study, as given and not checked yet, on their way to cells; and the mistakes met."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.asked = asked
        self.mistakes: dict[Mistake, None] = {}
        self.ranges: dict[str, list[float]] = {}
        self.made: dict[tuple[Any, ...], Any] = {}  # what `built` and `fits` have found, which many cells share

    def wrong(self, place: Place, text: str) -> None:
        """Take down a mistake; the same one twice is one."""
        self.mistakes[Mistake(place, text)] = None

    def attempt(self, place: Place, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What `make` returns; None if it finds a mistake."""
        try:
            return make(*args, **kwargs)
        except PrudentError as error:
            self.wrong(place, str(error))
            return None

    def expand(self) -> tuple[list[Labelled], list[Mistake]]:
        """All cells, and all mistakes."""
        asked = self.asked
        if not isinstance(asked["ranges"], Mapping):
            return [], [Mistake(("ranges",), f"must be a table of ranges by name, got {asked['ranges']!r}")]
        for name, given in asked["ranges"].items():
            if not name.isidentifier() or name in ("bandit", *COLUMNS):
                text = f"a range cannot be called {name!r}; take a word that is no column of the results"
                self.wrong(("ranges", name), text)
            self.ranges[name] = self.attempt(("ranges", name), values_of, "range", given) or [0.0]
        runs = self.attempt(("runs",), check_integer, "study", "runs", asked["runs"], low=1)
        seed = self.attempt(("seed",), check_integer, "study", "seed", asked["seed"], low=0)
        for name, allowed in (("engine", ENGINES), ("keep", KEEP)):
            if (value := asked[name]) not in allowed:
                text = f"{name} must be one of {', '.join(allowed)}, got {value!r}; {near(str(value), allowed)}"
                self.wrong((name,), text)
        horizons = self.attempt(("horizons",), whole_horizons, asked["horizons"]) or []
        shapes = {"bandits": Mapping, "risks": Sequence, "policies": Sequence}
        kinds = [self.templates(kind, shape) for kind, shape in shapes.items()]
        if not self.mistakes:
            for name in sorted(self.ranges.keys() - holes(*(item for items in kinds for item in items.values()))):
                text = f"is used in no arm, risk or policy; write {{{name}}} where it belongs, or leave it out"
                self.wrong(("ranges", name), text)
        cells = self.product(kinds, horizons, (runs or 1, seed or 0, asked["engine"]))
        return cells, list(self.mistakes)

    def templates(self, kind: str, wanted: Any) -> dict[Place, Any]:
        """The items of one kind by place; those with holes nothing can fill are mistakes."""
        given = self.asked[kind]
        if isinstance(given, str) or not isinstance(given, wanted) or not given:
            shape = "tables of arms by name" if kind == "bandits" else "a list of specs"
            self.wrong((kind,), f"must be {shape}, at least one, got {given!r}")
            return {}
        found: dict[Place, Any] = {}
        for name, item in given.items() if isinstance(given, Mapping) else enumerate(given):
            unknown = [hole for hole in holes(item) if hole not in self.ranges]
            for hole in unknown:
                self.wrong((kind, name), f"no range is called {{{hole}}}; {near(hole, self.ranges)}")
            if not unknown:
                found[kind, name] = item
        return found

    def product(
        self, kinds: Sequence[Mapping[Place, Any]], horizons: Sequence[int], settings: tuple[int, int, str]
    ) -> list[Labelled]:
        """The cells of every combination of a bandit, a risk and a policy that can be simulated."""
        triples = list(itertools.product(*(kind.items() for kind in kinds)))
        names = [holes(*(item for _, item in triple)) for triple in triples]
        total = sum(math.prod(len(self.ranges[name]) for name in used) for used in names) * len(horizons)
        if total > MOST_CELLS:
            self.wrong((), f"{total:,} cells are more than {MOST_CELLS:,}; take fewer steps")
            return []
        cells = []
        for triple, used in zip(triples, names, strict=True):
            (at_bandit, _), _, (at_policy, _) = triple
            for numbers in itertools.product(*(self.ranges[name] for name in used)):
                values = dict(zip(used, numbers, strict=True))
                bandit, risk, policy = (self.built(place, item, values) for place, item in triple)
                if bandit is None or risk is None or policy is None:
                    continue
                self.attempt(at_bandit, bandit.best, risk)
                labels: dict[str, str | float] = {"bandit": str(at_bandit[1]), **values}
                fitting = (n for n in horizons if self.fits(at_policy, policy, risk, n, bandit))
                cells += [Labelled(Cell(bandit, risk, policy, n, *settings), labels) for n in fitting]
        return cells

    def built(self, place: Place, item: Any, values: Mapping[str, float]) -> Any:
        """The bandit, risk or policy at a place with its values filled in; made once for all cells that share it."""
        which = (place, *(values[name] for name in holes(item)))
        if which not in self.made:
            if place[0] == "bandits":
                self.made[which] = self.bandit(place, item, values)
            else:
                make = risks.make if place[0] == "risks" else policies.make
                self.made[which] = self.attempt(place, make, "study", filled(item, values))
        return self.made[which]

    def bandit(self, place: Place, item: Any, values: Mapping[str, float]) -> Any:
        """The bandit, or None; arms are made one by one, so that a mistake is found where it stands."""
        if isinstance(item, Bandit):
            return item
        if isinstance(item, str) or not isinstance(item, (Mapping, Sequence)):
            self.wrong(place, f"arms must be a list of arms, or arms by name, got {item!r}")
            return None
        named = item.items() if isinstance(item, Mapping) else enumerate(item)
        laws = {name: self.attempt((*place, name), arms.make, "study", filled(arm, values)) for name, arm in named}
        if None in laws.values():
            return None
        names = [str(name) for name in laws] if isinstance(item, Mapping) else None
        return self.attempt(place, Bandit, list(laws.values()), names)

    def fits(self, place: Place, policy: Policy, risk: RiskMeasure, horizon: int, bandit: Bandit) -> bool:
        """Whether the policy can run here; asked once for all bandits alike."""
        leaping = self.asked["engine"] == "leaping"
        which = (id(policy), id(risk), horizon, id(bandit) if leaping else (len(bandit), bandit.support))

        def ready() -> bool:
            bound = bind(policy, Setting.of(bandit, risk, horizon))
            check_rewards(policy, bandit.support)
            if leaping:
                choose_engine("leaping", bandit, policy, bound)
            return True

        if which not in self.made:
            self.made[which] = self.attempt(place, ready)
        return self.made[which] is True


def whole_horizons(given: Any) -> list[int]:
    """Horizons as whole numbers; those of a range are rounded."""
    numbers = [round(n) if isinstance(given, Mapping) else n for n in values_of("horizons", given)]
    return list(dict.fromkeys(check_integer("study", "horizons", n, low=1, high=2**53) for n in numbers))
