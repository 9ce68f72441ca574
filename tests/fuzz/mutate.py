"""Makes cases at random from a seed: valid commands and files in which a few things are wrong.

Case number n of a seed depends on nothing else, so that it can be made again. Sizes are small most of the time.
"""

import json
import random
import re
from collections.abc import Sequence
from typing import Any

import click
from sandbox import Case
from valid import CALLS, COMMANDS, FEW, FILES, MOST_TRIED, NAMES, NEEDED, ROWS, Seeds, call

from prudent.arms.base import arms
from prudent.base.json_text import digest_of
from prudent.cli import main
from prudent.policies.contract import policies
from prudent.risk.base import risks

words = str.split
NUMBERS = words("0 1 2 3 -1 0.5 1.5 -0.0 1e-9 7 20")
ABSURD = [*words("1e15 1e300 1e-300 5e-324 1e309 nan inf -inf -1e18"), str(2**63), str(2**64), "9" * 400]
ODD = [*words("0x10 1_000 ١٢ 1,5 1e -- ½ ½% 1j true False none None é\u202e"), "5 %", "", " "]
MARKS = [*words("' \" ( ) [ ] {c} { , = .. * : ; - + \\ # %s <b>"), "\n"]
SPECS = (
    *("ucb1", "mv-lcb", "exp-exp(tau=5)", "round-robin", "fixed-arm(arm=1)", "best-of-both", "npts(risk=cvar(0.1))"),
    *("cvar", "cvar(0.1)", "var(0.2)", "entropic(lam=1)", "mean-variance(rho=inf)", "variance", "sharpe", "wang(0.5)"),
    *("lucb", "va-lucb", "successive-rejects", "gaussian(0, 1)", "bernoulli(0.5)", "student-t(3)", "deterministic(1)"),
    *("mixture([gaussian(0, 1), beta(1, 1)], [0.5, 0.5])", "empirical([1, 2, 3])", "empirical('table.csv', 'west')"),
    *("truncated-gaussian(0, 1, 0, 1)", "exponential(1)", "uniform(0, 1)", "beta(1e-5, 1)", "a" * 3_000, "-" * 3_000),
)
PLACES = ("made", "study.toml", "table.csv", "nowhere", ".", "made/parts", "x" * 300, "table.csv/x", "new folder")
ALL = (NUMBERS, NUMBERS, NUMBERS, ABSURD, ODD, MARKS, SPECS, PLACES, NAMES)
VALUES = (
    *(
        "None",
        "True",
        "0",
        "-1",
        "5",
        "0.5",
        "2.5",
        "1e300",
        "1e-300",
        "float('nan')",
        "float('inf')",
        "9223372036854775808",
    ),
    *(
        "''",
        "'x'",
        "b'x'",
        "'ucb1'",
        "'cvar(0.1)'",
        "'uniform(0, 1)'",
        "[]",
        "()",
        "{}",
        "[None]",
        "[1, 'x']",
        "{'a': None}",
    ),
    *(
        "object()",
        "np.array([1, 2])",
        "np.array(['x'])",
        "np.array(1)",
        "np.float64(2)",
        "np.int32(2)",
        "np.True_",
        "1j",
    ),
    *(
        "iter([1, 2])",
        "lambda: 1",
        "Gaussian",
        "MVLCB",
        "Gaussian(0, 1)",
        "MVLCB()",
        "CVaR(0.1)",
        "two_arms()",
        "[[1]]",
    ),
)
"""What may be passed for anything in Python."""
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


def make(seed: int, number: int, seeds: Seeds) -> Case:
    """The case of this number."""
    dice = random.Random(f"{seed}/{number}")
    kind = dice.choices((arguments, specs, contents, folder, agent, calls), (5, 4, 4, 3, 3, 3))[0]
    case = kind(dice, {**FILES, **seeds.study}, seeds)
    return case._replace(small=is_small(case))


