"""The problems of the figures are those that the paper's text and tables state."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from prudent import Gaussian, MeanVariance
from prudent.paper import fig2_left, grid, heatmaps, problems, worst_case
from prudent.paper.making import Settings

# Its table "Configuration 1 and Configuration 2": μ and σ² of α₁ to α₁₅.
CONFIGURATION_1 = """
0.10 0.05  0.20 0.34  0.23 0.28  0.27 0.09  0.32 0.23  0.32 0.72  0.34 0.19  0.41 0.14
0.43 0.44  0.54 0.53  0.55 0.24  0.56 0.36  0.67 0.56  0.71 0.49  0.79 0.85
"""
CONFIGURATION_2 = """
0.1 0.05  0.2 0.0725  0.27 0.09  0.32 0.11  0.41 0.145  0.49 0.19  0.55 0.24  0.59 0.28
0.645 0.36  0.678 0.413  0.69 0.445  0.71 0.498  0.72 0.53  0.765 0.72  0.79 0.854
"""


@pytest.mark.parametrize(("name", "printed"), [("1", CONFIGURATION_1), ("2", CONFIGURATION_2)])
def test_the_configurations_are_the_printed_tables(name, printed):
    bandit = problems.CONFIGURATIONS[name]
    numbers = np.array(printed.split(), float).reshape(15, 2)
    assert all(isinstance(law, Gaussian) for law in bandit.arms)
    assert np.array_equal(np.stack([bandit.means, bandit.variances], 1), numbers)
    assert bandit.names == tuple(f"α{i + 1}" for i in range(15))


def test_figure_2_has_the_arms_the_rounds_and_the_runs_of_the_text():
    """ "K = 2 Gaussian arms set to μ₁ = 1.0, μ₂ = 0.5, σ₁² = 0.05, σ₂² = 0.25", "averaged over 500 runs"; the axis of
    the figure shows 5, 10, 25, 50, 100 and 250 thousand rounds."""
    assert problems.FIGURE_2.means.tolist() == [1.0, 0.5]
    assert problems.FIGURE_2.variances.tolist() == [0.05, 0.25]
    assert [n / 1000 for n in fig2_left.HORIZONS] == [5, 10, 25, 50, 100, 250]
    cells = fig2_left.FIGURE.cells()["fig2-left"]
    assert [cell.cell.horizon for cell in cells] == list(fig2_left.HORIZONS)
    assert Settings.runs == 500


def test_the_grid_is_that_of_the_text():
    """ "μ₁ = 1.5, μ₂ ∈ [0.4; 1.5], σ₁² ∈ [0.0; 0.25], σ₂² = 0.25, so that Δ ∈ [0.0; 0.25] and Γ ∈ [0.0; 1.1] and number
    of rounds n ∈ [50; 2.5×10⁵]"; the appendix shows twelve panels of each algorithm."""
    risk, corners = MeanVariance(0.0), []
    for mu_2 in (problems.MU_2[0], problems.MU_2[-1]):
        for variance_1 in (problems.VARIANCE_1[0], problems.VARIANCE_1[-1]):
            bandit = problems.grid_bandit(mu_2, variance_1)
            corners.append((bandit.means[0], bandit.variances[1], bandit.gaps(risk)[1], bandit.mean_differences[0, 1]))
    assert np.array(corners) == pytest.approx(
        np.array([(1.5, 0.25, 0.25, 1.1), (1.5, 0.25, 0.0, 1.1), (1.5, 0.25, 0.25, 0.0), (1.5, 0.25, 0.0, 0.0)])
    )
    assert len(problems.HORIZONS) == 12
    assert (problems.HORIZONS[0], problems.HORIZONS[-1]) == (50, 250_000)
    assert all(np.diff(problems.HORIZONS) > 0)
    assert risk == grid.RISK
    assert np.allclose(np.diff(problems.MU_2), 0.1)
    assert np.allclose(np.diff(problems.VARIANCE_1), 0.025)
    labelled = grid.grid_cell("ExpExp", 50, 0.4, 0.025)
    assert labelled.labels == {"algorithm": "ExpExp", "variance_gap": 0.225, "mean_gap": 1.1}


