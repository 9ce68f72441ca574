"""The ledger of claims: its checks can fail, its verdicts are the ones that docs/claims.md lists.

A mutant is a wrong policy, a wrong definition, a wrong risk measure or a wrong constant. Every claim must fall on the
mutants that `KILLED_BY` names for it: its verdict must get worse, or, where the honest verdict is not "holds", become
another one. So a check that is loosened, or that no longer looks at what it should, fails here. Policies are changed
in the cells, which are then simulated; all else is changed in the functions that the checks call, on the same runs.
"""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from prudent import MVLCB, AnytimeMVLCB, Bandit, Bernoulli, CVaR, ExpExp, FixedArm, Gaussian, MeanVariance, RandomArm, RoundRobin, Semivariance, VaR
from prudent import regret as definitions
from prudent import theory
from prudent.paper import problems
from prudent.paper.claims import CLAIMS, REMARKS, printed
from prudent.paper.claims.ledger import (
    HOLDS, VERDICTS, Check, Claim, Found, check_ledger, count_cells, judge, judged, judged_over, place_of,
    simulate_claims,
)  # fmt: skip
from prudent.paper.making import Settings
from prudent.policies.base import Policy
from prudent.policies.exp_exp import RULES
from prudent.policies.mv_lcb import MVIndex
from prudent.regret import PseudoRegretParts, RegretParts
from prudent.runs import Runs
from prudent.study import Cell, Labelled

RUNS = 100
EVERY = [*CLAIMS, *REMARKS]


def worst_arm(cell: Cell) -> Policy:
    return FixedArm(int(cell.bandit.costs(cell.risk).argmax()))


def width_times(factor: float) -> Callable[[Cell], Policy]:
    """MV-LCB whose width is so many times as large: the width grows with √log(1/δ), and δ is 1/n²."""
    return lambda cell: MVLCB(delta=float(cell.horizon) ** (-2.0 * factor**2))


POLICIES: dict[str, tuple[type, Callable[[Cell], Policy]]] = {
    "mv-lcb pulls the worst arm": (MVLCB, worst_arm),
    "mv-lcb pulls in turn": (MVLCB, lambda _: RoundRobin()),
    "mv-lcb with a twentieth of its width": (MVLCB, width_times(0.05)),
    "mv-lcb with three times its width": (MVLCB, width_times(3.0)),
    "exp-exp pulls the worst arm": (ExpExp, worst_arm),
    "exp-exp pulls in turn": (ExpExp, lambda _: RoundRobin()),
    "exp-exp takes no options": (ExpExp, lambda _: ExpExp()),
    "exp-exp is mv-lcb": (ExpExp, lambda _: MVLCB()),
    "in turn takes one arm": (RoundRobin, lambda _: RandomArm()),
    "one random arm goes in turn": (RandomArm, lambda _: RoundRobin()),
}
"""The class that is replaced, and by what in a cell."""

Patch = Callable[[pytest.MonkeyPatch], None]


def scaled(module: object, name: str, factor: float) -> Patch:
    """A function whose result is multiplied."""
    honest = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *args, **names: factor * honest(*args, **names))


def bounds_times(factor: float, *forms: str) -> Patch:
    """Every theorem's value multiplied, in the forms named."""

    def wrong(honest):
        def bound(*args, **names):
            from dataclasses import replace

            found = honest(*args, **names)
            return replace(found, **{form: factor * getattr(found, form) for form in forms})

        return bound

    names = ("lemma1", "pulls_bound", "theorem1_high_probability", "theorem1_expectation", "corollary", "theorem2")
    return lambda patch: [patch.setattr(theory, name, wrong(getattr(theory, name))) for name in names] and None


def swap_parts(patch):
    regret, pseudo = Runs.regret_parts, Runs.pseudo_regret_parts
    patch.setattr(Runs, "regret_parts", lambda self: RegretParts(*[regret(self)[i] for i in (1, 0, 2)]))
    patch.setattr(
        Runs, "pseudo_regret_parts", lambda self, *form: PseudoRegretParts(*[pseudo(self, *form)[i] for i in (1, 0)])
    )


def add_twins(patch):
    honest = Runs.regret_parts
    patch.setattr(Runs, "regret_parts", lambda self: honest(self)._replace(twins=-honest(self).twins))


def factors(exact: float, regret3: float, definition_3: float) -> Patch:
    wrong = {"exact": exact, "eq-regret3": regret3, "definition-3": definition_3}
    return lambda patch: patch.setattr(definitions, "EXPLORATION_FACTORS", wrong)


def tolerance(change: Callable[[float], float]) -> Patch:
    """The mean-variance with another ρ than the one asked for."""

    def wrong(patch):
        patch.setattr(MeanVariance, "cost", lambda self, law: law.variance - change(self.rho) * law.mean)
        patch.setattr(MeanVariance, "stats_cost", lambda self, m, v: np.asarray(v) - change(self.rho) * np.asarray(m))

    return wrong


def instead(one: type, other: type, *arguments: float) -> Patch:
    """One risk measure computes what another does."""

    def wrong(patch):
        for method in ("cost", "weigh"):
            made = lambda self, *args, method=method: getattr(other(*(arguments or (self.alpha,))), method)(*args)  # noqa: E731
            patch.setattr(one, method, made)

    return wrong


