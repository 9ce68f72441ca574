"""Makes cases at random from a seed: valid commands and files in which a few things are wrong.

Case number n of a seed depends on nothing else, so that it can be made again. Sizes are small most of the time.
"""

import json
import random
import re
from typing import Any

import click
from sandbox import Case

ARMS = ("--arm", "gaussian(0.7, 0.05)", "--arm", "beta(1, 2)")
BOUNDED = ("--arm", "uniform(0, 1)", "--arm", "mixture([0.5, 0.5], [bernoulli(0.3), beta(2, 1)])")
FEW = ("--runs", "3", "--seed", "1")
FIVE = ("-0.02", "0.01", "0.03", "-0.01", "0.02")
NAMES = ("east", "west", "south")

STUDY = """policies = ["mv-lcb", "exp-exp", "mv-lcb(c={c})"]
risks = ["mean-variance(rho=1)"]
horizons = [20, 60]
runs = 3
seed = 7

[ranges]
c = { from = 1, to = 2, steps = 2 }

[bandits.easy]
arms = ["gaussian(0.7, 0.05)", "uniform(0, 1)"]
"""

TABLE = "\n".join([",".join(NAMES), *(",".join((FIVE[i], FIVE[i - 1], FIVE[i - 3])) for i in range(5))]) + "\n"
FILES = {"study.toml": STUDY.encode(), "table.csv": TABLE.encode()}

PLAN = (
    "plan",
    "--option",
    "old: gaussian(0.3..0.6, 0.1)",
    "--option",
    "beta(1..2, 2)",
    "--horizon",
    "40",
    "--draws",
    "10",
)
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "simulate": [
        ("simulate", *ARMS, "--policy", "mv-lcb(c=1)", "--policy", "exp-exp", "--horizon", "50", *FEW),
        ("simulate", *BOUNDED, "--policy", "cvar-ucb", "--risk", "cvar(alpha=0.1)", "--horizon", "30", *FEW),
        ("simulate", "--arm", "empirical('table.csv', 'east')", *ARMS, "--policy", "ucb1", "--horizon", "30", *FEW),
    ],
    "identify": [
        ("identify", *BOUNDED, "--strategy", "sequential-halving", "--budget", "60", *FEW),
        ("identify", *BOUNDED, "--strategy", "lucb", "--delta", "0.1", "--most-pulls", "300", *FEW),
    ],
    "bounds": [("bounds", *BOUNDED, "--rho", "1", "--horizon", "1000", "--delta", "0.01")],
    "paper": [
        ("paper", "fig2-left", "--runs", "2", "--out", "paper"),
        ("paper", "fig2-left", "--runs", "2", "--workers", "1"),
    ],
    "portfolio": [("portfolio", "table.csv", "--horizon", "30", "--column", "east", "--column", "west", *FEW)],
    "plan": [
        (*PLAN, "--rho", "1", "--policy", "mv-lcb", "--policy", "exp-exp", *FEW, "--out", "plan"),
        (
            "plan",
            "--pilot",
            "table.csv",
            "--policy",
            "mv-lcb",
            "--accept",
            "0.2",
            "0.1",
            "--horizon",
            "30",
            *FEW,
            "--draws",
            "10",
        ),
    ],
    "run": [("run", "study.toml", "--out", "made"), ("run", "study.toml", "--out", "new", "--dry-run")],
    "show": [("show", "made", "--policy", "mv-lcb*", "--where", "c=1"), ("show", "made", "--csv", "--horizon", "20")],
    "plot": [("plot", "made", "regret", "--out", "picture.svg"), ("plot", "made", "heatmap", "--x", "c", "--y", "c")],
    "compare": [
        ("compare", "made", "mv-lcb(c=1)", "exp-exp", "--level", "0.9"),
        ("compare", "made", "mv-lcb", "exp-exp"),
    ],
    "compact": [("compact", "made")],
    "policies": [("policies",)],
    "risks": [("risks",)],
    "strategies": [("strategies",)],
    "cite": [("cite", "mv-lcb", "Sani12", "cvar")],
}

