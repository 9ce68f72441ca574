"""Classes of the user's own in specs: `package.module:Class(…)` and `path/to/file.py:Class(…)`.

A file is imported as a module that bears its name, so that its machine code and its cells are found again wherever it
lies, and once more after it has changed. Other processes and a cluster need not have it: the code of such a class
travels with it, and `taken_along` with `unpacked` gives them the module that it names.
"""

import linecache
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from cloudpickle import register_pickle_by_value

from prudent.base.errors import PrudentError, near, shown

PLACED = re.compile(r"""('[^']*'|"[^"]*")|((?:[A-Za-z]:[\\/])?[\w.~/\\-]+):([A-Za-z_]\w*)""")
"""Quoted text, which stays as it is, or a place and the name of a class there."""

Files = dict[str, tuple[str, str]]
"""Path and text of files, by the names of their modules."""

named: set[str] = set()
"""The files of all classes that specs have named."""

_MARK = "own__"
_versions: dict[Path, tuple[int, int]] = {}
_files: Files = {}


def marked(text: str) -> str:
    """The text of a spec in which each place is one word that Python can read."""
    return PLACED.sub(lambda m: m[1] or _MARK + f"{m[2]}:{m[3]}".encode().hex(), text)


def place_in(word: str) -> str | None:
    """The place and class that stand behind a word of a marked text; None if it is a plain word."""
    try:
        return bytes.fromhex(word.removeprefix(_MARK)).decode() if word.startswith(_MARK) else None
    except ValueError:
        return None


def place_of(cls: type) -> str | None:
    """As what the class was last asked for in a spec, if it was; it is written in the class to travel with it."""
    return vars(cls).get("__place__")


def check_names_no_file(owner: str, text: str, fix: str) -> None:
    """Refuse a spec in data that would run the user's code, or that of whoever sent the data."""
    if marked(text) != text:
        raise PrudentError(f"{owner}: {shown(text)} names a class in a file, and data must not run code; {fix}")


def taken_along() -> Files:
    """All files that specs have named."""
    return dict(_files)


def unpacked(files: Files) -> None:
    """Have the modules of such files, in a process that may lack them."""
    for name, (path, text) in files.items():
        if name not in sys.modules or _files.get(name, (path, text)) != (path, text):
            _run(name, path, text)


def own_class(kind: str, text: str) -> Any:
    """The class or function at `place:name`, imported now."""
    place, _, name = text.rpartition(":")
    module = _from_file(kind, text, place) if place.endswith(".py") else _module(kind, text, place)
    named.add(module.__file__ or "")
    found = getattr(module, name, None)
    if not callable(found):
        known = [each for each, value in vars(module).items() if isinstance(value, type) and not each.startswith("_")]
        raise PrudentError(f"{kind} {shown(text)}: {place} has no class {name}; {near(name, known)}")
    return found


def _module(kind: str, text: str, place: str) -> ModuleType:
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise  # what the module itself imports is the user's affair
        fix = f"write the path of the file, as in {place.rpartition('.')[2]}.py:Class, or install the package"
        raise PrudentError(f"{kind} {shown(text)}: there is no module {place}; {fix}") from None
    except (TypeError, ValueError):  # names that begin or end with a dot, or hold a slash
        raise PrudentError(f"{kind} {shown(text)}: {place} is no module; write package.module or file.py") from None


def _from_file(kind: str, text: str, place: str) -> ModuleType:
    path = Path(place).expanduser().resolve()
    try:
        facts = path.stat()
    except OSError:
        raise PrudentError(f"{kind} {shown(text)}: there is no file {path}") from None
    name, version = path.stem, (facts.st_mtime_ns, facts.st_size)
    if name in sys.modules and _versions.get(path) == version:
        return sys.modules[name]
    _check_free(kind, text, name, path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # for the files beside it that it imports
    module = _run(name, str(path), path.read_text(encoding="utf-8"))
    _versions[path] = version
    return module


def _run(name: str, path: str, text: str) -> ModuleType:
    """The module that a file makes."""
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = path
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path  # for messages, where it is not
    try:
        exec(compile(text, path, "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    _files[name] = path, text
    register_pickle_by_value(module)
    return module


def _check_free(kind: str, text: str, name: str, path: Path) -> None:
    """Refuse the name of another module, which the file would hide from all others."""
    if not name.isidentifier():
        raise PrudentError(f"{kind} {shown(text)}: {name} is no name of a module; use letters, digits and _")
    try:
        known = find_spec(name)
    except ValueError:  # a module that was made by hand has no spec
        known = None
    origin = getattr(sys.modules.get(name), "__file__", None) or getattr(known, "origin", None)
    if origin is not None and (origin in ("built-in", "frozen") or Path(origin).resolve() != path):
        raise PrudentError(f"{kind} {shown(text)}: there is another module called {name}, {origin}; rename the file")
