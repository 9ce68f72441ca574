"""What there is: the engine that runs a policy, and the papers behind everything that is registered."""

import re
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from prudent.arms.base import arms
from prudent.arms.discrete import Bernoulli
from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, near, pretty, shown
from prudent.base.registry import Entry
from prudent.base.text import RELEASED, minus
from prudent.engine.question import choose_engine
from prudent.policies.binding import bind, served_risk
from prudent.policies.contract import Setting, policies, strategies
from prudent.portfolio.policies.base import portfolio_policies
from prudent.risk.base import risks

REGISTRIES = (policies, risks, strategies, portfolio_policies)

PACKAGE, PAPER = "prudent", "Sani12"
"""The names under which the package itself and the paper are cited."""

KNOWN = "a policy, a risk measure, a strategy, a paper's key or prudent"

MANY_ROUNDS = 10**6


def engine(name: str) -> str:
    """The engine that runs a policy with its defaults for many rounds, on arms whose rewards come in blocks."""
    if not isinstance(name, str):
        raise PrudentError(f"engine: name must be a policy's name such as 'mv-lcb', got {name!r}")
    policy, bandit = policies.parse(name), Bandit([Bernoulli(0.5), Bernoulli(0.6)])
    rounds = policies.facts_of(policy).get("rounds", MANY_ROUNDS)
    ready = bind(policy, Setting.of(bandit, served_risk(policy), rounds))
    return choose_engine("auto", bandit, policy, ready, rounds)


def support(entry: Entry) -> str:
    """The interval that holds the rewards of an arm's example, as people write it; empty if there is no example."""
    if "example" not in entry.facts:
        return ""
    low, high = (pretty(end) for end in arms.parse(entry.facts["example"]).support)
    return minus(f"{'(' if low == '−∞' else '['}{low}, {high}{')' if high == '∞' else ']'}")


def cite(name: str) -> str:
    """BibTeX for a policy, a risk measure or a strategy, for a paper by its key, or for `prudent` and the paper."""
    return "\n\n".join(entries_of(name).values())


def entries_of(name: str) -> dict[str, str]:
    """The BibTeX entries behind a name, by their keys."""
    known = bibliography()
    if not isinstance(name, str):
        raise PrudentError(f"cite: name must be text such as 'mv-lcb' or '{PAPER}', got {shown(name)}")
    if name == PACKAGE:
        return {PACKAGE: package_entry(), PAPER: known[PAPER]}
    if name in known:
        return {name: known[name]}
    for registry in REGISTRIES:
        if name in registry:
            papers = registry.get(name).papers
            if not papers:
                raise PrudentError(f"cite: {name} has no paper of its own; `prudent cite {PAPER}` gives the paper")
            return {key: known[key] for key in papers}
    every = [PACKAGE, *known, *(found for registry in REGISTRIES for found in registry.names())]
    hint = near(name, every) if "did you mean" in near(name, every) else "`prudent policies`, `risks` and `strategies`"
    raise PrudentError(f"cite: name must be {KNOWN}, got {shown(name)}; {hint}")


def every_entry() -> dict[str, str]:
    """The package and the whole bibliography."""
    return {PACKAGE: package_entry(), **bibliography()}


def package_entry() -> str:
    """The package as BibTeX, as CITATION.cff has it."""
    fields = {
        "author": "{The prudent maintainers}",
        "title": "prudent: risk-averse multi-armed bandits",
        "year": RELEASED[:4],
        "howpublished": "Python package",
        "note": f"Version {version(PACKAGE)}",
    }
    return f"@misc{{{PACKAGE},\n" + ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items()) + "\n}"


@cache
def bibliography() -> dict[str, str]:
    """The BibTeX entries by key."""
    text = files("prudent").joinpath("references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^@\w+\{(\w+),.*?^\}", text, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^@.*?^\}", text, flags=re.MULTILINE | re.DOTALL)
    return dict(zip(found, blocks, strict=True))
