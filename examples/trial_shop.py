"""A trial from beginning to end: past revenues in a file → a plan → the trial, with late outcomes → when to stop.

All numbers are euros, as the shop counts them: nothing is converted by hand. The customers of the trial are made up, so
that the truth is known; in a shop of your own, put the outcome where `revenue` is called.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from common import options
from matplotlib.figure import Figure

from prudent import Agent, MeanVariance
from prudent.plan import accepted, advise, lines_to_run, pilot, winners, write_report
from prudent.results import figures

PAST = Path(__file__).parent / "shop.csv"
SUPPORT = (-50.0, 400.0)  # no order brought less than −50 € (goods sent back) or more than 400 €
ANSWER = "5 less on average for a standard deviation of 25 instead of 30"
TRUTH = {"A": (40.0, 30.0), "B": (55.0, 90.0), "C": (38.0, 10.0)}  # mean and standard deviation, unknown to the shop
SURE = ["mv-lcb(c=1, unbiased=True)", "mv-lcb", "anytime-mv-lcb"]
"""Policies that try every option until confidence bounds tell them apart: this shop wants to be sure in the end. Others
lose less on the way, and leave the question open for longer."""

LATE = 20  # an outcome is known after so many further customers, at most
LOOKS = 100  # customers between two looks


def plan(out: Path, horizon: int, runs: int) -> Any:
    """What to do, from past revenues and one answer about risk."""
    known = pilot(PAST, group="variant", outcome="revenue", remark=print)
    rho = accepted(ANSWER)
    for stretch in winners(known):
        print(f"  {stretch.option} wins from ρ = {stretch.low:.0f} € to {stretch.high:.0f} €.")
    print(f"“{ANSWER}” is ρ = {rho:g} €.")
    asked = {"unit": "EUR", "support": SUPPORT, "policies": SURE, "runs": runs, "draws": 50}
    advice = advise(known, MeanVariance(rho), horizon, out / "plan", **asked)
    print(*advice.verdict.sentences, *advice.reasons, sep="\n  ")
    print(f"The plan takes {advice.recommended} for {advice.horizon:,} customers.")
    print(f"For whoever decides: {write_report(advice, out / 'plan').name}")
    return advice


def start(advice: Any) -> Agent:
    """The agent of the very lines that the plan prints."""
    names: dict[str, Any] = {}
    exec(lines_to_run(advice).partition("for person in")[0], names)
    agent: Agent = names["agent"]
    return agent


def revenue(option: str, rng: np.random.Generator) -> float:
    """What a customer brings, who got an option."""
    return float(np.clip(rng.normal(*TRUTH[option]), *SUPPORT))


def run(agent: Agent, most: int, rng: np.random.Generator) -> list[tuple[int, list[Any]]]:
    """Customers come, outcomes follow late and out of order, until one option is left or customers are used up."""
    waiting: list[tuple[str, float]] = []
    looks = []
    for customer in itertools.count(1):
        option = agent.ask()
        waiting.append((option, revenue(option, rng)))
        while len(waiting) > rng.integers(LATE):
            agent.tell(*waiting.pop(rng.integers(len(waiting))))
        if customer % LOOKS == 0 or customer == most:
            looks.append((customer, agent.intervals(level=1.0 - 0.05 / len(TRUTH))))
            leader = agent.leader(level=0.95)
            if leader.decided or customer == most:
                return looks
    raise AssertionError("customers never end")


def draw(looks: list[tuple[int, list[Any]]]) -> Figure:
    """The mean revenue of each option as it became known; all intervals hold together, however often one looks."""
    with figures.style():
        figure = Figure(figsize=(6.4, 3.6))
        ax = figure.add_subplot()
        customers = [customer for customer, _ in looks]
        for i, name in enumerate(TRUTH):
            low, high = zip(*(known[i].mean for _, known in looks), strict=True)
            ax.fill_between(customers, low, high, alpha=0.25, color=figures.COLOURS[i], label=name)
            ax.axhline(TRUTH[name][0], color=figures.COLOURS[i], linestyle=":")
        ax.set(xlabel="customers", ylabel="mean revenue, EUR", ylim=(0.0, 120.0))
        ax.set_title("95 % intervals, together and at all times; dotted: the truth")
        ax.legend(title="option")
    return figure


def main(out: Path, runs: int = 20, horizon: int = 20_000) -> None:
    advice = plan(out, horizon, runs)
    agent = start(advice)
    looks = run(agent, horizon, np.random.default_rng(5))
    print(f"\nAfter {looks[-1][0]:,} customers:", agent.leader(level=0.95), agent.posterior(), sep="\n  ")
    for each in agent.estimates():
        spread = f"standard deviation {each.variance**0.5:.1f} €"
        print(f"  {each.arm}: {each.pulls:,} customers, on average {each.mean:.2f} €, {spread}")
    figures.save(draw(looks), out / "trial-shop")


if __name__ == "__main__":
    main(**options(runs=20, horizon=20_000))
