"""One measure of a study with one label across, for the terminal or as LaTeX for a paper."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import click

from prudent.base.errors import PrudentError, near
from prudent.base.text import with_error

Facts = Sequence[Mapping[str, object]]
Words = Sequence[Mapping[str, str]]

LARGER_IS_BETTER = ("best_share", "reward_mean")
CLEAR = 1.96
"""Standard errors of the difference from the best policy that make one worse, at 95 % for each comparison."""

ESCAPED = {
    "\\": r"\textbackslash{}",
    "ρ": r"$\rho$",
    "α": r"$\alpha$",
    "λ": r"$\lambda$",
    "∞": r"$\infty$",
    "ε": r"$\epsilon$",
}
ESCAPED |= {letter: f"\\{letter}" for letter in "_%&#{}$"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def pivoted(
    facts: Facts, words: Words, across: str, measure: str
) -> tuple[list[dict[str, str]], list[dict[str, bool]]]:
    """Rows of texts, with a column for each value of the label `across`; and which of them are best, or not clearly
    worse than the best policy of the same problem."""
    labels = list(words[0])
    if across not in labels:
        what = f"pivot must be one of the labels that vary, {', '.join(labels)}"
        raise PrudentError(f"show: {what}, got {across!r}; {near(across, labels)}")
    if measure not in facts[0] or f"{measure}_se" not in facts[0]:
        known = [name.removesuffix("_se") for name in facts[0] if name.endswith("_se")]
        raise PrudentError(f"show: unknown measure {measure!r}; {near(measure, known)}")
    good = _good(facts, words, measure)
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    marks: dict[tuple[str, ...], dict[str, bool]] = {}
    columns = list(dict.fromkeys(own[across] for own in words))
    for own, row, is_good in zip(words, facts, good, strict=True):
        rest = {name: text for name, text in own.items() if name != across}
        key = tuple(rest.values())
        cells = rows.setdefault(key, {**rest, **dict.fromkeys(columns, "")})
        if cells[own[across]]:
            raise PrudentError(
                "show: two cells have the same labels, as policies that differ in code alone; choose one"
            )
        cells[own[across]] = with_error(row[measure], row[f"{measure}_se"])  # type: ignore[arg-type]
        marks.setdefault(key, {})[own[across]] = is_good
    return list(rows.values()), list(marks.values())


def _good(facts: Facts, words: Words, measure: str) -> list[bool]:
    """Whether each cell is the best of its problem, or not clearly worse: independent runs, no correction for many."""
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    problems = [tuple(text for name, text in own.items() if name != "policy") for own in words]
    costs = [(_number(row[measure]) * sign, _number(row[f"{measure}_se"])) for row in facts]
    best: dict[tuple[str, ...], tuple[float, float]] = {}
    for problem, pair in zip(problems, costs, strict=True):
        if math.isfinite(pair[0]):
            best[problem] = min(best.get(problem, pair), pair)
    found = []
    for problem, (cost, error) in zip(problems, costs, strict=True):
        least, its_error = best.get(problem, (math.nan, math.nan))
        found.append(cost - least <= CLEAR * math.hypot(error, its_error))
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def print_latex(rows: Sequence[Mapping[str, str]], marks: Sequence[Mapping[str, bool]], about: str) -> None:
    """A table for the package booktabs. Bold is best, or not clearly worse than the best."""
    numbers = {name for mark in marks for name in mark}
    names = list(rows[0])
    click.echo(f"% {about}; bold: within {CLEAR} standard errors of the best policy on the problem")
    click.echo(r"\begin{tabular}{" + "".join("r" if name in numbers else "l" for name in names) + "}")
    click.echo("\n".join([r"\toprule", " & ".join(map(escaped, names)) + r" \\", r"\midrule"]))
    for row, mark in zip(rows, marks, strict=True):
        click.echo(" & ".join(_cells(row, mark)) + r" \\")
    click.echo("\\bottomrule\n\\end{tabular}")


def _cells(row: Mapping[str, str], mark: Mapping[str, bool]) -> Iterator[str]:
    for name, text in row.items():
        if name not in mark:
            yield escaped(text)
            continue
        formula = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: f"10^{{{_lowered(m[1])}}}", text)
        formula = formula.replace("±", r"\pm").replace("×", r"\times")
        yield f"$\\mathbf{{{formula}}}$" if mark[name] else f"${formula}$"


def _lowered(raised: str) -> str:
    return raised.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))


def escaped(text: str) -> str:
    """Plain text for LaTeX."""
    return "".join(ESCAPED.get(letter, letter) for letter in text)
