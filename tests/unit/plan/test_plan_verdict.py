"""The verdict: no trial needed, this trial cannot tell, or run this; how long would do; what the check is for."""

import numpy as np
import pytest

from prudent import MeanVariance
from prudent.arms.base import arms
from prudent.cli.plan import FORESEEN, Pace
from prudent.plan import Pilot, advise, guesses
from prudent.plan.check import Check
from prudent.plan.lengths import enough
from prudent.plan.page import agreement, disagreement
from prudent.plan.playing import Trials
from prudent.plan.ranking import Measured, Promise
from prudent.plan.trial import Trial, Worlds
from prudent.plan.verdict import Favourite, Tail, found_in_words, verdict_of
from prudent.policies.contract import policies

ROUNDS = 100
TRIAL = Trial.checked(guesses(["a: gaussian(0..1, 1)", "b: gaussian(0..1, 1)"]), MeanVariance(float("inf")), ROUNDS)


def made(gaps, found, to_best, worlds=100):
    """Worlds in which `a` is the best by 1 in the share `gaps` of them, and else b; and trials of a policy that finds
    the best so often and gives it to this share of people."""
    a_best = np.arange(worlds) < gaps * worlds
    laws = [[arms.parse(f"gaussian({1.0 - x:g}, 1)") for x in ((0, 1) if a else (1, 0))] for a in a_best]
    known = Worlds.of(TRIAL.risk, laws)
    best = np.where(a_best, 0, 1)
    right = (np.arange(worlds) * 7919) % worlds < found * worlds
    choice = np.where(right, best, 1 - best)[:, None]
    pulls = np.empty((worlds, 1, 2), np.int64)
    pulls[np.arange(worlds), 0, best] = round(ROUNDS * to_best)
    pulls[np.arange(worlds), 0, 1 - best] = ROUNDS - round(ROUNDS * to_best)
    trials = Trials(pulls, np.zeros((worlds, 1)), np.ones((worlds, 1)), choice)
    return Measured.of(TRIAL, policies.parse("exp-exp"), ROUNDS, known, trials), known


@pytest.mark.parametrize(
    ("gaps", "found", "to_best", "kind", "begins"),
    [
        (0.97, 0.99, 0.9, "no-trial", "No trial needed: take a. It is the best option with 97 % probability."),
        (0.6, 0.9, 0.8, "run", "Run this: exp-exp for 100 rounds."),
        (0.6, 0.65, 0.7, "cannot-tell", "This trial cannot tell: after 100 rounds it finds the best of 2 options in"),
        (0.8, 0.95, 0.75, "no-trial", "No trial of 100 rounds pays: take a. It is the best option with 80 %"),
        (0.9, 0.75, 0.7, "cannot-tell", "This trial cannot tell"),
        (0.6, 0.85, 0.61, "run", "Run this"),
        (0.6, 0.85, 0.59, "no-trial", "No trial of 100 rounds pays"),
    ],
)
def test_the_verdict_is_that_of_worlds_and_trials(gaps, found, to_best, kind, begins):
    """Run this only if people fare better in it than with the option that is ahead, for everyone."""
    verdict = verdict_of(TRIAL, *made(gaps, found, to_best))
    assert (verdict.kind, verdict.sentences[0].startswith(begins)) == (kind, True), verdict


def test_a_trial_that_does_not_pay_by_itself_says_from_when_its_choice_would():
    """It costs 0.05 a round more than a for everyone, and its choice gains 0.2 − 0.05: 100 · 0.05/0.15 = 33.3."""
    said = verdict_of(TRIAL, *made(0.8, 0.95, 0.75)).sentences
    assert said[1].startswith("Compared with a for everyone, a trial would give 0.05 less per round on average")
    assert said[2] == "A trial would pay if its choice were then used for more than about 34 rounds."


STANDS = Tail(2.0, 0.99, 0.1, 1.0, 0.96, "a", "no-trial")


@pytest.mark.parametrize(
    ("twice", "without", "kind"),
    [
        ({}, {}, "no-trial"), ({}, {"sure": 0.92}, "no-trial"), ({}, {"sure": 0.85}, "cannot-tell"),
        ({"sure": 0.85}, {}, "cannot-tell"), ({}, {"best": "b"}, "cannot-tell"),
        ({}, {"best": "b", "sure": 0.0}, "cannot-tell"),
    ],
)  # fmt: skip
def test_no_verdict_without_a_trial_is_given_that_other_weights_turn_over(twice, without, kind):
    tails = [STANDS._replace(**twice), STANDS._replace(times=0.0, **without)]
    for several in (True, False):
        verdict = verdict_of(TRIAL, *made(0.97, 0.99, 0.9), tails, several)
        assert verdict.kind == kind
        if kind == "cannot-tell":
            assert verdict.sentences[0].startswith("Your file cannot tell: its largest outcomes decide. a is the best")
    pays = verdict_of(TRIAL, *made(0.8, 0.95, 0.75), [STANDS, STANDS._replace(best="b")])
    assert pays.kind == "cannot-tell"


def test_one_policy_is_not_the_best_of_several():
    given = made(0.97, 1.0, 1.0)
    given[0].trials.pulls[...] = (ROUNDS, 0)
    assert verdict_of(TRIAL, *given).sentences[1] == "For 100 rounds the best of the policies gives it to everyone."
    assert verdict_of(TRIAL, *given, (), False).sentences[1] == "For 100 rounds the policy gives it to everyone."