def arms(*means_and_variances: tuple[float, float]) -> Bandit:
    return Bandit([Gaussian(*pair) for pair in means_and_variances])


def other_exponent(patch):
    patch.setattr(printed, "wrong_arm", lambda each, gap: 2.0 * np.exp(-6.0 * each * np.asarray(gap) ** 2))


def index_adds(patch):
    """MV-LCB's index with its width added, as the printed index of Remark 2 and the commented one have it."""
    honest = MVIndex.score
    patch.setattr(MVIndex, "score", lambda self, arm: honest(self._replace(width=-self.width), arm))


def index_of_ucb1(patch):
    """MV-LCB's index with the clock of UCB1, as far as a score of one arm can have it: t = 10, a tie at best."""
    honest = AnytimeMVLCB.score
    patch.setattr(AnytimeMVLCB, "score", lambda self, arm, t: honest(self, arm, t) / 2.0)


def commented_subtracts(patch):
    honest = printed.commented_index
    wrong = lambda deviation, mean, s, rho, delta: honest(deviation - 1.0, mean, s, rho, delta)  # noqa: E731
    patch.setattr(printed, "commented_index", wrong)


def configurations(first: Bandit, second: Bandit) -> Patch:
    def wrong(patch):
        patch.setitem(problems.CONFIGURATIONS, "1", first)
        patch.setitem(problems.CONFIGURATIONS, "2", second)

    return wrong


FRONTIER = arms(*[(0.1 * i, 0.01 * i * i) for i in range(1, 16)])
LADDER = arms(*[(0.5, 0.05 * i) for i in range(1, 16)])
"""Fifteen arms of which each is best for some ρ; and fifteen of which one is best for all."""

PATCHES: dict[str, Patch] = {
    "gap and exploration swapped": swap_parts,
    "twins added": add_twins,
    "exploration risk doubled": factors(1.0, 2.0, 4.0),
    "one factor for every form": factors(0.5, 0.25, 0.5),
    "exploration risk negated": factors(-0.5, -1.0, -2.0),
    "pseudo-regret is the regret": lambda patch: patch.setattr(Runs, "pseudo_regret", Runs.regret),
    "regret is the gap part": lambda patch: patch.setattr(Runs, "regret", lambda self: self.regret_parts().gap),
    "regret is constant": lambda patch: patch.setattr(Runs, "regret", lambda self: np.full(len(self), 0.1)),
    "mean reward is the best arm's": lambda patch: patch.setattr(
        Runs, "reward_mean", lambda self: np.full(len(self), self.bandit.means.max())
    ),
    "bounds divided by 20": bounds_times(0.05, "printed", "corrected"),
    "bounds multiplied by 100": bounds_times(100.0, "printed", "corrected"),
    "corrected bounds divided by 20": bounds_times(0.05, "corrected"),
    "largest regret halved": scaled(theory, "largest_regret", 0.5),
    "tolerance one larger": tolerance(lambda rho: rho + 1.0),
    "tolerance negated": tolerance(lambda rho: -rho),
    "value at risk is conditional": instead(VaR, CVaR),
    "conditional value at risk is not": instead(CVaR, VaR),
    "semivariance is variance": instead(Semivariance, MeanVariance, 0.0),
    "quantile is the largest reward": lambda patch: patch.setattr(Bernoulli, "quantile", lambda self, _: 0.5),
    "half the width of lemma 2": scaled(printed, "lemma_2_width", 0.5),
    "a third of the width of the event": scaled(printed, "event_width", 1.0 / 3.0),
    "a thousandth of the failure": scaled(printed, "failure", 0.001),
    "index adds its width": index_adds,
    "anytime index halved": index_of_ucb1,
    "largest regret printed half": scaled(printed, "largest_regret", 0.5),
    "largest pseudo-regret printed half": scaled(printed, "largest_pseudo_regret", 0.49),
    "wrong arm with another exponent": other_exponent,
    "exploring printed twice": scaled(printed, "exploring", 2.0),
    "worst gap printed twice": scaled(printed, "worst_gap", 2.0),
    "worst regret printed at 4/5": scaled(printed, "worst_regret", 0.8),
    "best tau printed twice": scaled(printed, "best_tau", 2.0),
    "rule of the theorem with 4 for 14": lambda patch: patch.setitem(RULES, "theorem", 4.0),
    "commented index subtracts": commented_subtracts,
    "configuration 1 easy, 2 on the frontier": configurations(LADDER, FRONTIER),
}


def verdicts(found: Found) -> dict[str, str]:
    """What every check says of these runs; "error" if it cannot."""
    said = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for each in EVERY:
            try:
                said[each.name] = judge(each, found).verdict
            except (ValueError, ZeroDivisionError, FloatingPointError):
                said[each.name] = "error"
    return said


def played(settings: Settings, honest: Found, kind: type, other: Callable[[Cell], Policy]) -> Found:
    """The runs, with another policy in the cells of one kind."""
    cells = {place_of(cell): cell for each in EVERY for cell in each.check.cells if isinstance(cell.cell.policy, kind)}
    changed = {p: Labelled(c.cell._replace(policy=other(c.cell)), c.labels) for p, c in cells.items()}
    runs = simulate_claims(settings, [Claim("", "", Check(judged, tuple(changed.values())))])
    return {**honest, **{place: runs[place_of(cell)] for place, cell in changed.items()}}
