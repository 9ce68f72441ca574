"""The ledger of claims: its checks can fail, its verdicts are those listed, and its page says what it prints.

A mutant is a wrong policy, definition, risk measure or constant (`claim_mutants`). Every claim must fall on the mutants
that `claim_ledger` names for it: its verdict must change. So a check that is loosened, or that no longer looks at what
it should, fails here. Runs have a fixed seed, and what is listed falls for other seeds too.
"""

import os
import re
import runpy
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from helpers import pinned_texts
from helpers.claim_ledger import LEDGER
from helpers.claim_mutants import PATCHES, POLICIES
from prudent import Bandit, Gaussian, MeanVariance, PrudentError, simulate, theory
from prudent.paper.claims import CLAIMS, REMARKS, experiments, mv_lcb, printed
from prudent.paper.claims.ledger import (
    CORRECTED,
    FAILS,
    HOLDS,
    LATER,
    PART,
    SCHEMA,
    VERDICTS,
    Check,
    Claim,
    Evidence,
    Found,
    Ledger,
    Required,
    above,
    at_most,
    below,
    check_ledger,
    count_cells,
    count_verdicts,
    exactly,
    judge,
    judged,
    judged_over,
    listed,
    near,
    place_of,
    pm,
    simulate_claims,
)  # fmt: skip
from prudent.paper.making import Settings
from prudent.policies.contract import Policy
from prudent.study import Cell
from prudent.theory.bound import Condition

