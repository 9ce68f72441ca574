"""One run of a learner on an environment, round by round."""

import math
from typing import Any, NamedTuple

import numpy as np

from prudent.bandit import Bandit
from prudent.base.arrays import Array, Counts
from prudent.base.description import described
from prudent.base.errors import PrudentError, shown
from prudent.engine.python.delays import Delay, checked_rounds
from prudent.engine.python.environments import Environment
from prudent.engine.python.policies import Acting
from prudent.engine.streams import stream
from prudent.policies.learners import chosen_arm, fresh, started


class Episode(NamedTuple):
    """What every run is asked. `twin` is the best arm by its law, None where laws are not known; with `replay` every
    arm is pulled to the end as well. The first `kept` runs keep their trajectories. Streams of the environment are made
    from what is `shared`, if they are to be the same under every policy."""

    environment: Environment
    learner: Any
    n_arms: int
    rounds: list[int]
    batch: int
    delay: Delay | None
    laws: Bandit | None
    twin: int | None
    replay: bool
    seed: int
    cell: str
    kept: int = 0
    shared: str | None = None

    def rng(self, purpose: str, run: int) -> np.random.Generator:
        """A stream of its own for each purpose and run, so that neither workers nor other purposes matter."""
        cell = self.shared if self.shared is not None and purpose == "environment" else self.cell
        return stream(self.seed, f"{cell} | {purpose}", run)


class Played(NamedTuple):
    """A run: arrays of (snapshot, arm), and those of every arm pulled throughout, if it was replayed."""

    pulls: Counts
    mean: Array
    variance: Array
    twin_mean: Array
    twin_variance: Array
    replayed_mean: Array
    replayed_variance: Array
    trajectory: tuple[Counts, Array, Array | None] | None


def play(episode: Episode, run: int) -> Played:
    """One run."""
    arms, rewards, propensities = rounds_of(episode, run)
    pulls, mean, variance = statistics(arms, rewards, episode.n_arms, episode.rounds)
    kept = (arms, rewards, propensities) if run < episode.kept else None
    none = np.full((2, *mean.shape), math.nan)
    twins = none if episode.twin is None else _twins(episode, run, pulls, mean, variance)
    replayed = replay(episode, run) if episode.replay else none
    return Played(pulls, mean, variance, twins[0], twins[1], replayed[0], replayed[1], kept)


def rounds_of(episode: Episode, run: int) -> tuple[Counts, Array, Array | None]:
    """The arm and the reward of each round, and the probability of the arm if there are floors or caps. Rewards that
    are late beyond the last round are received but not seen."""
    horizon, batch, delay = episode.rounds[-1], episode.batch, episode.delay
    environment, learner = fresh(episode.environment), started(episode.learner, episode.n_arms, horizon)
    owner = described(episode.learner)
    environment.reset(episode.rng("environment", run))
    own, late = episode.rng("learner", run), episode.rng("delay", run)
    arms, rewards = np.empty(horizon, np.int64), np.empty(horizon)
    propensities = None if not isinstance(learner, Acting) or learner.limits is None else np.empty(horizon)
    waiting: dict[float, list[tuple[int, float]]] = {}
    for t in range(horizon):
        for seen in waiting.pop(t, ()):
            learner.tell(*seen)
        if propensities is None:
            arms[t] = arm = chosen_arm(owner, learner.ask(own), episode.n_arms)
        else:
            arms[t], propensities[t] = arm, _ = learner.decide(own)
        rewards[t] = reward = _reward(episode, arm, t, environment.pull(arm))
        due: float = t + 1
        if delay is not None:
            due += checked_rounds(delay(reward, late))
        if batch > 1 and due < math.inf:
            due = -(-due // batch) * batch  # the end of a batch
        waiting.setdefault(due, []).append((arm, reward))
    return arms, rewards, propensities


def _reward(episode: Episode, arm: int, t: int, given: Any) -> float:
    """What the environment gave, as a number."""
    try:
        reward = float(given) if not isinstance(given, (str, bytes)) else math.nan
    except (TypeError, ValueError):
        reward = math.nan
    if not math.isfinite(reward):
        where = f"arm {arm} in round {t + 1}"
        raise PrudentError(f"environment: a reward must be a finite number, got {shown(given)} from {where}")
    return reward


def statistics(arms: Counts, rewards: Array, n_arms: int, rounds: list[int]) -> tuple[Counts, Array, Array]:
    """Pulls, mean and variance of each arm after each of the rounds."""
    pulls, (mean, variance) = np.zeros((len(rounds), n_arms), np.int64), np.zeros((2, len(rounds), n_arms))
    for i, end in enumerate(rounds):
        for arm in range(n_arms):
            own = rewards[:end][arms[:end] == arm]
            if len(own):
                pulls[i, arm], mean[i, arm], variance[i, arm] = len(own), own.mean(), own.var()
    return pulls, mean, variance


def _twins(episode: Episode, run: int, pulls: Counts, mean: Array, variance: Array) -> Array:
    """Mean and variance of the twins: fresh rewards of the best law, as many as an arm was pulled; the best arm's are
    its own."""
    best: Any = episode.twin
    laws: Any = episode.laws
    law, rng = laws.arms[best], episode.rng("twins", run)
    drawn = [law.sample(rng, int(count)) for count in pulls[-1]]
    twins = np.empty((2, *mean.shape))
    for i, arm in np.ndindex(*pulls.shape):
        some = drawn[arm][: pulls[i, arm]]
        twins[:, i, arm] = (some.mean(), some.var()) if len(some) else (0.0, 0.0)
    twins[:, :, best] = mean[:, best], variance[:, best]
    return twins


def replay(episode: Episode, run: int) -> Array:
    """Mean and variance after each of the rounds if a single arm had been pulled throughout, for each arm. The
    environment draws from the same stream as in the run."""
    found = np.empty((2, len(episode.rounds), episode.n_arms))
    for arm in range(episode.n_arms):
        environment = fresh(episode.environment)
        environment.reset(episode.rng("environment", run))
        rewards = np.array([_reward(episode, arm, t, environment.pull(arm)) for t in range(episode.rounds[-1])])
        constant = np.zeros(len(rewards), np.int64)
        _, mean, variance = statistics(constant, rewards, 1, episode.rounds)
        found[:, :, arm] = mean[:, 0], variance[:, 0]
    return found
