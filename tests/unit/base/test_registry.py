"""Specs: their grammar, their hints, and names from other packages."""

import importlib
import math
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prudent import MVLCB, UCB1, ExpExp, FixedArm, Gaussian, MeanVariance, Mixture, PrudentError, TruncatedGaussian
from prudent.arms.base import arms
from prudent.base import registry as module
from prudent.base.parameters import checked
from prudent.base.registry import Registry, named
from prudent.policies.contract import policies
from prudent.risk.base import risks


def remember(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


@pytest.fixture
def things() -> Registry:
    registry = Registry("thing", "prudent.no-such-group")
    registry.add("note-book")(remember)
    registry.add("pen")(lambda color, width=1.0: (color, width))
    return registry


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("mv-lcb", MVLCB()),
        ("mv_lcb", MVLCB()),
        ("MV-LCB(c=1)", MVLCB(c=1)),
        (" mv-lcb ( c = 1 , rho = 0.5 ) ", MVLCB(c=1, rho=0.5)),
        ("mv-lcb(0.5, 1)", MVLCB(0.5, 1)),
        ("mv-lcb(rho=inf, unbiased=True)", MVLCB(rho=math.inf, unbiased=True)),
        ("mv-lcb(delta=1e-3)", MVLCB(delta=1e-3)),
        ("mv-lcb(rho=None)", MVLCB()),
        ("ucb1()", UCB1()),
        ("fixed-arm(arm=2)", FixedArm(2)),
        ("exp-exp(explore='successive-rejects')", ExpExp(explore="successive-rejects")),
        ('exp-exp(explore="ucb-e", rule="appendix")', ExpExp(explore="ucb-e", rule="appendix")),
        ("exp-exp(explore=successive-rejects)", ExpExp(explore="successive-rejects")),
        ("exp-exp(explore=ucb-e, rule=appendix)", ExpExp(explore="ucb-e", rule="appendix")),
    ],
)
def test_policies_from_text(text: str, built: object) -> None:
    assert policies.parse(text) == built
    assert type(policies.parse(text)) is type(built)


def test_aliases_are_read_and_never_written() -> None:
    assert arms.parse("normal(1, 0.5)") == Gaussian(1, 0.5)
    assert str(arms.parse("Normal(1, 0.5)")) == "gaussian(1.0, 0.5)"
    assert str(arms.parse("student(3)")) == "student-t(3.0, 0.0, 1.0)"
    assert arms.parse("mixture([normal(0, 1), student(3)])").components[0] == Gaussian(0, 1)
    assert "normal" in arms
    assert "normal" not in arms.names()
    with pytest.raises(PrudentError, match="did you mean normal"):
        arms.parse("normale(1, 2)")


def test_an_alias_is_given_once_like_a_name(things: Registry) -> None:
    things.add("biro", aliases=["Ball_Pen"])(remember)
    assert things.parse("ball-pen(1)") == ((1,), {})
    for taken in ("biro", "ball-pen", "pen"):
        with pytest.raises(PrudentError, match="registered twice"):
            things.add("quill", aliases=[taken])(list)
        with pytest.raises(PrudentError, match="registered twice"):
            things.add(taken)(list)
    assert "quill" not in things


def test_arms_from_text() -> None:
    assert arms.parse("gaussian(-1.5, 5e-2)") == Gaussian(-1.5, 0.05)
    assert arms.parse("gaussian(mean=1, variance=2)") == Gaussian(1, 2)
    assert arms.parse("truncated-gaussian(0, 1, -inf, 1)") == TruncatedGaussian(0, 1, -math.inf, 1)
    nested = Mixture([TruncatedGaussian(0, 1, -1, 1), Gaussian(0, 1)], [0.3, 0.7])
    assert arms.parse("mixture([truncated-gaussian(0,1,-1,1), gaussian(0,1)], [0.3,0.7])") == nested
    deep = Mixture([nested, Gaussian(2, 1)])
    assert arms.parse(f"mixture([{nested}, gaussian(2, 1)])") == deep
    assert arms.parse(str(deep)) == deep


def test_risks_from_text() -> None:
    assert risks.parse("mean-variance") == MeanVariance()
    assert risks.parse("mean_variance(rho=inf)") == MeanVariance(math.inf)


