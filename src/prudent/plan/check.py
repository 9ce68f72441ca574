"""A plan checks itself: the agent that it hands over is run on outcomes resampled from the pilot's file.

This is another road to the same numbers. Worlds are plain Bayesian bootstraps of the file [Rubin81], without smoothing
and without tails, and the agent is the Python object that a live trial uses. Of a trial too long for that the policy is
simulated in such worlds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from prudent.arms.base import Law, arms
from prudent.base.arrays import Array
from prudent.live.agent import Agent
from prudent.plan.cells import Cells
from prudent.plan.elicit import Pilot
from prudent.plan.race import LEAST, Heat, Race
from prudent.plan.trial import Trial, Worlds, mirrored
from prudent.policies.contract import Policy

SECONDS_A_ROUND, SECONDS_A_REWARD = 50e-6, 15e-6
"""What a round of an agent takes, and a reward that it is told before: about, and the same on every machine."""

SHARE = 0.3
"""Of the time of a plan."""

FEWEST, MOST = 8, 60
"""Trials of a check."""

STREAM = 0xC4EC
"""Its random numbers are no others'."""

SINGLY = 1_000
"""Outcomes up to which an agent is told each; more are merged, if it keeps no single ones."""


class Check(NamedTuple):
    """What came of `trials` trials of the agent, or of its policy `simulated`: averages, and their standard errors,
    which contain that every trial has a truth of its own."""

    trials: int
    simulated: bool
    found_best: float
    found_best_se: float
    regret: float
    regret_se: float
    outcome: float
    outcome_se: float
    deviation: float
    deviation_se: float

    def found_in(self, level: float) -> tuple[float, float]:
        """Where the probability lies to find the best option: the exact interval of a share (Clopper and Pearson),
        which has a width also where all trials found it."""
        right, tail = self.found_best * self.trials, 0.5 - 0.5 * level
        low = stats.beta.ppf(tail, right, self.trials - right + 1.0) if right > 0.0 else 0.0
        high = stats.beta.isf(tail, right + 1.0, self.trials - right) if right < self.trials else 1.0
        return float(low), float(high)


def trials_for(trial: Trial, horizon: int, seconds: float) -> int:
    """How many trials of the agent the time allows; 0 if too few."""
    one = horizon * SECONDS_A_ROUND + min(trial.told, SINGLY) * SECONDS_A_REWARD
    count = int(SHARE * seconds / one)
    return min(count, MOST) if count >= FEWEST else 0


def agent_of(trial: Trial, policy: str, horizon: int, seed: int) -> Agent:
    """The agent of the trial, which knows the pilot's outcomes."""
    agent = Agent(
        policy, trial.names, horizon + trial.told, seed, risk=trial.risk, support=trial.limits,
        larger_is_better=trial.outcome.larger_is_better,
    )  # fmt: skip
    singly = trial.told <= SINGLY or agent.kept(trial.names[0]).rewards is not None
    for option in trial.options:
        if not (trial.begin and isinstance(option, Pilot)):
            continue
        x = np.array(option.outcomes)
        if singly:
            for outcome in option.outcomes:
                agent.tell(option.name, outcome, asked=False)
        else:
            agent.merge(option.name, len(x), float(x.mean()), float(x.var()), asked=False)
    return agent


def run_check(
    trial: Trial, policy: str, horizon: int, count: int, seed: int, progress: Callable[[float], Any] = lambda _: None
) -> Check | None:
    """So many trials; None for none."""
    if count < 2:
        return None
    found = np.empty((count, 4))
    for number in range(count):
        rng = np.random.default_rng([seed, STREAM, number])
        found[number] = _one(trial, policy, horizon, rng)
        progress((number + 1) / count)
    return _check_of(trial, found, simulated=False)


def simulated_check(race: Race, policy: Policy, horizon: int) -> Check:
    """The same for a trial that is too long for the agent: its policy, in worlds of the file as it is."""
    trial, count = race.trial, race.heat((MOST, 1), 1.0, horizon, SHARE).worlds
    laws = []
    for number in range(count):
        rng = np.random.default_rng([race.seed, STREAM, number])
        laws.append([_source(trial, option, rng).whole for option in trial.options])
    again = Race(trial, count, LEAST[1], race.seed + 1, race.workers, 1.0, lambda _: None)
    again.worlds_of_weight[1.0] = Worlds.of(trial.risk, laws)
    one = again.play(policy, Heat(count, LEAST[1], horizon))
    return _check_of(
        trial,
        np.column_stack([part[:, 0] for part in (one.found_best, one.regret, one.outcome, one.variance)]),
        simulated=True,
    )