def arguments(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A command with some of its arguments changed."""
    name = dice.choice([*COMMANDS, *MOST_TRIED, *MOST_TRIED])
    args = dice.choice(COMMANDS[name])
    for _ in range(dice.choice((1, 1, 2, 3))):
        args = (name, *change_list(dice, list(args[1:]), name))
    return Case(with_json(dice, args), files=files)


def specs(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """Anything that is registered with any parameters: simulated if it is an arm, else only checked.

    Every policy has to be compiled before it runs, which would take all the time there is.
    """
    laws = [spec_of(dice, arms), dice.choice(("uniform(0, 1)", spec_of(dice, arms)))]
    if dice.random() < 0.5:
        more = ("--policy", dice.choice(("ucb1", "mv-lcb", "exp-exp")), "--horizon", "20", *FEW.split())
        return Case(with_json(dice, ("simulate", "--arm", laws[0], "--arm", laws[1], *more)), files=files)
    study = {"policies": [spec_of(dice, policies)], "risks": [spec_of(dice, risks)], "horizons": [20], "runs": 3}
    lines = [f"{name} = {json.dumps(value)}" for name, value in study.items()]
    text = "\n".join([*lines, "[bandits.b]", f"arms = {json.dumps(laws)}"])
    return Case(("study", "run", "study.toml", "--dry-run"), files={**files, "study.toml": text.encode()})


def spec_of(dice: random.Random, known: Any) -> str:
    """A spec of something registered: any parameters, most of them numbers."""
    entry = dice.choice(known.entries())
    given = {
        name: another(dice, "1") for name, value in entry.parameters.items() if value is None or dice.random() < 0.3
    }
    if dice.random() < 0.1:
        given[dice.choice(NAMES)] = token(dice)
    return f"{entry.name}({', '.join(f'{name}={value}' for name, value in given.items())})"


def contents(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A command that reads a file with errors in it."""
    changed = dice.choice(list(FILES))
    readers = [args for kind in COMMANDS.values() for args in kind if any(changed in word for word in args)]
    return Case(with_json(dice, dice.choice(readers)), files={**files, changed: damaged(dice, files[changed])})


def folder(dice: random.Random, files: dict[str, bytes], seeds: Seeds) -> Case:
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
    args = dice.choice([*COMMANDS["study"], ROWS, ROWS, ROWS])
    if args == ROWS:
        return Case(args, files=files, table=seeds.table, whole=not name.startswith("made/parts/"))
    return Case(with_json(dice, args), files=files)


def agent(dice: random.Random, _: Any, seeds: Seeds) -> Case:
    """A saved agent with something changed, which is then asked, told, saved and loaded."""
    text = dice.choice(seeds.agents)
    for _ in range(dice.choice((1, 1, 2))):
        if dice.random() < 0.8:
            whole = json.loads(text)
            change_tree(dice, whole)
            text = json.dumps(whole)
    if dice.random() < 0.8:  # otherwise its digest says that it was changed, and nothing else of it is read
        rest = {name: part for name, part in json.loads(text).items() if name != "digest"}
        text = json.dumps({**rest, "digest": digest_of(json.dumps(rest))})
    data = damaged(dice, text.encode()) if dice.random() < 0.2 else text.encode()
    return Case(code="import mutate; mutate.drive()", files={"agent.json": data})


def calls(dice: random.Random, files: dict[str, bytes], _: Any) -> Case:
    """A call of the Python API with something else in the place of one or two arguments."""
    name = dice.choice(list(CALLS))
    given = dict(CALLS[name])
    for key in dice.sample(list(given), min(len(given), dice.choice((1, 1, 2)))):
        given[key] = dice.choice((dice.choice(VALUES), dice.choice([*CALLS[dice.choice(list(CALLS))].values()])))
    return Case(code=call(name, given), files=files)


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


def options_of(words: Sequence[str]) -> list[click.Option]:
    """The options of the command that a line begins with; of a group's command too."""
    command: click.Command | None = main.commands.get(words[0])
    if isinstance(command, click.Group) and len(words) > 1:
        command = command.commands.get(words[1])
    return [] if command is None else [option for option in command.params if isinstance(option, click.Option)]


def with_json(dice: random.Random, args: tuple[str, ...]) -> tuple[str, ...]:
    can = any("--json" in option.opts for option in options_of(args))
    return (*args, "--json") if can and dice.random() < 0.5 else args


def change_list(dice: random.Random, words: list[str], command: str) -> list[str]:
    """The words of a command line with one change."""
    place = dice.randrange(len(words) + 1)
    known = options_of([command, *words])
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
    texts = [
        *case.args,
        case.code,
        *(case.files[name].decode(errors="replace") for name in FILES if name in case.files),
    ]
    numbers = [float(word) for text in texts for word in re.findall(r"\d+\.?\d*(?:e\d+)?", text)]
    enough = all(NEEDED.get(name, set()) <= set(case.args) for name in case.args[:1])
    most = 300 if case.args[:1] == ("plan",) else 2_000  # each draw of a plan meets all policies and yardsticks
    return enough and all(number <= most for number in numbers)
