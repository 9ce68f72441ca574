"""Valid input of every command, from which cases are made by changing it."""

import shlex
from typing import NamedTuple

STUDY = """policies = ["mv-lcb", "exp-exp", "mv-lcb(c={c})"]
risks = ["mean-variance(rho=1)"]
horizons = [20, 60]
runs = 3
seed = 7

[ranges]
c = { from = 1, to = 2, steps = 2 }

[bandits.easy]
arms = ["gaussian(0.7, 0.05)", "uniform(0, 1)"]
"""
TABLE = """east,west,south
-0.02,0.02,0.03
0.01,-0.02,-0.01
0.03,0.01,0.02
-0.01,0.03,-0.02
0.02,-0.01,0.01
"""
FILES = {"study.toml": STUDY.encode(), "table.csv": TABLE.encode()}
NAMES = ("east", "west", "south")

ARMS = "--arm 'gaussian(0.7, 0.05)' --arm 'beta(1, 2)'"
BOUNDED = "--arm 'uniform(0, 1)' --arm 'mixture([0.5, 0.5], [bernoulli(0.3), beta(2, 1)])'"
FEW = "--runs 3 --seed 1"
TEXTS = (
    f"simulate {ARMS} --policy 'mv-lcb(c=1)' --policy exp-exp --horizon 50 {FEW}",
    f"simulate {BOUNDED} --policy cvar-ucb --risk 'cvar(alpha=0.1)' --horizon 30 {FEW}",
    f"simulate {ARMS} --arm \"empirical('table.csv', 'east')\" --policy ucb1 --horizon 30 {FEW}",
    f"identify {BOUNDED} --strategy sequential-halving --budget 60 {FEW}",
    f"identify {BOUNDED} --strategy lucb --delta 0.1 --most-pulls 300 {FEW}",
    f"bounds {BOUNDED} --rho 1 --horizon 1000 --delta 0.01",
    "paper fig2-left --runs 2 --out paper",
    f"portfolio table.csv --horizon 30 --column east --column west {FEW}",
    f"portfolio table.csv --horizon 30 --short --upper 0.8 --feedback semi-bandit --out new {FEW}",
    "plan --option 'old: gaussian(0.3..0.6, 0.1)' --option 'beta(1..2, 2)' --rho 1 --horizon 40 --draws 10"
    f" --policy mv-lcb --policy exp-exp {FEW} --out plan",
    f"plan --pilot table.csv --policy mv-lcb --accept 0.2 0.1 --horizon 30 --draws 10 {FEW}",
    "run study.toml --out made",
    "run study.toml --out new --dry-run",
    "show made --policy 'mv-lcb*' --where c=1",
    "show made --horizon 20",
    "plot made regret --out picture.svg",
    "plot made heatmap --x c --y c",
    "compare made 'mv-lcb(c=1)' exp-exp --level 0.9",
    "compare made mv-lcb exp-exp",
    "compact made",
    "policies",
    "risks",
    "strategies",
    "cite mv-lcb Sani12 cvar",
)
COMMANDS: dict[str, list[tuple[str, ...]]] = {}
for text in TEXTS:
    words = tuple(shlex.split(text))
    COMMANDS.setdefault(words[0], []).append(words)
ROWS = ("show", "made", "--csv")

MOST_TRIED = ("simulate", "identify", "bounds", "portfolio", "plan", "run", "show", "plot", "compare")
"""Commands that can go wrong in more ways than others."""

NEEDED = {command: {"--runs"} for command in ("simulate", "identify", "portfolio")}
NEEDED |= {"plan": {"--runs", "--draws", "--policy"}, "paper": {"--runs", "fig2-left"}}
"""Words without which a command does a lot."""


class Seeds(NamedTuple):
    """What cases are made from besides: the files of a finished study, what ROWS prints of it, and saved agents."""

    study: dict[str, bytes]
    table: str
    agents: list[str]
