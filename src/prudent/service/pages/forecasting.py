"""The section about how an experiment may end, for its page and its report."""

from typing import Any

from prudent.base.text import count, minus, number
from prudent.live.forecast import LEVELS, percent
from prudent.service.pages import charts
from prudent.service.work.forecasts import Kept


def forecast_section(kept: Kept | None, unit: str = "") -> dict[str, Any]:
    """A sentence, and if there is a forecast, its picture, the numbers behind it, and the arms' chances. `unit` is what
    stands behind costs."""
    if kept is None:
        return {"sentence": "The forecast is being computed.", "position": 0, "svg": "", "rows": [], "arms": []}
    found = kept.forecast
    return {
        "sentence": str(found),
        "position": kept.seq,
        "unit": unit,
        "draws": found.draws,
        "svg": charts.fan(found.fan, "Regret per round: where half, 80 % and 95 % of all futures lie, and the median"),
        "levels": ["Median" if level == 0.5 else f"{100.0 * level:g} %" for level in LEVELS],
        "rows": [[count(at), *(minus(number(value, 3)) for value in values)] for at, values in found.fan],
        "cost": "" if not found.cost else f"{_text(found.cost[1])} to {_text(found.cost[5])}{unit}",
        "arms": [(arm.arm, percent(arm.best), percent(arm.ahead), percent(arm.share)) for arm in found.arms],
    }


def _text(value: float) -> str:
    return minus(number(value, 3))
