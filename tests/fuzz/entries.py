"""How entries of the corpus are written, and what their scripts call.

`refused(command, pattern)` must end in an error that matches, `answered(command, pattern)` must print what
matches, and `clean(command)` may do either. `made` is the folder of a finished study (valid.py), which `damage`
may change first. A script is a user's Python code; where it raises PrudentError, it counts as refused.
"""

import ctypes
import json
import os
import resource
import shlex
from collections.abc import Callable
from typing import Any

from sandbox import Case
from valid import FILES


def clean(command: str, *, small: bool = True, damage: Any = None, **files: str | bytes) -> Case:
    """Either refused or answered; the underscores of a file's name stand for its dot."""
    data = {name.replace("_", "."): text.encode() if isinstance(text, str) else text for name, text in files.items()}
    return Case(tuple(shlex.split(command)), files={**FILES, **data}, small=small, damage=damage)


def refused(command: str, pattern: str, **more: Any) -> Case:
    return clean(command, **more)._replace(refused=pattern)


def answered(command: str, pattern: str, **more: Any) -> Case:
    return clean(command, **more)._replace(answers=pattern)


def script(code: str, *, refused: str = "", answers: str = "") -> Case:
    return Case(code=code, files=FILES, refused=refused, answers=answers)


def wrong(expression: str, pattern: str = ".") -> Case:
    """A call that must be refused in words."""
    return script(f"from entries import *; from prudent import *; import numpy as np; {expression}", refused=pattern)


def right(expression: str) -> Case:
    """A call that must go well or be refused in words."""
    return script(f"from entries import *; from prudent import *; import numpy as np; {expression}")


def true(expression: str) -> Case:
    """An expression that must be true."""
    return script(
        f"from entries import *; from prudent import *; import numpy as np; print({expression})", answers="^True"
    )


def prudent(command: str) -> None:
    """For scripts: run a command."""
    from prudent.cli import main

    main(shlex.split(command), prog_name="prudent")


def print_file(command: str, path: str) -> None:
    """For scripts: run a command, and print a file that it wrote."""
    from pathlib import Path

    from prudent.cli import main

    main(shlex.split(command), standalone_mode=False)
    print(Path(path).read_text())