def test_the_grammar(things: Registry) -> None:
    text = "note-book(1, -2, 2.5, -inf, 'a-b c', [1, [2, -3]], (4, 5), x=some-word, y=None, z=pen(red, width=2))"
    args, kwargs = things.parse(text)
    assert args == (1, -2, 2.5, -math.inf, "a-b c", [1, [2, -3]], [4, 5])
    assert kwargs == {"x": "some-word", "y": None, "z": ("red", 2)}
    assert math.isnan(things.parse("note-book(nan)")[0][0])


def test_quoted_text_stays_as_it_is(things: Registry) -> None:
    assert things.parse("""note-book('My-File_1.csv', "it's-here")""")[0] == ("My-File_1.csv", "it's-here")


@given(st.lists(st.floats(allow_nan=False)))
def test_every_float_is_read_to_its_last_digit(numbers: list[float]) -> None:
    registry = Registry("thing", "prudent.no-such-group")
    registry.add("note")(remember)
    assert registry.parse(f"note({', '.join(map(str, numbers))})")[0] == tuple(numbers)


@pytest.mark.parametrize(
    "text",
    ["", "pen(", "pen)", "3", "'pen'", "pen.x", "pen(1)(2)", "[pen]", "pen pen", "1+1", "pen(c=1, c=2)", "pen(**1)"],
)
def test_what_is_no_spec(things: Registry, text: str) -> None:
    with pytest.raises(PrudentError, match=r"cannot read thing .*write it as name or name\(value, key=value\)"):
        things.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 20_000 + "1", "(" * 20_000, "pen(" * 20_000, "pen(" * 150 + ")" * 150, "pen" + ".x" * 20_000,
        "pen(" + "1+" * 20_000 + "1)", "pen(" + "-" * 3_000 + "1)", "pen(" + "[" * 90 + "]" * 90 + ")(",
        "pen(" + "1" * 5_000 + ")", "x" * 200_000, "pen('" + "x" * 200_000 + "')", "pen\0", "\ud800",
    ],
)  # fmt: skip
def test_deep_and_long_text_is_refused_in_a_few_words(things: Registry, text: str) -> None:
    with pytest.raises(PrudentError, match=r"cannot read|unknown thing|missing a required argument") as caught:
        things.parse(text)
    assert len(str(caught.value)) < 1_500


@pytest.mark.parametrize("text", [None, 5, b"pen", ["pen"], object()])
def test_what_is_no_text_is_no_spec(things: Registry, text: Any) -> None:
    with pytest.raises(PrudentError, match="cannot read thing"):
        things.parse(text)
    with pytest.raises(PrudentError, match="the name of a thing must be text"):
        things.get(text)
    assert text not in things


def own_tuple() -> Any:
    class Own(NamedTuple):
        flag: bool = False
        count: int = 1
        share: float = 0.5
        word: str = "a"
        either: float | str = 1.0

    return Own


def own_dataclass() -> Any:
    @dataclass(frozen=True)
    class Own:
        flag: bool = False
        count: int = 1
        share: float = 0.5
        word: str = "a"
        either: float | str = 1.0

    return Own


def own_function() -> Any:
    def own(flag: bool = False, count: int = 1, share: float = 0.5, word: str = "a", either: float | str = 1.0) -> Any:
        return flag, count, share, word, either

    return own


