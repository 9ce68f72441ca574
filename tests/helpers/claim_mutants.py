"""Wrong worlds for the ledger of claims: wrong policies, definitions, risk measures and constants.

`POLICIES` are put into the cells, which are then simulated anew. `PATCHES` change the functions that checks call, on
the same runs.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from prudent import (
    MVLCB,
    AnytimeMVLCB,
    Bandit,
    Bernoulli,
    CVaR,
    ExpExp,
    FixedArm,
    Gaussian,
    MeanVariance,
    RandomArm,
    RoundRobin,
    Runs,
    Semivariance,
    VaR,
    theory,
)  # fmt: skip
from prudent.paper import problems
from prudent.paper.claims import conclusions, printed, remarks
from prudent.policies.contract import Policy
from prudent.policies.exp_exp import RULES
from prudent.policies.mv_lcb import MVIndex
from prudent.results import regret as definitions
from prudent.results.regret import PseudoRegretParts, RegretParts
from prudent.study import Cell
from prudent.theory.periods import PeriodCost

Patch = Callable[[pytest.MonkeyPatch], None]


def worst_arm(cell: Cell) -> Policy:
    """Always the worst arm."""
    return FixedArm(int(cell.bandit.costs(cell.risk).argmax()))


def width_times(factor: float) -> Callable[[Cell], Policy]:
    """MV-LCB whose width is so many times as large: the width grows with √log(1/δ), and δ is 1/n²."""
    return lambda cell: MVLCB(delta=float(cell.horizon) ** (-2.0 * factor**2))


POLICIES: dict[str, tuple[type, Callable[[Cell], Policy]]] = {
    "worst arm": (MVLCB, worst_arm),
    "in turn": (MVLCB, lambda _: RoundRobin()),
    "width / 20": (MVLCB, width_times(0.05)),
    "width × 3": (MVLCB, width_times(3.0)),
    "exp-exp: worst arm": (ExpExp, worst_arm),
    "exp-exp: in turn": (ExpExp, lambda _: RoundRobin()),
    "exp-exp: no options": (ExpExp, lambda _: ExpExp()),
    "exp-exp: blind to means": (ExpExp, lambda cell: cell.policy._replace(rho=0.0)),
    "exp-exp: mv-lcb": (ExpExp, lambda _: MVLCB()),
    "A₁: one arm": (RoundRobin, lambda _: RandomArm()),
    "A₂: in turn": (RandomArm, lambda _: RoundRobin()),
}
"""The class that is replaced, and by what in a cell."""


BOUNDS = (
    "lemma1", "pulls_bound", "theorem1_high_probability", "theorem1_expectation", "corollary", "theorem2",
)  # fmt: skip


def times(module: object, name: str, factor: float) -> Patch:
    """A function whose result is multiplied."""
    honest = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *args, **names: factor * honest(*args, **names))


def bounds_times(factor: float, *forms: str) -> Patch:
    """Every theorem's value multiplied, in the forms named."""

    def wrong(honest):
        def bound(*args, **names):
            found = honest(*args, **names)
            return replace(found, **{form: factor * getattr(found, form) for form in forms})

        return bound

    def put(patch):
        for name in BOUNDS:
            patch.setattr(theory, name, wrong(getattr(theory, name)))

    return put


def swap_parts(patch):
    regret, pseudo = Runs.regret_parts, Runs.pseudo_regret_parts
    patch.setattr(Runs, "regret_parts", lambda self: RegretParts(*[regret(self)[i] for i in (1, 0, 2)]))
    swapped = lambda self, *form: PseudoRegretParts(*[pseudo(self, *form)[i] for i in (1, 0)])  # noqa: E731
    patch.setattr(Runs, "pseudo_regret_parts", swapped)


def add_twins(patch):
    honest = Runs.regret_parts
    patch.setattr(Runs, "regret_parts", lambda self: honest(self)._replace(twins=-honest(self).twins))


def faster_gap(patch):
    """A gap part that falls faster than the exploration part."""
    honest = Runs.regret_parts
    wrong = lambda self: honest(self)._replace(gap=honest(self).gap * self.horizon**-0.1)  # noqa: E731
    patch.setattr(Runs, "regret_parts", wrong)


def larger_gap(patch):
    honest = Runs.pseudo_regret_parts
    patch.setattr(
        Runs, "pseudo_regret_parts", lambda self, *form: honest(self, *form)._replace(gap=1.1 * honest(self, *form).gap)
    )


def factors(exact: float, regret3: float, definition_3: float) -> Patch:
    """Other factors before the exploration risk."""
    wrong = {"exact": exact, "eq-regret3": regret3, "definition-3": definition_3}
    return lambda patch: patch.setattr(definitions, "EXPLORATION_FACTORS", wrong)


def mean_variance(cost: Callable[..., float]) -> Patch:
    """Another function of mean, variance and ρ."""

    def put(patch):
        patch.setattr(MeanVariance, "cost", lambda self, law: float(cost(law.mean, law.variance, self.rho)))
        patch.setattr(MeanVariance, "stats_cost", lambda self, m, v: cost(np.asarray(m), np.asarray(v), self.rho))
        patch.setattr(MeanVariance, "estimate", lambda self, m, v, _: cost(m, v, self.rho))

    return put


def instead(one: type, other: type, *arguments: float) -> Patch:
    """One risk measure computes what another does."""

    def method_of(name):
        return lambda self, *args: getattr(other(*(arguments or (self.alpha,))), name)(*args)

    def put(patch):
        for name in ("cost", "weigh"):
            patch.setattr(one, name, method_of(name))

    return put


def on_runs(name: str, wrong: Callable[[Runs], object]) -> Patch:
    return lambda patch: patch.setattr(Runs, name, wrong)


