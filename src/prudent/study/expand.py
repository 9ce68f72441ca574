"""From what a study asks for to its cells, with every mistake on the way.

Specs may hold the names of ranges in braces. A cell has one value for each name its bandit, risk and policy use, so
a name used twice, as in `mean-variance(rho={rho})` and `mv-lcb(rho={rho})`, varies together.

Whatever can be said before the ranges are filled in is checked first. A mistake there is reported at once, however
many cells there would be.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from prudent.arms.base import Law, arms
from prudent.bandit import Bandit
from prudent.base.description import described
from prudent.base.errors import PrudentError, check_integer, near, shown
from prudent.base.registry import Registry
from prudent.engine.jobs import MAX_ROUNDS
from prudent.engine.python.environments import is_environment
from prudent.engine.question import ENGINES, choose_engine
from prudent.policies.binding import bind, check_arms, values_paid
from prudent.policies.contract import Setting, policies
from prudent.policies.learners import is_learner
from prudent.policies.units import AUTO, Scale, check_scale, fitted, units_of
from prudent.risk.base import RiskMeasure, risks
from prudent.study.cells import (
    Cell,
    Labelled,
    Mistake,
    Place,
    check_count,
    code_of,
    in_words,
    remembered,
    remembered_text,
    text_of,
)  # fmt: skip
from prudent.study.ranges import Template, as_text, holes, values_of
from prudent.study.schema import COLUMNS, KEEP

MOST_CELLS = 1_000_000
MAX_CELLS_WITH_MISTAKE = 10_000
"""A study with a mistake is expanded all the same, to find every other mistake, if it has at most so many cells."""

MOST_MISTAKES = 1_000
"""With more of them, no more are looked for."""

STEP = 5_000
"""Combinations between two calls of `progress`."""

MOST_REMEMBERED = 100_000
"""Arms, and their costs, that are kept in mind for other cells."""

NO_WORLDS = (
    "a study keeps its cells by their content, and what an environment does cannot be read from it; compare policies on"
    " it with simulate(environment, [policy, …], …)"
)
POLICY = "a spec such as 'mv-lcb', or a policy such as MVLCB()"
REGISTRIES: dict[str, Registry[Any]] = {"bandits": arms, "risks": risks, "policies": policies}
Progress = Callable[[int, int], Any]
"""Called with the number of cells made so far, and of all."""


class Item(NamedTuple):
    """A bandit, a risk or a policy of a study, its place and the ranges it uses."""

    place: Place
    given: Any
    uses: tuple[str, ...]
    made: dict[tuple[float, ...], Any]
    """What it has given for values of its ranges."""


class Expansion:
    """The fields of a study, as given and not checked yet, on their way to cells; and the mistakes met."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.asked = asked
        self.mistakes: dict[Mistake, None] = {}
        self.ranges: dict[str, list[float]] = {}
        self.engine, self.scale = "auto", check_scale("study", None)
        # What many cells share: specs read, with what they gave; whether risks cost arms; whether policies fit.
        self.templates: dict[Place, tuple[Template | None, dict[tuple[float, ...], Any]]] = {}
        self.costs: dict[tuple[int, int], tuple[Law, bool]] = {}
        self.fitting: dict[tuple[Any, ...], bool] = {}

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

    def expand(self, progress: Progress) -> tuple[list[Labelled], list[Mistake]]:
        """All cells, and all mistakes; no cells where mistakes are found before many cells are made."""
        asked = self.asked
        self.read_ranges(asked["ranges"])
        runs = self.attempt(("runs",), check_count, "study", "runs", asked["runs"], low=1)
        seed = self.attempt(("seed",), check_count, "study", "seed", asked["seed"], low=0)
        for name, allowed in (("engine", ENGINES), ("keep", KEEP)):
            if not isinstance(value := asked[name], str) or value not in allowed:
                hint = near(shown(value, str), allowed)
                self.wrong((name,), f"{name} must be one of {', '.join(allowed)}, got {shown(value)}; {hint}")
            elif name == "engine":
                self.engine = value
        self.scale = self.attempt(("scale",), check_scale, "study", asked["scale"])
        horizons = self.attempt(("horizons",), whole_horizons, asked["horizons"]) or []
        kinds = [self.items(kind) for kind in REGISTRIES]
        if not self.mistakes:
            for name in sorted(self.ranges.keys() - {name for items in kinds for item in items for name in item.uses}):
                text = f"is used in no arm, risk or policy; write {{{name}}} where it belongs, or leave it out"
                self.wrong(("ranges", name), text)
        total = self.count(kinds) * len(horizons)
        if total > MOST_CELLS:
            self.wrong((), f"{total:,} cells are more than {MOST_CELLS:,}; take fewer steps")
            return [], list(self.mistakes)
        self.try_first(kinds, horizons)
        if self.mistakes and total > MAX_CELLS_WITH_MISTAKE:
            return [], list(self.mistakes)
        settings = runs or 1, seed or 0, self.engine, self.scale
        cells = self.product(kinds, horizons, settings, lambda n: progress(n, total))
        return cells, list(self.mistakes)

    def read_ranges(self, given: Any) -> None:
        """The values of every range, each once."""
        if not isinstance(given, Mapping):
            self.wrong(("ranges",), f"must be a table of ranges by name, got {shown(given)}")
            return
        for name, values in given.items():
            place: Place = ("ranges", str(name))
            if not isinstance(name, str) or not name.isidentifier() or name in ("bandit", *COLUMNS):
                self.wrong(
                    place, f"a range cannot be called {shown(name)}; take a word that is no column of the results"
                )
            numbers = self.attempt(place, values_of, "range", values) or [0.0]
            known: dict[str, float] = {}
            for value in numbers:
                if (text := as_text(value)) in known:
                    self.wrong(place, f"holds {known[text]!r} and {value!r}, equal to twelve digits; leave one out")
                    break
                known[text] = value
            self.ranges[str(name)] = list(known.values())

    def items(self, kind: str) -> list[Item]:
        """The bandits, risks or policies; those with holes nothing can fill are mistakes."""
        given, wanted = self.asked[kind], Mapping if kind == "bandits" else Sequence
        if isinstance(given, str) or hasattr(given, "_fields") or not isinstance(given, wanted) or not given:
            shape = "tables of arms by name" if kind == "bandits" else "a list of specs"
            self.wrong((kind,), f"must be {shape}, at least one, got {shown(given)}")
            return []
        found = []
        for name, item in given.items() if isinstance(given, Mapping) else enumerate(given):
            uses, place = tuple(holes(item)), (kind, name)
            unknown = [hole for hole in uses if hole not in self.ranges]
            for hole in unknown:
                self.wrong(place, f"no range is called {{{hole}}}; {near(hole, self.ranges)}")
            if kind == "bandits" and not isinstance(name, str):
                self.wrong((kind, str(name)), f"a bandit's name must be text, got {shown(name)}; write it in quotes")
            elif not unknown:
                found.append(Item(place, item, uses, {}))
        return found

    def count(self, kinds: Sequence[Sequence[Item]]) -> int:
        """How many combinations of a bandit, a risk and a policy with values of their ranges there are."""
        sizes, total = {name: len(values) for name, values in self.ranges.items()}, 0
        for alike in itertools.product(*(Counter(item.uses for item in items).items() for items in kinds)):
            names = {name for uses, _ in alike for name in uses}
            total += math.prod(sizes[name] for name in names) * math.prod(times for _, times in alike)
        return total

    def try_first(self, kinds: Sequence[Sequence[Item]], horizons: Sequence[int]) -> None:
        """Everything with the first values of its ranges, and policies under risks on the first bandit."""
        first = {name: values[0] for name, values in self.ranges.items()}
        built = [[(item, made) for item in items if (made := self.built(item, first)) is not None] for items in kinds]
        some = itertools.islice(itertools.product(built[0][:1], *built[1:]), 1000)
        for (_, bandit), (_, risk), (item, policy) in some:
            for horizon in horizons[:1]:
                self.fits(item.place, policy, risk, horizon, bandit, self.likeness(bandit))
        for items in built[1:]:
            makers: dict[str, Item] = {}
            for item, made in items:
                if (other := makers.setdefault(text_of(made), item)) is not item:
                    self.shared([item], [other])

    def product(
        self,
        kinds: Sequence[Sequence[Item]],
        horizons: Sequence[int],
        settings: tuple[int, int, str, Scale],
        progress: Callable[[int], object],
    ) -> list[Labelled]:
        """The cells of every combination of a bandit, a risk and a policy that can be simulated."""
        cells: list[Labelled] = []
        labelled = partial(Labelled.known, text=remembered_text(), code=remembered(code_of))
        tried = 0
        for bandits in kinds[0]:
            makers: dict[str, Sequence[Item]] = {}  # of each cell of this bandit; one of another name may be alike
            for items in itertools.product([bandits], *kinds[1:]):
                uses = list(dict.fromkeys(name for item in items for name in item.uses))
                for numbers in itertools.product(*(self.ranges[name] for name in uses)):
                    tried += 1
                    if tried % STEP == 0:
                        progress(tried * len(horizons))
                        if len(self.mistakes) > MOST_MISTAKES:
                            return cells
                    values = dict(zip(uses, numbers, strict=True))
                    for each in self.alike(items, values, horizons, settings, labelled):
                        cells.append(each)
                        if each.key in makers:
                            self.shared(items, makers[each.key])
                        else:
                            makers[each.key] = items
        progress(tried * len(horizons))
        return cells

    def alike(
        self,
        items: Sequence[Item],
        values: dict[str, Any],
        horizons: Sequence[int],
        settings: tuple[int, int, str, Scale],
        labelled: Callable[[Cell, dict[str, Any]], Labelled],
    ) -> Iterator[Labelled]:
        """The cells that differ in the horizon alone."""
        bandit, risk, policy = (self.built(item, values) for item in items)
        if bandit is None or risk is None or policy is None or not self.has_costs(items[0].place, bandit, risk):
            return
        labels, likeness = {"bandit": items[0].place[1], **values}, self.likeness(bandit)
        for n in horizons:
            if self.fits(items[2].place, policy, risk, n, bandit, likeness):
                yield labelled(Cell(bandit, risk, policy, n, *settings), labels)

    def shared(self, items: Sequence[Item], others: Sequence[Item]) -> None:
        """One cell of two entries is a mistake: it would stand in the table twice, and be tested twice."""
        different = [(item, other) for item, other in zip(items, others, strict=True) if item is not other]
        for item, other in different:
            self.wrong(item.place, f"gives a cell that {in_words(other.place)} gives too; leave one of them out")
        if not different:
            names = ", ".join(dict.fromkeys(name for item in items for name in item.uses))
            self.wrong(items[-1].place, f"gives one cell for two values of {names}; leave one of them out")

    def built(self, item: Item, values: Mapping[str, float]) -> Any:
        """The bandit, risk or policy with its values filled in; made once for all cells that share it."""
        which = tuple([values[name] for name in item.uses])
        if which not in item.made:
            make = self.bandit if item.place[0] == "bandits" else self.single
            item.made[which] = make(item.place, item.given, values)
        return item.made[which]

    def bandit(self, place: Place, given: Any, values: Mapping[str, float]) -> Bandit | None:
        """The bandit, or None; arms are made one by one, so that a mistake is found where it stands."""
        if isinstance(given, Bandit):
            return given
        if is_environment(given):
            self.wrong(place, NO_WORLDS)
            return None
        if isinstance(given, str) or hasattr(given, "_fields") or not isinstance(given, (Mapping, Sequence)):
            self.wrong(place, f"arms must be a list of arms, or arms by name, got {shown(given)}")
            return None
        named = given.items() if isinstance(given, Mapping) else enumerate(given)
        laws = {name: self.single((*place, name), arm, values) for name, arm in named}
        if None in laws.values():
            return None
        names = [str(name) for name in laws] if isinstance(given, Mapping) else None
        made: Bandit | None = self.attempt(place, Bandit, list(laws.values()), names)
        return made

    def single(self, place: Place, given: Any, values: Mapping[str, float]) -> Any:
        """An arm, a risk or a policy, or None; made once for all values that differ elsewhere."""
        if place not in self.templates:
            template = Template(REGISTRIES[str(place[0])], given) if isinstance(given, str) else None
            self.templates[place] = (template, {})
        template, made = self.templates[place]
        which = tuple([values[name] for name in template.uses]) if template else ()
        if which not in made:
            if len(made) >= MOST_REMEMBERED and place[0] == "bandits":
                made.clear()
            made[which] = self.attempt(place, template.made, values) if template else self.taken(place, given)
        return made[which]

    def taken(self, place: Place, given: Any) -> Any:
        """An arm, a risk or a policy that is no spec, or None."""
        if place[0] == "policies" and self.attempt(place, is_learner, given):
            return given
        made = self.attempt(place, REGISTRIES[str(place[0])].make, "study", given)
        if place[0] == "policies" and not is_policy(made):
            self.wrong(place, f"policy must be {POLICY}, got {shown(given)}")
            return None
        return made

    def has_costs(self, place: Place, bandit: Bandit, risk: RiskMeasure) -> bool:
        """Whether the risk says what every arm costs; asked once for each arm."""
        if len(self.costs) >= MOST_REMEMBERED:
            self.costs.clear()
        for law in bandit.arms:
            if (which := (id(law), id(risk))) not in self.costs:
                self.costs[which] = (law, self.attempt(place, risk.cost, law) is not None)  # which keeps the law's id
        return all(self.costs[id(law), id(risk)][1] for law in bandit.arms)

    def fits(
        self,
        place: Place,
        policy: Any,
        risk: RiskMeasure,
        horizon: int,
        bandit: Bandit,
        alike: tuple[Any, ...],
    ) -> bool:
        """Whether the policy can run here; asked once for all bandits `alike`."""
        which = (id(policy), id(risk), horizon, alike)
        if which not in self.fitting:
            fit = self.attempt(place, check_fit, policy, risk, horizon, bandit, self.engine, self.scale)
            self.fitting[which] = fit is True
        return self.fitting[which]

    def likeness(self, bandit: Bandit) -> tuple[Any, ...]:
        """What of a bandit decides whether a policy fits."""
        if self.engine == "leaping" or self.scale == AUTO:
            return (id(bandit),)
        return (len(bandit), *bandit.support, values_paid(bandit))


