"""What a plan shows: the command, the page, the lines to run."""

import builtins
import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from prudent import Agent, PrudentError
from prudent.cli import main
from prudent.plan import Pilot, advise, guesses, lengths_in_words, lines_to_run, pilot, winners, write_report
from prudent.plan.page import plainly
from prudent.plan.tradeoff import rows
from prudent.plan.words import Outcome

ROOT = Path(__file__).parents[3]

FIXED = ["--draws", "10", "--runs", "2", "--seconds", "1", "--policy", "exp-exp", "--policy", "vts"]


def prudent(*args, **settings):
    return CliRunner().invoke(main, [*map(str, args)], **settings)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A file as practitioners have it: a row for each customer, in euros."""
    rng = np.random.default_rng(3)
    rows = ["date,customer_id,variant,revenue"]
    for i in range(90):
        mean, deviation = ((40, 30), (55, 90), (38, 10))[i % 3]
        rows.append(
            f"2024-05-{1 + i // 4:02},{i},{'ABC'[i % 3]},{rng.normal(mean, deviation):.2f}"
            if i != 7
            else "2024-05-02,7,B,"
        )
    path = tmp_path_factory.mktemp("shop") / "shop.csv"
    path.write_text("\n".join(rows))
    return path


LONG = ["--group", "variant", "--outcome", "revenue", "--unit", "EUR"]


def test_the_command_takes_a_row_for_each_outcome(shop, tmp_path):
    """The verdict stands first, then promise and check, and the policies that were compared last."""
    found = prudent("plan", "--pilot", shop, *LONG, "--accept", 5, 25, 30, "--horizon", 60, *FIXED, "--out", tmp_path)
    assert found.exit_code == 0, found.output
    assert "shop.csv: revenue: 1 of 90 missing" in found.stderr
    assert re.match(r"(- Caution: .*\n(  .*\n)*)*(No trial needed|This trial cannot tell|Run this): ", found.stdout)
    places = [found.stdout.index(text) for text in (
        "Promise and check, ρ = 55 EUR, 60 rounds", "Why this policy", "agent = Agent(", "Policies that were compared",
        str(tmp_path / "plan.html"),
    )]  # fmt: skip
    assert places == sorted(places)
    assert not re.search(r"\d\.\d{5,}", found.stdout.partition("agent = Agent")[0]), "no six decimals"
    assert "EUR²" not in found.stdout
    told = prudent("plan", "--pilot", shop, *LONG, "--rho", 55, "--horizon", "6e1", *FIXED, "--out", tmp_path, "--json")
    facts = json.loads(told.stdout)
    assert all(line in " ".join(found.stdout.split()) for line in facts["verdict"]["sentences"])
    assert facts["experiment"] == json.loads((tmp_path / "experiment.json").read_text())
    assert facts["experiment"]["policy"] == facts["recommended"] == facts["policies"][0]["policy"]
    assert facts["experiment"]["horizon"] == 60 + 89, "the pilot's outcomes are rounds of the policy"
    assert [len(outcomes) for outcomes in facts["experiment"]["pilot"].values()] == [30, 29, 30]
    assert "does not say between which limits outcomes lie" in " ".join(found.stdout.split())
    assert {row["policy"].partition("(")[0] for row in facts["policies"]} == {"exp-exp", "vts"}
    assert [row["option"] for row in facts["people"]] == ["A", "B", "C", "the best of them"]


def test_one_flag_begins_from_nothing(shop, tmp_path):
    asked = [*LONG, "--rho", 55, "--horizon", 60, *FIXED, "--from-nothing", "--out", tmp_path, "--json"]
    facts = json.loads(prudent("plan", "--pilot", shop, *asked).stdout)
    assert facts["experiment"]["horizon"] == 60
    assert "pilot" not in facts["experiment"]
    assert "asked=False" not in facts["run"]


def test_another_risk_is_served_by_policies_for_it(tmp_path):
    options = ["--option", "a: uniform(0, 1)", "--option", "b: uniform(0.2, 0.7)"]
    asked = ["--risk", "cvar(0.1)", "--horizon", 50, "--draws", 10, "--runs", 2, "--seconds", 1, "--policy", "u-ucb"]
    found = prudent("plan", *options, *asked, "--out", tmp_path, "--json")
    facts = json.loads(found.stdout)
    assert facts["recommended"].startswith("u-ucb(")
    assert facts["favourite"] == {"place": 1, "name": "b", "sure": 1.0}


def test_without_a_tolerance_the_command_asks_with_a_table(shop, tmp_path):
    found = prudent("plan", "--pilot", shop, *LONG, "--out", tmp_path / "plan")
    assert found.exit_code == 2
    assert "Which option wins for which ρ" in found.stdout
    assert "the steadiest option wins: C." in found.stdout
    assert "how much risk do you tolerate? Choose ρ by the table: give --rho, or --accept" in found.stderr
    assert not (tmp_path / "plan").exists()
    facts = json.loads(prudent("plan", "--pilot", shop, *LONG, "--json").stdout)
    assert facts["winners"][0]["option"] == "C"
    assert facts["winners"][-1]["high"] == "inf"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--group", "variant"], "--group and --outcome name columns of a file; give it with --pilot FILE"),
        (["--pilot", "SHOP", "--outcome", "revenue"], "--outcome needs --group COLUMN"),
        (["--pilot", "SHOP"], "give --group variant --outcome revenue"),
        (["--rho", "1"], "two or more to choose from, got 0; give them with --option GUESS or --pilot FILE"),
        (
            ["--option", "2 * gaussian(0, 1)", "--rho", "1", "--accept", "5 25 30"],
            "give one of --accept, --rho and --risk",
        ),
        (["--option", "2 * gaussian(0, 1)", "--accept", "5 25"], "needs three numbers"),
        (["--option", "2 * gaussian(0, 1)", "--rho", "1", "--horizon", "many"], "horizon must be a whole number such"),
        (["--option", "2 * gaussian(0, 1)", "--rho", "1", "--horizon"], "--horizon needs a number of rounds"),
        (["--option", "2 * gaussian(0, 1)", "--rho", "1", "--support", "5", "1"], "support"),
    ],
)
def test_wrong_arguments_are_answered_with_the_fix(shop, tmp_path, wrong, message):
    found = prudent("plan", *(shop if word == "SHOP" else word for word in wrong), "--out", tmp_path / "plan")
    assert found.exit_code == 2
    assert message in found.stderr
    assert not (tmp_path / "plan").exists()


def test_several_lengths_and_minutes_on_the_command_line(tmp_path):
    options = ["--option", "phone: gaussian(20..40, 25)", "--option", "web: uniform(10..20, 50)", "--smaller-is-better"]
    asked = ["--unit", "minutes", "--horizon", 30, 100, "--horizon", 300, "--support", -10, 90]
    found = prudent("plan", *options, *asked, "--accept", "2 more for sd 4 instead of 5", *FIXED, "--out", tmp_path)
    assert found.exit_code == 0, found.output
    assert "How long is enough" in found.stdout
    assert len(re.findall(r"^ *(?:30|100|300)  +[\d.]+ %", found.stdout, re.MULTILINE)) == 3
    assert "percentage points more often." in " ".join(found.stdout.split())
    assert "ρ = 4.5 minutes" in found.stdout
    assert "    support=(-10.0, 90.0),\n    larger_is_better=False,\n)" in found.stdout
    assert not re.search(r"−\d[\d.]* minutes", found.stdout)


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    rng = np.random.default_rng(3)
    options = [Pilot("b < a", tuple(rng.normal(40, 30, 20))), Pilot("A", tuple(rng.normal(38, 10, 20)))]
    options += guesses(["new: gaussian(30..60, 100)"])
    out = tmp_path_factory.mktemp("page")
    found = advise(
        options, "mean-variance(rho=55)", [30, 90], out, policies=["exp-exp", "vts"], unit="EUR", draws=10, runs=3,
        seconds=1.0,
    )  # fmt: skip
    return found, write_report(found, out, notes=["shop.csv: revenue: 3 of 200 missing"]).read_text()


def test_the_page_is_for_the_person_who_decides(advice):
    found, page = advice
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)))
    assert all(line in text for line in (*found.verdict.sentences, *found.cautions, *found.reasons))
    headings = ("What the trial finds", "What was assumed", "The options", "How long is enough",
                "What happens to the people in the trial", "How much risk: ρ", "How to run it",
                "For those who want to check")  # fmt: skip
    places = [page.index(f"<h2>{heading}</h2>") for heading in headings]
    assert places == sorted(places)
    assert page.index(found.verdict.sentences[0][:20]) < places[0]
    assert "Like the outcome it is measured in EUR. Here ρ = 55 EUR. You would just accept" in text
    assert "revenue: 3 of 200 missing" in text
    assert "always b < a" in text
    assert "always b < a" not in page, "escaped"
    assert lines_to_run(found).splitlines()[5] in text
    assert all(line in text for line in lengths_in_words(found))
    assert page.count("<svg") == page.count('role="img"') == 4


def test_cells_carry_their_headings_for_narrow_screens(advice):
    _, page = advice
    assert re.search(r'<td data-label="mean"[^>]*>[−\d.]+ EUR</td>', page)


def test_technical_tables_are_folded(advice):
    _, page = advice
    folded = re.findall(r"<details><summary>(.*?)</summary>", page)
    wanted = [
        "For programs, over HTTP",
        "Why this policy",
        "Policies that were compared to the end",
        "Ways that do not learn",
    ]
    assert folded == wanted
    assert "<details open" not in page


def test_policies_left_out_have_reasons_in_plain_words(tmp_path):
    small = {"policies": ["exp-exp"], "draws": 10, "runs": 2, "seconds": 1.0}
    found = advise(guesses(["2 * gaussian(0..1, 1)"]), "mean-variance(rho=1)", 20, tmp_path, **small)
    left_out = {
        "npts": "npts: best must be an end of the rewards' interval, [-inf, inf]; give best",
        "own": "own: odd.",
    }
    page = write_report(found._replace(left_out=left_out), tmp_path).read_text()
    assert "<summary>Policies left out, and why</summary>" in page
    assert "needs to know the best outcome that is possible" in page
    assert "-inf" not in page
    assert plainly("own: odd.") == "own: odd."


@pytest.mark.parametrize("rho", ["inf", 0, 0.5, 55])
def test_amounts_are_those_of_outcomes_and_never_larger(shop, tmp_path, rho):
    """No squares, and no cost that is as if outcomes had been worse by more than there is of them."""
    found = prudent("plan", "--pilot", shop, *LONG, "--rho", rho, "--horizon", 60, *FIXED, "--out", tmp_path)
    assert "EUR²" not in found.stdout
    amounts = [float(text.replace(",", "")) for text in re.findall(r"([\d,.]+\d) EUR", found.stdout)]
    assert max(amounts) < 400.0
    assert ("cost against the best" in found.stdout) or rho in (0, 0.5)
    assert ("risk='mean'," in found.stdout) == (rho == "inf")


def test_the_lines_to_run_run(advice, tmp_path, monkeypatch, capsys):
    found, _ = advice
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    monkeypatch.setattr(builtins, "input", lambda prompt: str(rng.normal(40, 10)))
    exec(compile(lines_to_run(found), "trial.py", "exec"), {})
    assert capsys.readouterr().out.count("gets") == found.horizon
    agent = Agent.load(tmp_path / "trial.json")
    assert sum(each.pulls for each in agent.estimates()) == found.horizon + 40, "it began with the pilot's outcomes"
    assert agent.risk == found.trial.risk
    assert agent.horizon == found.horizon + 40


def test_the_table_of_the_docs_is_what_the_command_prints():
    options = pilot(ROOT / "examples/shop.csv", group="variant", outcome="revenue", remark=lambda text: None)
    page = (ROOT / "docs/practitioners/plan.md").read_text()
    for row in rows(winners(options), Outcome("EUR")):
        assert f"| {' | '.join(row.values())} |" in page


@pytest.mark.parametrize("notes", ["text", 5, None])
def test_notes_are_a_list(advice, tmp_path, notes):
    with pytest.raises(PrudentError, match="pass a folder and a list of notes"):
        write_report(advice[0], tmp_path, notes)
