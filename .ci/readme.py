"""README's code blocks, word for word, as a newcomer runs them: python .ci/readme.py FOLDER [WITHOUT]

Commands and Python run with the environment of this Python, in FOLDER, which gets a copy of `examples`. Every warning
is an error. It stops at the first command or script that fails, with its exit code. Commands that begin with WITHOUT
are left out.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN_ELSEWHERE = ("Install", "Two commands for the whole repository")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def sections() -> dict[str, list[tuple[str, str]]]:
    """The language and the text of each code block, by the title of its section."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {title: FENCE.findall(body) for title, _, body in parts if title not in RUN_ELSEWHERE}


def main(folder: Path, without: str | None = None) -> None:
    """The commands of a section, each line of them, and then its Python as one script."""
    shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    for title, blocks in sections().items():
        shell = "\n".join(text for language, text in blocks if language == "sh").replace("\\\n", " ")
        for line in shell.splitlines():
            if without is None or not line.startswith(without):
                call(*shlex.split(line), folder=folder)
        if python := "\n".join(text for language, text in blocks if language == "python"):
            (folder / "copied.py").write_text(python, encoding="utf-8")
            print(f"README, {title}:")
            call("python", "copied.py", folder=folder)


def call(name: str, *rest: str, folder: Path) -> None:
    """Run a program of this environment."""
    print("$", name, *rest, flush=True)
    path = str(Path(sys.executable).parent)  # no links are followed, because they lead out of the environment
    program = shutil.which(name, path=path) or sys.exit(f"{name} is not in {path}")
    environment = os.environ | {"PYTHONWARNINGS": "error", "PATH": path + os.pathsep + os.environ["PATH"]}
    if code := subprocess.run([program, *rest], cwd=folder, env=environment, check=False).returncode:
        sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
