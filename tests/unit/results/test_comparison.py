"""Several policies side by side, what every round gave, and the same rewards for all policies."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from prudent import Bandit, Comparison, CVaR, MeanVariance, PrudentError, simulate
from prudent.arms.base import encode
from prudent.engine.jobs import rounds_of
from prudent.engine.recorded_rewards import Tape
from prudent.results import regret
from prudent.results.runs import MEASURES

BANDIT = Bandit(["gaussian(1, 0.05)", "gaussian(0.5, 0.25)", "gaussian(0.2, 0.1)"])
TWO = Bandit(["gaussian(1, 0.05)", "gaussian(0.5, 0.25)"])
RISK = MeanVariance(0.5)
POLICIES = ("mv-lcb", "mv-lcb(c=1)")
SETTINGS = {"risk": RISK, "horizon": 200, "runs": 60, "snapshots": [100]}


@pytest.fixture(scope="module")
def common():
    """Two policies that receive the same rewards, and all of them."""
    return simulate(BANDIT, list(POLICIES), keep="trajectory", common=True, **SETTINGS)


def test_keeping_every_round_changes_nothing_else():
    plain = simulate(BANDIT, "mv-lcb", engine="stepping", **SETTINGS)
    kept = simulate(BANDIT, "mv-lcb", keep="trajectory", **SETTINGS)
    for name in ("pulls", "mean", "variance", "twin_mean", "twin_variance"):
        assert (getattr(kept, name) == getattr(plain, name)).all()
    some = simulate(BANDIT, "mv-lcb", keep=2, **SETTINGS).trajectory()
    assert (some.rewards == kept.trajectory().rewards[:2]).all()
    assert kept.engine == "stepping"


def test_a_trajectory_has_the_pulls_and_moments_of_its_run_at_every_snapshot():
    runs = simulate(BANDIT, "mv-lcb", keep="trajectory", scale=8.0, **SETTINGS)
    for at in (100, 200):
        each, (arms, rewards, _) = runs.at(at), runs.at(at).trajectory()
        assert rewards.shape == (60, at)
        assert (np.array([np.bincount(row, minlength=3) for row in arms]) == each.pulls).all()
        assert rewards.mean(1) == pytest.approx(each.reward_mean(), abs=1e-12)
        assert rewards.var(1) == pytest.approx(each.reward_variance(), abs=1e-12)


def test_with_a_trajectory_every_measure_prices_what_was_received():
    kept = simulate(BANDIT, "mv-lcb", keep=3, **SETTINGS)
    risk, rewards = CVaR(0.1), kept.trajectory().rewards
    assert kept.cost(risk).tolist() == kept.cost("cvar(alpha=0.1)").tolist() == [risk.sample_cost(x) for x in rewards]
    assert kept.at(100).cost(risk)[2] == risk.sample_cost(rewards[2, :100])
    assert kept.cost()[:3] == pytest.approx([RISK.sample_cost(x) for x in rewards], abs=1e-12)
    assert kept.cost("mean") == pytest.approx(-kept.reward_mean(), abs=1e-12)


def test_what_was_not_kept_is_refused_with_the_fix():
    runs = simulate(BANDIT, "mv-lcb", **SETTINGS)
    with pytest.raises(PrudentError, match=r'do not determine cvar.*pass keep="trajectory" to simulate'):
        runs.cost("cvar(alpha=0.1)")
    with pytest.raises(PrudentError, match='these runs keep none; pass keep="trajectory"'):
        runs.trajectory()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep": "runs"}, "keep must be trajectory or a number of runs, got 'runs'"),
        ({"keep": 0}, "keep must be a whole number from 1 to 60, got 0"),
        ({"keep": 61}, "keep must be a whole number from 1 to 60, got 61"),
        ({"common": "yes"}, "common must be True or False, got 'yes'"),
        ({"keep": 1, "engine": "leaping"}, "cannot leap here: trajectories .* need every round"),
        ({"common": True, "engine": "leaping"}, "cannot leap here: .* common random numbers .* need every round"),
        ({"snapshots": "linear"}, "snapshots must be a list of rounds such as .*, or \"log\", got 'linear'"),
    ],
)
def test_what_cannot_be_kept_is_refused(given, message):
    with pytest.raises(PrudentError, match=message):
        simulate(BANDIT, "mv-lcb", **{**SETTINGS, **given})


def test_more_than_this_machine_can_hold_is_refused():
    huge = {"risk": RISK, "horizon": 10**12, "runs": 3}
    with pytest.raises(PrudentError, match="trajectories of 3 runs × 1,000,000,000,000 rounds need"):
        simulate(BANDIT, "mv-lcb", keep="trajectory", **huge)
    with pytest.raises(PrudentError, match="common random numbers, 1,000,000,000,000 rewards of 3 arms on"):
        simulate(BANDIT, "mv-lcb", common=True, **huge)


def test_with_common_random_numbers_a_pull_gives_the_same_reward_under_every_policy(common):
    one, other = (runs.trajectory() for runs in common)
    for run in (0, 55):
        for arm in range(3):
            first, second = (each.rewards[run][each.arms[run] == arm] for each in (one, other))
            few = min(len(first), len(second))
            assert few > 0
            assert (first[:few] == second[:few]).all()
    assert not (one.arms == other.arms).all()
    assert len(np.unique(one.rewards[:, 0])) == 60  # other runs have other rewards


def test_with_common_random_numbers_all_policies_are_compared_with_the_same_rewards_of_the_best_arm(common):
    references = [regret.sequence_moments(each.pulls, each.twin_mean, each.twin_variance) for each in common]
    assert references[0][0] == pytest.approx(references[1][0], abs=1e-12)
    assert references[0][1] == pytest.approx(references[1][1], abs=1e-12)
    early = [each.at(100) for each in common]
    shares = [regret.sequence_moments(each.pulls, each.twin_mean, each.twin_variance)[0] for each in early]
    assert not np.allclose(*shares)  # before the horizon only in part


def test_common_random_numbers_do_not_change_the_law_of_the_regret():
    settings = {"risk": RISK, "horizon": 200, "runs": 500, "snapshots": [50], "engine": "stepping"}
    own, shared = (simulate(BANDIT, "mv-lcb", common=flag, **settings) for flag in (False, True))
    for at in (50, 200):
        assert stats.ks_2samp(own.at(at).regret(), shared.at(at).regret()).pvalue > 1e-7


def test_a_tape_hands_out_rewards_from_the_front_and_twins_from_the_end():
    table = np.arange(12.0)  # two rounds to note, then 5 rewards of each of two arms
    tape = Tape(np.full(2, 99), np.zeros(2 + 2 + 2, np.int64), table, encode(TWO.arms))
    assert [tape.pull(arm, None) for arm in (0, 1, 1)] == [2.0, 7.0, 8.0]
    assert (table[:2].tolist(), tape.start.tolist()) == ([2.0, 7.0], [1, 2, 0, 3, 0, 1])
    assert tape.twins(0, 2, None) == (5.5, 0.25)  # 6 and 5
    assert tape.twins(0, 2, None) == (3.5, 0.25)  # 4 and 3: none is handed out twice


def test_differences_are_paired_where_rewards_are_common(common):
    last = common.table().filter(horizon=200)
    a, b = (runs.regret() for runs in common)
    assert last["paired"].to_list() == [True, True]
    assert last["difference"].to_list() == pytest.approx([0.0, (b - a).mean()], abs=1e-12)
    assert last["difference_se"].to_list() == pytest.approx([0.0, (b - a).std(ddof=1) / np.sqrt(60)], abs=1e-12)
    turned = common.table("reward_mean", against="mv-lcb(c=1)").filter(horizon=100)
    means = [runs.at(100).reward_mean().mean() for runs in common]
    assert turned["difference"].to_list() == pytest.approx([means[0] - means[1], 0.0], abs=1e-12)


def test_differences_of_independent_runs_have_both_errors():
    compared = simulate(BANDIT, list(POLICIES), **SETTINGS)
    last = compared.table().filter(horizon=200)
    errors = [runs.regret().std(ddof=1) / np.sqrt(60) for runs in compared]
    assert last["difference_se"].to_list() == pytest.approx([0.0, np.hypot(*errors)], rel=1e-12)
    assert last["paired"].to_list() == [True, False]


def test_other_seeds_other_rewards_so_no_pairs(common):
    first = common["mv-lcb"]
    other = simulate(BANDIT, "mv-lcb(c=1)", keep="trajectory", common=True, seed=1, **SETTINGS)
    assert Comparison([first, other]).table()["paired"].to_list() == [True, True, False, False]


def test_the_table_has_a_row_for_each_bandit_policy_and_snapshot():
    compared = simulate({"three": BANDIT, "two": TWO}, {"careful": "mv-lcb", "bold": "mv-lcb(c=1)"}, **SETTINGS)
    table = compared.table()
    assert table.select("bandit", "policy", "horizon").rows() == [
        (bandit, policy, at) for bandit in ("three", "two") for policy in ("careful", "bold") for at in (100, 200)
    ]
    runs = compared["two", "bold"]
    assert len(runs.bandit) == 2
    row = table.row(7, named=True)
    assert (row["regret"], row["runs"]) == (runs.regret().mean(), 60)
    assert {*MEASURES, *(f"{name}_se" for name in MEASURES)} <= set(table.columns)
    own = simulate(TWO, "mv-lcb(c=1)", **SETTINGS)
    assert (runs.pulls == own.pulls).all()  # results do not depend on the company
    assert (len(compared), compared.bandits, compared.policies) == (4, ("three", "two"), ("careful", "bold"))
    assert repr(compared) == "<Comparison: 2 policies on 2 bandits, 60 × 200 rounds, seed 0>"


def test_labels_must_be_known_and_differ():
    compared = simulate([BANDIT, TWO], ["mv-lcb"], **SETTINGS)
    assert compared.bandits == ("bandit 1", "bandit 2")
    with pytest.raises(PrudentError, match=r"name a bandit and a policy, as in \['bandit 1', 'mv-lcb'\]"):
        compared["mv-lcb"]
    with pytest.raises(PrudentError, match="no runs of 'mv-lbc' on 'bandit 1'; did you mean mv-lcb"):
        compared["bandit 1", "mv-lbc"]
    with pytest.raises(PrudentError, match="against must be one of the policies, got 'ucb1'; known: mv-lcb"):
        compared.table(against="ucb1")
    with pytest.raises(PrudentError, match="unknown measure 'regrets'; did you mean"):
        compared.table("regrets")
    with pytest.raises(PrudentError, match="policies must differ, got mv-lcb twice; give them names"):
        simulate(BANDIT, ["mv-lcb", "mv-lcb"], **SETTINGS)
    with pytest.raises(PrudentError, match="policy must be one or several, got none"):
        simulate(BANDIT, [], **SETTINGS)
    with pytest.raises(PrudentError, match=r"policy must have texts as labels, got \[1\]"):
        simulate(BANDIT, {1: "mv-lcb"}, **SETTINGS)


def test_a_typo_in_the_last_policy_costs_no_run():
    played = []
    with pytest.raises(PrudentError, match="mv-lbc"):
        simulate(BANDIT, ["mv-lcb", "mv-lbc"], progress=played.append, **SETTINGS)
    assert played == []


def test_runs_of_one_risk_and_the_same_rounds_are_compared():
    first = simulate(BANDIT, "mv-lcb", **SETTINGS)
    with pytest.raises(PrudentError, match=r"results must agree in their rounds, got \[100, 200\] and \[200\]"):
        Comparison([first, simulate(BANDIT, "mv-lcb(c=1)", risk=RISK, horizon=200, runs=60)])
    with pytest.raises(PrudentError, match="results must agree in their risk"):
        Comparison([first, simulate(BANDIT, "mv-lcb(c=1)", **{**SETTINGS, "risk": MeanVariance(1.0)})])
    with pytest.raises(PrudentError, match="results must be Runs, one or more"):
        Comparison([])


def test_a_curve_has_the_mean_and_error_at_every_snapshot():
    runs = simulate(BANDIT, "mv-lcb", **SETTINGS)
    curve, total = runs.curve(), runs.curve("gap_regret", cumulative=True)
    assert curve.rounds.tolist() == [100, 200]
    assert curve.mean.tolist() == [runs.at(n).regret().mean() for n in (100, 200)]
    assert curve.se[1] == runs.regret().std(ddof=1) / np.sqrt(60)
    assert total.mean[0] == pytest.approx(100 * runs.at(100).gap_regret().mean(), rel=1e-12)
    with pytest.raises(PrudentError, match="cumulative is for regret, gap_regret, pseudo_regret"):
        runs.curve("best_share", cumulative=True)
    alone = simulate(BANDIT, "mv-lcb(rho=1)", risk="cvar(alpha=0.5)", horizon=20, runs=1).curve()
    assert alone.mean.shape == (1,)
    assert np.isnan(alone.se).all()


def test_logarithmic_snapshots_are_ten_to_a_decade():
    rounds = rounds_of("simulate", 10_000, "log")
    assert len(rounds) == 31
    assert (rounds[0], rounds[10], rounds[-1]) == (10, 100, 10_000)
    assert np.diff(np.log10(rounds)) == pytest.approx(0.1, abs=0.03)
    assert rounds_of("simulate", 7, "log").tolist() == [7]
    assert rounds_of("simulate", 11, "log").tolist() == [10, 11]


def test_the_picture_has_a_line_and_a_band_for_each_policy():
    compared = simulate(TWO, list(POLICIES), **{**SETTINGS, "snapshots": "log"})
    (ax,) = compared.plot().axes
    assert [line.get_label() for line in ax.lines] == list(POLICIES)
    curve = compared["mv-lcb"].curve()
    assert (ax.lines[0].get_xydata() == np.column_stack([curve.rounds, curve.mean])).all()
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "regret per round")
    assert len(ax.collections) == 2
    (ax,) = compared.plot("gap_regret", cumulative=True).axes
    assert (ax.get_yscale(), ax.get_ylabel()) == ("linear", "cumulative gap regret")
    assert ax.lines[1].get_ydata()[-1] == pytest.approx(200 * compared[POLICIES[1]].gap_regret().mean())
    assert compared.plot("reward_mean").axes[0].get_yscale() == "linear"  # may be below 0
    own = Figure().add_subplot()
    assert compared.plot(ax=own) is own.figure
    assert len(own.lines) == 2


def test_the_picture_of_several_bandits_has_a_panel_for_each_and_one_legend():
    compared = simulate({"three": BANDIT, "two": TWO}, list(POLICIES), **SETTINGS)
    axes = compared.plot().axes
    assert [ax.get_title() for ax in axes] == ["three", "two"]
    assert [ax.get_legend() is not None for ax in axes] == [False, True]
    with pytest.raises(PrudentError, match="ax is for one bandit, and there are 2"):
        compared.plot(ax=axes[0])


def test_a_picture_needs_several_snapshots():
    compared = simulate(TWO, ["mv-lcb"], risk=RISK, horizon=200, runs=60)
    with pytest.raises(PrudentError, match='needs several snapshots, got one; pass snapshots="log"'):
        compared.plot()


def test_a_notebook_shows_the_table_at_the_horizon():
    page = simulate(TWO, {"careful": "mv-lcb", "<b>": "mv-lcb(c=1)"}, **SETTINGS)._repr_html_()
    assert page.count("<tr>") == 3
    assert "<td>&lt;b&gt;</td>" in page
    assert "200 rounds, 60 runs, mean ± standard error<" in page
    assert "<th>minus that of careful</th>" in page


def coin(arm, rng):
    return float(rng.random() < 0.3 + 0.4 * arm)


def test_environments_are_compared_by_what_is_known_of_them():
    settings = {"risk": "mean", "horizon": 30, "runs": 3, "snapshots": "log", "arms": 2}
    compared = simulate({"a coin": coin}, ["ucb1", "round-robin"], **settings)
    table = compared.table()
    assert (table.height, compared.results[0].engine) == (12, "interpreted")
    assert "regret" not in table.columns
    means = [runs.reward_mean().mean() for runs in compared]
    assert table["difference"][-1] == pytest.approx(means[1] - means[0], abs=1e-12)
    assert compared.plot().axes[0].get_ylabel() == "reward mean"