pytestmark = pytest.mark.xdist_group("claims")  # all worlds are played once
DOCS = Path(__file__).parents[2] / "docs"
PINNED = Path(__file__).with_name("claims.json")
AS_IT_IS = "as it is"
RUNS = 100
EVERY = [*CLAIMS, *REMARKS]
HORIZON = r"(?:\d+·10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d[\d,]*\d)"
NUMBER = r"[-−]?\d[\d,]*\.?\d*(?:e-?\d+)?"
DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
POWER = re.compile(r"(?<=\d) × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Found:
    """The runs of all cells."""
    return simulate_claims(Settings(tmp_path_factory.mktemp("claims"), runs=RUNS), EVERY)


def said(found: Found, claims: list[Claim] = EVERY) -> dict[str, Evidence]:
    """What checks say of these runs; "error" if they cannot, "refused" if the package notices that all is wrong."""
    outcomes = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for each in claims:
            try:
                outcomes[each.name] = judge(each, found)
            except PrudentError:
                outcomes[each.name] = Evidence("refused", "")
            except (ValueError, ZeroDivisionError) as error:
                outcomes[each.name] = Evidence("error", type(error).__name__)
    return outcomes


def played(honest: Found, kind: type, other: Callable[[Cell], Policy]) -> Found:
    """The runs, with another policy in the cells of one kind; fewer where horizons are long."""
    cells = {place_of(each): each.cell for claim in EVERY for each in claim.check.cells}
    changed = {place: cell for place, cell in cells.items() if isinstance(cell.policy, kind)}
    sizes = {place: min(len(honest[place]), 5 if cell.horizon > 10**7 else RUNS) for place, cell in changed.items()}
    made = {place: cell._replace(policy=other(cell), runs=sizes[place]) for place, cell in changed.items()}
    return {**honest, **{place: simulate(**cell._asdict()) for place, cell in made.items()}}


@pytest.fixture(scope="module")
def worlds(honest) -> dict[str, dict[str, Evidence]]:
    """What every check says in the world as it is, and in each of the wrong ones."""
    found = {AS_IT_IS: said(honest)}
    for mutant, (kind, other) in POLICIES.items():
        reached = [each for each in EVERY if any(isinstance(one.cell.policy, kind) for one in each.check.cells)]
        found[mutant] = {**found[AS_IT_IS], **said(played(honest, kind, other), reached)}
    for mutant, put in PATCHES.items():
        with pytest.MonkeyPatch.context() as patch:
            put(patch)
            patch.setattr(Bandit, "gaps", lambda bandit, risk: bandit._find_gaps(risk))  # not those of another world
            found[mutant] = said(honest)
    return found


@pytest.mark.slow
def test_every_claim_falls_on_the_mutants_listed_for_it(worlds):
    assert all(killers for _, killers in LEDGER.values()), "a claim that nothing kills is no check"
    before = worlds[AS_IT_IS]
    survived = {
        name: [
            mutant for mutant in killers.split("; ") if worlds[mutant][name].verdict in (before[name].verdict, "error")
        ]
        for name, (_, killers) in LEDGER.items()
    }
    assert {name: mutants for name, mutants in survived.items() if mutants} == {}
    assert {*PATCHES, *POLICIES} == {mutant for _, killers in LEDGER.values() for mutant in killers.split("; ")}


@pytest.mark.slow
def test_every_check_says_what_it_said_in_all_worlds(worlds):
    """Verdicts and numbers are pinned, so that no threshold, constant or operator of a check can change unseen."""
    lines = pinned_lines(worlds)
    if os.environ.get("PIN"):
        pinned_texts.write(PINNED, lines)
    known = pinned_texts.read(PINNED)
    for world, wanted in known.items():
        same = len(wanted) == len(lines.get(world, ())) and all(
            map(same_evidence, lines[world], wanted, map(share_of, wanted))
        )
        lines[world] = wanted if same else lines.get(world, [])
    then = "If this is meant, look at each line, then pin anew: PIN=1 pytest tests/statistical/test_claims.py"
    assert not (changed := pinned_texts.difference(known, lines, then)), changed


def pinned_lines(worlds: dict[str, dict[str, Evidence]]) -> pinned_texts.Sections:
    """All that is said in the world as it is; in another one, what is said there and not here."""
    lines = {}
    for world, outcomes in worlds.items():
        here = {} if world == AS_IT_IS else worlds[AS_IT_IS]
        lines[world] = [f"{name}: {': '.join(out)}" for name, out in outcomes.items() if out != here.get(name)]
    return lines


@pytest.mark.slow
def test_verdicts_are_those_listed(worlds):
    found = {name: outcome.verdict for name, outcome in worlds[AS_IT_IS].items()}
    assert found == {name: verdict for name, (verdict, _) in LEDGER.items()}
    assert [each.name for each in EVERY] == list(LEDGER), "in the order of the paper"


COMPUTED = {claim.name for claim in EVERY if not claim.check.cells}


def share_of(line: str) -> float:
    """What is computed is the same to the digits that are shown; runs may differ a little."""
    return 1e-6 if line.partition(":")[0] in COMPUTED else 0.01


def same_evidence(shown: str, wanted: str, share: float = 0.2) -> bool:
    """Word for word, and numbers to a share of them or to rounding: on another machine a run may turn out otherwise."""
    plain = [POWER.sub(lambda found: f"e{found[1].translate(LOWERED)}", text) for text in (shown, wanted)]
    both = [(re.sub(NUMBER, "#", text), re.findall(NUMBER, text)) for text in plain]
    ours, other = ([float(number.replace(",", "").replace("−", "-")) for number in numbers] for _, numbers in both)
    return both[0][0] == both[1][0] and ours == pytest.approx(other, rel=share, abs=1e-6)


def test_another_evidence_is_noticed():
    assert same_evidence("slope −0.32 at n = 1,000: 2 × 10⁻¹⁶", "slope −0.33 at n = 1,000: 1 × 10⁻¹⁶")
    assert not same_evidence("2 × 10²", "2 × 10³")
    assert not same_evidence("slope −0.32", "slope 0.32")
    assert not same_evidence("slope −0.32", "slope −0.45")
    assert not same_evidence("slope −0.32", "a slope −0.32")


@pytest.mark.slow
def test_the_page_says_what_the_ledger_finds(honest):
    tables = [[(c.place, c.statement, "", *judge(c, honest)) for c in some] for some in (CLAIMS, REMARKS)]
    ledger = Ledger(*[pl.DataFrame(rows, SCHEMA, orient="row") for rows in tables])
    maker = runpy.run_path(str(DOCS / "claims.py"))
    made = maker["page"](ledger).splitlines()
    page = (DOCS / "paper/claims.md").read_text(encoding="utf-8").splitlines()
    assert len(made) == len(page)
    computed = [maker["typeset"](claim.statement) for claim in EVERY if claim.name in COMPUTED]
    shares = [0.02 if any(statement in line for statement in computed) else 0.2 for line in made]
    lines = zip(made, page, shares, strict=True)
    assert [line for line, wanted, share in lines if not same_evidence(line, wanted, share)] == []


def test_the_ledger_is_long_and_remarks_are_no_claims():
    assert len({claim.statement for claim in EVERY}) == len({claim.name for claim in EVERY}) == len(EVERY)
    assert (len(CLAIMS), len(REMARKS)) == (73, 6)
    assert count_cells(EVERY) < sum(len(claim.check.cells) for claim in EVERY), "shared cells, once each"


def written(horizon: int) -> set[str]:
    """The ways to write a horizon: 30,000,000 and 3·10⁷."""
    leading = str(horizon).rstrip("0")
    power = f"10{str(len(str(horizon)) - len(leading)).translate(DIGITS)}"
    return {f"{horizon:,}", power if leading == "1" else f"{leading}·{power}"}


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.name)
def test_how_it_was_checked_names_every_horizon_and_tolerance(claim):
    how = " ".join((claim.check.function.__doc__ or "").split())
    assert how
    found = set(re.findall(r"\d[\d,]*\d(?:·10)?[⁰¹²³⁴⁵⁶⁷⁸⁹]*|\d·10[⁰¹²³⁴⁵⁶⁷⁸⁹]+", how))
    assert all(written(horizon) & found for horizon in {each.cell.horizon for each in claim.check.cells})
    listed_after_n = re.findall(rf"(?<!… n, )n = ({HORIZON}(?:(?:, | and | to | or ){HORIZON})*)", how)
    words = {word for each in listed_after_n for word in re.findall(HORIZON, each)}
    known = set().union(*(written(each.cell.horizon) for each in claim.check.cells))
    assert words <= known or not known, "a horizon without a cell"
    rhos = {each.cell.risk.rho for each in claim.check.cells} - {0.0}
    assert len(rhos) > 2 or all(f"ρ = {rho:g}".replace("inf", "∞") in how for rho in rhos), "0 needs no mention"


