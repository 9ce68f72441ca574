"""The table of axioms in docs/concepts/risks.md: what holds is tried on random samples, what does not is refuted here.

A sample stands for equally likely outcomes; two samples of one size are two rewards on the same outcomes, so that
dependence of every kind occurs.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prudent import CVaR, Empirical, MeanVariance, VaR
from prudent.risk.base import risks as registry

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "risks.md").read_text()
SHIFT, FACTOR, SHARE = 1.5, 2.5, 0.3

# How much cost(left) exceeds right where it must not; both directions for equalities.
EXCESS = {
    "translation": lambda cost, x, y: abs(cost(x + SHIFT) - (cost(x) - SHIFT)),
    "homogeneity": lambda cost, x, y: abs(cost(FACTOR * x) - FACTOR * cost(x)),
    "monotone": lambda cost, x, y: cost(np.maximum(x, y)) - cost(x),
    "subadditive": lambda cost, x, y: cost(x + y) - cost(x) - cost(y),
    "convex": lambda cost, x, y: cost(SHARE * x + (1 - SHARE) * y) - SHARE * cost(x) - (1 - SHARE) * cost(y),
}


def table() -> list[tuple[str, str, bool]]:
    """(measure, axiom, whether it holds), as the page says."""
    head, rows = re.search(r"\| measure ((?:\| \w+ )+)\|\n\|[-|]+\n((?:\|.*\n)+)", PAGE).groups()
    axioms = head.replace("|", " ").split()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]
    return [
        (row[0].strip("`"), axiom, mark == "✓")
        for row in cells
        for axiom, mark in zip(axioms, row[1:], strict=True)
        if mark in "✓–"
    ]


TABLE = table()
HOLDING = {spec: [axiom for name, axiom, holds in TABLE if holds and name == spec] for spec, _, _ in TABLE}
FAILING = [(spec, axiom) for spec, axiom, holds in TABLE if not holds]

# A loan that fails with 4 %, and another, independent of it.
ONE_LOAN, OTHER_LOAN = (grid.ravel() for grid in np.meshgrid([-1.0] + [0.02] * 24, [-1.0] + [0.02] * 24))
TICKET, LOSS, NOTHING = np.array([0.0, 10.0]), np.array([-1.0, -1.0]), np.array([0.0, 0.0])
COUNTEREXAMPLES = {
    "translation": [(TICKET, TICKET), (LOSS, LOSS)],
    "homogeneity": [(TICKET, TICKET), (LOSS, LOSS)],
    "monotone": [(NOTHING, TICKET), (NOTHING + 1.0, TICKET + 1.0)],
    "subadditive": [(TICKET, TICKET), (LOSS, LOSS), (ONE_LOAN, OTHER_LOAN)],
    "convex": [(TICKET, NOTHING), (ONE_LOAN, OTHER_LOAN), (TICKET / 100.0, 0.1 - TICKET / 100.0), (LOSS, NOTHING)],
}


def test_the_page_speaks_of_every_measure() -> None:
    assert {registry.parse(spec).name for spec, _, _ in TABLE} == {registry.parse(n).name for n in registry.names()}
    assert {axiom for _, axiom, _ in TABLE} == set(EXCESS)
    assert len(FAILING) > 20


elements = st.floats(-4.0, 4.0)
pairs = st.integers(1, 9).flatmap(lambda n: st.tuples(*[arrays(float, n, elements=elements)] * 2))


@pytest.mark.parametrize("spec", [spec for spec, axioms in HOLDING.items() if axioms])
@settings(max_examples=150)
@given(pair=pairs)
def test_axioms_that_hold(spec, pair):
    cost = registry.parse(spec).sample_cost
    # e^(λx) reaches e^16 after the shift and the factor; rounding is relative to that.
    scale = 1.0 + sum(abs(cost(FACTOR * x)) + abs(cost(x)) + np.abs(x).max() ** 2 for x in pair)
    assert {axiom for axiom in HOLDING[spec] if EXCESS[axiom](cost, *pair) > 1e-9 * scale} == set()


@pytest.mark.parametrize(("spec", "axiom"), FAILING)
def test_axioms_that_do_not_hold(spec, axiom):
    cost = registry.parse(spec).sample_cost
    assert max(EXCESS[axiom](cost, x, y) for x, y in COUNTEREXAMPLES[axiom]) > 0.01


@pytest.mark.parametrize("name", registry.names())
@given(arrays(float, st.integers(1, 9), elements=elements), st.randoms(use_true_random=False))
def test_every_measure_depends_on_the_law_alone(name, x, random):
    risk, shuffled = registry.parse(name), list(np.repeat(x, 2))
    random.shuffle(shuffled)
    scale = 1e-9 * (1.0 + abs(risk.sample_cost(x)) + np.abs(x).max() ** 2)
    assert risk.sample_cost(shuffled) == pytest.approx(risk.sample_cost(x), abs=scale)
    assert risk.cost(Empirical(x)) == pytest.approx(risk.sample_cost(x), abs=scale)


def test_the_two_that_the_seed_names() -> None:
    """Mean-variance prefers nothing to a free ticket; value at risk prefers one large loan to two."""
    assert MeanVariance(1.0).sample_cost(TICKET) > MeanVariance(1.0).sample_cost(NOTHING)
    for risk, diversifies in ((VaR(0.05), False), (CVaR(0.05), True)):
        together = risk.sample_cost(ONE_LOAN + OTHER_LOAN)
        assert (together <= risk.sample_cost(ONE_LOAN) + risk.sample_cost(OTHER_LOAN)) == diversifies