@pytest.fixture(params=[own_tuple, own_dataclass, own_function])
def typed(request: pytest.FixtureRequest) -> Registry:
    registry: Registry = Registry("thing", "prudent.no-such-group", prepare=named)
    registry.add("own")(request.param())
    return registry


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("flag='False'", "own: flag must be True or False, got 'False'"),
        ("flag=no", "own: flag must be True or False, got 'no'"),
        ("flag=0", "own: flag must be True or False, got 0"),
        ("flag=[]", "own: flag must be True or False, got"),
        ("count=1.5", "own: count must be a whole number, got 1.5"),
        ("count=true", "own: count must be a whole number .*got True"),
        ("count='1'", "own: count must be a whole number, got '1'"),
        ("share=x", "own: share must be a number, got 'x'"),
        ("share=nan", "own: share must be a number, got nan"),
        ("share=True", "own: share must be a number, got True"),
        ("word=1", "own: word must be text, got 1"),
        ("word=False", "own: word must be text, got False"),
        ("either=[1]", "own: either must be a number or text, got"),
    ],
)
def test_every_value_is_of_the_type_its_owner_says(typed: Registry, given: str, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        typed.parse(f"own({given})")


@pytest.mark.parametrize("given", ["flag=true", "flag=True", "flag=TRUE", "flag=false, count=3", "share=1", "either=x"])
def test_values_of_the_right_type_are_taken(typed: Registry, given: str) -> None:
    assert typed.parse(f"own({given})") is not None


@pytest.mark.parametrize(("word", "flag"), [("true", True), ("True", True), ("TRUE", True), ("false", False)])
@pytest.mark.parametrize("name", ["mv-lcb", "anytime-mv-lcb"])
def test_true_and_false_are_booleans(name: str, word: str, flag: bool) -> None:
    assert policies.parse(f"{name}(unbiased={word})").unbiased is flag  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", ["no", "False", "", 0, 1, None, [], {}])
def test_a_flag_is_nothing_else(bad: Any) -> None:
    if bad is not None:  # which leaves it to the problem
        with pytest.raises(PrudentError, match="mv-lcb: unbiased must be True or False, got"):
            MVLCB(unbiased=bad)
    assert type(MVLCB(unbiased=np.True_).unbiased) is bool


class Unreadable(NamedTuple):
    flag: bool = False
    other: "NotThere" = None  # type: ignore[name-defined] # noqa: F821


def test_annotations_that_cannot_be_read_are_not_checked() -> None:
    registry: Registry = Registry("thing", "prudent.no-such-group", prepare=checked)
    registry.add("unreadable")(Unreadable)
    assert Unreadable(flag="no").flag == "no"  # type: ignore[arg-type]


@pytest.mark.parametrize("risk", [5, "x", b"cvar", [], object()])
def test_a_policys_measure_is_one(risk: Any) -> None:
    with pytest.raises(PrudentError):
        policies.get("npts").factory(risk=risk)
    assert policies.parse("npts(risk=cvar)").risk == "cvar"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value", ["1 + 1", "{1: 2}", "lambda: 1", "x.y", "-'a'", "-x", "not 1", "*[1]", "[i for i in x]"]
)
def test_what_is_no_value(things: Registry, value: str) -> None:
    with pytest.raises(PrudentError, match=r"cannot read .* in thing .*use numbers, words or lists"):
        things.parse(f"note-book({value})")


def test_nothing_is_evaluated(things: Registry) -> None:
    with pytest.raises(PrudentError, match="unknown thing"):
        things.parse("note-book(__import__('os'))")


