"""What there is: the engine that runs a policy, and the papers behind everything that is registered."""

import re
from functools import cache
from importlib.resources import files

from prudent.arms.discrete import Bernoulli
from prudent.bandit import Bandit
from prudent.engine.simulation import choose_engine
from prudent.errors import PrudentError, near
from prudent.policies.base import Setting, policies, strategies
from prudent.policies.binding import bind, served_risk
from prudent.risk.base import risks

REGISTRIES = (policies, risks, strategies)


def engine(name: str) -> str:
    """The engine that runs a policy with its defaults, on arms whose rewards come in blocks."""
    if not isinstance(name, str):
        raise PrudentError(f"engine: name must be a policy's name such as 'mv-lcb', got {name!r}")
    policy, bandit = policies.parse(name), Bandit([Bernoulli(0.5), Bernoulli(0.6)])
    return choose_engine("auto", bandit, policy, bind(policy, Setting.of(bandit, served_risk(policy), 1000)))


def cite(name: str) -> str:
    """BibTeX for a policy, a risk measure or a strategy, or for a paper by its key."""
    known = bibliography()
    if not isinstance(name, str):
        raise PrudentError(f"cite: name must be text such as 'mv-lcb' or 'Sani12', got {name!r}")
    if name in known:
        return known[name]
    for registry in REGISTRIES:
        if name in registry:
            papers = registry.get(name).papers
            if not papers:
                raise PrudentError(f"cite: {name} has no paper of its own; `prudent cite Sani12` gives the paper")
            return "\n\n".join(known[key] for key in papers)
    every = [*known, *(found for registry in REGISTRIES for found in registry.names())]
    hint = near(name, every) if "did you mean" in near(name, every) else "`prudent policies`, `risks` and `strategies`"
    raise PrudentError(
        f"cite: name must be a policy, a risk measure, a strategy or a paper's key, got {name!r}; {hint}"
    )


@cache
def bibliography() -> dict[str, str]:
    """The BibTeX entries by key."""
    text = files("prudent").joinpath("references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^@\w+\{(\w+),.*?^\}", text, flags=re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^@.*?^\}", text, flags=re.MULTILINE | re.DOTALL)
    return dict(zip(found, blocks, strict=True))
