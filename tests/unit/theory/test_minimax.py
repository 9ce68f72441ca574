"""The minimax regret of two coins against all policies that there are, and the checker against fractions and lies."""

import json
import math
import runpy
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from prudent import Bandit, PrudentError, simulate
from prudent.theory import minimax
from prudent.theory.coins import checker
from prudent.theory.coins.bernstein import largest_value


@pytest.fixture(scope="module")
def found():
    return minimax(16)


def test_no_other_mixture_of_all_policies_does_better_in_three_rounds():
    """All 2^15 policies for 3 rounds, on a grid of coins; what a finer grid would add is stated."""
    n, grid = 3, np.linspace(0.0, 1.0, 21)
    pairs = [(p, q) for p in grid for q in grid if p < q]
    laws = {}  # of a leaf, which is three pulls with rewards, on every pair
    for leaf in product(product((0, 1), (0, 1)), repeat=n):
        ones = sum(reward for _, reward in leaf)
        chances = [math.prod(pair[arm] if reward else 1.0 - pair[arm] for arm, reward in leaf) for pair in pairs]
        laws[leaf] = np.array(chances) * (ones / n) * (1.0 - ones / n)
    costs = _all_costs((), n, laws)
    best = np.array([(1.0 - 1.0 / n) * min(p * (1.0 - p), q * (1.0 - q)) for p, q in pairs])
    swapped = _all_costs((), n, {tuple((1 - a, r) for a, r in leaf): law for leaf, law in laws.items()})
    regrets = np.unique(np.round((costs + swapped) / 2.0 - best, 12), axis=0)
    size = len(regrets)
    value = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.column_stack([regrets.T, -np.ones(len(pairs))]),
        b_ub=np.zeros(len(pairs)),
        A_eq=np.append(np.ones(size), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * size + [(None, None)],
        method="highs",
    ).fun
    ends = minimax(3)
    assert ends.lower - 0.002 <= value <= ends.upper  # the grid lets less than 0.002 go
    assert ends.upper - ends.lower < 0.003 * value


def _all_costs(history, n, laws):
    """The costs of all policies from a history on, a row each."""
    if len(history) == n:
        return laws[history][None, :]
    rows = []
    for arm in (0, 1):
        zero, one = (_all_costs((*history, (arm, reward)), n, laws) for reward in (0, 1))
        rows.append((zero[:, None, :] + one[None, :, :]).reshape(-1, zero.shape[1]))
    return np.concatenate(rows)


def test_four_rounds_have_a_value_in_fractions():
    """Bayes under (0, ½) and (½, 1) is 11/128, and the checker finds that one policy attains it."""
    low, high = minimax(4).check()
    assert low <= 11 / 128 <= high
    assert high - low < 1e-9


@pytest.mark.parametrize("rho", [0.0, 0.5, 2.0])
def test_exact_arithmetic_confirms_both_ends(rho):
    ends = minimax(12, rho)
    low, high = ends.check()
    assert ends.lower <= low <= high <= ends.upper
    assert ends.upper - ends.lower < 2.5e-3 * ends.upper


def in_fractions(n, rho, prior):
    """The least expected regret under a prior, by a recursion over fractions."""
    pairs = [(Fraction(p, 4096), Fraction(q, 4096), w) for p, q, w in prior]
    pairs = [(p, q, Fraction(w)) for p, q, w in pairs] + [(q, p, Fraction(w)) for p, q, w in pairs]
    total = sum(w for _, _, w in pairs)

    def alone(p):
        return (1 - Fraction(1, n)) * p * (1 - p) - rho * p

    @cache
    def value(a, b, c, d):
        if a + b + c + d == n:
            mean = Fraction(a + c, n)
            cost = mean * (1 - mean) - rho * mean
            return sum(
                w * p**a * (1 - p) ** b * q**c * (1 - q) ** d * (cost - min(alone(p), alone(q))) for p, q, w in pairs
            )
        first = value(a + 1, b, c, d) + value(a, b + 1, c, d)
        return min(first, value(a, b, c + 1, d) + value(a, b, c, d + 1))

    return value(0, 0, 0, 0) / total


@pytest.mark.parametrize(("n", "rho"), [(1, Fraction(0)), (2, Fraction(1, 2)), (7, Fraction(0)), (7, Fraction(3, 2))])
def test_the_lower_end_is_that_of_fractions_from_below(n, rho):
    prior = [(600, 3900, 5), (0, 2048, 2), (1000, 1400, 1)]
    low, _ = checker.best_response(n, rho, 4096, prior, False)
    wanted = in_fractions(n, rho, prior)
    assert low <= wanted
    assert wanted - low < Fraction(1, 2**35)


def test_the_regret_of_the_mixture_is_that_of_its_policies(found):
    """Played by the exact engine, with the coins in both orders."""
    for p, q in ((0.2, 0.9), (0.5, 0.55), (0.0, 0.7)):
        regret = 0.0
        for share, policy in found.policies():
            for coins in ((p, q), (q, p)):
                bandit = Bandit([f"bernoulli({coin})" for coin in coins])
                played = simulate(bandit, policy, risk="mean-variance(rho=0)", horizon=16, engine="exact")
                regret += share / 2.0 * played.regret().mean()
        assert found.regret(p, q) == pytest.approx(regret, rel=1e-9)


def test_the_largest_regret_lies_between_grid_and_upper_end(found):
    grid = np.linspace(0.0, 1.0, 101)
    largest = found.regret(grid[:, None], grid[None, :]).max()
    assert found.lower < largest < found.upper
    assert found.scaled == pytest.approx((found.lower * 16 ** (1 / 3), found.upper * 16 ** (1 / 3)))


