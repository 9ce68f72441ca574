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
mu = [0.5, 0.7]

[bandits.easy]
arms = ["gaussian({mu}, 0.05)", "uniform(0, 1)"]
"""
TABLE = """east,west,south
-0.02,0.02,0.03
0.01,-0.02,-0.01
0.03,0.01,0.02
-0.01,0.03,-0.02
0.02,-0.01,0.01
"""
EXPERIMENT = """{"name": "shop", "arms": ["old", "new"], "policy": "mv-lcb(range=1.0)", "risk": "mean-variance(rho=1)",
"horizon": 50, "support": [0, 1], "seed": 7, "sticky": true, "rewards": {"window": "1 h", "default": 0}}
"""
LOG = "arm,reward,propensity,day\n" + "".join(
    f"{arm},{reward},{chance},{day}\n"
    for day, (arm, reward, chance) in enumerate(
        [("A", 0.5, 0.6), ("B", 0.2, 0.4), ("A", 0.9, 0.6), ("B", 1.0, 0.4), ("A", 0.1, 0.6), ("B", 0.7, 0.4)] * 3
    )
)
FILES = {
    "log.csv": LOG.encode(),
    "study.toml": STUDY.encode(),
    "table.csv": TABLE.encode(),
    "experiment.json": EXPERIMENT.encode(),
}
MADE = (
    ("study", "run", "study.toml", "--out", "made"),
    ("trial", "create", "experiment.json", "--database", "made.db"),
)
"""Commands that make what others read: a study, and a database with an experiment."""
NAMES = ("east", "west", "south")

ARMS = "--arm 'gaussian(0.7, 0.05)' --arm 'beta(1, 2)'"
BOUNDED = "--arm 'uniform(0, 1)' --arm 'mixture([bernoulli(0.3), beta(2, 1)], [0.5, 0.5])'"
FEW = "--runs 3 --seed 1"
TEXTS = (
    f"simulate {ARMS} --policy 'mv-lcb(c=1)' --policy exp-exp --horizon 50 {FEW}",
    f"simulate {ARMS} --policy 'mv-lcb(c=1)' --scale auto --horizon 50 {FEW}",
    f"simulate {BOUNDED} --policy cvar-ucb --risk 'cvar(alpha=0.1)' --horizon 30 {FEW}",
    f"simulate {ARMS} --arm \"empirical('table.csv', 'east')\" --policy ucb1 --horizon 30 {FEW}",
    f"identify {BOUNDED} --strategy sequential-halving --budget 60 {FEW}",
    f"identify {BOUNDED} --strategy lucb --delta 0.1 --most-pulls 300 {FEW}",
    f"bounds {BOUNDED} --rho 1 --horizon 1000 --delta 0.01 --support 0 1",
    "evaluate log.csv --policy B --support 0 1 --unit EUR --quantile 0.5 --out law.svg",
    "evaluate log.csv --policy A=0.5,B=0.5 --method arms --risk 'cvar(alpha=0.1)' --rho 1 --level 0.9 --time day",
    "evaluate log.csv --policy 'mv-lcb(rho=1)' --support 0 1 --smaller-is-better --seed 2",
    "paper fig2-left --runs 2 --out paper",
    f"paper fig2-left --runs 2 --rho 0.5 {ARMS} --out paper",
    f"portfolio table.csv --horizon 30 --column east --column west {FEW}",
    f"portfolio table.csv --horizon 30 --returns --rho 0.1 {FEW}",
    f"portfolio table.csv --horizon 30 --short --upper 0.8 --feedback semi-bandit --out new {FEW}",
    "plan --option 'old: gaussian(0.3..0.6, 0.1)' --option 'beta(1..2, 2)' --rho 1 --horizon 40 --draws 10"
    f" --policy mv-lcb --policy exp-exp {FEW} --seconds 1 --out plan",
    f"plan --pilot table.csv --policy mv-lcb --accept 0.2 0.1 0.3 --horizon 30 --draws 10 {FEW}",
    "plan --option 'a: uniform(0, 1)' --option 'gaussian(0..1, 2)' --smaller-is-better --unit min --support -9 9"
    f" --rho 1 --horizon 20 40 --draws 10 --policy exp-exp {FEW} --out lengths",
    "study run study.toml --out made",
    "study run study.toml --out new --dry-run",
    "study show made --policy 'mv-lcb*' --where c=1",
    "study show made --horizon 20",
    "study plot made regret --out picture.svg",
    "study plot made regret --out picture.pdf --title Regret --size 5 3",
    "study plot made heatmap --x c --y mu --policy 'mv-lcb(c=*' --horizon 20",
    "study compare made mv-lcb exp-exp --level 0.9 --where mu=0.5",
    "study compare made mv-lcb exp-exp",
    "study compact made",
    "trial create experiment.json --database new.db --name other",
    "trial list --database made.db",
    "trial ask shop --unit 'visitor 1' --among new --database made.db",
    "trial show shop --level 0.9 --database made.db",
    "trial freeze shop old --reason 'a test' --database made.db",
    "trial verify shop --database made.db",
    "trial export shop --out shop.csv --database made.db",
    "trial report shop --out shop.html --database made.db",
    "trial token --list --database made.db",
    "serve --database made.db backup copy.db",
    "warm-up --policy random-arm --policy uniform",
    "policies",
    "policies --portfolio",
    "risks",
    "arms",
    "strategies",
    "cite mv-lcb Sani12 cvar",
    "docs glossary",
    "cite prudent mc-ucb --all",
)
COMMANDS: dict[str, list[tuple[str, ...]]] = {}
for text in TEXTS:
    words = tuple(shlex.split(text))
    COMMANDS.setdefault(words[0], []).append(words)
ROWS = ("study", "show", "made", "--csv")

MOST_TRIED = ("simulate", "identify", "bounds", "portfolio", "plan", "study", "trial")
"""Commands that can go wrong in more ways than others."""

NEEDED = {command: {"--runs"} for command in ("simulate", "identify", "portfolio")}
NEEDED |= {"serve": {"backup"}, "plan": {"--runs", "--draws", "--policy"}, "paper": {"--runs", "fig2-left"}}
"""Words without which a command does a lot."""


class Seeds(NamedTuple):
    """What cases are made from besides: the files of a finished study, what ROWS prints of it, and saved agents."""

    study: dict[str, bytes]
    table: str
    agents: list[str]


CALLS = {
    "Bandit": {"arms": "['uniform(0, 1)', 'beta(1, 2)']", "names": "['a', 'b']"},
    "two_arms().costs": {"risk": "CVaR(0.1)"},
    "two_arms().best": {"risk": "MeanVariance(1)"},
    "CVaR(0.1).cost": {"law": "Gaussian(0, 1)"},
    "MeanVariance": {"rho": "1.0"},
    "Gaussian(0, 1).quantile": {"alpha": "0.5"},
    "Beta": {"a": "1", "b": "2"},
    "StudentT": {"degrees": "3"},
    "TruncatedGaussian": {"center": "0", "scale": "1", "low": "0", "high": "1"},
    "Mixture": {"components": "[Gaussian(0, 1), Beta(1, 1)]", "weights": "[0.5, 0.5]"},
    "Empirical": {"values": "[1.0, 2.0, 3.0]"},
    "MVLCB": {"rho": "1.0", "c": "5.0", "delta": "0.1", "range": "1.0", "unbiased": "True"},
    "simulate": {
        **{"bandit": "two_arms()", "policy": "'ucb1'", "risk": "'variance'", "horizon": "20", "runs": "3", "seed": "1"},
        **{"batch": "2", "engine": "'auto'", "workers": "1", "snapshots": "[5, 10]", "bound_failure": "0.0"},
    },
    "identify": {
        **{"bandit": "two_arms()", "strategy": "'sequential-halving'", "risk": "'mean-variance'", "budget": "40"},
        **{"delta": "None", "runs": "3", "seed": "1", "most_pulls": "None", "workers": "1"},
    },
    "MultivariateGaussian": {"mean": "[0.1, 0.2]", "covariance": "[[0.04, 0.0], [0.0, 0.04]]"},
    "EmpiricalJoint": {"rows": "[[0.1, 0.2], [0.3, 0.1]]", "names": "['a', 'b']"},
    "two_assets().optimal": {"rho": "1.0", "upper": "0.8", "short": "True"},
    "simulate_portfolio": {
        **{"bandit": "two_assets()", "policy": "'mc-empirical'", "rho": "1.0", "horizon": "20", "runs": "2"},
        **{"upper": "0.8", "short": "False", "snapshots": "[5]", "workers": "1", "seed": "1"},
    },
    "in_study": {
        **{"bandits": "{'b': ['uniform(0, 1)', 'beta(1, 2)']}", "policies": "['mv-lcb']", "risks": "['variance']"},
        **{"horizons": "[10]", "runs": "2", "seed": "1", "engine": "'auto'", "keep": "'runs'", "ranges": "{}"},
    },
    "advise": {
        **{
            "options": "plan.guesses(['a: beta(1, 2)', 'b: beta(1..2, 2)'])",
            "risk": "MeanVariance(1)",
            "horizon": "20",
        },
        **{"unit": "'EUR'", "larger_is_better": "True", "support": "(0, 1)"},
        **{"out": "Path('new')", "policies": "['mv-lcb']", "draws": "10", "runs": "2", "seed": "1", "workers": "1"},
    },
    "plan.guesses": {"texts": "['a: beta(1, 2)']"},
    "plan.tolerance": {"less_mean": "0.1", "deviation": "0.2", "instead_of": "0.3"},
    "plan.accepted": {"answer": "'5 25 30'"},
    "plan.winners": {"options": "plan.guesses(['a: beta(1, 2)', 'b: beta(1..2, 2)'])", "larger_is_better": "True"},
    "Agent": {
        **{"policy": "'mv-lcb'", "arms": "2", "horizon": "20", "seed": "1", "risk": "'variance'"},
        **{"support": "(0, 1)", "remember": "True"},
    },
    "Agent('ucb1', 2, scale=1).ask": {"among": "[0]"},
    "Agent('ucb1', 2, scale=1).tell": {"arm": "0", "reward": "0.5", "asked": "False"},
    "Agent('ucb1', 2, scale=1).retire": {"arm": "0"},
    "Agent('ucb1', ['a', 'b'], scale=1).add_arm": {"name": "'c'"},
    "Agent('ucb1', 2, support=(0, 1), remember=True).intervals": {"level": "0.9", "quantile": "0.5"},
    "Agent('ucb1', 2, support=(0, 1)).leader": {"level": "0.9"},
    "Agent('ucb1', 2, support=(0, 1), risk='mean').summary": {"level": "0.9"},
    "Agent('ucb1', 2, support=(0, 1), risk='mean').forecast": {"rounds": "9"},
    "Agent.from_json": {"text": "Agent('ucb1', 2, scale=1).to_json()", "policy": "UCB1()"},
    "theory.bounds": {"bandit": "two_arms()", "risk": "MeanVariance(1)", "horizon": "100", "delta": "0.1"},
    "theory.asymptotic_bound": {"bandit": "two_arms()", "risk": "'mean'", "support": "(0, 1)", "values": "None"},
    "best_sequence": {"bandit": "two_arms()", "risk": "'variance'", "periods": "3"},
    "sequence_cost": {
        "bandit": "Bandit(['gaussian(0, 1)', 'gaussian(1, 2)'])",
        "risk": "'variance'",
        "counts": "[1, 2]",
    },
    "period_cost": {"law": "Gaussian(0, 1)", "risk": "CVaR(0.1)", "periods": "3"},
}
"""Calls of the Python API by their arguments."""


def call(name: str, given: dict[str, str]) -> str:
    """A script with this call."""
    imports = ("from entries import *", "from prudent import *", "from pathlib import Path", "import numpy as np")
    return "\n".join([*imports, f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})"])
