"""Floors of probabilities: what a decision costs, what a log is then worth to `evaluate`, and what the floor costs.

python benchmarks/floors.py
python benchmarks/floors.py coverage    # how often intervals hold, over 1,000 experiments of each policy
python benchmarks/floors.py lock        # what it costs that threads may share an agent
"""

import sys
import time
from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from prudent import Agent, evaluate
from prudent.client import Client
from prudent.evaluation import read_log
from prudent.service.http.local import Local
from prudent.service.log.store import open_store
from prudent.service.work.service import Service

RATES = {"control": 0.30, "short": 0.34, "long": 0.26}
POLICIES = ("ucb1", "bernoulli-thompson")
FLOORS = (0.0, 0.02, 0.05, 0.1)
ROUNDS, EXPERIMENTS = 2000, 10


def seconds(policy: str, floor: float | None) -> float:
    """Processor time of a decision, the smallest of five means."""
    found = []
    for seed in range(5):
        agent, rng, total = Agent(policy, list(RATES), 10_000, seed, support=(0, 1), floor=floor), None, 0
        rng = np.random.default_rng(seed)
        for t in range(500):
            since = time.process_time_ns()
            arm = agent.ask()
            total += time.process_time_ns() - since if t >= 100 else 0
            agent.tell(arm, float(rng.random() < 0.5))
        found.append(total / 400 / 1e9)
    return min(found)


def experiment(policy: str, floor: float, seed: int, rounds: int = ROUNDS) -> dict[str, list]:
    """The log of an experiment, as a service exports it."""
    rng, agent = np.random.default_rng([seed, 7]), Agent(policy, list(RATES), rounds, seed, support=(0, 1), floor=floor)
    rows = []
    for t in range(rounds):
        arm, propensity = agent.decide()
        reward = float(rng.random() < RATES[arm])
        agent.tell(arm, reward)
        rows.append((str(t), arm, "done", reward, propensity, floor))
    names = ("decision", "arm", "state", "reward", "propensity", "floor")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def exports(policy: str, folder: Path) -> Iterator[tuple[int, Path]]:
    """The files that a service exports of experiments to which the arm `long` is added after 150 of 300 rounds."""
    wire = Local(Service(open_store(str(folder / "floors.db"), relaxed=True), patience=3600.0).start())
    for seed in range(1000):
        rng, client, path = np.random.default_rng([seed, 7]), Client.through(wire, f"e{seed}"), folder / "log.csv"
        spec = {
            "arms": list(RATES)[:2],
            "policy": policy,
            "risk": "mean",
            "support": [0, 1],
            "floor": 0.05,
            "seed": seed,
        }
        client.create({**spec, "horizon": 300})
        for part in range(6):
            if part == 3:
                client.add_arm(list(RATES)[2], "later")
            decisions = client.ask_many(50)
            client.tell_many([(each, float(rng.random() < RATES[each.arm])) for each in decisions])
        client.export(path)
        yield seed, path
    wire.close()


def coverage() -> None:
    """How often the interval of the mean holds, with a floor of 5 %, for three policies, and how wide it is."""
    targets = {"short": {"short": 1.0}, "long": {"long": 1.0}, "a mixture": {"control": 0.5, "short": 0.3, "long": 0.2}}
    for policy in POLICIES:
        held, width = dict.fromkeys(targets, 0), dict.fromkeys(targets, 0.0)
        with TemporaryDirectory() as folder:
            for seed, path in exports(policy, Path(folder)):
                log = read_log(path)
                for name, shares in targets.items():
                    low, high = evaluate(log, shares, support=(0, 1), quantiles=[], risk="mean")["mean"].interval
                    held[name] += low <= sum(share * RATES[arm] for arm, share in shares.items()) <= high
                    width[name] += high - low
                if seed + 1 in (100, 300, 1000):
                    done = seed + 1
                    cells = [f"{each} {100 * held[each] / done:.1f} %, {width[each] / done:.2f} wide" for each in held]
                    print(f"{policy}, {done} experiments: 95 % intervals hold for {'; '.join(cells)}", flush=True)


def lock() -> None:
    """Processor time of an ask and its tell, with the lock of an agent and without, the smallest of seven means."""
    found = []
    for ask, tell in ((Agent.decide, Agent.tell), (unwrap(Agent.decide), unwrap(Agent.tell))):
        means = []
        for _ in range(7):
            agent, since = Agent("ucb1", ["a", "b"], 10_000, support=(0, 1)), time.process_time_ns()
            for _ in range(4000):
                tell(agent, ask(agent).arm, 1.0)
            means.append((time.process_time_ns() - since) / 4000 / 1e3)
        found.append(min(means))
    print(f"An ask and its tell: {found[0]:.1f} µs with the lock, {found[1]:.1f} µs without", flush=True)


def main() -> None:
    print("A decision: with floor=0 and floor=0.05, as multiples of one without a floor")
    for policy in ("mv-lcb(rho=1)", "ucb1", "thompson", "vts(rho=1)", "mvts(rho=1)", "bernoulli-mvts(rho=1)"):
        plain = seconds(policy, None)
        print(f"{policy:24}{seconds(policy, 0.0) / plain:5.2f}{seconds(policy, 0.05) / plain:6.2f}", flush=True)
    arms = [arm for arm in RATES if arm != "control"]
    print()
    print(f"| policy | floor | method | {' | '.join(f'effective, {arm} | width, {arm}' for arm in arms)} | lost |")
    print("|---|---|---|" + "---|" * (2 * len(arms) + 1))
    for policy in POLICIES:
        for floor in FLOORS:
            logs = [experiment(policy, floor, seed) for seed in range(EXPERIMENTS)]
            cells = []
            for arm in arms:
                found = [evaluate(log, arm, support=(0, 1), quantiles=[], risk="mean") for log in logs]
                width = np.mean([each["mean"].interval.high - each["mean"].interval.low for each in found])
                cells += [f"{np.mean([each.effective for each in found]):.0f}", f"{width:.2f}"]
            lost = [sum(max(RATES.values()) - RATES[arm] for arm in log["arm"]) for log in logs]
            error = np.std(lost, ddof=1) / EXPERIMENTS**0.5
            (method,) = {each.method for each in found}
            row = [policy, f"{100 * floor:g} %", method, *cells, f"{np.mean(lost):.0f} ± {error:.0f}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    {"coverage": coverage, "lock": lock}.get(*sys.argv[1:2] or [""], main)()
