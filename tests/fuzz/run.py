"""Tries random input on every command, on files, folders and agents:  python tests/fuzz/run.py --seconds 600 --seed 5

Each distinct problem is printed once, with the line that repeats it. The tests try the first cases (test_fuzz.py).
"""

import argparse
import math
import re
import shlex
import sys
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from judge import complaints
from mutate import make
from sandbox import Case, Limits, Outcome, Sandbox
from valid import FILES, MADE, ROWS, Seeds

LARGE = Limits(seconds=1.5)
"""For cases that ask for much work: they only have to obey Ctrl-C."""

POLICIES = {
    "mv-lcb": {},
    "exp-exp": {},
    "ucb1": {"support": (0, 1)},
    "cvar-ucb": {},
    "npts": {},
    "mvts": {"remember": True},
}


class Problem(NamedTuple):
    """A case that was not clean."""

    number: int
    case: Case
    outcome: Outcome
    complaints: list[str]
    changed: dict[str, str]

    def cause(self) -> str:
        """Problems of one cause are reported once: the last own line of a traceback, or the words without numbers."""
        own = re.findall(r'File "\S*/prudent/(\S+)", line (\d+)', self.outcome.err)
        if own:
            return f"{own[-1]} {self.outcome.err.strip().splitlines()[-1].partition(':')[0]}"
        words = [re.sub(r"[\d.,]+", "#", text)[:40] for text in self.complaints]
        return " | ".join([*self.case.args[:1], *words])

    def report(self, seed: int) -> str:
        """What it was, what happened, and how to repeat it."""
        lines = [
            f"python tests/fuzz/run.py --seed {seed} --only {self.number}",
            *(f"  {text}" for text in self.complaints),
        ]
        lines.append(
            f"  prudent {shlex.join(word[:200] for word in self.case.args)}"
            if self.case.args
            else f"  {self.case.code.splitlines()[-1]}"
        )
        lines += [f"  {name}: {text}" for name, text in self.changed.items()]
        return "\n".join([*lines, *(f"  | {line[:300]}" for line in self.outcome.err.splitlines()[-4:])])


def seeds_of(box: Sandbox) -> Seeds:
    """A finished study, a database with an experiment, and saved agents."""
    study: dict[str, bytes] = {}
    for args in MADE:
        ran = box.run(Case(args, files=FILES))
        assert ran.code == 0, ran.err
        study |= {n[5:]: data for n, data in ran.after.items() if n.startswith("here/made") and data[:1] != b"<"}
    code = f"""
from prudent import Agent
from prudent.policies.contract import policies
from prudent.policies.binding import served_risk
for name, more in {POLICIES!r}.items():
    agent = Agent(name, 3, horizon=50, **more, scale=1, risk=served_risk(policies.make('Agent', name)))
    for i in range(8):
        agent.tell(agent.ask(), (i * 0.37) % 1)
    agent.ask()
    print(agent.to_json())
"""
    saved = box.run(Case(code=code))
    assert saved.code == 0, saved.err
    table = box.run(Case(ROWS, files=study))
    assert table.code == 0, table.err
    return Seeds(study, table.out, saved.out.splitlines())


def changes(valid: dict[str, bytes], given: dict[str, bytes]) -> dict[str, str]:
    """The files of a case that are not as they should be, in words."""
    other = {name: data for name, data in given.items() if valid.get(name) != data}
    shown = {name: f"{data[:600]!r}{'…' * (len(data) > 600)}" for name, data in other.items()}
    missing = valid.keys() - given.keys() if given.keys() & valid.keys() else ()
    return {**shown, **dict.fromkeys(missing, "is not there")}


def fuzz(
    box: Sandbox, seed: int, numbers: Iterable[int], seconds: float = math.inf, tell: Any = None
) -> tuple[int, list[Problem]]:
    """Try the cases with these numbers until the time is over: how many there were, and one problem of each cause."""
    seeds = seeds_of(box)
    until, tried, found = time.monotonic() + seconds, 0, {}
    for number in numbers:
        if time.monotonic() > until:
            break
        case = make(seed, number, seeds)
        limits = box.limits if case.small else LARGE
        outcome = box.run(case, limits)
        tried += 1
        wrong = complaints(case, outcome, limits)
        if wrong:
            problem = Problem(number, case, outcome, wrong, changes({**FILES, **seeds.study}, case.files))
            if found.setdefault(problem.cause(), problem) is problem and tell:
                tell(problem)
    return tried, list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="the number of the only case")
    given = parser.parse_args()
    numbers = range(given.first, sys.maxsize) if given.only is None else [given.only]
    with Sandbox() as box:
        show = lambda problem: print(problem.report(given.seed), "\n", flush=True)  # noqa: E731
        tried, problems = fuzz(box, given.seed, numbers, given.seconds, show)
    print(f"{tried:,} cases, {len(problems)} distinct problems")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
