"""What a simulation leaves: per run and arm the pulls, mean and variance, and those of the best arm's twins."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from prudent.bandit import NO_LAWS, Bandit
from prudent.base.arrays import Array
from prudent.base.errors import PrudentError, check_integer, check_number, near, shown
from prudent.policies.contract import Policy, spec
from prudent.policies.learners import Learner
from prudent.results import regret as definitions
from prudent.results.tails import Share, Worst, share_of, worst_of
from prudent.risk.base import RiskMeasure, risks
from prudent.risk.mean_variance import MeanVariance

if TYPE_CHECKING:
    import polars as pl

MEASURES = (
    "regret", "gap", "exploration", "twins", "pseudo_regret", "gap_regret",
    "exploration_risk", "reward_mean", "reward_variance", "best_share",
)  # fmt: skip
"""What is measured of every run: the keys of `Runs.measures()`, and the columns of every table made from it."""


PER_ROUND = {"regret": "regret", "gap_regret": "gap regret", "pseudo_regret": "pseudo-regret"}
"""Measures that are divided by the number of rounds, as pictures name them."""


def named(measure: str, *, cumulative: bool = False) -> str:
    """A measure as pictures name it."""
    how = "cumulative {}" if cumulative else "{} per round"
    return how.format(PER_ROUND[measure]) if measure in PER_ROUND else measure.replace("_", " ")


class Curve(NamedTuple):
    """A measure against the number of rounds: its mean over runs and the standard error of that, NaN if unknown."""

    rounds: NDArray[np.int64]
    mean: Array
    se: Array


class Trajectory(NamedTuple):
    """The arm and the reward of every round, and with a `floor` or a `cap` the probability of the arm that was taken.
    Arrays are (run, round)."""

    arms: NDArray[np.int32]
    rewards: Array
    propensities: Array | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Results:
    """What simulations of every kind leave. Every array of a subclass has one row per run."""

    bandit: object
    policy: object
    risk: RiskMeasure
    seed: int
    seconds: float

    def __len__(self) -> int:
        return next(len(array) for array in vars(self).values() if isinstance(array, np.ndarray))


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounds(Results):
    """Runs of `horizon` rounds, and their `history`: the same runs at every snapshot, the last one these."""

    horizon: int
    history: list[Self] = field(default_factory=list)

    @classmethod
    def at_snapshots(cls, rounds: Sequence[int], record: Mapping[str, NDArray[Any]], **facts: Any) -> Self:
        """The runs at the last of the rounds, with all of them as history; the record is (run, snapshot, …)."""
        arrays: list[dict[str, Any]] = [
            {name: array[:, i] for name, array in record.items()} for i in range(len(rounds))
        ]
        history = [cls(horizon=int(n), **facts, **own) for n, own in zip(rounds, arrays, strict=True)]
        history[-1].history.extend(history)
        return history[-1]

    def at(self, horizon: int) -> Self:
        """The same runs as they stood after an earlier round, one of the snapshots asked for."""
        horizon = check_integer("at", "horizon", horizon, low=1)
        for snapshot in self.history:
            if snapshot.horizon == horizon:
                return snapshot
        known = ", ".join(str(snapshot.horizon) for snapshot in self.history)
        raise PrudentError(
            f"at: horizon must be one of the snapshots {known}, got {shown(horizon)}; pass it in snapshots=…"
        )


def averages(values: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Means over runs and their standard errors, flat: `regret`, `regret_se`, …; lists where there are arms.

    The arrays have one shape, so that they are averaged together. A single run has no standard error, nor have values
    too large for their squares: None.
    """
    table = np.array(list(values.values()))
    runs = table.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):  # rewards of heavy tails may be too large for squares of squares
        errors = (table.std(1, ddof=1) / np.sqrt(runs)).tolist() if runs > 1 else [None] * len(table)
    flat: dict[str, Any] = {}
    for name, mean, error in zip(values, table.mean(1).tolist(), errors, strict=True):
        known = not isinstance(error, float) or math.isfinite(error)
        flat[name], flat[f"{name}_se"] = mean, error if known else None
    return flat