@pytest.mark.parametrize(
    ("registry", "text", "message"),
    [
        (policies, "mv-lbc", "unknown policy 'mv-lbc'; did you mean mv-lcb"),
        (policies, "ucb", "unknown policy 'ucb'; did you mean ucb"),
        (arms, "gausian(0, 1)", "unknown arm 'gausian'; did you mean gaussian"),
        (risks, "zzz", "unknown risk 'zzz'; known: .*mean-variance"),
        (arms, "mixture([gausian(0, 1)])", "did you mean gaussian"),
    ],
)
def test_a_near_miss_gets_a_hint(registry: Registry, text: str, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        registry.parse(text)


@pytest.mark.parametrize(
    ("registry", "text", "message"),
    [
        (policies, "mv-lcb(width=2)", r"unexpected keyword argument 'width'; it takes \(.*rho, c, delta"),
        (policies, "ucb1(1, 2)", r"too many positional arguments; it takes"),
        (arms, "gaussian(1)", r"missing a required argument: 'variance'; it takes \(mean, variance\)"),
        (arms, "gaussian", "missing a required argument: 'mean'"),
    ],
)
def test_wrong_parameters_name_the_right_ones(registry: Registry, text: str, message: str) -> None:
    with pytest.raises(PrudentError, match=message):
        registry.parse(text)


def test_a_bad_value_keeps_its_own_message() -> None:
    with pytest.raises(PrudentError, match="gaussian: mean must be a number, got 'tall'"):
        arms.parse("gaussian(tall, 1)")


def test_a_name_is_given_once(things: Registry) -> None:
    with pytest.raises(PrudentError, match="thing 'pen' is registered twice; choose another name"):
        things.add("pen")(remember)
    with pytest.raises(PrudentError, match="registered twice"):
        things.add("Note_Book")(print)
    assert things.names() == ["note-book", "pen"]
    assert "Note_Book" in things
    assert "book" not in things


def test_every_built_in_name_is_reachable() -> None:
    for registry in (arms, policies, risks):
        assert registry.names() == sorted(registry.names())
        for name in registry.names():
            assert registry.get(name) is registry.get(name.upper().replace("-", "_"))


class Point:
    """What importlib.metadata gives for an entry point."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self.name, self.load, self.value = name, load, f"elsewhere:{name}"


def install(monkeypatch: pytest.MonkeyPatch, *points: Point) -> list[str]:
    asked: list[str] = []

    def entry_points(group: str) -> tuple[Point, ...]:
        asked.append(group)
        return points

    monkeypatch.setattr(module, "entry_points", entry_points)
    return asked


def test_other_packages_add_names_when_first_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = install(monkeypatch, Point("Ball_Pen", lambda: remember))
    registry = Registry("thing", "prudent.things")
    registry.add("pen")(remember)
    assert registry.get("pen").factory is remember
    assert asked == []
    assert registry.parse("ball-pen(1)") == ((1,), {})
    assert registry.names() == ["ball-pen", "pen"]
    assert asked == ["prudent.things"]


def test_a_package_may_register_its_name_while_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry("thing", "prudent.things")
    install(monkeypatch, Point("pen", lambda: registry.add("pen")(remember)))
    assert registry.names() == ["pen"]


class Cautious(NamedTuple):
    """A policy of another package, without a decorator."""

    rho: float = 0.5

    def score(self, arm: Any) -> float:
        return arm.variance - self.rho * arm.mean


def test_a_policy_of_another_package_round_trips_through_its_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Point("cautious", lambda: Cautious))
    registry = Registry("policy", "prudent.policies", prepare=checked)
    assert registry.spec(Cautious()) == "cautious"
    assert registry.parse(registry.spec(Cautious(rho=0.25))) == Cautious(rho=0.25)
    with pytest.raises(PrudentError, match="cautious: rho must lie in"):
        registry.parse("cautious(rho=-1)")


def broken() -> None:
    raise ImportError("no module named ink")


def test_a_broken_package_takes_no_other_names_away(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Point("pen", broken), Point("note", lambda: remember))
    registry = Registry("thing", "prudent.things")
    with pytest.warns(UserWarning, match="thing 'pen' from elsewhere:pen is left out: no module named ink"):
        assert registry.names() == ["note"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert registry.names() == ["note"]


def test_a_package_cannot_take_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Point("pen", lambda: print))
    registry = Registry("thing", "prudent.things")
    registry.add("pen")(remember)
    with pytest.warns(UserWarning, match="is left out: thing 'pen' is registered twice"):
        registry.names()
    assert registry.get("pen").factory is remember


def test_threads_that_ask_first_all_get_an_answer() -> None:
    """In a fresh process, where the modules of the package are still to be imported."""
    code = """
from concurrent.futures import ThreadPoolExecutor
from prudent.policies.contract import policies
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(policies.parse, ["exp-exp"] * 8))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_a_class_is_found_only_when_its_module_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "half_home"
    home.mkdir()
    (home / "__init__.py").write_text("import threading\nbegun, go_on = threading.Event(), threading.Event()\n")
    (home / "slow.py").write_text(
        "from half_home import begun, go_on, things\n"
        "@things.add('slow')\n"
        "def made():\n    return rest\n"
        "begun.set()\ngo_on.wait(10)\nrest = 'the rest of the module'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    half_home: Any = importlib.import_module("half_home")

    half_home.things = Registry("thing", "prudent.things", "half_home")
    first = threading.Thread(target=half_home.things.names)
    first.start()
    assert half_home.begun.wait(10)
    threading.Timer(0.2, half_home.go_on.set).start()
    assert half_home.things.get("slow").factory() == "the rest of the module"
    first.join()


CLOSED = """
import sys
from prudent import Bandit, Empirical, PrudentError
from prudent.base.registry import close_files
from prudent.base.registry import Registry

spec = f'empirical("{sys.argv[1]}", "x")'
print(Bandit([spec, "bernoulli(0.5)"]).arms[0].mean)
close_files()
print(Empirical.from_csv(sys.argv[1], "x").mean)
for text in (spec, f"mixture([{spec}, bernoulli(0.5)], [0.5, 0.5])"):
    try:
        Bandit([text, "bernoulli(0.5)"])
    except PrudentError as error:
        print(error)
"""


def test_a_process_that_reads_specs_of_strangers_opens_no_file_for_them(tmp_path):
    """In Python and on the command line a spec may name a file; after `close_files` none does, wherever it stands."""
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    done = subprocess.run(
        [sys.executable, "-c", CLOSED, str(tmp_path / "a.csv")], capture_output=True, text=True, check=True
    )
    means, refusals = done.stdout.splitlines()[:2], done.stdout.splitlines()[2:]
    assert means == ["1.5", "1.5"]
    assert len(refusals) == 2
    assert all("a spec that comes over the network opens no file" in refusal for refusal in refusals)