def check_fit(policy: Any, risk: RiskMeasure, horizon: int, bandit: Bandit, engine: str, scale: Scale) -> bool:
    """True, or an error that says why the policy cannot run here."""
    if is_learner(policy):
        if engine != "auto" or scale is not None:
            fix = "it runs interpreted, on rewards as they are; leave engine and scale out"
            raise PrudentError(f"{described(policy)} is a learner: {fix}")
        return True
    units = units_of(scale, bandit)
    bound = bind(policy, Setting.of(bandit, risk, horizon, units))
    check_arms(fitted(policy, units), bandit)
    if engine != "auto":
        choose_engine(engine, bandit, policy, bound, horizon)
    return True


def is_policy(thing: Any) -> bool:
    """Whether it is one at first sight; `bind` looks closer."""
    return isinstance(thing, tuple) and hasattr(thing, "_fields")


def whole_horizons(given: Any) -> list[int]:
    """Horizons as whole numbers; those of a range are rounded."""
    numbers = [round(n) if isinstance(given, Mapping) else n for n in values_of("horizons", given)]
    return list(dict.fromkeys(check_integer("study", "horizons", n, low=1, high=MAX_ROUNDS) for n in numbers))


def checked_cells(owner: str, given: Any) -> list[Labelled]:
    """Cells given one by one, their specs made and their numbers whole; an error names the first that cannot run."""
    if isinstance(given, str) or hasattr(given, "_fields") or not isinstance(given, Sequence) or not given:
        raise PrudentError(f"{owner}: must be given a Study, or a list of at least one cell, got {shown(given)}")
    made, fitting = [], set()
    for i, item in enumerate(given):
        each = item if isinstance(item, Labelled) else Labelled(item)
        try:
            ready = checked_cell(each)
            bandit, risk, policy, horizon, _, _, engine, scale = ready.cell
            which = (id(bandit), id(risk), id(policy), horizon, engine, scale)
            if which not in fitting:
                bandit.costs(risk)
                check_fit(policy, risk, horizon, bandit, engine, scale)
                fitting.add(which)
        except PrudentError as error:
            raise PrudentError(f"{owner}: cell {i + 1} of {len(given)}: {error}") from None
        made.append(ready)
    return made