def test_formulas_are_those_of_the_paper():
    root = np.sqrt(np.log(100.0) / 20.0)  # √(log(1/δ)/2s) with δ = 0.01, s = 10
    assert printed.event_width(0.01, [10, 40]) == pytest.approx([root, root / 2.0])
    assert printed.lemma_2_width(2.0, 0.01, 10) == pytest.approx(7.0 * root)
    assert printed.event_variance_width(0.01, 10) == pytest.approx(5.0 * root)
    assert printed.worst_case_index(0.01, 10) == pytest.approx(np.sqrt(2.0) * root)
    assert printed.failure(100, 3, 0.001) == pytest.approx(1.8)
    assert (printed.largest_regret(3.0), printed.largest_pseudo_regret(3.0)) == (3.25, 5.0)
    assert printed.wrong_arm(50, [0.0, 0.2]) == pytest.approx([2.0, 2.0 * np.exp(-2.0)])
    assert printed.exploring(50, 1_000) == pytest.approx(0.1)
    assert printed.worst_gap(200, 4) == pytest.approx(0.1)
    assert printed.worst_regret(100, 4, 1_000) == pytest.approx(0.2 + 0.8)
    assert printed.best_tau(4_000, 5) == pytest.approx(500.0)
    lower = printed.commented_index(np.array([0.4]), np.array([0.5]), 10, 2.0, 0.01)
    level = 2.0 * root**2
    assert lower == pytest.approx((0.4 + root) ** 2 - 2.0 * (0.5 + 0.4 * np.sqrt(level) + level))


YES, NO = Required(True, "yes"), Required(False, "no")


def test_the_first_case_of_which_all_is_met_is_the_verdict():
    assert judged("", YES, YES, part=[YES]).verdict == HOLDS
    assert judged("", YES, NO, part=[YES], corrected=[YES]).verdict == PART
    assert judged("", NO, part=[YES, NO], corrected=[YES]).verdict == CORRECTED
    assert judged("between -1.5 and 2e-3", NO) == (FAILS, "between −1.5 and 2e-3 (required: no)")
    told = judged("R", YES, NO, NO, part=[NO], corrected=[NO]).text
    assert told == "R (required: yes, no; for a part: no; corrected: no)"


@pytest.mark.parametrize(
    ("requires", "words", "met", "missed"),
    [
        (at_most, "at most 2", [2.0, 1.0], [2.1, 1.0]),
        (below, "below 2", [1.9, 1.0], [2.0, 1.0]),
        (above, "above 2", [2.1, 3.0], [2.0, 3.0]),
        (exactly, "exactly 2", [2.0, 2.0], [2.0, 3.0]),
        (lambda wanted, *rest: near(wanted, 0.25, *rest), "within 0.25 of 2", [2.2, 1.8], [2.25, 2.0]),
    ],
)
def test_a_requirement_is_met_by_all_values_and_says_its_limit(requires, words, met, missed):
    assert requires(2.0, met) == requires(2.0, met[0]) == (True, words)
    assert requires(2.0, missed) == requires(2.0, missed[::-1]) == (False, words)
    assert not requires(2.0, [2.0, np.nan]).met


def test_what_evidence_does_not_show_is_named_with_its_worst_value():
    assert at_most(2.0, [1.0, 3.0], "every step") == (False, "every step (3) at most 2")
    assert below(2.0, [1.0, 0.12345], "every step") == (True, "every step (1) below 2")
    assert above(2.0, [3.0, 4.0], "every step") == (True, "every step (3) above 2")
    assert near(2.0, 0.5, [2.1, 1.7, 2.2], "every step") == (True, "every step (1.7) within 0.5 of 2")