DEFAULTS = {command: ["--runs"] for command in ("simulate", "identify", "portfolio")}
DEFAULTS |= {"plan": ["--runs", "--draws", "--policy"], "paper": ["--runs", "fig2-left"]}
"""Options without which a command does a lot."""
MOST_TRIED = 2 * ("simulate", "identify", "bounds", "portfolio", "plan", "run", "show", "plot", "compare")
NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "1.5", "-0.0", "1e-9", "7", "20")
ABSURD = (
    "1e15",
    "1e300",
    "1e-300",
    "5e-324",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "-1e18",
    str(2**63),
    str(2**64),
    "9" * 400,
)
ODD = (
    "0x10",
    "1_000",
    "١٢",
    "1,5",
    "1e",
    "--",
    "½",
    "½%",
    "5 %",
    "1j",
    "true",
    "False",
    "none",
    "None",
    "",
    " ",
    "é\u202e",
)
MARKS = (
    "'",
    '"',
    "(",
    ")",
    "[",
    "]",
    "{c}",
    "{",
    ",",
    "=",
    "..",
    "*",
    ":",
    ";",
    "-",
    "+",
    "\\",
    "#",
    "\n",
    "%s",
    "<b>",
)
SPECS = (
    *("ucb1", "mv-lcb", "exp-exp(tau=5)", "round-robin", "fixed-arm(arm=1)", "best-of-both", "npts(risk=cvar(0.1))"),
    *("cvar", "cvar(0.1)", "var(0.2)", "entropic(lam=1)", "mean-variance(rho=inf)", "variance", "sharpe", "wang(0.5)"),
    *("lucb", "va-lucb", "successive-rejects", "gaussian(0, 1)", "bernoulli(0.5)", "student-t(3)", "deterministic(1)"),
    *("mixture([0.5, 0.5], [gaussian(0, 1), beta(1, 1)])", "empirical([1, 2, 3])", "empirical('table.csv', 'west')"),
    *("truncated-gaussian(0, 1, 0, 1)", "exponential(1)", "uniform(0, 1)", "beta(1e-5, 1)", "a" * 3_000, "-" * 3_000),
)
PLACES = ("made", "study.toml", "table.csv", "nowhere", ".", "made/parts", "x" * 300, "table.csv/x", "new folder")
ALL = (NUMBERS, NUMBERS, NUMBERS, ABSURD, ODD, MARKS, SPECS, PLACES, NAMES)
BYTES = (
    b"\0",
    b"\xef\xbb\xbf",
    b"\r",
    b"\r\n",
    b"\xff",
    b"\xc3",
    b";",
    b"\t",
    b'"',
    b"'",
    b"9" * 200_000,
    b"[" * 5_000,
)


def token(dice: random.Random) -> str:
    """A word that may stand where another is expected."""
    return dice.choice(dice.choice(ALL))


def another(dice: random.Random, word: str) -> str:
    """A word in another's place: for a number mostly a number, since anything else is refused at once."""
    number = re.fullmatch(r"-?\d+(\.\d+)?", word) and dice.random() < 0.75
    return dice.choice(dice.choice((NUMBERS, NUMBERS, ABSURD, ODD))) if number else token(dice)


def make(seed: int, number: int, study: dict[str, bytes], agents: list[str]) -> Case:
    """The case of this number. `study` are the files of a finished study, `agents` saved states."""
    dice = random.Random(f"{seed}/{number}")
    kind = dice.choices((arguments, contents, folder, agent), (5, 4, 3, 3))[0]
    case = kind(dice, {**FILES, **study}, agents)
    return case._replace(small=is_small(case))


