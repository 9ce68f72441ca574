"""The section about how an experiment may end, for its page and its report."""

from typing import Any

from prudent.base.text import count, counted, minus, number
from prudent.live.forecast import LEVELS, Forecast, percent
from prudent.service.pages import charts
from prudent.service.views.facts import Facts
from prudent.service.work.forecasts import Kept


def forecast_section(kept: Kept | None, known: Facts) -> dict[str, Any]:
    """A sentence about arms, one about regret, and if there is a forecast, its picture, the numbers behind it, and the
    arms' chances. Where costs are squared, what is said of regret stands with them."""
    squared, unit = known.squared, known.units.cost
    if kept is None:
        words = "The forecast is being computed."
        return {"sentence": words, "regret": "", "position": 0, "svg": "", "rows": [], "arms": [], "squared": squared}
    found = kept.forecast
    return {
        "sentence": ahead(found) if found.arms else str(found),
        "regret": str(found) if found.arms else "",
        "squared": squared,
        "position": kept.seq,
        "unit": unit,
        "draws": found.draws,
        "svg": charts.fan(found.fan, "Regret per round: where half, 80 % and 95 % of all futures lie, and the median"),
        "levels": ["Median" if level == 0.5 else f"{100.0 * level:g} %" for level in LEVELS],
        "rows": [[count(at), *(minus(number(value, 3)) for value in values)] for at, values in found.fan],
        "cost": "" if not found.cost else f"{_text(found.cost[1])} to {_text(found.cost[5])}{unit}",
        "arms": [(arm.arm, percent(arm.best), percent(arm.ahead), percent(arm.share)) for arm in found.arms],
    }


def ahead(found: Forecast) -> str:
    """Which arm will be ahead, and whether it will be the best, in words."""
    first = max(found.arms, key=lambda arm: arm.ahead)
    return (
        f"After {counted(found.rounds, 'decision')} {first.arm} will be ahead with probability {percent(first.ahead)}."
        f" The arm that is ahead then is the best one with probability {percent(found.right)}."
    )


def _text(value: float) -> str:
    return minus(number(value, 3))
