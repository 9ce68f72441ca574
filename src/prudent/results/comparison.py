"""Several policies on one bandit or more, side by side: a table, paired differences, a picture."""

import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from prudent.bandit import Bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, near, shown
from prudent.base.text import counted, minus, risk_name, with_error
from prudent.policies.contract import spec
from prudent.results.runs import PER_ROUND, Runs, as_pandas, averages, check_measure, named

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Comparison:
    """Runs of several policies, on the same rounds and under the same risk.

    Parameters
    ----------
    results
        The runs of each policy. `simulate` gives a comparison where it is given several policies or several bandits.
    policies, bandits
        What the policy and the bandit of each of the runs are called, by default the policies' specs and "bandit 1", ….

    Examples
    --------
    >>> from prudent import Bandit, simulate
    >>> bandit = Bandit(["gaussian(1.0, 0.05)", "gaussian(0.5, 0.25)"])
    >>> risk = "mean-variance(rho=0)"
    >>> comparison = simulate(bandit, ["mv-lcb", "exp-exp"], risk=risk, horizon=1000, runs=50, snapshots="log")
    >>> comparison.policies
    ('mv-lcb', 'exp-exp')
    >>> comparison["exp-exp"].regret().shape
    (50,)
    """

    def __init__(
        self, results: Sequence[Runs], *, policies: Sequence[str] | None = None, bandits: Sequence[str] | None = None
    ) -> None:
        results = tuple(results)
        if not results or not all(isinstance(each, Runs) for each in results):
            raise PrudentError(f"Comparison: results must be Runs, one or more, got {shown(results)}")
        first = results[0]
        for each in results:
            for name, own, other in (("risk", each.risk, first.risk), ("rounds", _rounds(each), _rounds(first))):
                if own != other:
                    raise PrudentError(f"Comparison: results must agree in their {name}, got {other} and {own}")
        self.results = results
        known = list({_arms(each): None for each in results})
        given = [spec(each.policy) for each in results] if policies is None else list(policies)
        places = [f"bandit {known.index(_arms(each)) + 1}" for each in results] if bandits is None else list(bandits)
        self._labels = list(zip(places, given, strict=True))
        for place in places:
            check_labels([policy for bandit, policy in self._labels if bandit == place])
        self.policies, self.bandits = tuple(dict.fromkeys(given)), tuple(dict.fromkeys(places))

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Runs]:
        return iter(self.results)

    def __getitem__(self, key: str | tuple[str, str]) -> Runs:
        """The runs of a policy, or of a bandit and a policy where there are several bandits."""
        bandit, policy = key if isinstance(key, tuple) and len(key) == 2 else (self.bandits[0], key)
        if key == policy and len(self.bandits) > 1:
            policy = policy if policy in self.policies else self.policies[0]
            raise PrudentError(
                f"Comparison: name a bandit and a policy, as in [{self.bandits[0]!r}, {policy!r}]; the bandits are"
                f" {', '.join(self.bandits)}"
            )
        if (bandit, policy) not in self._labels:
            hint = near(shown(policy, str), self.policies)
            raise PrudentError(f"Comparison: no runs of {shown(policy)} on {shown(bandit)}; {hint}")
        return self.results[self._labels.index((bandit, policy))]

    def __repr__(self) -> str:
        first = self.results[0]
        size = f"{len(first)} × {first.horizon:,} rounds"
        over = "policies" if len(self.policies) > 1 else "policy"
        on = f" on {counted(len(self.bandits), 'bandit')}" if len(self.bandits) > 1 else ""
        return f"<Comparison: {len(self.policies)} {over}{on}, {size}, seed {first.seed}>"

    def table(self, measure: str | None = None, *, against: str | None = None) -> "pl.DataFrame":
        """A row for each bandit, policy and snapshot: the mean of every measure over runs and its standard error.

        `difference` is the mean of the `measure` minus that of the policy `against`, the first one by default, and
        `difference_se` its standard error. It comes from the differences of single runs where they were simulated on
        common random numbers (`paired`), and from both standard errors otherwise. The measure is the regret by default,
        or the gap regret where the risk defines no other.
        """
        import polars as pl  # not needed to simulate, and slow to import

        measure = check_measure("table", measure, self._measured())
        reference = check_label("against", against, self.policies)
        rows = []
        for label, runs in zip(self._labels, self.results, strict=True):
            other = self[label[0], reference] if len(self.bandits) > 1 else self[reference]
            for each, its in zip(runs.history or [runs], other.history or [other], strict=True):
                found, theirs = each.measures(), its.measures()
                facts = {"bandit": label[0], "policy": label[1], "horizon": each.horizon, "runs": len(each)}
                rows.append(facts | averages(found) | difference(each, its, found[measure], theirs[measure]))
        return pl.DataFrame(rows)

    def to_pandas(self) -> Any:
        """`table()` as a pandas data frame."""
        return as_pandas(self.table())

    def plot(self, measure: str | None = None, *, cumulative: bool = False, ax: "Axes | None" = None) -> "Figure":
        """The measure against the number of rounds with bands of two standard errors, a line for each policy.

        There is a panel for each bandit; or pass the `ax` to draw in, for a single bandit. The picture needs several
        snapshots. `cumulative` multiplies what is measured per round by the number of rounds; logarithmic growth is
        then a straight line.
        """
        from prudent.results import figures  # Matplotlib is slow to import

        if len(self.results[0].history) < 2:
            raise PrudentError('plot: needs several snapshots, got one; pass snapshots="log" to simulate')
        if ax is not None and len(self.bandits) > 1:
            raise PrudentError(f"plot: ax is for one bandit, and there are {len(self.bandits)}; leave it out")
        with figures.style():
            count, columns = len(self.bandits), min(3, len(self.bandits))
            size = {"width": 3.2 * columns + 3.2, "height": 3.5}
            axes = [ax] if ax is not None else figures.panels(count, columns, **size)[1]
            for i, (bandit, panel) in enumerate(zip(self.bandits, axes, strict=True)):
                self._draw(panel, bandit, measure, cumulative=cumulative)
                if count > 1:  # one legend, at the end of the first row, and labels on the outside
                    panel.set_title(bandit, fontsize=10, parse_math=False)
                    panel.label_outer()
                    if i != columns - 1 and panel.legend_ is not None:
                        panel.legend_.remove()
        return cast("Figure", axes[0].figure)

    def _draw(self, ax: "Axes", bandit: str, measure: str | None, *, cumulative: bool) -> None:
        from prudent.results import figures

        measure = check_measure("plot", measure, self._measured(), cumulative=cumulative)
        own = [(label[1], runs) for label, runs in zip(self._labels, self.results, strict=True) if label[0] == bandit]
        curves = [(policy, runs.curve(measure, cumulative=cumulative)) for policy, runs in own]
        rounds = curves[0][1].rounds
        few = max(1, len(rounds) // 8)
        lines = [(policy, curve.mean, curve.se) for policy, curve in curves]
        figures.plot_curves(ax, rounds, lines, log=False, markevery=few)
        logarithmic = measure in PER_ROUND and not cumulative and all((line[1] > 0.0).all() for line in lines)
        figures.over_rounds(ax, named(measure, cumulative=cumulative), "round", linear=not logarithmic)

    def _repr_html_(self) -> str:
        """The table at the horizon, for notebooks."""
        measure = check_measure("table", None, self._measured())
        first = self.results[0]
        last = self.table(measure).filter(horizon=first.horizon)
        several = len(self.bandits) > 1
        head = [*(["bandit"] if several else []), "policy", named(measure), f"minus that of {self.policies[0]}"]
        body = [
            [
                *([row["bandit"]] if several else []),
                row["policy"],
                minus(with_error(row[measure], row[f"{measure}_se"])),
                minus(with_error(row["difference"], row["difference_se"])) if row["policy"] != self.policies[0] else "",
            ]
            for row in last.iter_rows(named=True)
        ]
        size = f"{counted(first.horizon, 'round')}, {counted(len(first), 'run')}"
        paired = ", differences paired" if len(self) > 1 and all(each.common for each in self) else ""
        caption = f"{risk_name(first.risk)}, {size}, mean ± standard error{paired}"
        rows = [_html_row("th", head), *(_html_row("td", row) for row in body)]
        return f"<table><caption>{html.escape(caption)}</caption>{''.join(rows)}</table>"

    def _measured(self) -> list[str]:
        """What is measured of all of these runs."""
        return [name for name in self.results[0].measures() if all(name in each.measures() for each in self)]


def difference(own: Runs, other: Runs, values: Array, others: Array) -> dict[str, Any]:
    """The difference of two means over runs and its standard error, None if unknown, and whether runs are paired."""
    paired = own is other or _are_paired(own, other)
    found: dict[str, object] = {"difference": float(values.mean() - others.mean()), "difference_se": None}
    if min(len(values), len(others)) > 1:
        if paired:
            variance = (values - others).var(ddof=1) / len(values)
        else:
            variance = values.var(ddof=1) / len(values) + others.var(ddof=1) / len(others)
        found["difference_se"] = math.sqrt(variance) if math.isfinite(variance) else None
    return found | {"paired": paired}


def _are_paired(own: Runs, other: Runs) -> bool:
    """Whether two simulations received the same rewards for the same pulls."""
    same = own.seed == other.seed and len(own) == len(other) and own.horizon == other.horizon
    alike = (own.engine == "interpreted") == (other.engine == "interpreted")  # each has its own way to draw
    return own.common and other.common and same and alike and _arms(own) == _arms(other)


def _arms(runs: Runs) -> str:
    return runs.bandit.unnamed if isinstance(runs.bandit, Bandit) else repr(runs.bandit)


def _rounds(runs: Runs) -> list[int]:
    return [each.horizon for each in runs.history] or [runs.horizon]


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def check_labels(labels: Sequence[str]) -> None:
    """Refuse two policies of one name on a bandit."""
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        fix = 'give them names, as in {"first": …, "second": …}'
        raise PrudentError(f"simulate: policies must differ, got {twice[0]} twice; {fix}")


def check_label(name: str, given: str | None, known: Sequence[str]) -> str:
    """One of the labels, the first one if none is given."""
    if given is None:
        return known[0]
    if given not in known:
        raise PrudentError(f"table: {name} must be one of the policies, got {shown(given)}; {near(str(given), known)}")
    return given


def are_several(given: object) -> bool:
    """Whether these are several policies or bandits: a list, or a mapping from labels; a policy is a tuple itself."""
    return isinstance(given, (list, Mapping)) or type(given) is tuple


def compare(
    simulate: Callable[[object, object], Runs], bandits: object, policies: object, make: Callable[[object], object]
) -> Comparison:
    """Simulate every policy on every bandit; `make` reads a policy, before the first run, so that a typo in the last
    one does not cost the time of the others."""
    made = [(label, make(policy)) for label, policy in _labelled("policy", policies)]
    players = [(label or spec(policy), policy) for label, policy in made]
    places = [(label or f"bandit {i + 1}", bandit) for i, (label, bandit) in enumerate(_labelled("bandit", bandits))]
    labels = [label for label, _ in players]
    check_labels(labels)
    results = [simulate(bandit, policy) for _, bandit in places for _, policy in players]
    names = [place for place, _ in places for _ in players]
    return Comparison(results, policies=labels * len(places), bandits=names)


def _labelled(name: str, given: Any) -> list[tuple[str, Any]]:
    """What is given, with its labels, empty where there are none."""
    if not are_several(given):
        return [("", given)]
    if not given:
        raise PrudentError(f"simulate: {name} must be one or several, got none; pass one or a list")
    if isinstance(given, Mapping):
        if not all(isinstance(label, str) and label for label in given):
            raise PrudentError(f"simulate: {name} must have texts as labels, got {shown(list(given))}")
        return list(given.items())
    return [("", each) for each in given]
