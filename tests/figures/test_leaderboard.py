"""The leaderboard: every policy is in it or is named, ranks add up, the page shows the tables."""

import polars as pl
import pytest

from prudent import MeanVariance, PrudentError, simulate
from prudent.paper import leaderboard
from prudent.paper.leaderboard import suites
from prudent.paper.leaderboard.ranks import places, unit_free, with_bounds
from prudent.paper.making import Settings, make
from prudent.policies.contract import policies as registry
from prudent.theory import asymptotic_bound

OWN = "mv-lcb(c=2)"


def players_of(table, more=()):
    return {each.labels["player"] for each in suites.cells(more)[table]}


def test_every_policy_is_somewhere():
    cells = suites.cells()
    names = {each.labels["player"].partition("(")[0] for some in cells.values() for each in some}
    assert names == set(registry.names()) - set(suites.LEFT_OUT)
    assert {"mv-lcb", "mv-lcb(c=1, unbiased=True)", "thompson", "prudent"} <= players_of("leaderboard")
    assert {"b-cvts", "npts", "round-robin", "cvar-ts"} <= set(suites.bounded_players()["cvar(alpha=0.25)"])
    assert len(cells["leaderboard"]) == 8 * len(players_of("leaderboard"))


def test_policies_meet_the_rewards_they_are_made_for_and_runs_that_take_no_minutes():
    cells = suites.cells()["leaderboard-second"]

    def problems(policy):
        return {each.labels["problem"] for each in cells if each.labels["player"] == policy}

    coins = {"coins, ρ = 0", "coins, ρ = 2"}
    assert problems("bernoulli-mv-imed") == problems("finite-mv-imed") == coins
    assert problems("kl-ucb") == problems("npts") == coins | {"skewed"}
    assert problems("npts-sg") == problems("prudent") == {each.name for each in suites.SUITES["leaderboard-second"]}
    assert "npts-sg" not in players_of("leaderboard")


def test_a_policy_joins_where_it_can():
    for table in ("leaderboard", "leaderboard-second", "leaderboard-worst"):
        assert players_of(table, [OWN]) == players_of(table) | {OWN}
    assert players_of("leaderboard-bounded", [OWN]) == players_of("leaderboard-bounded") | {OWN}
    tail = "b-cvts(alpha=0.3)"
    assert tail in suites.bounded_players([tail])["cvar(alpha=0.25)"]
    assert tail not in players_of("leaderboard", [tail])
    with pytest.raises(PrudentError, match=r"policy mv-lcb\(c=\) |cannot read policy"):
        leaderboard.board(["mv-lcb(c=)"])


def test_policies_without_a_unit_are_found_by_running_them():
    names = ("prudent", "exp-exp", "mv-lcb", "mvts", "kl-ucb")
    assert [name for name in names if unit_free(registry.parse(name))] == ["prudent", "exp-exp"]


def rows_of(regrets, error):
    return pl.DataFrame(
        [
            {"policy": policy, "problem": problem, "regret": regret, "regret_se": error, "rank": 1}
            for policy, some in regrets.items()
            for problem, regret in enumerate(some)
        ]
    )


def test_places_are_as_sure_as_the_runs_are():
    regrets = {"a": [1.0, 1.0, 3.0, 1.0], "b": [2.0, 2.0, 2.0, 2.0], "c": [9.0, 9.0, 9.0, 9.0]}
    sure, unsure = places(rows_of(regrets, 1e-6)), places(rows_of(regrets, 1.0))
    assert sure["mean rank"].to_list() == [1.25, 1.75, 3.0]
    assert sure["with other runs"].to_list() == ["1", "2", "3"]
    assert unsure["with other runs"].to_list() == ["1–2", "1–2", "3"]
    assert sure["with other problems"].to_list() == ["1–2", "1–2", "3"]  # where the third problem comes often


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    small = {name: tuple(each._replace(horizon=100) for each in suite[::5]) for name, suite in suites.SUITES.items()}
    for name, suite in small.items():
        patch.setitem(suites.SUITES, name, suite)
    patch.setattr(suites, "BOUNDED_HORIZON", 50)
    patch.setattr(suites, "WORST_HORIZONS", (100, 200, 400))
    patch.setattr(suites, "WORST", ((0.4, 0.0), (0.4, 0.1)))
    patch.setattr(suites, "players", lambda more: ["mv-lcb", "exp-exp", "round-robin", "bernoulli-mvts", *more])
    bounded = {"mean": ["ucb1", "round-robin"], "mean-variance(rho=1)": ["mvts"]}
    patch.setattr(suites, "bounded_players", lambda more: bounded)
    yield make(leaderboard.board([OWN]), Settings(tmp_path_factory.mktemp("board"), runs=40))
    patch.undo()


def table(section, name):
    return pl.read_parquet(next(path for path in section.data if path.stem == name))


def test_ranks_follow_the_regret(section):
    data = table(section, "leaderboard")
    for _, problem in data.group_by("problem"):
        assert problem.sort("rank")["regret"].is_sorted()
        assert problem["rank"].sort().to_list() == [1, 2, 3, 4]
        assert problem["over best"].to_list() == pytest.approx((problem["regret"] / problem["regret"].min()).to_list())
    assert data["milliseconds"].min() > 0.0
    assert section.tables["Gaussian suite: ranks"]["mean rank"].is_sorted()
    assert OWN in section.tables["Gaussian suite: ranks"]["policy"]


def test_numbers_are_those_of_the_simulation(section):
    data = table(section, "leaderboard").filter(policy="mv-lcb", problem="1, ρ = 0")
    setup = suites.SUITES["leaderboard"][0]
    settings = {"risk": MeanVariance(0.0), "horizon": 100, "runs": 8}
    again = simulate(setup.bandit, "mv-lcb", **settings)
    assert data["regret"].item() == again.regret().mean()
    bound = asymptotic_bound(setup.bandit, MeanVariance(0.0)).regret(100)
    assert data["over bound"].item() == pytest.approx(again.regret().mean() / bound)


def test_policies_of_some_problems_have_results_and_no_rank(section):
    coins = table(section, "leaderboard-second")
    assert coins.filter(policy="bernoulli-mvts").select("problem", "rank").rows() == [("coins, ρ = 0", None)]
    assert coins.filter(policy=OWN)["rank"].null_count() == 0
    assert "bernoulli-mvts" not in section.tables["Second suite: ranks"]["policy"]
    last = section.tables["Second suite: 100 × regret"].row(-1, named=True)
    assert (last["policy"], last["near tie"]) == ("bernoulli-mvts", "–")


def test_without_a_bound_there_is_no_ratio():
    heavy = suites.Setup("heavy tails", suites.HEAVY, 1.0, 100, None)
    rows = pl.DataFrame({"problem": ["heavy tails"], "policy": ["prudent"], "regret": [0.1]})
    assert with_bounds(rows, [heavy])["over bound"].to_list() == [None]


def test_the_worst_case_is_the_largest_of_its_problems(section):
    worst = table(section, "leaderboard-worst")
    assert worst.height == 3 * 3
    shown = section.tables["Worst case of two arms: 100 × regret"]
    assert shown.columns == ["policy", "n = 100", "n = 200", "n = 400", "exponent of n"]


def test_the_page_and_the_pictures_are_there(section):
    page = section.data[-1].read_text(encoding="utf-8")
    assert page.startswith("# Leaderboard")
    assert page.count("\n| mv-lcb ") == 7
    assert "**Measured.** The policy with the smallest mean rank is " in page
    for name in ("leaderboard", "leaderboard-second"):
        assert (section.data[-1].parent / f"{name}.png").exists()