def checked_cell(each: Labelled) -> Labelled:
    """The same if all of it is as it should be."""
    cell, labels = each.cell, each.labels
    if isinstance(cell, Cell) and is_environment(cell.bandit):
        raise PrudentError(NO_WORLDS)
    if not isinstance(cell, Cell) or not isinstance(cell.bandit, Bandit):
        raise PrudentError(f"must be a Cell with a Bandit, or such a Cell with labels, got {shown(cell)}")
    if not isinstance(labels, dict) or not all(isinstance(name, str) for name in labels):
        raise PrudentError(f"labels must be texts and numbers by name, got {shown(labels)}")
    if not isinstance(cell.engine, str) or cell.engine not in ENGINES:
        raise PrudentError(f"engine must be one of {', '.join(ENGINES)}, got {shown(cell.engine)}")
    policy = cell.policy if is_learner(cell.policy) else policies.make("cell", cell.policy)
    if not is_policy(policy) and not is_learner(policy):
        raise PrudentError(f"policy must be {POLICY}, got {shown(policy)}")
    ready = Cell(
        cell.bandit,
        risks.make("cell", cell.risk),
        policy,
        check_integer("cell", "horizon", cell.horizon, low=1, high=MAX_ROUNDS),
        check_count("cell", "runs", cell.runs, low=1),
        check_count("cell", "seed", cell.seed, low=0),
        cell.engine,
        check_scale("cell", cell.scale),
    )
    same = all(was is now for was, now in zip(cell, ready, strict=True))
    return each if same else Labelled(ready, labels)
