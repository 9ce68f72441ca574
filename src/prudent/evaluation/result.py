"""What an evaluation leaves: estimates with intervals, as a table, a picture and in words."""

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from prudent.base.errors import PrudentError, near, shown
from prudent.base.text import count, counted, minus, number
from prudent.evaluation.bands import Band, Steps
from prudent.results.runs import as_pandas
from prudent.risk.base import Interval, RiskMeasure
from prudent.risk.mean_variance import MeanVariance

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIGITS = 4


class Row(NamedTuple):
    """A quantity of what the policy receives: its estimate, and where it lies; None where that is not known."""

    name: str
    estimate: float
    interval: Interval | None
    power: int = 1
    """The power of the unit in which it is measured; 0 if it has none that is known."""
    larger_is_worse: bool = True

    @property
    def at_worst(self) -> float | None:
        """The end of the interval that a careful person counts with."""
        return None if self.interval is None else self.interval[self.larger_is_worse]


def power_of(measure: RiskMeasure) -> int:
    """The power of the unit of outcomes that a cost has."""
    return 2 if isinstance(measure, MeanVariance) and measure.variance_weight else int(measure.grows == {})


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy would have received, from a log of another one; `evaluate` makes it.

    `rounds` are those of the log, which are worth about `effective` rounds of the policy itself; in a replay these are
    the rounds that were kept. `law` is the estimated law of outcomes, and `band` the two laws between
    which the true one lies, or None. `notes` say what is assumed and what to be careful about.

    The worst that a quantity may be comes before its estimate, because risks are estimated too low on average. A risk
    such as the variance or a CVaR is the least of several expectations, and the outcomes at hand choose the one that
    suits them best; the fewer there are, the more so.

    Examples
    --------
    >>> from prudent import evaluate
    >>> log = {"arm": ["A", "B"] * 200, "reward": [0.7, 0.2, 0.5, 1.0] * 100, "propensity": [0.5] * 400}
    >>> found = evaluate(log, "A", support=(0, 1))
    >>> round(found["mean"].estimate, 3)
    0.6
    >>> found["mean"].interval.low < 0.6 < found["mean"].interval.high
    True
    """

    policy: str
    method: str
    rounds: int
    effective: float
    level: float
    rows: tuple[Row, ...]
    law: Steps
    band: Band | None
    notes: tuple[str, ...]
    unit: str = ""

    def __repr__(self) -> str:
        return f"<Evaluation: {self.policy}, by {self.method}, {counted(self.rounds, 'round')}>"

    def __getitem__(self, name: str) -> Row:
        """One of the rows, by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise PrudentError(f"Evaluation: no row {shown(name)}; {near(str(name), [row.name for row in self.rows])}")

    @property
    def title(self) -> str:
        """What was evaluated, in a line."""
        worth = f"{counted(self.rounds, 'round')}, worth {count(round(self.effective))} of its own"
        return f"{self.policy}: {worth}, by {self.method}, {100.0 * self.level:g} % intervals"

    def table(self) -> "pl.DataFrame":
        """A row for each quantity: the worst that it may be, its estimate, and the ends of its interval, which may be
        missing or infinite."""
        import polars as pl  # not needed to evaluate, and slow to import

        ends = [row.interval or (None, None) for row in self.rows]
        columns: dict[str, list[Any]] = {
            "quantity": [row.name for row in self.rows],
            "at worst": [row.at_worst for row in self.rows],
            "estimate": [row.estimate for row in self.rows],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }
        return pl.DataFrame(columns, schema_overrides=dict.fromkeys(("at worst", "low", "high"), pl.Float64))

    def to_pandas(self) -> Any:
        """`table()` as a pandas data frame."""
        return as_pandas(self.table())

    def cells(self) -> list[dict[str, str]]:
        """The rows as people read them."""
        return [
            {
                "quantity": row.name,
                "at worst": self._with_unit(row.at_worst, row.power),
                "estimate": self._with_unit(row.estimate, row.power),
                f"{100.0 * self.level:g} % interval": _between(row.interval),
            }
            for row in self.rows
        ]

    def _with_unit(self, value: float | None, power: int) -> str:
        if value is None:
            return "–"
        text = minus(number(value, DIGITS))
        return f"{text} {self.unit}{'²' if power == 2 else ''}" if self.unit and power else text

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        cells = self.cells()
        rows = [("th", list(cells[0])), *(("td", list(row.values())) for row in cells)]
        body = "".join(
            f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>" for tag, texts in rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table><caption>{html.escape(self.title)}</caption>{body}</table>{notes}"

    def plot(self, *, ax: "Axes | None" = None) -> "Figure":
        """The distribution function of outcomes, and the band in which all of it lies."""
        from prudent.results import figures  # Matplotlib is slow to import

        with figures.style():
            drawn = figures.panels(1, 1, width=6.0, height=3.5)[1][0] if ax is None else ax
            ends = [self.law.values[0], self.law.values[-1]]
            if self.band is not None:
                known = np.concatenate([self.band.lower.values, self.band.upper.values])
                ends += known[np.isfinite(known)].tolist()
            x = np.linspace(min(ends), max(ends), 801)
            drawn.step(x, self.law.below(x), where="post", color=figures.COLOURS[0], label="estimate")
            if self.band is not None:
                sides = self.band.upper.below(x), self.band.lower.below(x)
                label = f"{100.0 * self.level:g} % band"
                drawn.fill_between(x, *sides, step="post", color=figures.COLOURS[0], alpha=0.2, lw=0, label=label)
            drawn.set(xlabel=f"outcome, {self.unit}" if self.unit else "outcome", ylabel="share of rounds up to it")
            drawn.set(ylim=(-0.02, 1.02))
            drawn.set_title(self.policy, fontsize=10, parse_math=False)
            drawn.legend()
        return cast("Figure", drawn.figure)


def _between(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return minus(" to ".join(number(end, DIGITS) for end in interval))
