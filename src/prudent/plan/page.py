"""The plan as a report."""

import os
import shlex
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prudent import PrudentError, figures, files
from prudent.errors import shown
from prudent.plan.advise import WORST, Advice, two_errors
from prudent.report import Section, render


def write_report(advice: Advice, facts: dict[str, str], out: Path | str) -> Path:
    """`out/plan.html`: the recommendation, its reasons, all policies side by side."""
    if not (isinstance(advice, Advice) and isinstance(facts, dict) and isinstance(out, str | os.PathLike)):
        got = f"{shown(advice)}, {shown(facts)}, {shown(out)}"
        raise PrudentError(f"write_report: pass what advise() found, a dict of facts and a folder, got {got}")
    out = Path(out)
    with figures.style():
        figure = Figure(figsize=(6.4, 0.5 + 0.4 * advice.policies.height))
        plot_policies(figure.add_subplot(), advice.policies)
        pictures = figures.save(figure, out / "figures" / "plan")
    left_out = pl.DataFrame({"policy": list(advice.left_out), "why": list(advice.left_out.values())})
    section = Section(
        name="policies",
        title=f"Take {advice.recommended}",
        figures=pictures,
        tables={"All policies": readable(advice.policies), **({"Left out": left_out} if advice.left_out else {})},
        notes={
            "Why": " ".join(advice.reasons),
            "The figure": "Mean regret of every suitable policy, with two standard errors; smaller is better. Blue: "
            "the recommended policy, and those statistically indistinguishable from it in these simulations. Regret is "
            "the cost of the outcomes received minus that of as many outcomes of the best option.",
        },
        data=[out / "study.toml"],
        again=shlex.join(["prudent", "run", str(out / "study.toml"), "--out", str(out / "study")]),
    )
    return files.write(out / "plan.html", render("A plan for the trial", facts, [section], out))


def plot_policies(ax: Axes, policies: pl.DataFrame) -> Axes:
    """A point and error bar per policy, the best on top."""
    for place, row in enumerate(policies.iter_rows(named=True)):
        colour = figures.COLOURS[0 if row["as_good"] else 1]
        ax.errorbar(row["regret"], place, xerr=2.0 * row["regret_se"], fmt="o", color=colour, capsize=3)
    ax.set_yticks(range(policies.height), policies["policy"].to_list())
    ax.invert_yaxis()
    ax.set(xlabel="mean regret")
    return ax


def readable(policies: pl.DataFrame) -> pl.DataFrame:
    """The table with error bars of two standard errors, in words."""
    headers = {
        "regret": "regret",
        "outcome": "mean outcome",
        "worst_outcome": f"outcome, worst {100 * WORST:g} %",
        "deviation": "deviation within a trial",
        "found_best": "best option found",
        "exploration_risk": "exploration risk",
        "behind": "behind the first",
    }
    columns = {header: [two_errors(row, name) for row in policies.to_dicts()] for name, header in headers.items()}
    good = ["yes" if good else "no" for good in policies["as_good"]]
    return pl.DataFrame({"policy": policies["policy"], **columns, "as good as the first": good})
