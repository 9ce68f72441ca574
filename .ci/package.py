"""Build the wheel and the source archive into dist/, and try the wheel in an empty environment: `make package`."""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

from readme_renderer import markdown

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
ARMS = ["--arm", "gaussian(1.0, 0.05)", "--arm", "gaussian(0.5, 0.25)"]
COMMANDS = [
    ["--version"],
    ["docs", "leaping"],
    ["simulate", *ARMS, "--risk", "mean-variance(rho=0)", "--policy", "mv-lcb", "--horizon", "1000", "--runs", "20"],
    ["paper", "fig2-left", "--quick", "--out", "paper"],
]
NEEDED = ["__init__.pyi", "py.typed", "references.bib", "results/page.html.j2", "service/pages/static/style.css"]
"""Files of the package that are no Python, some of each kind."""


def main() -> None:
    """Each step ends the program if it fails."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "hatchling", "build", "-d", str(DIST), folder=ROOT)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    check_contents(wheel, archive)
    check_readme(wheel)
    with tempfile.TemporaryDirectory() as folder:
        try_out(wheel, Path(folder))
    print(f"{wheel.name} and {archive.name} are in dist/; the wheel works in an empty environment")


def check_contents(wheel: Path, archive: Path) -> None:
    """The wheel has all files of the package and nothing else; the archive can be tested and documented."""
    inside = set(ZipFile(wheel).namelist())
    missing = [name for name in NEEDED if f"prudent/{name}" not in inside]
    strange = [name for name in inside if not name.startswith("prudent") or "__pycache__" in name]
    with tarfile.open(archive) as found:
        names = {name.partition("/")[2] for name in found.getnames()}
    missing += [
        name for name in ("Makefile", "docs/index.md", "docs/conf.py", "tests/conftest.py") if name not in names
    ]
    if missing or strange:
        sys.exit(f"missing: {missing}; unexpected: {strange}")


def check_readme(wheel: Path) -> None:
    """The README renders as a package index shows it, where links to files would lead nowhere."""
    with ZipFile(wheel) as found:
        (name,) = [name for name in found.namelist() if name.endswith(".dist-info/METADATA")]
        text = message_from_string(found.read(name).decode("utf-8")).get_payload()
    if markdown.render(text) is None or re.search(r"\]\((?!https?:)", text):
        sys.exit("README.md does not render as a package index shows it")


def try_out(wheel: Path, folder: Path) -> None:
    """The commands of a newcomer, in an environment that has nothing but the package."""
    venv.create(folder / "env", with_pip=True)
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    bin_folder = folder / "env/bin"
    call(str(bin_folder / "python"), *install, "-c", str(ROOT / "constraints.txt"), str(wheel), folder=folder)
    for command in COMMANDS:
        call(str(bin_folder / "prudent"), *command, folder=folder)
    if not list((folder / "paper").rglob("*.svg")):
        sys.exit("prudent paper wrote no figure")


def call(*command: str, folder: Path) -> None:
    """Run a command in a folder."""
    print("$", *(Path(command[0]).name, *command[1:]), flush=True)
    if subprocess.run(command, cwd=folder, check=False).returncode:
        sys.exit(f"{command[0]} failed")


if __name__ == "__main__":
    main()
