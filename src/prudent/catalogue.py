"""What there is: every policy, risk measure and strategy with its paper, its assumptions and its parameters.

Nothing is kept by hand: names come from the registries, the rest from each class's docstring, which names its papers in
brackets and says what it assumes in a sentence that begins with "Assumes".
"""

import difflib
import inspect
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from prudent.arms import Bernoulli
from prudent.bandit import Bandit
from prudent.engine import choose_engine
from prudent.errors import PrudentError
from prudent.identification import registry as strategies
from prudent.policies import bind, serves
from prudent.policies import registry as policies
from prudent.registry import Registry
from prudent.risk import MeanVariance
from prudent.risk import registry as risks

KEY = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")
REGISTRIES = (policies, risks, strategies)


class Entry(NamedTuple):
    """One policy, risk measure or strategy."""

    name: str
    summary: str
    papers: list[str]
    assumes: str
    parameters: dict[str, Any]


def entries(registry: Registry) -> list[Entry]:
    """Everything in a registry, by name."""
    return [entry(registry, name) for name in registry.names()]


def entry(registry: Registry, name: str) -> Entry:
    """What the docstring and the signature say."""
    factory = registry.get(name)
    text = " ".join((inspect.getdoc(factory) or "").split())
    plain = re.sub(r"\s*\([^()]*\[[A-Z][A-Za-z]+\d\d\][^()]*\)", "", text)
    summary = re.split(r"(?<=[.;])\s", plain)[0].strip(" .;")
    assumes = re.search(r"Assumes (.*?)(?:\.(?= |$)|$)", text)
    signature = inspect.signature(factory).parameters.values()
    parameters = {field.name: None if field.default is field.empty else field.default for field in signature}
    return Entry(name, summary, list(dict.fromkeys(KEY.findall(text))), assumes[1] if assumes else "", parameters)


def minds(name: str) -> str:
    """The risk measure a policy serves, the mean, or any risk."""
    return serves(policies.parse(name))


def engine(name: str) -> str:
    """The engine that plays a policy with its defaults, on arms whose rewards come in blocks."""
    policy, bandit = policies.parse(name), Bandit([Bernoulli(0.5), Bernoulli(0.6)])
    risk = risks.parse(minds(name)) if minds(name) in risks else MeanVariance()
    return choose_engine("auto", bandit, policy, bind(policy, risk, 1000, len(bandit)))


def cite(name: str) -> str:
    """BibTeX for a policy, a risk measure or a strategy, or for a paper by its key."""
    known = bibliography()
    if name in known:
        return known[name]
    for registry in REGISTRIES:
        if name in registry:
            papers = entry(registry, name).papers
            if not papers:
                raise PrudentError(f"cite: {name} has no paper of its own; `prudent cite Sani12` gives the paper")
            return "\n\n".join(known[key] for key in papers)
    every = [*known, *(found for registry in REGISTRIES for found in registry.names())]
    near = difflib.get_close_matches(name, every, n=2, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join(near)}?" if near else "`prudent policies`, `risks` and `strategies` list the names"
    )
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
