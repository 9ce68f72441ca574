"""The literature side by side: every policy on two suites of problems, its worst case, and other risks.

Not part of the report, since it takes every round of the policies that cannot leap: `prudent paper leaderboard`.

drawing.py   the pictures of the leaderboard: one of each suite
ranks.py     who is where: ranks and how sure they are, regret over the lower bound and over the best policy's, units
suites.py    what the leaderboard compares: two suites of problems, a worst case, bounded rewards under other risks
"""

from collections.abc import Sequence
from functools import partial

import polars as pl
from matplotlib.figure import Figure

from prudent import PrudentError
from prudent.base.errors import check_choice, check_integer
from prudent.base.text import page
from prudent.engine.question import ENGINES
from prudent.paper.leaderboard import ranks, suites
from prudent.paper.leaderboard.drawing import draw_suite
from prudent.paper.leaderboard.suites import SUITES
from prudent.paper.making import PaperFigure, Tables
from prudent.results.page import Finding

FLAGSHIP = "prudent"
TITLES = {"leaderboard": "Gaussian suite", "leaderboard-second": "Second suite"}


def tables(found: Tables, more: Sequence[str] = (), horizon: int | None = None) -> Tables:
    """Of each suite one row per policy and problem and one per policy; the worst cases; the bounded rewards."""
    cells, made = suites.cells(more, horizon=horizon), {}
    for name, suite in suites.suites_to(horizon).items():
        rows = ranks.with_facts(ranks.ranked(found[name], "regret"), cells[name])
        made[name] = ranks.with_bounds(rows, suite)
        made[f"{name}-standings"] = ranks.standings(made[name])
    made["leaderboard-worst"] = ranks.worst_cases(found["leaderboard-worst"])
    bounded = "leaderboard-bounded"
    return made | {bounded: ranks.ranked(found[bounded], "gap_regret")}


def first(order: pl.DataFrame) -> str:
    """Who leads a suite, and who may."""
    others = order.filter(pl.col("with other runs").str.contains(r"^1(–|$)"))["policy"][1:]
    may = f" ({', '.join(others)} may be first with other runs)" if len(others) else ""
    return f"{order['policy'][0]}{may}"


def finding(tables: Tables) -> Finding:
    """The smallest mean ranks, and the place of the flagship; in one row for each suite."""
    rows = []
    for name in SUITES:
        order = tables[f"{name}-standings"]
        place = order["policy"].index_of(FLAGSHIP)
        row = {"suite": TITLES[name], "smallest mean rank": first(order)}
        if place is not None:
            ours = order.row(place, named=True)
            row |= {f"place of {FLAGSHIP}": f"{place + 1} of {order.height}", "mean rank": f"{ours['mean rank']:.1f}"}
            row |= {f"{each}, at 95 %": ours[each] for each in ("with other runs", "with other problems")}
            row |= {"worst ratio to the best": f"{ours['over the best, worst']} ({ours['where']})"}
        rows.append(row)
    leaders = [f"{tables[f'{name}-standings']['policy'][0]} on the {TITLES[name].replace('S', 's')}" for name in SUITES]
    verdict = f"The policy with the smallest mean rank is {' and '.join(leaders)}{worst_rate(tables)}."
    return Finding(verdict, pl.DataFrame(rows))


def worst_rate(tables: Tables) -> str:
    """How the worst case of the flagship falls."""
    worst = ranks.rates(tables["leaderboard-worst"])
    exponents = {row["policy"]: row["exponent of n"] for row in worst.iter_rows(named=True)}
    if FLAGSHIP not in exponents:
        return ""
    return f"; the worst case of {FLAGSHIP} falls as n to the power {exponents[FLAGSHIP]}"


def shown(tables: Tables) -> Tables:
    """Standings, regrets and their ratio to the bound of both suites, the worst case, then the bounded rewards."""
    found = {}
    for name in SUITES:
        rows, order, title = tables[name], tables[f"{name}-standings"], TITLES[name]
        found[f"{title}: ranks"] = order
        found[f"{title}: 100 × regret"] = ranks.per_problem(rows, 100.0, order)
        found[f"{title}: regret over the lower bound"] = ranks.over_bounds(rows, order)
    found["Worst case of two arms: 100 × regret"] = ranks.rates(tables["leaderboard-worst"])
    bounded = tables["leaderboard-bounded"]
    by_policy = bounded.group_by("policy", maintain_order=True).agg(pl.col("over best").median())
    table = ranks.per_problem(bounded, suites.BOUNDED_HORIZON, by_policy.sort("over best"))
    return {**found, "Bounded rewards, other risks: n × gap regret": table}


