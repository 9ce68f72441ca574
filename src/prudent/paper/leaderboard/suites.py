"""What the leaderboard compares: two suites of problems, a worst case, bounded rewards under other risks; who joins.

A policy joins a problem if it serves the mean-variance, the mean or any risk, and if the rewards are ones that it is
made for. One that is made for coins so has results on coins, and no rank among those that take every problem.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from prudent import Bandit, Bernoulli, Beta, Empirical, Gaussian, MeanVariance, PrudentError, StudentT
from prudent.engine.question import choose_engine
from prudent.paper.problems import CONFIGURATION_1, CONFIGURATIONS, grid_bandit
from prudent.policies.binding import assumed_rewards, bind, check_rewards, served_risk, serves
from prudent.policies.contract import ANY, MEAN, Policy, Setting
from prudent.policies.contract import policies as registry
from prudent.policies.scoring import room_for
from prudent.policies.units import PUBLISHED, fitted
from prudent.risk.base import risks
from prudent.study import Cell, Labelled

RHOS = (0.0, 0.1, 1.0, 10.0)
HORIZON = 100_000
MIDDLE = 10_000
"""The horizon of the second suite; the longest of policies that read all rewards again in every round."""


class Setup(NamedTuple):
    """A problem of a suite; `model` says which laws its lower bound allows, None where no bound is known."""

    name: str
    bandit: Bandit
    rho: float
    horizon: int
    model: Mapping[str, Any] | None = {}


COINS = Bandit([Bernoulli(p) for p in (0.01, 0.02, 0.03, 0.05, 0.1)])
SKEWED = Bandit([Beta(4.0, 1.0), Beta(2.0, 0.5), Beta(0.5, 0.1), Beta(1.0, 0.3), Beta(0.5, 1.0)])
HEAVY = Bandit(
    [StudentT(3, 1.0, 0.4), StudentT(5, 0.6, 0.4), StudentT(4, 0.2, 0.2), StudentT(3, 0.9, 0.6), StudentT(10, 0.5, 0.5)]
)
HUNDRED_ARMS = Bandit([Gaussian(i / 99.0, (0.1, 0.3, 0.5, 0.7, 0.9)[i % 5]) for i in range(100)])
TIED = grid_bandit(0.4, 0.24)
"""Costs differ by 0.01 and means by 1.1, so that looking at both arms is what costs."""

SUITES = {
    "leaderboard": tuple(
        Setup(f"{which}, ρ = {rho:g}", bandit, rho, HORIZON)
        for (which, bandit), rho in product(CONFIGURATIONS.items(), RHOS)
    ),
    "leaderboard-second": (
        Setup("coins, ρ = 0", COINS, 0.0, MIDDLE),
        Setup("coins, ρ = 2", COINS, 2.0, MIDDLE),
        Setup("skewed", SKEWED, 1.0, MIDDLE, {"support": (0.0, 1.0)}),
        Setup("heavy tails", HEAVY, 1.0, MIDDLE, None),
        Setup("100 arms", HUNDRED_ARMS, 1.0, MIDDLE),
        Setup("near tie", TIED, 0.0, MIDDLE),
        Setup("n = 200", CONFIGURATION_1, 1.0, 200),
        Setup("n = 2,000", CONFIGURATION_1, 1.0, 2_000),
    ),
}
"""Each suite under the name of its table."""

VARIANTS = ("mv-lcb(c=1, unbiased=True)", "exp-exp(explore=successive-rejects)", "mv-dsee(rule=log, a=100)")
LEFT_OUT = ("discounted", "fixed-arm", "optimal", "rs-etc-m", "sliding-window")
"""The policy that is told the best arm, the one for two arms and at most 400 rounds, the one for mixtures of arms,
which is exp-exp for the mean-variance, and those for arms that drift, which wrap another policy."""

WORST_HORIZONS = (1_000, 10_000, 100_000)
WORST = tuple(product((0.4, 0.95), (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15)))
"""The worst case is looked for here, with ρ = 0: the mean of the second arm, where the first has 1.5, and the gap."""

VALUES = (0.0, 0.25, 0.5, 0.75, 1.0)
FIVE = Bandit(
    [
        Empirical(np.repeat(VALUES, counts))
        for counts in ((4, 4, 4, 4, 4), (1, 4, 10, 4, 1), (6, 0, 0, 6, 8), (0, 8, 8, 4, 0), (2, 2, 10, 2, 4))
    ],
    names=["even", "steady", "bold", "safe", "mixed"],
)
"""Arms of which the best is another one for the mean, the mean-variance, the tail and the entropic risk."""

BOUNDED_HORIZON = 5_000
BOUNDED_RISKS = {
    "mean-variance(rho=1)": ("prudent", "mv-imed", "mv-lcb(c=1, unbiased=True)", "best-of-both", "mvts"),
    "cvar(alpha=0.25)": ("cvar-ts",),
    "mean-cvar(alpha=0.25, weight=0.5)": (),
    "entropic(lam=4)": (),
    "var(alpha=0.35)": (),
    "sharpe": ("srts",),
    "mean": ("ucb1", "ucb-v", "thompson"),
}
"""The risks on bounded rewards, and policies for rewards of any size to compare with."""


def players(more: Sequence[str] = ()) -> list[str]:
    """The policies for the mean-variance, the mean and any risk, as published, and `more` of them."""
    served = [(risk, each.name) for risk in ("mean-variance", MEAN, ANY) for each in registry.entries()]
    known = [name for risk, name in served if registry.get(name).facts.get("serves") == risk and name not in LEFT_OUT]
    suited = [text for text in more if serves(registry.parse(text)) in ("mean-variance", MEAN, ANY)]
    return list(dict.fromkeys([*known, *VARIANTS, *suited]))


def reads_all(policy: Policy) -> bool:
    """Whether a policy reads all rewards again in every round, so that a run takes the square of its rounds."""
    ready = bind(fitted(policy, PUBLISHED), Setting(2, served_risk(policy), MIDDLE))
    return room_for(ready, MIDDLE) == MIDDLE


def suits(policy: Policy, bandit: Bandit, horizon: int) -> bool:
    """Whether rewards are those that a policy, as published, is made for, and a run takes no minutes."""
    made = fitted(policy, PUBLISHED)
    try:
        check_rewards(made, bandit.support)
    except PrudentError:
        return False
    atoms, values = [law.atoms() for law in bandit.arms], assumed_rewards(made).values
    finite = not values or all(atom is not None and set(atom[0]) <= set(values) for atom in atoms)
    return finite and (horizon <= MIDDLE or not reads_all(policy))


def bounded_players(more: Sequence[str] = ()) -> dict[str, list[str]]:
    """By risk, the policies that are made for bounded rewards or read all of them, and what they are compared with."""
    made = {text: registry.parse(text) for text in more}
    joining = [text for text, policy in made.items() if suits(policy, FIVE, BOUNDED_HORIZON)]
    for_bounded = [each for each in registry.entries() if "binary" not in each.facts and narrow(each.factory())]
    found = {}
    for risk, others in BOUNDED_RISKS.items():
        served = risk.partition("(")[0]
        names = [
            f"{each.name}(values={list(VALUES)})" if hasattr(each.factory(), "values") else each.name
            for each in for_bounded
            if each.facts.get("serves") in (served, ANY)
        ]
        own = [text for text in joining if serves(made[text]) in (served, ANY)]
        found[risk] = list(dict.fromkeys([*others, *names, *own, "round-robin"]))
    return found


def narrow(policy: Policy) -> bool:
    """Whether a policy is made for bounded rewards, or reads all of them."""
    return assumed_rewards(fitted(policy, PUBLISHED)) != (-math.inf, math.inf, ()) or reads_all(policy)


def labelled(bandit: Bandit, risk: Any, policy: str, horizon: int, problem: str) -> Labelled:
    """One policy on one problem."""
    cell = Cell(bandit, risks.make("leaderboard", risk), registry.parse(policy), horizon)
    return Labelled(cell, {"player": policy, "problem": problem})


def stepping_on(engine: str, each: Labelled) -> Labelled:
    """A cell that would take every round, on another engine if its policy can run there; others as they are."""
    cell = each.cell
    ready = bind(cell.policy, Setting.of(cell.bandit, cell.risk, cell.horizon))
    inputs = cell.bandit, cell.policy, ready, cell.horizon
    if choose_engine("auto", *inputs) == "leaping":
        return each
    try:
        return replace(each, cell=cell._replace(engine=choose_engine(engine, *inputs)))
    except PrudentError:
        return each


def suites_to(horizon: int | None) -> dict[str, tuple[Setup, ...]]:
    """Both suites, the Gaussian one with so many rounds if they are given."""
    if horizon is None:
        return SUITES
    return SUITES | {"leaderboard": tuple(each._replace(horizon=horizon) for each in SUITES["leaderboard"])}


def cells(more: Sequence[str] = (), engine: str = "auto", horizon: int | None = None) -> dict[str, list[Labelled]]:
    """Both suites, the worst case and bounded rewards under other risks, with `more` policies.

    What would take every round runs on the `engine`, if it can. The Gaussian suite has `horizon` rounds, if given.
    """
    made = {text: registry.parse(text) for text in players(more)}
    found = {
        name: [
            labelled(each.bandit, MeanVariance(each.rho), text, each.horizon, each.name)
            for each in suite
            for text, policy in made.items()
            if suits(policy, each.bandit, each.horizon)
        ]
        for name, suite in suites_to(horizon).items()
    }
    found["leaderboard-worst"] = [
        labelled(grid_bandit(mean, 0.25 - gap), MeanVariance(0.0), text, n, f"n = {n:,}")
        for text, policy in made.items()
        if serves(policy) == "mean-variance" and suits(policy, TIED, max(WORST_HORIZONS))
        for n, (mean, gap) in product(WORST_HORIZONS, WORST)
    ]
    found["leaderboard-bounded"] = [
        labelled(FIVE, risk, text, BOUNDED_HORIZON, risk)
        for risk, texts in bounded_players(more).items()
        for text in texts
    ]
    if engine == "auto":
        return found
    return {name: [stepping_on(engine, each) for each in some] for name, some in found.items()}
