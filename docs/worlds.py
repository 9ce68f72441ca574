"""Draw the figures of docs/researchers/worlds.md: `python docs/worlds.py` writes docs/images/worlds-*.png."""

import math
import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from prudent import Bandit, Discounted, Runs, simulate
from prudent.results.figures import COLOURS, plot_curves, save, style

HERE = Path(__file__).parent
RUNS = 100


def classes():
    """The environments and learners of the page."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (HERE / "researchers/worlds.md").read_text(), flags=re.DOTALL):
        if "class " in block:
            exec(compile(block, "worlds.md", "exec"), names)
    return names


class Rival:
    """Pays 0 on the arm that UCB1 is about to pull, and 1 on the other. UCB1 then sees nothing but zeros, so that it
    pulls the two arms in turn."""

    n_arms = 2

    def reset(self, rng):
        self.t = 0

    def pull(self, arm):
        self.t += 1
        return float(arm != (self.t - 1) % 2)


class Seen:
    """Always pulls the first arm, and keeps the sum and the number of the rewards seen before each round."""

    def __init__(self, book):
        self.book = book

    def __deepcopy__(self, memo):
        return Seen(self.book)

    def start(self, n_arms, horizon):
        self.count, self.sum, self.rows = 0, 0.0, []
        self.book.append(self.rows)

    def ask(self, rng):
        self.rows.append(self.sum / self.count if self.count else math.nan)
        return 0

    def tell(self, arm, reward):
        self.count += 1
        self.sum += reward


def regret_curve(runs: Runs):
    """Rounds, mean regret and its standard error at every snapshot."""
    rounds = [each.horizon for each in runs.history]
    values = [each.regret() for each in runs.history]
    return rounds, [v.mean() for v in values], [v.std(ddof=1) / len(v) ** 0.5 for v in values]


def draw_curves(ax, made, x):
    """Named curves with bands of two standard errors."""
    rounds = next(iter(made.values()))[0]
    plot_curves(ax, rounds, [(name, mean, error) for name, (_, mean, error) in made.items()], log=False, markevery=0.2)
    ax.set(xlabel=x, ylabel="regret per round")
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)


def draw_drift(known):
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = np.arange(1000)
    left.plot(t, np.full(1000, 0.5), color=COLOURS[0])
    left.plot(t, 1.0 - t / 1000, color=COLOURS[1])
    left.annotate("first arm", (20, 0.44))
    left.annotate("second arm", (560, 0.5), xytext=(720, 0.34))
    left.set(xlabel="round", ylabel="mean reward", title="The arms")
    asked = {"risk": "mean", "horizon": 1000, "runs": RUNS, "replay": True, "snapshots": range(20, 1000, 20)}
    policies = {
        "UCB1": "ucb1(range=0.3)",
        "EXP3, γ = 0.1": known["EXP3"](),
        "UCB1, discounted by 0.98": Discounted("ucb1(range=0.3)", discount=0.98),
    }
    made = {name: regret_curve(simulate(known["Drifting"](), policy, **asked)) for name, policy in policies.items()}
    draw_curves(right, made, "round")
    right.set_title("Against the best fixed arm so far")
    return figure


def draw_exp3(known):
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels, n = figure.subplots(1, 2), 2000
    coins = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"])
    policies = {"UCB1": "ucb1", "EXP3, γ = 0.1": known["EXP3"](), "gradient, step 0.1": known["Gradient"]()}
    asked = {"risk": "mean", "horizon": n, "runs": RUNS, "snapshots": range(50, n, 50)}
    for ax, world, replay in zip(panels, (coins, Rival()), (False, True), strict=True):
        more = {"replay": True, "engine": "interpreted"} if replay else {}
        made = {name: regret_curve(simulate(world, policy, **asked, **more)) for name, policy in policies.items()}
        draw_curves(ax, made, "round")
    panels[0].set_title("Coins, 0.4 and 0.6")
    panels[1].set_title("A rival who foresees what UCB1 pulls")
    panels[1].get_legend().remove()
    return figure


def draw_delay():
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    coins, delays = Bandit(["bernoulli(0.4)", "bernoulli(0.6)"]), (0, 10, 25, 50, 100, 200, 400)
    made = {}
    for name, policy in {"UCB1": "ucb1", "Thompson sampling": "bernoulli-thompson"}.items():
        asked = {"risk": "mean", "horizon": 1000, "runs": RUNS, "engine": "interpreted"}
        values = [simulate(coins, policy, delay=delay, **asked).regret() for delay in delays]
        made[name] = delays, [v.mean() for v in values], [v.std(ddof=1) / RUNS**0.5 for v in values]
    draw_curves(left, made, "rounds by which every reward is late")
    left.set(title="Two coins, 1,000 rounds", ylim=(0, None))
    late = {
        "failures 100 rounds late": lambda reward, rng: 100 * (reward == 0),
        "every reward 100 rounds late": 100,
        "successes 100 rounds late": lambda reward, rng: 100 * (reward == 1),
    }
    for i, (name, delay) in enumerate(late.items()):
        book = []
        asked = {"risk": "mean", "horizon": 600, "runs": RUNS, "workers": 1}
        simulate(Bandit(["bernoulli(0.6)"]), Seen(book), delay=delay, **asked)
        rows = np.array(book)[:, (101 if i == 1 else 5) :]
        right.plot(np.arange(600)[-rows.shape[1] :], rows.mean(0), label=name, color=COLOURS[i])
    right.axhline(0.6, color="0.6", linewidth=0.8, zorder=0)
    right.set(xlabel="round", ylabel="mean of the rewards seen", title="One coin, 0.6", ylim=(0, 1.03))
    right.legend()
    return figure


if __name__ == "__main__":
    page = classes()
    with style():
        for name, figure in {"drift": draw_drift(page), "exp3": draw_exp3(page), "delay": draw_delay()}.items():
            save(figure, HERE / "images" / f"worlds-{name}", ["png"])
