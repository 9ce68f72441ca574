"""Cells that are asked for by a number that no cell has: the error names what there is."""

import polars as pl
import pytest

from prudent import PrudentError
from prudent.study.select import select


def table(horizons, rhos):
    return pl.DataFrame({"policy": "mv-lcb", "rho": rhos, "cell": 1, "arms": 2, "horizon": horizons})


@pytest.mark.parametrize(
    ("count", "known"),
    [
        (1, "10"),
        (7, "10, 20, 30, 40, 50, 60, 70"),
        (8, "10, 20, 30, …, 60, 70, 80"),
        (30, "10, 20, 30, …, 280, 290, 300"),
    ],
)
def test_up_to_seven_values_are_named_and_of_more_the_first_and_the_last_three(count, known):
    values = [10 * (i + 1) for i in reversed(range(count))]
    cells = table(values * 2, [0.5] * count + [1.5] * count)
    with pytest.raises(PrudentError, match=rf"^no finished cell here has horizon 5; known: {known}$"):
        select(cells, horizons=[5])
    with pytest.raises(PrudentError, match=r"^no finished cell here has rho 0\.7; known: 0\.5, 1\.5$"):
        select(cells, where=["rho = 0.7"])
    assert select(cells, horizons=[10], where=["rho=0.5"]).select("horizon", "rho").rows() == [(10, 0.5)]


def test_values_agree_up_to_rounding_and_horizons_exactly():
    cells = table([10**12, 10**12 + 1], [0.1 + 0.2, 0.3])
    assert len(select(cells, where=["rho=0.3"])) == 2
    assert select(cells, horizons=[10**12]).get_column("horizon").to_list() == [10**12]
    with pytest.raises(PrudentError, match=r"known: 0\.3, 0\.3"):
        select(cells, where=["rho=0.3001"])
    with pytest.raises(PrudentError, match=r"has rho inf; known: 0\.3"):
        select(cells, where=["rho=inf"])