def draw(tables: Tables) -> dict[str, Figure]:
    """A picture of each suite."""
    return {name: draw_suite(tables[name], tables[f"{name}-standings"]) for name in SUITES}


def settings(horizon: int) -> str:
    """What is compared, and how; `horizon` are the rounds of the Gaussian suite."""
    parts = [
        "All problems have the mean-variance as their risk. The *Gaussian suite* has configurations 1 and 2 of the "
        f"paper, fifteen arms, with ρ in {', '.join(f'{rho:g}' for rho in suites.RHOS)} and n = {horizon:,}. "
        f"The *second suite* has n = {suites.MIDDLE:,}: five coins with probabilities from 0.01 to 0.1; five skewed "
        "beta laws, ρ = 1; five Student laws with 3 to 10 degrees of freedom (heavy tails), ρ = 1; 100 Gaussian arms, "
        "ρ = 1; two arms whose costs differ by 0.01 and whose means by 1.1 (a near tie), ρ = 0. Its last problems are "
        "configuration 1 with ρ = 1 and short horizons.",
        "*Policies* have the parameters of their papers, but for the factor 100 of mv-dsee's log rule, which the "
        "paper leaves to the gaps, and the sharp width of mv-lcb. Those that serve the mean or no risk are there for "
        "comparison. Those that are made for coins or for rewards in [0, 1] have results there, and no rank. Those "
        f"that read all rewards again in every round are left out of n = {horizon:,}, since a run would take "
        "a hundred times as long as in the second suite, or longer. Not here are fixed-arm, which is told the best "
        "arm, and rs-etc-m, which is exp-exp for this risk.",
        "*Ranks.* Rank 1 is the smallest mean regret. “With other runs” has the places in the order of mean ranks "
        "that are likely at 95 % if every mean regret is drawn again from a normal law with its standard error: "
        "policies whose places overlap are not really different. For “with other problems” the problems are drawn "
        "again too, with replacement, from those of the suite.",
        f"*The lower bound* is C log n/n (`{page('lower-bounds')}`). "
        "It is a limit, so a policy may be below it, and on the near tie and for n = 200, where log n/K pulls are more "
        "than there are rounds, it says nothing "
        "yet. For heavy tails no bound is known. “Over the best, worst” is the largest ratio of the regret to the "
        "smallest one on the same problem. A policy is *free of units* if it chooses the same arms when all rewards "
        "and ρ are multiplied by 128.",
        f"*The worst case* is the largest mean regret over {len(suites.WORST)} problems of two Gaussian arms, ρ = 0, "
        "whose gaps run from 0 to 0.15 and whose means differ by 1.1 or 0.55. The last table has the policies for "
        f"bounded rewards and for other risks: n times the gap regret after {suites.BOUNDED_HORIZON:,} rounds on five "
        "arms with rewards 0, ¼, ½, ¾ and 1.",
    ]
    return "\n\n".join(parts)


def board(more: Sequence[str] = (), engine: str = "auto", horizon: int | None = None) -> PaperFigure:
    """The leaderboard, with `more` policies in it; what would take every round runs on the `engine`, if it can. The
    Gaussian suite has `horizon` rounds, if given."""
    if horizon is not None:
        check_integer("paper", "horizon", horizon, low=suites.MIDDLE + 1, hint="the second suite has shorter runs")
    check_choice("paper", "engine", engine, ENGINES)
    joined = {each.labels["player"] for some in suites.cells(more).values() for each in some} if more else set()
    for text in more:
        if text not in joined:
            fix = "take one for the mean-variance or the mean, made for rewards in [0, 1] or of any size"
            raise PrudentError(
                f"paper: {text} cannot join: no problem here has the risk and the rewards it needs; {fix}"
            )
    return PaperFigure(
        name="leaderboard",
        title="Leaderboard: the literature on two suites of problems",
        caption="Every policy on two suites of eight problems; smaller is better. A mark is the mean regret on a "
        "problem over that of the best policy there, and policies are in the order of their mean ranks.",
        settings=settings(suites.HORIZON if horizon is None else horizon),
        paper_says="The paper compares MV-LCB with ExpExp; the others are from the literature since.",
        cells=partial(suites.cells, more, engine, horizon),
        tables=partial(tables, more=more, horizon=horizon),
        draw=draw,
        finding=finding,
        shown=shown,
        tag="beyond the paper",
        share_of_runs=5,
        page="After this page you know which policies do best on which problems, and how sure their order is.",
    )


FIGURE = board()
