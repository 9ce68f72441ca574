"""Joint laws: their moments, their blocks, and what is rejected."""

import numpy as np
import pytest

from prudent import EmpiricalJoint, MultivariateGaussian, MultivariateT, PortfolioBandit, PrudentError
from prudent.portfolio import Block
from prudent.portfolio.laws import MANY_ARMS, _root

MEAN, SPREAD = [0.1, 0.2], [[1.0, 0.4], [0.4, 2.0]]


def test_joining_blocks_is_pooling_their_rounds():
    rows = np.random.default_rng(0).normal(size=(30, 3)) + 100.0
    first, second = (Block(len(r), r.mean(0), (r - r.mean(0)).T @ (r - r.mean(0))) for r in (rows[:11], rows[11:]))
    whole = first.join(second)
    assert whole.mean == pytest.approx(rows.mean(0), rel=1e-14)
    assert whole.scatter == pytest.approx(np.cov(rows.T) * 29, rel=1e-9)
    weights = np.array([0.5, 0.2, 0.3])
    assert whole.along(weights).scatter / 30 == pytest.approx((rows @ weights).var(), rel=1e-9)


def test_moments_of_the_laws():
    assert MultivariateT(5.0, MEAN, SPREAD).covariance == pytest.approx(np.array(SPREAD) * 5 / 3)
    rows = np.random.default_rng(1).normal(size=(50, 2))
    assert EmpiricalJoint(rows).covariance == pytest.approx(np.cov(rows.T, ddof=0))


def test_laws_with_other_content_have_other_names():
    laws = [
        MultivariateGaussian(MEAN, SPREAD),
        MultivariateGaussian([0.1, 0.3], SPREAD),
        MultivariateT(5, MEAN, SPREAD),
        MultivariateT(6, MEAN, SPREAD),
    ]
    assert len(set(map(str, laws))) == len(laws)
    assert str(laws[0]) == str(MultivariateGaussian(MEAN, SPREAD))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MultivariateGaussian(MEAN, [[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue -1"),
        (lambda: MultivariateGaussian(MEAN, [[1.0, 0.3], [0.2, 1.0]]), "symmetric"),
        (lambda: MultivariateGaussian(MEAN, np.eye(3)), "K × K"),
        (lambda: MultivariateGaussian([0.0, np.nan], np.eye(2)), "finite"),
        (lambda: MultivariateT(2.0, MEAN, SPREAD), r"degrees must lie in \(2, ∞\)"),
        (lambda: EmpiricalJoint([[1.0, 2.0], [1.0, 3.0]], ["cash", "oil"]), "constant column cash"),
        (lambda: EmpiricalJoint([[1.0, np.nan], [2.0, 3.0]], ["cash", "oil"]), "missing or infinite in oil"),
        (lambda: EmpiricalJoint([1.0, 2.0]), "table"),
        (lambda: EmpiricalJoint([[1.0, 2.0], [3.0]]), "equal length"),
        (lambda: EmpiricalJoint([[1.0, 2.0], [3.0, 4.0]], ["a"]), "2 names"),
        (lambda: PortfolioBandit("gaussian"), "joint law"),
        (lambda: PortfolioBandit(MultivariateGaussian(MEAN, SPREAD), ["a", "a"]), "2 different names"),
    ],
)
def test_bad_laws_are_rejected(make, words):
    with pytest.raises(PrudentError, match=words):
        make()


def test_columns_of_a_csv_by_name(tmp_path):
    path = tmp_path / "returns.csv"
    path.write_text("date,oil,gold,cash\n2020-01,1,2,0\n2020-02,3,,0\n2020-03,2,5,0\n")
    assert EmpiricalJoint.from_csv(path, ["oil"]).rows.ravel().tolist() == [1, 3, 2]
    for columns, words in [
        (None, "line 3: gold is empty"),
        (["oil", "cash"], "constant column cash"),
        (["tin"], "no column 'tin'"),
    ]:
        with pytest.raises(PrudentError, match=words):
            EmpiricalJoint.from_csv(path, columns)
    path.write_text("date,oil,gold\n2020-01,1,\n2020-02,3,4\n")
    with pytest.raises(PrudentError, match="line 2: gold is empty"):
        EmpiricalJoint.from_csv(path)
    with pytest.raises(PrudentError, match="cannot read"):
        EmpiricalJoint.from_csv(tmp_path / "none.csv")
    path.write_text("oil,gold\n1,2\n3\n")
    with pytest.raises(PrudentError, match="line 3: must hold 2 cells, got 1"):
        EmpiricalJoint.from_csv(path)


@pytest.mark.parametrize(
    "text",
    [
        "oil,gold\n1,2\n3,5\n",
        "\ufeffoil,gold\r\n1,2\r\n3,5\r\n",
        "day;oil;gold\nmon;1;2\ntue;3;5\n",
        "oil\tgold\n1\t2\n\n3\t5\n",
        ",oil,gold\n0,1,2\n1,3,5\n",
        "oil;gold\n1,0;2,0\n3,0;5,0\n",
    ],
    ids=["plain", "spreadsheet", "semicolons and text", "tabs and an empty line", "data frame", "decimal commas"],
)
def test_tables_as_programs_write_them(tmp_path, text):
    path = tmp_path / "returns.csv"
    path.write_bytes(text.encode())
    law = EmpiricalJoint.from_csv(path)
    assert law.names == ("oil", "gold")
    assert law.rows.tolist() == [[1, 2], [3, 5]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a line of names and rows"),
        ("oil,gold\n", "a line of names and rows"),
        ("oil,gold\n1,2\n", "2 or more rounds"),
        ("1,2\n3,4\n", "names of the columns, got 1"),
        ("oil,gold\na,b\nc,d\n", "no column of numbers such as 0.01; its columns: oil, gold"),
        ("oil,gold\n1,2\n\n3,\n4,x\n", "line 4: gold is empty"),
    ],
)
def test_tables_that_hold_no_returns_are_rejected(tmp_path, text, words):
    path = tmp_path / "returns.csv"
    path.write_text(text)
    with pytest.raises(PrudentError, match=words):
        EmpiricalJoint.from_csv(path)


def test_the_frontier_rises_and_short_selling_and_limits_only_move_it_the_right_way():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    bandit = PortfolioBandit(MultivariateGaussian(rng.normal(size=5), root @ root.T + np.eye(5)))
    plain, short, tight = bandit.frontier(), bandit.frontier(short=True), bandit.frontier(upper=0.3)
    for frontier in (plain, short, tight):
        assert (np.diff(frontier.mean) >= -1e-9).all()
        assert (np.diff(frontier.variance) >= -1e-9).all()
    costs = [f.variance - f.rho * f.mean for f in (short, plain, tight)]
    slack = 1e-9 * (1.0 + plain.rho)
    assert (costs[0] <= costs[1] + slack).all()
    assert (costs[1] <= costs[2] + slack).all()
    assert bandit.optimal(1.0).cost == pytest.approx(bandit.cost(bandit.optimal(1.0).weights, 1.0))


@pytest.mark.parametrize("arms", [1, 3, MANY_ARMS + 1])
def test_the_root_of_a_covariance_times_itself_is_the_covariance(arms):
    half = np.random.default_rng(0).normal(0.0, 0.1, (arms, arms))
    full, singular = half @ half.T + 0.01 * np.eye(arms), half[:, :1] @ half[:, :1].T
    for covariance in (full, singular):
        root = _root(covariance)
        np.testing.assert_allclose(root @ root.T, covariance, atol=1e-12)
