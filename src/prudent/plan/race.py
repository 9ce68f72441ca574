"""Which policy: all that suit the trial are tried in a few worlds, those that fall behind leave, and the time goes to
the others.

How much is simulated depends on `seconds` alone, never on the speed of the machine, so that the same question has the
same answer everywhere.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from prudent import Bandit
from prudent.base.errors import PrudentError, shown
from prudent.plan.playing import Places, begin_with, places_of, play, takes_long
from prudent.plan.ranking import Measured, behind, ranked
from prudent.plan.trial import Trial, Worlds
from prudent.policies.binding import assumed_rewards, bind, check_rewards, serves, values_paid
from prudent.policies.contract import ANY, Policy, Setting, spec
from prudent.policies.contract import policies as registered
from prudent.policies.fixed_arm import FixedArm
from prudent.policies.random_arm import RandomArm
from prudent.policies.round_robin import RoundRobin
from prudent.policies.units import core, fitted, power_of_two, times

ROUNDS_A_SECOND = 1_500_000
"""Rounds of three options that a core simulates in a second, at least, with a policy that is not the fastest."""

FIRST, SECOND = (24, 4), (60, 6)
"""Worlds, and trials in each, of the first two heats; the last has those that were asked for."""

LEFT = (6, 3)
"""Policies that are left after each of them, at most."""

LEAST = (20, 2)
"""The fewest worlds and trials of a heat, and rounds of the first one."""

SHORT = 2_000
"""Rounds of the first heat, at most: what falls behind so early falls behind."""

MOST_READ = 1_000
"""Rounds, the pilot's outcomes included, of the longest trial in which a policy is tried whose score takes long, unless
it was asked for."""

VARIANTS = ("mv-lcb(c=1, unbiased=True)",)
"""Settings worth trying beside the defaults: MV-LCB with the sharp width."""

YARDSTICKS = (FixedArm, RandomArm, RoundRobin)
"""Policies that do not learn: shown for comparison, never recommended."""


def suitable(trial: Trial, horizon: int) -> tuple[list[Policy], dict[str, str]]:
    """The registered policies that can run this trial, told how large its outcomes are, and why the others cannot."""
    fit: list[Policy] = []
    left_out: dict[str, str] = {}
    example, units = trial.example(), trial.units
    for name in (*registered.names(), *VARIANTS):
        policy = fitted(registered.parse(name), units)
        if isinstance(policy, YARDSTICKS):
            continue
        try:
            _check_values(policy, example)
            ready = bind(policy, Setting.of(example, trial.risk, horizon + trial.told, units))
            check_rewards(policy, example.support)
            _check_purpose(trial, policy, ready, horizon)
            fit.append(policy)
        except PrudentError as error:
            left_out[name] = str(error)
    return fit, left_out


def _check_values(policy: Policy, bandit: Bandit) -> None:
    """Some policies mean nothing on other rewards; confidence widths, by contrast, are used beyond their proofs."""
    taken = values_paid(bandit)
    if registered.facts_of(core(policy)).get("binary") and (taken is None or len(taken) > 2):
        raise PrudentError(f"{spec(policy)}: is made for outcomes of two values, such as 0 and 1")
    values = assumed_rewards(policy).values
    if values and (taken is None or not taken <= set(values)):
        raise PrudentError(f"{spec(policy)}: is made for rewards that are {' or '.join(f'{x:g}' for x in values)}")


def _check_purpose(trial: Trial, policy: Policy, ready: Any, horizon: int) -> None:
    """Policies for another risk are left out, and so are those that take too long; who wants them asks for them."""
    if core(policy) is not policy:
        raise PrudentError(f"{spec(policy)}: forgets, and no world of a plan drifts; name it to see what it costs")
    served = serves(policy)
    by_mean = trial.rho is not None and orders_by_mean(trial)
    if served not in (ANY, trial.risk.name) and not (served == "mean" and by_mean):
        raise PrudentError(f"{spec(policy)}: serves {served}, and outcomes are judged by {trial.risk}")
    if takes_long(ready) and horizon + trial.told > MOST_READ:
        raise PrudentError(f"{spec(policy)}: reads all outcomes in every round, which takes long; name it to try it")


def orders_by_mean(trial: Trial) -> bool:
    """Whether the option with the better mean is always the better one: ρ = ∞, or outcomes of 0 and 1 with ρ ≥ 1."""
    rho = trial.rho
    if rho is None:
        return False
    support = trial.example().support, trial.example(1).support
    binary = all(law.atoms() is not None and law.support == (0.0, 1.0) for law in trial.example().arms)
    return rho == float("inf") or (binary and rho >= 1.0 and support[0] == support[1])


def check_policies(policies: Sequence[Policy | str], trial: Trial) -> list[Policy]:
    """Those that learn, told how large outcomes are."""
    given = [fitted(_policy(policy), trial.units) for policy in policies]
    chosen = list({spec(one): one for one in given if not isinstance(one, YARDSTICKS)}.values())
    if policies and not chosen:
        raise PrudentError(f"plan: policies must hold one that learns, got {shown(list(policies))}; add e.g. 'exp-exp'")
    return chosen


def _policy(given: Any) -> Policy:
    policy = registered.make("plan", given)
    if not hasattr(type(policy), "_field_defaults"):
        raise PrudentError(f"plan: a policy must be a NamedTuple such as MVLCB(), or its name, got {shown(given)}")
    return policy


class Heat(NamedTuple):
    """How much of a trial is simulated: worlds, trials in each, and rounds."""

    worlds: int
    runs: int
    horizon: int

    @property
    def trials(self) -> int:
        return self.worlds * self.runs


class Race:
    """Simulates policies on the worlds of a trial, and keeps what was simulated."""

    def __init__(
        self, trial: Trial, draws: int, runs: int, seed: int, workers: int, seconds: float, progress: Callable[..., Any]
    ) -> None:
        self.trial, self.draws, self.runs, self.seed, self.workers = trial, draws, runs, seed, workers
        self.budget = seconds * ROUNDS_A_SECOND * 3.0 / max(3, len(trial.options))
        self._progress, self._done, self.total = progress, 0.0, 1.0
        self._places: dict[tuple[float, float], Places] = {}
        self._kept: dict[tuple[str, Heat, float], Measured] = {}
        self.worlds_of_weight: dict[float, Worlds] = {}

    @cached_property
    def worlds(self) -> Worlds:
        """The worlds of every heat, of which the first ones serve where fewer are wanted."""
        return self.worlds_of(1.0)

    def worlds_of(self, times: float) -> Worlds:
        """Worlds in which the largest outcomes weigh so many times as much."""
        if times not in self.worlds_of_weight:
            count = max(self.draws, FIRST[0], SECOND[0]) if times == 1.0 else SECOND[0]
            self.worlds_of_weight[times] = self.trial.worlds(count, self.seed, times)
        return self.worlds_of_weight[times]

    def heat(self, wanted: tuple[int, int], policies: float, horizon: int, share: float) -> Heat:
        """As many worlds and trials as a share of the budget buys for so many policies; in the end fewer rounds."""
        worlds, runs = wanted
        trials = share * self.budget / (max(1.0, policies) * horizon)
        runs = max(LEAST[1], min(runs, int(trials / worlds)))
        worlds = max(LEAST[0], min(worlds, int(trials / runs)))
        return Heat(worlds, runs, horizon)

    def play(self, policy: Policy, heat: Heat, times: float = 1.0) -> Measured:
        """One policy in these trials."""
        key = spec(policy), heat, times
        if key not in self._kept:
            self._kept[key] = self._played(policy, heat, times)
        return self._kept[key]

    def _played(self, policy: Policy, heat: Heat, times_far: float) -> Measured:
        trial, worlds = self.trial, self.worlds_of(times_far)
        unit, other, risk = in_unit(trial, policy, worlds)
        example = trial.example()
        setting = Setting(
            len(example), risk, heat.horizon + trial.told, (example.support[0] / unit, example.support[1] / unit),
            units=trial.units.times(1.0 / unit),
        )  # fmt: skip
        ready = bind(other, setting)
        begin = begin_with(ready, [gains / unit for gains in trial.known])
        at = unit, times_far
        if at not in self._places:
            scaled = [[law.times(1.0 / unit) or law for law in row] for row in worlds.laws]
            self._places[at] = places_of(scaled if unit != 1.0 else worlds.laws)
        cell = f"plan | {risk} | {spec(other)} | {tuple(heat)} | {len(example)} | {trial.begin} | {times_far:g}"
        found = play(
            other, ready, risk, self._places[at], begin, horizon=heat.horizon, worlds=heat.worlds, runs=heat.runs,
            seed=self.seed, workers=self.workers, cell=cell, progress=lambda runs: self._advance(runs * heat.horizon),
        )  # fmt: skip
        found = found._replace(mean=found.mean * unit, variance=found.variance * unit * unit)
        return Measured.of(trial, policy, heat.horizon, worlds, found)

    def _advance(self, rounds: float) -> None:
        self._done += rounds
        self._progress(min(0.999, self._done / self.total))

    def first_heats(self, policies: Sequence[Policy], horizon: int) -> list[Measured]:
        """All policies in a few worlds, and those that are not clearly behind in more; the best first, with the others
        after them."""
        if len(policies) <= LEFT[1]:
            return ranked([self.play(policy, self.second(len(policies), horizon)) for policy in policies])
        heat = self.first(len(policies), horizon)
        first = ranked([self.play(policy, heat) for policy in policies])
        on = [one for one in first if _may_win(one, first[0])][: LEFT[0]]
        gone = [one for one in first if not any(one is other for other in on)]
        second = ranked([self.play(one.policy, self.second(len(on), horizon)) for one in on])
        return [*second, *gone]

    def first(self, policies: int, horizon: int) -> Heat:
        """The heat of all policies, of fewer rounds if the budget has no more."""
        rounds = min(horizon, SHORT)
        heat = self.heat(FIRST, policies, rounds, 0.3)
        affordable = int(0.3 * self.budget / (policies * heat.trials))
        return heat._replace(horizon=max(min(rounds, 100), min(rounds, affordable)))

    def second(self, policies: int, horizon: int) -> Heat:
        """The heat of those that are left."""
        return self.heat(SECOND, max(policies, LEFT[0]), horizon, 0.3)

    def last(self, policies: int, horizon: int) -> Heat:
        """The heat that decides, with the even split."""
        return self.heat((self.draws, self.runs), max(policies, LEFT[1]) + 1, horizon, 0.4)


def in_unit(trial: Trial, policy: Policy, worlds: Worlds) -> tuple[float, Policy, Any]:
    """The unit in which a policy sees rewards, a power of two, and it and the risk in that unit."""
    unit = power_of_two(trial.units.sd or 1.0)
    other, risk = times(policy, 1.0 / unit), trial.risk.times(1.0 / unit)
    if other is None or risk is None or any(law.times(1.0) is None for law in worlds.laws[0]):
        return 1.0, policy, trial.risk
    return unit, other, risk


def _may_win(one: Measured, first: Measured) -> bool:
    """Whether a policy is not behind the first by more than two errors."""
    gap, error = behind(one, first)
    return bool(gap <= 2.0 * error or np.isclose(gap, 0.0))