def test_polynomials_are_no_larger_than_their_bound():
    rng = np.random.default_rng(3)
    x = np.linspace(0.0, 1.0, 201)
    for degree in (1, 4, 9):
        coefficients = rng.normal(size=(degree + 1, degree + 1))
        basis = np.array([math.comb(degree, i) * x**i * (1.0 - x) ** (degree - i) for i in range(degree + 1)])
        largest = (basis.T @ coefficients @ basis).max()
        low, high = largest_value(coefficients, 1e-6)
        assert low <= high <= low + 1e-6 + 1e-12
        assert largest - 1e-12 <= high < largest + 0.01
        whole = checker.largest_value((coefficients / 4.0).tolist(), largest / 4.0 + 1e-6)
        assert largest / 4.0 - 1e-12 <= whole <= largest / 4.0 + 1e-2


def test_lies_are_found(found, tmp_path):
    """A larger lower end, a smaller upper end, another prior, another mixture."""
    claim = found.certificate()
    lies = [
        {},
        {"lower": claim["lower"] + 1e-4},
        {"upper": claim["upper"] - 1e-4},
        {"prior": [(1000, 3000, 1)]},
        {"mixture": [{"weight": 1, "prior": [(0, 4096, 1)]}]},
    ]
    fine = []
    for i, lie in enumerate(lies):
        (tmp_path / f"{i}.json").write_text(json.dumps(claim | lie))
        done = subprocess.run(
            [sys.executable, "-I", checker.__file__, str(tmp_path / f"{i}.json")], capture_output=True, check=False
        )
        fine.append(done.returncode == 0)
    assert fine == [True, False, False, False, False]


FOUR = {  # the certificate of four rounds, whose value is 11/128
    "horizon": 4, "rho": "0.0", "grain": 4096, "lower": 0.0859, "upper": 0.086,
    "prior": [[0, 2048, 1], [2048, 4096, 1]], "mixture": [{"weight": 1, "prior": [[0, 2048, 1], [2048, 4096, 1]]}],
}  # fmt: skip
FORGED = [[40, 2048, 1000], [2048, 4056, 1000], [2048, 2048, -100]]


def test_a_weight_below_zero_would_prove_too_much():
    """So the refusal is needed: what it stands for is no average."""
    assert checker.check(FOUR) == pytest.approx((11 / 128, 11 / 128), abs=1e-9)
    assert checker.best_response(4, Fraction(0), 4096, FORGED, False)[0] > FOUR["upper"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"prior": FORGED, "lower": 0.0859}, "-100 stands where"),
        ({"prior": [[0, 2048, 0]]}, "0 stands where a whole number from 1"),
        ({"prior": [[0, 8192, 1]]}, "8192 stands where"),
        ({"prior": [[-400, 2048, 1]]}, "-400 stands where"),
        ({"prior": [[0.5, 2048, 1]]}, "0.5 stands where"),
        ({"prior": [[True, 2048, 1]]}, "True stands where"),
        ({"prior": []}, "must not be empty"),
        ({"mixture": []}, "must not be empty"),
        ({"mixture": [{"weight": 1, "prior": []}]}, "must not be empty"),
        ({"mixture": [FOUR["mixture"][0], {"weight": -5, "prior": FOUR["prior"]}]}, "-5 stands where"),
        ({"mixture": [{"weight": 1, "prior": FORGED}]}, "-100 stands where"),
        ({"lower": 0.0872, "upper": 0.08599}, "the lower one first"),
        ({"upper": math.inf}, "must be finite"),
        ({"lower": math.nan}, "must be finite"),
        ({"rho": "nan"}, "decimal from 0 to 2"),
        ({"rho": "-1"}, "decimal from 0 to 2"),
        ({"rho": "2.5"}, "decimal from 0 to 2"),
        ({"rho": "1e-999999999"}, "decimal from 0 to 2"),
        ({"grain": 0}, "0 stands where"),
        ({"horizon": 10**6}, "1000000 stands where"),
    ],
)
def test_forgeries_are_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        checker.check(FOUR | changed)


NO_CERTIFICATES = [
    "",
    "[1, 2]",
    "{}",
    "[" * 100_000,
    json.dumps(FOUR | {"prior": 3}),
    json.dumps(FOUR | {"prior": FORGED}),
    json.dumps(FOUR | {"upper": 10**400}),
    json.dumps(FOUR | {"mixture": [[1, 2]]}),
    json.dumps(FOUR | {"rho": 0}),
]


@pytest.mark.parametrize("text", NO_CERTIFICATES)
def test_a_file_that_is_no_certificate_ends_in_one_plain_line(text, tmp_path, monkeypatch, capsys):
    (path := tmp_path / "file.json").write_text(text)
    monkeypatch.setattr(sys, "argv", ["checker.py", str(path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(checker.__file__, run_name="__main__")
    said = str(ended.value.code)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert capsys.readouterr().out == ""


def test_the_checker_is_short_and_needs_nothing():
    with open(checker.__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) <= 200
    modules = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert modules <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"horizon": 1}, "horizon must"), ({"horizon": 500}, "horizon must"), ({"horizon": 8, "rho": -1}, "rho must")],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(PrudentError, match=words):
        minimax(**given)


def test_coins_are_probabilities(found):
    with pytest.raises(PrudentError, match="q must hold probabilities"):
        found.regret(0.5, [0.1, 1.2])