def _check_of(trial: Trial, found: Array, simulated: bool) -> Check:
    """The averages of success, regret, mean and variance of trials."""
    count = len(found)
    mean, error = found.mean(0), found.std(0, ddof=1) / np.sqrt(count)
    deviation = float(np.sqrt(mean[3]))
    spread = float(error[3] / (2.0 * deviation)) if deviation > 0.0 else 0.0
    right, regret, outcome = zip(mean[:3].tolist(), error[:3].tolist(), strict=True)
    return Check(count, simulated, *right, *regret, trial.outcome.sign * outcome[0], outcome[1], deviation, spread)


class _Source(NamedTuple):
    """An option in one world of the check: its gains with their weights, or a distribution that was guessed."""

    gains: Array
    weights: Array
    law: Law | None

    @property
    def whole(self) -> Law:
        """All of it as one distribution."""
        return Cells(self.gains, self.gains, self.weights) if self.law is None else self.law

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        if self.law is not None:
            return self.law.sample(rng, size)
        return np.asarray(rng.choice(self.gains, size, p=self.weights))

    def facts(self, trial: Trial) -> tuple[float, float]:
        """The mean and the cost."""
        if self.law is not None:
            return self.law.mean, trial.risk.cost(self.law)
        return float(self.weights @ self.gains), trial.risk.sample_cost(self.gains, self.weights)


def _source(trial: Trial, option: Any, rng: np.random.Generator) -> _Source:
    sign = trial.outcome.sign
    if not isinstance(option, Pilot) or trial.model != "pilot":
        law = arms.parse(option.draw(rng))
        law = law if sign > 0.0 else mirrored(option.name, law)
        return _Source(np.empty(0), np.empty(0), law)
    if option.binary:
        share = float(rng.beta(1.0 + sum(option.outcomes), 1.0 + len(option.outcomes) - sum(option.outcomes)))
        return _Source(np.array([0.0, sign]), np.array([1.0 - share, share]), None)
    gains, counts = np.unique(sign * np.array(option.outcomes), return_counts=True)
    return _Source(gains, rng.dirichlet(counts), None)


def _one(trial: Trial, policy: str, horizon: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Whether one trial found the best option; its cost against it; mean and variance of its gains."""
    sources = [_source(trial, option, rng) for option in trial.options]
    facts = np.array([source.facts(trial) for source in sources])
    agent = agent_of(trial, policy, horizon, int(rng.integers(2**62)))
    size = min(horizon, 4_096)
    ahead = [source.sample(rng, size) for source in sources]
    used, received, place = [0] * len(sources), np.empty(horizon), {name: i for i, name in enumerate(trial.names)}
    sign, pulls = trial.outcome.sign, np.zeros(len(sources))
    for t in range(horizon):
        name = agent.ask()
        i = place[name]
        if used[i] == size:
            ahead[i], used[i] = sources[i].sample(rng, size), 0
        gain = ahead[i][used[i]]
        used[i] += 1
        pulls[i] += 1
        received[t] = gain
        agent.tell(name, sign * gain)
    shares, costs = pulls / horizon, facts[:, 1]
    mean = shares @ facts[:, 0]
    switching = shares @ (facts[:, 0] - mean) ** 2 * getattr(trial.risk, "variance_weight", 0.0)
    choice = looks_best(agent)
    regret = shares @ (costs - costs.min()) + switching
    return float(choice == costs.argmin()), float(regret), float(received.mean()), float(received.var())


def looks_best(agent: Agent) -> int:
    """The option that one would take after the trial: the smallest estimated cost, by the unbiased variance."""
    costs, sign = [], 1.0 if agent.larger_is_better else -1.0
    for known in agent.estimates():
        if known.pulls < 2 or known.variance is None or known.mean is None:
            costs.append(np.inf)
        elif agent.risk.by_moments:
            unbiased = known.variance * known.pulls / (known.pulls - 1)
            costs.append(float(agent.risk.stats_cost(sign * known.mean, unbiased)))
        else:
            costs.append(float(known.cost or 0.0))
    return int(np.argmin(costs))