def check_measure(owner: str, measure: str | None, known: Iterable[str], *, cumulative: bool = False) -> str:
    """A measure that is known of these runs; the most telling one if none is named."""
    known = list(known)
    if measure is None:
        return next(name for name in ("regret", "gap_regret", "reward_mean") if name in known)
    if not isinstance(measure, str) or measure not in known:
        raise PrudentError(f"{owner}: unknown measure {shown(measure)}; {near(shown(measure, str), known)}")
    if cumulative and measure not in PER_ROUND:
        allowed = ", ".join(PER_ROUND)
        raise PrudentError(f"{owner}: cumulative is for {allowed}, which are per round, got {measure}; leave it out")
    return measure


def as_pandas(table: "pl.DataFrame") -> Any:
    """A table as a pandas data frame, or an error that says what to install."""
    try:
        return table.to_pandas()
    except ModuleNotFoundError as error:
        fix = "pip install pandas pyarrow"
        raise PrudentError(f"to_pandas: {error.name} must be installed, got none; {fix}") from None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Runs(Rounds):
    """Many runs of one policy on one bandit. Arrays are (run, arm); methods give one value per run.

    `common` says whether other policies received the same rewards, `kept` is what was kept of every round.

    Examples
    --------
    >>> from prudent import Bandit, Gaussian, simulate
    >>> bandit = Bandit([Gaussian(1.0, 0.05), Gaussian(0.5, 0.25)])
    >>> runs = simulate(bandit, "mv-lcb", risk="mean-variance(rho=0)", horizon=10_000, runs=100)
    >>> runs.pulls.shape, runs.regret().shape
    ((100, 2), (100,))
    """

    bandit: Bandit  # or `Unknown`, of an environment without laws
    policy: Policy | Learner
    engine: str
    pulls: NDArray[np.int64]
    mean: Array
    variance: Array
    twin_mean: Array
    twin_variance: Array
    common: bool = False
    kept: Trajectory | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<Runs: {spec(self.policy)}, {len(self):,} × {self.horizon:,} rounds, {self.engine}, seed {self.seed}>"

    def reward_mean(self) -> Array:
        """μ̂_n(A), the mean of the rewards received."""
        return definitions.sequence_moments(self.pulls, self.mean, self.variance)[0]

    def reward_variance(self) -> Array:
        """σ̂_n²(A), the variance of the rewards received as one sequence: the risk within a run."""
        return definitions.sequence_moments(self.pulls, self.mean, self.variance)[1]

    def across_variance(self) -> float:
        """The variance over runs of the mean reward: the other risk, which the paper's discussion sets apart."""
        return float(self.reward_mean().var())

    def cost(self, risk: RiskMeasure | str | None = None) -> Array:
        """The cost of the rewards received (MV̂_n(A) for mean-variance), under the risk of these runs or another one.

        Where mean and variance do not determine it, it takes a trajectory and has a value for each run that keeps one.
        """
        risk = self.risk if risk is None else risks.make("cost", risk)
        if risk.by_moments:
            return risk.stats_cost(self.reward_mean(), self.reward_variance())
        if self.kept is None:
            why = f"cost: runs keep the mean and variance of their rewards, which do not determine {risk}"
            raise PrudentError(f'{why}; pass keep="trajectory" to simulate, or use gap_regret()')
        return np.array([risk.sample_cost(rewards) for rewards in self.trajectory().rewards])

    def trajectory(self) -> Trajectory:
        """The arm and the reward of every round up to this one, of the runs that were kept."""
        if self.kept is None:
            raise PrudentError('trajectory: these runs keep none; pass keep="trajectory" to simulate')
        return Trajectory(*(None if part is None else part[:, : self.horizon] for part in self.kept))  # type: ignore[arg-type]

    def regret(self) -> Array:
        """The true regret (Definition 2): the cost of the rewards received minus that of n samples of the best arm."""
        self._need_moments("regret")
        self._need_twins("regret")
        twins = definitions.sequence_moments(self.pulls, self.twin_mean, self.twin_variance)
        return self.cost() - self.risk.stats_cost(*twins)

    def gap_regret(self) -> Array:
        """(1/n) Σ T_i Δ_i, defined for every risk measure; the exploration risk is no part of it."""
        return definitions.gap_regret(self.pulls, self.bandit.gaps(self.risk))

    def path_regret(self, risk: RiskMeasure | str | None = None) -> Array:
        """The cost of the rewards received minus the cost of the best arm's law [Cassel18], for every risk measure.

        Where mean and variance do not determine that cost, it takes a trajectory (`keep="trajectory"`).
        """
        if not isinstance(self.bandit, Bandit):
            raise PrudentError(NO_LAWS)
        risk = self.risk if risk is None else risks.make("path_regret", risk)
        regret: Array = self.cost(risk) - self.bandit.costs(risk).min()
        return regret

    def tail(self, x: float, measure: str | None = None, level: float = 0.95) -> Share:
        """The share of runs in which a measure, by default the regret, exceeds x, with an exact interval."""
        values = self._values("tail", measure)
        return share_of("tail", int((values > check_number("tail", "x", x)).sum()), len(values), level)

    def worst(self, alpha: float = 0.01, measure: str | None = None) -> Worst:
        """The mean of a measure, by default the regret, in the worst α-fraction of runs: its CVaR over runs."""
        return worst_of("worst", self._values("worst", measure), alpha)

    def _values(self, owner: str, measure: str | None) -> Array:
        known = self.measures()
        return known[check_measure(owner, measure, known)]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the runs with their snapshots into a Parquet file, from which `Runs.load` makes them again."""
        from prudent.results.saving import save

        return save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], policy: Any = None) -> "Runs":
        """The runs in a file that `save` wrote. A policy of your own that no spec names must be passed again."""
        from prudent.results.saving import load

        return load(path, policy)

    def mixture_regret(self) -> Array:
        """The cost of the arms' true laws, mixed by the shares of their pulls, minus that of the best mixture; for
        every risk measure. It is the regret where the risk is that of all rewards of a run together [Tatli25]."""
        if not isinstance(self.bandit, Bandit):
            raise PrudentError(NO_LAWS)
        return definitions.mixture_regret(self.pulls, self.bandit, self.risk)

    def regret_parts(self) -> definitions.RegretParts:
        """Gap, exploration and twins, which add up to the regret (eq. regret2)."""
        self._need_twins("regret_parts")
        arrays = (self.pulls, self.mean, self.variance, self.twin_mean, self.twin_variance)
        return definitions.regret_parts(*arrays, self._mean_variance("regret_parts"))

    def regret_bound(self) -> Array:
        """The right-hand side of eq. regret3, which the regret never exceeds."""
        risk = self._mean_variance("regret_bound")
        return self.regret_parts().gap + risk.variance_weight * self.exploration_risk("eq-regret3")

    def exploration_risk(self, form: str = "exact") -> Array:
        """The variance that comes from moving between arms with different means; forms in `prudent.results.regret`."""
        return definitions.exploration_risk(self.pulls, self.mean, form)

    def pseudo_regret(self, form: str = "definition-3") -> Array:
        """Definition 3, the sum of its two parts."""
        parts = self.pseudo_regret_parts(form)
        return parts.gap + parts.exploration

    def pseudo_regret_parts(self, form: str = "definition-3") -> definitions.PseudoRegretParts:
        """The gap and the exploration part of Definition 3, from the arms' true means and costs."""
        risk = self._mean_variance("pseudo_regret")
        return definitions.pseudo_regret_parts(self.pulls, self.bandit.means, self.bandit.gaps(risk), risk, form)

    def best_share(self) -> Array:
        """The share of the best arm in the pulls."""
        share: Array = self.pulls[:, self.bandit.best(self.risk)] / self.horizon
        return share

    def measures(self) -> dict[str, Array]:
        """One value per run of each of `MEASURES` that the risk measure defines and for which enough is known."""
        values: dict[str, Array] = {}
        known, compared = isinstance(self.bandit, Bandit), self._has_twins()
        if compared and self.risk.by_moments:
            values["regret"] = self.regret()
        if compared and isinstance(self.risk, MeanVariance):
            values |= self.regret_parts()._asdict()
        if known and isinstance(self.risk, MeanVariance):
            values["pseudo_regret"] = self.pseudo_regret()
        if known:
            values["gap_regret"] = self.gap_regret()
        values["exploration_risk"] = self.exploration_risk()
        values["reward_mean"], values["reward_variance"] = self.reward_mean(), self.reward_variance()
        if known:
            values["best_share"] = self.best_share()
        return values

    def curve(self, measure: str | None = None, *, cumulative: bool = False) -> Curve:
        """A measure at every snapshot; by default the regret, or the gap regret where the risk defines no other.

        `cumulative` multiplies what is measured per round by the number of rounds.
        """
        measure = check_measure("curve", measure, self.measures(), cumulative=cumulative)
        shown = self.history or [self]
        rounds = np.array([each.horizon for each in shown])
        times = rounds if cumulative else np.ones(len(shown))
        found = [averages({measure: each.measures()[measure]}) for each in shown]
        mean, error = (np.array([each[name] for each in found], dtype=float) for name in (measure, f"{measure}_se"))
        return Curve(rounds, times * mean, times * error)

    def table(self) -> "pl.DataFrame":
        """A row for each run and snapshot: the run, the horizon, its measures, and each arm's pulls under its name."""
        import polars as pl  # not needed to simulate, and slow to import

        rows = []
        for each in self.history or [self]:
            columns = {"run": np.arange(len(each)), "horizon": np.full(len(each), each.horizon), **each.measures()}
            pulls = dict(zip((f"pulls of {name}" for name in each.bandit.names), each.pulls.T, strict=True))
            rows.append(pl.DataFrame(columns | pulls))
        return pl.concat(rows)

    def to_pandas(self) -> Any:
        """`table()` as a pandas data frame."""
        return as_pandas(self.table())

    def summary(self) -> dict[str, Any]:
        """Means and standard errors of all measures, flat (`averages`); None where the risk measure defines none."""
        values = self.measures()
        undefined = {name: None for measure in MEASURES for name in (measure, f"{measure}_se")}
        return {
            "policy": spec(self.policy),
            "engine": self.engine,
            "seconds": self.seconds,
            **undefined,
            **averages(values),
            "across_variance": float(values["reward_mean"].var()),
            **averages({"pulls": self.pulls}),
        }

    def _need_moments(self, asked: str) -> None:
        if not self.risk.by_moments:
            raise PrudentError(
                f"{asked}: runs keep the mean and variance of their rewards, which do not determine {self.risk};"
                ' use gap_regret(), or path_regret() with keep="trajectory"'
            )

    def _has_twins(self) -> bool:
        return not np.isnan(self.twin_mean).all()

    def _need_twins(self, asked: str) -> None:
        if not self._has_twins():
            raise PrudentError(
                f"{asked}: nothing is known of the best arm to compare with; pass simulate(…, laws=Bandit([…])) if you"
                " know the laws, or replay=True for the best arm in hindsight"
            )

    def _mean_variance(self, asked: str) -> MeanVariance:
        if not isinstance(self.risk, MeanVariance):
            raise PrudentError(f"{asked}: defined for the mean-variance only, and these runs are judged by {self.risk}")
        return self.risk