def full_disk() -> None:
    """No file may grow beyond 2,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))


def no_rights(folder: str) -> None:
    """A folder that may not be written nor looked into, even by root."""
    os.makedirs(folder)
    os.chmod(folder, 0)
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())


def agent(**changes: Any) -> Any:
    """An agent with rewards in [0, 1], loaded from its saved state with changes to its first arm or to the whole."""
    from prudent import Agent
    from prudent.base.json_text import digest_of

    policy, keep = changes.pop("policy", "mv-lcb"), changes.pop("remember", False)
    made = Agent(policy, 2, horizon=100, support=(0, 1), remember=keep, risk="mean-variance(rho=1)")
    for reward in (0.25, 0.75, 0.5, 0.5):
        made.tell(made.ask(), reward)
    state = json.loads(made.to_json())
    for name, value in changes.items():
        inner = [part for part in (state["arms"][0], state["generator"], state["policy"]["parameters"]) if name in part]
        (inner or [state])[0][name] = value
    loaded = Agent.from_json(json.dumps({**state, "digest": digest_of(json.dumps(state))}))
    loaded.ask()
    return loaded


def key_changes(edited: str, before: str, after: str, use: str) -> bool:
    """Whether the key of a cell changes when a line of a user's module does; `own.py` defines what `use` makes."""
    import importlib
    import sys
    from pathlib import Path

    sys.dont_write_bytecode = True
    keys = set()
    for line in (before, after):
        Path(edited).write_text(Path(edited).read_text().replace(before, line))
        for name in ("own", "lib"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        own = importlib.import_module("own")
        from prudent.study import Study

        settings: dict[str, Any] = {"policies": ["ucb1"], "risks": ["variance"], "horizons": [10], "runs": 2}
        settings |= eval(use, {"own": own})
        keys.add(Study({"b": settings.pop("arms", ["uniform(0, 1)", "beta(1, 2)"])}, **settings).cells[0].key)
    return len(keys) == 2


OWN_POLICY = """import lib
import numpy as np
from typing import NamedTuple
TABLE = np.array([0.1, 0.2])

class Own(NamedTuple):
    def score(self, arm):
        return -arm.mean - {width} / arm.pulls
"""
OWN_RISK = """import lib
from dataclasses import dataclass
from prudent import ExpectedUtility

@dataclass(frozen=True)
class Own(ExpectedUtility):
    name = "own"
    def utility(self, x):
        return 2.0 * x
"""


def edited(own: str, file: str, before: str, after: str, use: str) -> Case:
    """A study's cell is another one when code of the user's own is edited."""
    code = f"import entries; print(entries.key_changes({file!r}, {before!r}, {after!r}, {use!r}))"
    files = {"own.py": own.encode(), "lib.py": b"WIDTH = 0.1\ndef width():\n    return 0.1\n"}
    return Case(code=code, files=files, answers="^True")


def flipped(bit: int) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """The study with one bit of its list of cells flipped."""

    def damage(files: dict[str, bytes]) -> dict[str, bytes]:
        data = bytearray(files["made/cells.parquet"])
        data[bit // 8 % len(data)] ^= 1 << bit % 8
        return {**files, "made/cells.parquet": bytes(data)}

    return damage


def part_as_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, "made/parts/x.parquet/inside": b""}


def cells_of_another(files: dict[str, bytes]) -> dict[str, bytes]:
    """The list of cells is a part: Parquet too, but of another kind."""
    return {**files, "made/cells.parquet": next(data for name, data in files.items() if "parts/" in name)}


def deep_manifest(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, "made/manifest.json": b"[" * 100_000}


def without_code(files: dict[str, bytes]) -> dict[str, bytes]:
    manifest = json.loads(files["made/manifest.json"])
    del manifest["code"]
    return {**files, "made/manifest.json": json.dumps(manifest).encode()}


def other_columns(files: dict[str, bytes]) -> dict[str, bytes]:
    """A part whose name is right and whose columns are those of another table."""
    import hashlib

    data = files["made/cells.parquet"]
    name = hashlib.blake2b(data, digest_size=16).hexdigest()
    parts = {key: value for key, value in files.items() if not key.startswith("made/parts/")}
    return {**parts, f"made/parts/{name}.parquet": data}


def try_flips() -> None:
    """Flip bits all over the list of cells: `show` must print the same table as before, or refuse."""
    from pathlib import Path

    from click.testing import CliRunner

    from prudent.cli import main

    prudent_ = CliRunner()
    path = Path("made/cells.parquet")
    whole = path.read_bytes()
    first = prudent_.invoke(main, ["study", "show", "made", "--csv"])
    assert first.exit_code == 0, first.stderr
    wrong = 0
    for place in range(40, len(whole) * 8, len(whole) * 8 // 60):
        path.write_bytes(flipped(place)({"made/cells.parquet": whole})["made/cells.parquet"])
        try:
            shown = prudent_.invoke(main, ["study", "show", "made", "--csv"])
            wrong += not (shown.exit_code == 2 or (shown.exit_code == 0 and shown.stdout == first.stdout))
        except BaseException:  # such as a panic of polars
            wrong += 1
    print(f"{wrong} wrong tables")


def parsed(text: str) -> Any:
    from prudent.policies.contract import policies

    return policies.parse(text)


def two_arms() -> Any:
    from prudent import Bandit

    return Bandit(["uniform(0, 1)", "beta(1, 2)"])


def two_assets() -> Any:
    from prudent import MultivariateGaussian, PortfolioBandit

    return PortfolioBandit(MultivariateGaussian([0.1, 0.2], [[0.04, 0.0], [0.0, 0.04]]))


def in_study(**changes: Any) -> Any:
    """A small study with changes, expanded."""
    from prudent.study import Study

    settings: dict[str, Any] = {"bandits": {"b": ["uniform(0, 1)", "beta(1, 2)"]}, "policies": ["mv-lcb"]}
    settings |= {"risks": ["variance"], "horizons": [10], "runs": 2, **changes}
    return Study(**settings).cells


def advise(**changes: Any) -> Any:
    """A small plan with changes."""
    from pathlib import Path

    from prudent import MeanVariance, plan

    options = plan.guesses(["a: uniform(0, 1)", "b: beta(1..2, 2)"])
    settings = {"options": options, "risk": MeanVariance(1), "horizon": 20, "out": Path("new"), **changes}
    return plan.advise(**{"policies": ["mv-lcb", "exp-exp"], "draws": 10, "runs": 2, **settings})


def tells(agent: Any, rewards: list[float]) -> Any:
    """The agent that loads what the agent saved after these rewards."""
    for reward in rewards:
        agent.tell(agent.ask(), reward)
    return type(agent).from_json(agent.to_json())