def arguments(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A command with some of its arguments changed."""
    name = dice.choice([*COMMANDS, *MOST_TRIED])
    args = dice.choice(COMMANDS[name])
    for _ in range(dice.choice((1, 1, 2, 3))):
        args = (name, *change_list(dice, list(args[1:]), name))
    return Case(with_json(dice, args), files=files)


def contents(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A command that reads a file with errors in it."""
    changed = dice.choice(("study.toml", "table.csv"))
    readers = [args for kind in COMMANDS.values() for args in kind if any(changed in word for word in args)]
    return Case(with_json(dice, dice.choice(readers)), files={**files, changed: damaged(dice, files[changed])})


def folder(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A command that reads a study's folder in which something is damaged, missing or in another's place."""
    files = dict(files)
    ours = [name for name in files if name.startswith("made/")]
    name = dice.choice([*ours, *(3 * ["made/cells.parquet", "made/manifest.json"])])
    match dice.randrange(6):
        case 0:
            del files[name]
        case 1:
            files[name] = files[dice.choice(ours)]
        case 2:
            files[f"{name}/inside" if dice.random() < 0.5 else "made/parts/strange.parquet"] = b"x"
            files = {key: data for key, data in files.items() if f"{key}/inside" not in files}
        case _:
            files[name] = damaged(dice, files[name])
    readers = [args for kind in ("run", "show", "plot", "compare", "compact") for args in COMMANDS[kind]]
    return Case(with_json(dice, dice.choice(readers)), files=files)


def agent(dice: random.Random, _: Any, agents: list[str]) -> Case:
    """A saved agent with something changed, which is then asked, told, saved and loaded."""
    text = dice.choice(agents)
    for _ in range(dice.choice((1, 1, 2))):
        if dice.random() < 0.8:
            whole = json.loads(text)
            change_tree(dice, whole)
            text = json.dumps(whole)
    data = damaged(dice, text.encode()) if dice.random() < 0.2 else text.encode()
    return Case(code="import mutate; mutate.drive()", files={"agent.json": data})


def drive() -> None:
    """Load an agent and use it. That it is refused is fine, and so is a reward that it does not take."""
    from prudent import Agent, PrudentError

    agent = Agent.load("agent.json")
    for reward in (0.5, 0.0, 1.0):
        arm = agent.ask()
        try:
            agent.tell(arm, reward)
        except PrudentError:
            agent.withdraw(arm)
    agent.estimates()
    again = Agent.from_json(agent.to_json())
    if again.ask() != agent.ask() or again.to_json() != agent.to_json():
        raise AssertionError("a loaded agent goes another way than the one that was saved")


def with_json(dice: random.Random, args: tuple[str, ...]) -> tuple[str, ...]:
    from prudent.cli import main

    can = args[0] in main.commands and any("--json" in option.opts for option in main.commands[args[0]].params)
    return (*args, "--json") if can and dice.random() < 0.5 else args


def change_list(dice: random.Random, words: list[str], command: str) -> list[str]:
    """The words of a command line with one change."""
    from prudent.cli import main

    place = dice.randrange(len(words) + 1)
    known = [option for option in main.commands[command].params if isinstance(option, click.Option)]
    given = [i for i, word in enumerate(words) if not word.startswith("--")]
    match dice.randrange(10):
        case 0 if words:
            del words[place % len(words)]
        case 1 if known:
            option = dice.choice(known)
            words[place:place] = [option.opts[0]] if option.is_flag else [option.opts[0], token(dice)]
        case 2:
            words.insert(place, token(dice))
        case 3 | 4 | 5 if given:
            i = dice.choice(given)
            words[i] = another(dice, words[i])
        case _ if given:
            i = dice.choice(given)
            words[i] = change_spec(dice, words[i])
    # Nothing may be written outside of the folder, and joblib starts all its processes at once.
    safe = [word.lstrip("/").replace("../", "") for word in words]
    return [word for word in safe if word != "processes"]


def change_spec(dice: random.Random, text: str) -> str:
    """A spec with one of its tokens replaced, dropped, doubled or swapped with another."""
    parts = re.findall(r"[\w.]+|\s+|.", text) or [""]
    i, j = dice.randrange(len(parts)), dice.randrange(len(parts))
    match dice.randrange(6):
        case 0:
            del parts[i]
        case 1:
            parts.insert(i, parts[j])
        case 2:
            parts[i], parts[j] = parts[j], parts[i]
        case _:
            parts[i] = another(dice, parts[i])
    return "".join(parts)


def damaged(dice: random.Random, data: bytes) -> bytes:
    """A file with one to three changes, of bytes or, where it is text, of tokens."""
    for _ in range(dice.choice((1, 1, 2, 3))):
        place = dice.randrange(len(data) + 1)
        end = min(len(data), place + dice.choice((1, 1, 3, 30)))
        match dice.randrange(9):
            case 0:
                data = data[:place]
            case 1:
                data = data[:place] + data[end:]
            case 2:
                data = data[:end] + data[place:]
            case 3 if data:
                place %= len(data)
                data = data[:place] + bytes([data[place] ^ (1 << dice.randrange(8))]) + data[place + 1 :]
            case 4:
                data = data[: place * dice.randrange(2)] + dice.choice(BYTES) + data[place * dice.randrange(2) :]
            case 5:
                one, other = dice.choice([(b",", b";"), (b",", b"\t"), (b".", b","), (b"\n", b"\r\n"), (b'"', b"'")])
                data = data.replace(one, other)
            case _:
                data = change_spec(dice, data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return data


def change_tree(dice: random.Random, value: Any) -> None:
    """Change something inside a tree of JSON, in place."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key, other = dice.choice(keys), dice.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and dice.random() < 0.85:
            value = value[key]
            continue
        match dice.randrange(7):
            case 0:
                del value[key]
            case 1 if isinstance(value, dict):
                value[token(dice)] = value[key]
            case 1:
                value.append(value[key])
            case 2:
                value[key], value[other] = value[other], value[key]
            case 3:
                value[key] = token(dice)
            case 4 if isinstance(value[key], str):
                value[key] = change_spec(dice, value[key])
            case _:
                value[key] = dice.choice(
                    (None, True, False, 0, 1, -1, 2, 5, 0.5, 1e300, 5e-324, 2**63, 10**400, [], {})
                )
        return


def is_small(case: Case) -> bool:
    """Whether nothing in a case asks for much work."""
    texts = [*case.args, *(case.files[name].decode(errors="replace") for name in FILES if name in case.files)]
    numbers = [float(word) for text in texts for word in re.findall(r"\d+\.?\d*(?:e\d+)?", text)]
    given = {word.split("=")[0] for word in case.args}
    needed = {word for command, words in DEFAULTS.items() if case.args[:1] == (command,) for word in words}
    return needed <= given and all(number <= 2_000 for number in numbers)