@pytest.mark.parametrize("n", [10**8, 10**11])
def test_the_worst_gap_of_expexp_maximises_its_regret(n):
    """Γ² m/n + Δ Φ(−Δ√m/s) with m = (n/14)^(2/3) and s² = 2(σ₁⁴ + σ₂⁴), tried at many Δ."""
    m, s = (n / 14) ** (2 / 3), math.sqrt(2 * (0.25**2 + 0.25**2))
    gaps = np.linspace(0.0, 0.25, 2_000_001)
    regret = 1.1**2 * m / n + gaps * norm.cdf(-gaps * math.sqrt(m) / s)
    assert worst_case.worst_gap("ExpExp", n) == pytest.approx(gaps[regret.argmax()], rel=1e-3)
    assert worst_case.predicted("ExpExp", n) == pytest.approx(regret.max(), rel=1e-3)


@pytest.mark.parametrize("n", [10**11, 10**13])
def test_the_worst_gap_of_mv_lcb_maximises_its_regret(n):
    """Δ/2 (1 − u) + Γ²/4 (1 − u²) at u = Δ√(n/2)/w, w² = c² log(1/δ)/2; noise takes Γ²/4 · s²/w² away."""
    w = math.sqrt(5**2 * math.log(n**2) / 2)
    gaps = np.linspace(0.0, 4.0, 1_000_001) * w**2 / n
    u = gaps * math.sqrt(n / 2) / w
    regret = gaps / 2 * (1 - u) + 1.1**2 / 4 * (1 - u**2)
    assert worst_case.worst_gap("MV-LCB", n) == pytest.approx(gaps[regret.argmax()], rel=1e-2)
    noise = 1 - 2 * (0.25**2 + 0.25**2) / w**2
    assert worst_case.predicted("MV-LCB", n) == pytest.approx(regret.max() * noise, rel=1e-6)


def test_the_candidates_for_the_worst_gap_lie_around_it_at_equal_distances():
    n = 10**9
    for algorithm in problems.ALGORITHMS:
        found = [each.cell.bandit.gaps(grid.RISK).max() for each in worst_case.gaussian_cells(algorithm, n)]
        wanted = worst_case.worst_gap(algorithm, n) * np.array([0.0, 0.5, 1.0, 1.5, 2.0])
        assert found == pytest.approx(wanted.tolist(), abs=1e-12)


def test_the_heat_maps_are_described_at_both_ends_of_the_gap_and_count_who_is_lower():
    """Made-up regrets n^(−a): the largest Γ and both ends of Δ are told, and each cell at the last n counts once."""
    slopes = {("MV-LCB", 0.0): 0.0, ("MV-LCB", 0.1): 0.5, ("MV-LCB", 0.25): 1.0}
    rows = [
        {"algorithm": name, "variance_gap": gap, "mean_gap": gamma, "horizon": n, "regret_se": 1e-6}
        | {"regret": (gamma + 1.0) * float(n) ** -slopes.get((name, gap), 1 / 3)}
        for name in problems.ALGORITHMS
        for gap in (0.1, 0.0, 0.25)
        for gamma in (0.0, 1.1)
        for n in (10**5, 10**6, 10**7)
    ]
    found = heatmaps.finding({"heatmaps": pl.DataFrame(rows)})
    slopes = {(row[0], row[2]): row[-1] for row in found.table.rows()}
    for gap, name, slope in (("0", "MV-LCB", "0.00"), ("0", "ExpExp", "-0.333"), ("0.25", "MV-LCB", "-1.00")):
        assert slopes.pop((gap, name)).startswith(slope)
    assert list(slopes) == [("0.25", "ExpExp")]
    assert found.table["Γ"].unique().to_list() == ["1.1"]
    counts = "in 4 of 6 cells, ExpExp in 2."
    assert found.verdict == f"At n = 10,000,000 MV-LCB has the smaller regret by more than two standard errors {counts}"


def test_labels_of_the_grid_are_rounded():
    """0.7 rather than 0.7000000000000001, and no further than differences of nine digits."""
    labels = grid.grid_cell("MV-LCB", 100, 1.5 - 0.123456789876, 0.1).labels
    assert labels["mean_gap"] == 0.12345679
    assert labels["variance_gap"] == 0.15
