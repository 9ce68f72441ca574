"""Two experiments in which everything happens that can happen, so that their logs hold events of every kind."""

from typing import Any

from prudent.service import messages as m
from prudent.service.spec import decoded

PLAIN = {
    "name": "plain",
    "arms": ["A", "B", "C"],
    "policy": "thompson",
    "scale": 1,
    "seed": 7,
    "support": [0, 1],
    "fallback": "A",
}
WINDOWS = {
    "name": "windows",
    "arms": ["A", "B"],
    "policy": "mv-lcb(rho=1)",
    "horizon": 500,
    "seed": 7,
    "support": [0, 1],
    "sticky": True,
    "rewards": {"window": 60, "default": 0},
    "metrics": {"delay": {"support": [0, 10]}},
}
RAIL = {"watch": "mean", "metric": "delay", "below": 9.9, "then": "freeze", "to": "B"}
NO_DEFAULT = {**WINDOWS, "name": "no-default", "sticky": False, "rewards": {"window": 60}}
NO_DEFAULT |= {"guardrails": [RAIL], "error": 0.9}
NAMES = ["plain", "windows", "no-default"]


def run_everything(service, clock):
    """Make the experiments, and let everything happen in them."""
    for spec in (PLAIN, WINDOWS, NO_DEFAULT):
        service.create(decoded(spec))
    plain(service, clock)
    for name in NAMES[1:]:
        windows(service, clock, name)


def plain(service, clock):
    """Rewards count at once; arms come and go; batches."""

    def run(request, **about):
        clock.advance(0.5)
        return service.run("plain", request, **about)

    several = run(m.Ask(count=4), key="four").decisions
    for place, decision in enumerate(several[:3]):
        run(m.Tell(place / 4), decision=decision.decision)
    run(m.Withdraw(), decision=several[3].decision)
    run(m.Ask(among=["B", "C"], unit="ann"), key="other")
    run(m.TellMany([m.Told(0.5, arm="C", key="old"), m.Told(0.1, decision=run(m.Ask()).decisions[0].decision)]))
    body: dict[str, Any] = dict(m.BODIES)
    run(body["add"]("D", "new"), key="add")
    run(body["retire"]("A", "slow", "B"))
    run(body["freeze"]("D", "look"))
    run(m.Ask(count=2))
    run(body["resume"]("seen"))
    batch = run(m.Split(10), key="split")
    arm, count = next(iter(batch.arms.items()))
    run(m.Merge({arm: m.Statistics(count, 0.25, 0.01)}), decision=batch.batch)
    run(m.Split(3))
    for mean in (0.2, 0.2, 0.9):  # the rewards of an arm change
        batch = run(m.Split(200, ["C"]))
        run(m.Merge({"C": m.Statistics(200, mean, 0.01)}), decision=batch.batch)
    run(m.BODIES["pause"]("lunch"))
    run(m.Fallbacks(3), key="away")
    run(m.BODIES["forget"]("who asked"))
    run(m.BODIES["stop"]("done"))
    run(m.BODIES["archive"]("autumn"))
    run(m.BODIES["restore"]("winter"))


def windows(service, clock, name):
    """Rewards wait for their windows; units; other numbers."""
    units = iter(range(100))

    def ask(**about):
        unit = f"{next(units)}"
        return service.run(name, m.Ask(unit=unit, **about), key=unit).decisions[0].decision

    for place in range(6):
        decision = ask()
        clock.advance(10)
        if place % 2:
            service.run(name, m.Tell(place / 8, {"delay": place}), decision=decision)
    later = ask(activate="later")
    service.run(name, m.Withdraw(), decision=ask())
    service.run(name, m.Ask(unit="7"))
    clock.advance(20)
    service.close_windows()
    service.run(name, m.Activate(), decision=later)
    ask(activate="later")
    clock.advance(50)
    service.close_windows()
    service.run(name, m.Tell(0.75), decision=ask())
    ask()
