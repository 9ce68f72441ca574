"""The leaderboard: every policy is in it or is named, ranks add up, the page shows the tables."""

import polars as pl
import pytest

from prudent import MeanVariance
from prudent.paper import leaderboard
from prudent.paper.making import Settings, make
from prudent.policies.base import policies as registry

ELSEWHERE = {"bernoulli-mvts", "bernoulli-mv-imed", "bernoulli-thompson", "cvar-ts", "fixed-arm", "rs-etc-m", "srts"}
"""Policies of coins, of Gaussian arms for other risks than the mean-variance, the one that knows the best arm, and one
for mixtures, which is exp-exp for the mean-variance."""


def test_every_policy_is_somewhere():
    players = [*leaderboard.PLAYERS, *(name for some in leaderboard.BOUNDED_PLAYERS.values() for name in some)]
    assert {player.partition("(")[0] for player in players} == set(registry.names()) - ELSEWHERE
    assert {"mv-lcb", "mv-lcb(c=1, unbiased=True)", "thompson"} <= set(leaderboard.PLAYERS)
    assert {"b-cvts", "npts", "round-robin"} <= set(leaderboard.BOUNDED_PLAYERS["cvar(alpha=0.25)"])
    sizes = [len(cells) for cells in leaderboard.cells().values()]
    assert sizes == [8 * len(leaderboard.PLAYERS), sum(map(len, leaderboard.BOUNDED_PLAYERS.values()))]


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setattr(leaderboard, "HORIZON", 100)
    patch.setattr(leaderboard, "BOUNDED_HORIZON", 50)
    patch.setattr(leaderboard, "PLAYERS", ("mv-lcb", "exp-exp", "round-robin"))
    patch.setattr(leaderboard, "BOUNDED_PLAYERS", {"mean": ("ucb1", "round-robin"), "mean-variance(rho=1)": ("mvts",)})
    yield make(leaderboard.FIGURE, Settings(tmp_path_factory.mktemp("board"), runs=40))
    patch.undo()


def test_ranks_follow_the_regret(section):
    data = pl.read_parquet(section.data[0])
    for _, problem in data.group_by("problem"):
        assert problem.sort("rank")["regret"].is_sorted()
        assert problem["rank"].sort().to_list() == [1, 2, 3]
    assert data["milliseconds"].min() > 0.0
    assert section.tables["Ranks"]["mean rank"].is_sorted()


def test_numbers_are_those_of_the_simulation(section):
    data = pl.read_parquet(section.data[0]).filter(policy="mv-lcb", problem="1, ρ = 0")
    cell = next(each.cell for each in leaderboard.cells()["leaderboard"] if each.labels["player"] == "mv-lcb")
    assert cell.risk == MeanVariance(0.0)
    again = leaderboard.simulate(cell.bandit, cell.policy, risk=cell.risk, horizon=cell.horizon, runs=8)
    assert data["regret"].item() == again.regret().mean()


def test_the_page_and_the_picture_are_there(section):
    page = section.data[-1].read_text(encoding="utf-8")
    assert page.startswith("# Leaderboard")
    assert page.count("| mv-lcb ") == 2
    assert (section.data[-1].parent / "leaderboard.png").exists()