def sharper_exponent(patch):
    patch.setattr(printed, "wrong_arm", lambda each, gap: 2.0 * np.exp(-6.0 * each * np.asarray(gap) ** 2))


def index_adds(patch):
    honest = MVIndex.score
    patch.setattr(MVIndex, "score", lambda self, arm: honest(self._replace(width=-self.width), arm))


def index_is_ucb1(patch):
    """The index of MV-LCB with UCB1's width at t = 10, in which both forms of the algorithm agree at that t only."""
    patch.setattr(
        AnytimeMVLCB, "score", lambda self, arm, t: MVLCB(self.rho, delta=1e-4, range=1.0).tuned(None).score(arm)
    )


def commented_subtracts(patch):
    honest = printed.commented_index
    wrong = lambda deviation, *rest: honest(deviation - 1.0, *rest)  # noqa: E731
    patch.setattr(printed, "commented_index", wrong)


def periods_are_additive(patch):
    wrong = lambda law, risk, periods: PeriodCost(periods * risk.cost(law), 0.0)  # noqa: E731
    patch.setattr(conclusions, "period_cost", wrong)


def sequences_cost(price):
    """Sequences priced by their counts and the costs of their arms alone."""

    def wrong(bandit, risk, counts):
        return float(price(np.array(counts), bandit.costs(risk)))

    return lambda patch: patch.setattr(remarks, "sequence_cost", wrong)


def configurations(patch):
    """One in which an arm is best for every ρ, by far, and one in which every arm is best for some ρ."""
    ladder, frontier = ([(0.5, 0.5 * i) for i in range(1, 16)], [(i / 100, i * i / 1000) for i in range(1, 16)])
    for which, arms in (("1", ladder), ("2", frontier)):
        patch.setitem(problems.CONFIGURATIONS, which, Bandit([Gaussian(*arm) for arm in arms]))


PATCHES: dict[str, Patch] = {
    "gap ↔ exploration": swap_parts,
    "gap × n^−0.1": faster_gap,
    "twins added": add_twins,
    "exploration × 2": factors(1.0, 2.0, 4.0),
    "exploration × −1": factors(-0.5, -1.0, -2.0),
    "definition 3 × 1.1": factors(0.5, 1.0, 2.2),
    "gap of definition 3 × 1.1": larger_gap,
    "forms alike": factors(0.5, 0.25, 0.5),
    "pseudo-regret = regret": on_runs("pseudo_regret", Runs.regret),
    "regret = gap": on_runs("regret", lambda self: self.regret_parts().gap),
    "regret = 0.1": on_runs("regret", lambda self: np.full(len(self), 0.1)),
    "regret × n^−0.1": lambda patch: patch.setattr(
        Runs, "regret", lambda self, honest=Runs.regret: honest(self) * self.horizon**-0.1
    ),
    "mean = best mean": on_runs("reward_mean", lambda self: np.full(len(self), self.bandit.means.max())),
    "bounds / 20": bounds_times(0.05, "printed", "corrected"),
    "bounds / 5": bounds_times(0.2, "printed", "corrected"),
    "bounds × 100": bounds_times(100.0, "printed", "corrected"),
    "bounds × 1.1": bounds_times(1.1, "printed", "corrected"),
    "corrected / 20": bounds_times(0.05, "corrected"),
    "largest regret / 2": times(theory, "largest_regret", 0.5),
    "ρ + 1": mean_variance(lambda mean, variance, rho: variance - (rho + 1.0) * mean),
    "2ρ": mean_variance(lambda mean, variance, rho: variance - 2.0 * rho * mean),
    "−ρ": mean_variance(lambda mean, variance, rho: variance + rho * mean),
    "σ for σ²": mean_variance(lambda mean, variance, rho: np.sqrt(variance) - rho * mean),
    "var = cvar": instead(VaR, CVaR),
    "cvar = var": instead(CVaR, VaR),
    "semivariance = variance": instead(Semivariance, MeanVariance, 0.0),
    "quantile = 1/2": lambda patch: patch.setattr(Bernoulli, "quantile", lambda self, _: 0.5),
    "periods add up": periods_are_additive,
    "lemma 2 / 2": times(printed, "lemma_2_width", 0.5),
    "lemma 2 × 0.9": times(printed, "lemma_2_width", 0.9),
    "index as corrected": lambda patch: patch.setattr(
        printed, "worst_case_index", lambda delta, s: -float(printed.lemma_2_width(0.0, delta, s))
    ),
    "event / 3": times(printed, "event_width", 1.0 / 3.0),
    "failure / 1,000": times(printed, "failure", 0.001),
    "index adds": index_adds,
    "index = ucb1's": index_is_ucb1,
    "1/4 + ρ / 2": times(printed, "largest_regret", 0.5),
    "2 + ρ / 2": times(printed, "largest_pseudo_regret", 0.49),
    "exponent × 6": sharper_exponent,
    "2τ/n × 2": times(printed, "exploring", 2.0),
    "worst gap × 2": times(printed, "worst_gap", 2.0),
    "worst regret × 0.7": times(printed, "worst_regret", 0.7),
    "worst regret × 1.4": times(printed, "worst_regret", 1.4),
    "best τ × 2": times(printed, "best_tau", 2.0),
    "τ with 4 for 14": lambda patch: patch.setitem(RULES, "theorem", 4.0),
    "comment subtracts": commented_subtracts,
    "sequences add up": sequences_cost(lambda counts, costs: counts @ costs),
    "sequences are squares": sequences_cost(lambda counts, costs: counts**2 @ costs),
    "configurations": configurations,
    "least worst case × 3": times(conclusions, "least_worst_case", 3.0),
}