def test_a_bound_says_something_if_it_applies_and_both_forms_are_below_what_is_possible():
    bound = theory.theorem1_expectation(mv_lcb.TWO, MeanVariance(0.0), mv_lcb.HORIZON)
    assert mv_lcb.telling(bound, bound).met
    most = bound.limit[0]
    for wrong in ({"printed": most}, {"corrected": most}, {"needs": (Condition("no", False),)}):
        assert not mv_lcb.telling(bound, replace(bound, **wrong)).met
    with pytest.raises(ValueError, match="no such form"):
        mv_lcb.telling(replace(bound, printed=None))


def test_the_probability_of_straying_is_that_of_samples():
    """Means and variances of 200,000 samples of each of two sizes; false alarms 1e-9 each."""
    rng, sizes, far = np.random.default_rng(0), np.array([3.0, 8.0]), (0.5, 0.3)
    samples = [rng.normal(0.0, np.sqrt(0.5), (200_000, int(size))) for size in sizes]
    off = [(np.abs(x.mean(1)) > far[0]).mean() + (np.abs(x.var(1) - 0.5) > far[1]).mean() for x in samples]
    found = experiments.stray(0.5, np.full(2, far[0]), np.full(2, far[1]), sizes)
    assert found == pytest.approx(sum(off), abs=6.0 * np.sqrt(4 / 200_000))


def test_an_arm_is_never_best_if_another_one_is_for_every_tolerance():
    def never(*arms):
        return experiments.never_best(Bandit([Gaussian(*arm) for arm in arms]))

    assert never((0.1, 0.01), (0.3, 0.03), (0.2, 0.02)) == 0, "all three cost the same at ρ = 0.1"
    assert never((0.1, 0.01), (0.3, 0.03), (0.2, 0.0201)) == 1
    assert never((0.1, 0.01), (0.1, 0.02)) == never((0.1, 0.01), (0.05, 0.02)) == 1, "a smaller mean, a larger variance"
    assert never((0.2, 0.01), (0.1, 0.01)) == 0, "both are best at ρ = 0"


@pytest.mark.parametrize(
    ("true_at", "verdict", "text"),
    [
        ((True, True, True), HOLDS, "R; true from n = 10 on"),
        ((False, False, True), LATER, "R; true from n = 1,000 on"),
        ((True, False, True), LATER, "R; true from n = 1,000 on"),
        ((True, True, False), FAILS, "R; not true at n = 1,000"),
    ],
)
def test_what_begins_to_be_true_holds_for_larger_n(true_at, verdict, text):
    assert judged_over((10, 100, 1_000), true_at, "R") == (verdict, text)


def test_numbers_are_written_plainly():
    assert listed([0.123456, 2.0, 3e-5]) == "0.123, 2 and 0.00003"
    assert listed([5_000, 250_000]) == "5,000 and 250,000"
    assert listed([0.5], 1) == "0.5"
    assert pm(np.array([0.1, 0.2, 0.3])) == "0.200 ± 0.058"
    assert pm(np.full(3, 0.25)) == "0.25"


def test_a_cell_that_takes_long_takes_its_share_of_the_runs(tmp_path):
    sizes = Counter()
    cells = {place_of(each): each for claim in CLAIMS for each in claim.check.cells if each.cell.horizon == 1_000}
    counted = []
    settings = Settings(tmp_path, runs=30, progress=counted.append)
    found = simulate_claims(settings, [Claim("", "", Check(judged, tuple(cells.values())))])
    for (_, share), runs in found.items():
        sizes[share, len(runs)] += 1
    assert sum(counted) == len(cells)
    assert set(sizes) == {(1, 30), (5, 6)}


def test_verdicts_are_counted_in_words():
    rows = pl.DataFrame({"verdict": [HOLDS, HOLDS, FAILS]})
    assert count_verdicts(rows) == "3: 2 hold, 1 does not hold"
    assert all(meant.plural and meant.meaning for meant in VERDICTS.values())


def test_a_ledger_has_a_row_for_each_claim_and_each_remark(tmp_path):
    claims = [claim for claim in CLAIMS if not claim.check.cells][:2]
    ledger = check_ledger(Settings(tmp_path), claims, REMARKS[:1])
    assert ledger.claims["claim"].to_list() == [claim.statement for claim in claims]
    titles = list(ledger.tables())
    assert titles == ["2 claims of the paper", "Remarks: what is not a claim of the paper"]
    assert ledger.tables()[titles[1]].columns == ["place", "remark", "how it was checked", "verdict", "evidence"]