def test_an_interval_that_tells_nothing_is_not_a_headline():
    options = [Pilot("a", (1.0, 2.0, 5.0)), Pilot("b", (1.0, 2.0, 4.0))]
    trial, ahead = Trial.checked(options, "mean", 50), Favourite(0, "a", 0.9)
    said = found_in_words(trial, Promise(0.8, 0.4, 1.0), (), ahead)
    assert said.endswith("(40 % to 100 %, depending on what is true).")
    wide = Promise(0.8, 0.0, 1.0)
    rare = [STANDS._replace(found_best=0.8, sure=0.9), STANDS._replace(found_best=0.5, sure=0.9)]
    assert "0 %" not in (said := found_in_words(trial, wide, rare, ahead)).replace("80 %", "")
    assert said.endswith("Your file does not tell how large rare outcomes are.")
    assert found_in_words(trial, wide, (), ahead).endswith("Your file does not tell how often that is in truth.")
    assert "Your guesses do not tell" in found_in_words(TRIAL, wide, (), ahead)


def test_how_long_would_do_is_the_length_at_which_normal_means_tell():
    """Two normal options whose means differ by 0.2: n rounds tell with Φ(0.2 √n/2), which is 0.8 from n = 71."""
    laws = [[arms.parse("gaussian(0, 1)"), arms.parse("gaussian(0.2, 1)")] for _ in range(200)]
    known = Worlds.of(TRIAL.risk, laws)
    found = [enough(TRIAL, known, horizon, 0.8) for horizon in (10, 20, 40)]
    assert all(60 <= rounds <= 95 for rounds in found), found
    assert enough(TRIAL, known, 200, 0.8) == 200, "the planned length does"
    same = [[arms.parse("gaussian(0, 1)"), arms.parse("gaussian(1e-9, 1)")] for _ in range(200)]
    assert enough(TRIAL, Worlds.of(TRIAL.risk, same), 10, 0.8) is None
    steady = TRIAL._replace(risk=MeanVariance(0.5))
    assert enough(steady, Worlds.of(steady.risk, laws), 10, 0.8) > 3 * max(found), "the variance is estimated, too"


class Plan:
    """As much of a plan as the check is compared with."""

    def __init__(self, found, check):
        self.trial = TRIAL
        self.promises = {name: Promise(1.0, 0.5, 1.5, 0.05) for name in ("outcome", "deviation", "regret")}
        self.promises["found_best"] = found
        self.check = check


CHECK = Check(60, False, 0.9, 0.04, 1.0, 0.05, 1.0, 0.05, 1.0, 0.05)


@pytest.mark.parametrize(
    ("found", "changed", "off"),
    [
        (Promise(0.9, 0.0, 1.0, 0.02), {}, []),
        (Promise(0.9, 0.0, 1.0, 0.0), {"found_best": 1.0, "found_best_se": 0.0}, []),
        (Promise(0.6, 0.0, 1.0, 0.02), {}, ["best option found"]),
        (Promise(0.8, 0.0, 1.0, 0.02), {"found_best": 1.0, "found_best_se": 0.0}, ["best option found"]),
        (Promise(0.9, 0.6, 1.0, 0.02), {"outcome": 1.4}, ["mean outcome"]),
        (Promise(0.9, 0.6, 1.0, 0.02), {"regret": 0.6}, ["cost against the best option"]),
        (Promise(0.9, 0.6, 1.0, 0.02), {"deviation": 1.15}, []),
    ],
)  # fmt: skip
def test_the_check_can_fail_however_wide_the_promise(found, changed, off):
    plan = Plan(found, CHECK._replace(**changed))
    assert disagreement(plan) == off
    assert ("The check differs from the plan in" in " ".join(agreement(plan))) == bool(off)


def test_a_share_of_all_trials_has_an_interval():
    """Exactly: 60 of 60 leave p ≥ 0.025^(1/60)."""
    low, high = CHECK._replace(found_best=1.0).found_in(0.95)
    assert (low, high) == (pytest.approx(0.025 ** (1.0 / 60.0)), 1.0)
    assert CHECK._replace(found_best=0.0).found_in(0.95) == (0.0, pytest.approx(1.0 - 0.025 ** (1.0 / 60.0)))


def test_the_rest_is_foreseen_by_the_pace_after_compiling():
    """Compiling takes 100 s of the first twelfth; then 1 % a second."""
    pace, said = Pace(), []
    for share in np.arange(0.0, 1.0, 0.01):
        now = 100.0 * min(1.0, share / FORESEEN) + 100.0 * max(0.0, share - FORESEEN)
        said.append((share, pace.left(float(share), float(now))))
    assert all(left is None for share, left in said if share < FORESEEN + 0.04)
    known = [(share, left) for share, left in said if left is not None]
    assert len(known) > 75
    assert all(left == pytest.approx(100.0 * (1.0 - share), rel=1e-6) for share, left in known)


def test_a_trial_too_long_for_the_agent_has_a_check_all_the_same(tmp_path):
    """Two coins that 400 outcomes tell apart: its policy, in resampled worlds, finds the better one."""
    yes, no = (1.0,) * 30 + (0.0,) * 170, (1.0,) * 150 + (0.0,) * 50
    options, small = [Pilot("no", yes), Pilot("yes", no)], {"policies": ["exp-exp"], "draws": 10, "runs": 2}
    found = advise(options, MeanVariance(1.0), 25_000, tmp_path, seconds=1.0, **small)
    assert found.check.simulated
    assert found.check.trials >= 20
    assert (found.check.found_best, disagreement(found)) == (1.0, [])
    assert found.check.outcome == pytest.approx(0.75, abs=0.05)
    assert "the policy, because the agent itself takes too long" in agreement(found)[0]
