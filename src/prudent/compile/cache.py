"""Digests of code: what must not be found again once it has changed, be it machine code or the cells of a study."""

import dis
import hashlib
import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

ROOMS = ("arms", "confidence", "risk", "policies", "engine")
"""Where kernels and what they call are written: an edit there must not find its old machine code."""

PACKAGE = Path(__file__).parents[1]
TOOLS = (PACKAGE / "compile/cache.py", PACKAGE / "compile/types.py")
"""How code is compiled, wherever it is written."""

IMPORT = re.compile(r"^ *from (prudent[.\w]*) import (\([^)]*\)|[^#\n]*)", re.MULTILINE)
"""How modules of this package import each other."""

LIBRARIES = ("numpy", "numba", "scipy", "prudent")
"""Code known by its name, as Python's own is: `source_digest` tells our source, and the others keep their promises."""

PLAIN = (float, int, str, bool, tuple[float, ...], float | str)
"""The annotations of numbers and texts."""

UNKNOWN = os.urandom(16)
"""Stands for what cannot be followed: it is another in every process, so that no other finds again what rests on it."""

Feed = Callable[[bytes], Any]


@cache
def kernels_digest() -> bytes:
    """A digest of all source that kernels are made from."""
    return _digest(_in_rooms())


@cache
def source_digest(start: Path) -> bytes:
    """A digest of the source that kernels in a file are made from: its own, and that of our files that it imports.

    What a kernel calls is imported where the kernel is written, or comes with the types of its arguments.
    """
    reached, waiting = {start}, [start]
    while waiting:
        new = _imported(waiting.pop()) - reached
        reached |= new
        waiting += new
    return _digest((reached & _in_rooms()) | {start, *TOOLS})


@cache
def _tools_digest() -> bytes:
    return _digest(TOOLS)


@cache
def _in_rooms() -> frozenset[Path]:
    return frozenset([*TOOLS, *(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))])


def _digest(paths: Iterable[Path]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.digest()


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files of this package that one of them imports; of a package also its `__init__`."""
    names: set[str] = set()
    for module, items in IMPORT.findall(path.read_text(encoding="utf-8")):
        parts = module.split(".")
        names |= {".".join(parts[: i + 1]) for i in range(1, len(parts))}
        names |= {f"{module}.{item.split()[0]}" for item in items.strip("()").split(",") if item.split()}
    return frozenset(file for file in map(_file, names) if file.is_file())


def _file(module: str) -> Path:
    """Where one of our modules is written."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def fingerprint(cls: type) -> str:
    """A digest of the code of a class and of all it reads: functions, numbers and arrays, also by way of modules.

    What cannot be followed, such as a pointer to a function in C, makes it another one in every process.
    """
    digest = hashlib.blake2b(_tools_digest(), digest_size=10)
    _absorb_class(cls, digest.update, set())
    return digest.hexdigest()


def code_digest(*functions: object) -> str:
    """A digest of functions and of all that they read, as `fingerprint` is for classes."""
    digest = hashlib.blake2b(digest_size=8)
    _absorb(functions, frozenset(), digest.update, set())
    return digest.hexdigest()


def foreign_code(*things: object) -> str:
    """Fingerprints of the code in policies, risk measures and laws that is not this package's; empty if all is."""
    classes = dict.fromkeys(cls for thing in things for cls in _classes(thing))
    return "".join(fingerprint(cls) for cls in classes if not is_own(cls))


@cache
def _is_of_numbers(cls: type) -> bool:
    """Whether one of our classes has fields for numbers and texts alone, which hold no code."""
    kinds = [field.type for field in fields(cls)] if is_dataclass(cls) else [*cls.__annotations__.values()]
    return is_own(cls) and all(kind in PLAIN for kind in kinds)


def is_own(cls: type) -> bool:
    """Whether a class is this package's."""
    return cls.__module__.partition(".")[0] == "prudent" and _is_where_it_says(cls)


def _is_where_it_says(cls: type) -> bool:
    """Whether its module has the class under its name; one that was made by calling a metaclass may bear any."""
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def _classes(thing: object) -> Iterator[type]:
    """The class of a thing with parameters, and those of its parts."""
    if hasattr(thing, "_fields") or is_dataclass(thing):
        yield type(thing)
        if _is_of_numbers(type(thing)):  # type: ignore[arg-type]
            return
    parts: Iterable[Any] = thing if isinstance(thing, (tuple, list)) else ()
    if is_dataclass(thing):
        parts = (getattr(thing, field.name) for field in fields(thing))
    for part in parts:
        yield from _classes(part)


def functions_read(function: FunctionType) -> list[FunctionType]:
    """The plain functions that a function reads, from around it or by way of modules, and that are in no library."""
    if is_known(function.__module__):
        return []
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    found = [function.__globals__.get(name) for name in names] + [*_closed_over(function).values()]
    modules = [value for value in found if isinstance(value, ModuleType) and not is_known(value.__name__)]
    found += [vars(module).get(name) for module in modules for name in names]
    return [each for each in found if isinstance(each, FunctionType) and not is_known(each.__module__)]


def _closed_over(function: FunctionType) -> dict[str, Any]:
    """What a function reads from the functions around it, as far as it is assigned yet."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def is_known(module: str | None) -> bool:
    """Whether code of this module is known by its name."""
    return module is not None and _is_library(module.partition(".")[0])


@cache
def _is_library(name: str) -> bool:
    """Whether it is one of LIBRARIES or Python's own; a file of the user's may be called `test` or `queue` too."""
    file = getattr(sys.modules.get(name), "__file__", None)
    own = name in sys.stdlib_module_names and (file is None or Path(file).is_relative_to(Path(os.__file__).parent))
    return name in LIBRARIES or own


def _absorb(value: object, attributes: frozenset[str], feed: Feed, seen: set[object]) -> None:
    """Feed what code reads; of a module, what has one of the `attributes` that the code mentions."""
    value = getattr(value, "py_func", value)
    match value:
        case FunctionType():
            _absorb_function(value, feed, seen)
        case type():
            _absorb_class(value, feed, seen)
        case ModuleType():
            _absorb_module(value, attributes, feed, seen)
        case np.ndarray() | np.generic() if not value.dtype.hasobject:
            feed(repr((value.dtype.descr, value.shape)).encode() + value.tobytes())
        case tuple() | list():
            feed(f"{len(value)} of".encode())
            for item in value:
                _absorb(item, attributes, feed, seen)
        case None | bool() | int() | float() | complex() | str() | bytes() | Enum():
            feed(f"{type(value).__name__} {value!r}".encode())
        case BuiltinFunctionType() | np.ufunc() | np.dtype():
            feed(repr(getattr(value, "__name__", value)).encode())
        case MethodType() | partial():
            _absorb_bound(value, feed, seen)
        case _ if callable(value) and is_known(getattr(value, "__module__", None)):
            feed(getattr(value, "__qualname__", repr(type(value))).encode())
            _absorb_source(value.__module__, feed)
        case _:
            feed(UNKNOWN)


def _absorb_bound(value: Any, feed: Feed, seen: set[Any]) -> None:
    """Feed a function with what is bound to it: the owner of a method, or some of the arguments."""
    function, bound = (
        (value.func, (value.args, sorted(value.keywords.items())))
        if isinstance(value, partial)
        else (value.__func__, value.__self__)
    )
    _absorb(function, frozenset(), feed, seen)
    try:
        feed(pickle.dumps(bound))
    except Exception:  # pickling may raise anything
        feed(UNKNOWN)


def _absorb_module(module: ModuleType, attributes: frozenset[str], feed: Feed, seen: set[object]) -> None:
    """Feed what a module has under the names that code mentions; for a library its name is enough.

    Of this package all source is fed, because code may go from module to module here.
    """
    feed(module.__name__.encode())
    if module.__name__.partition(".")[0] == "prudent":
        feed(kernels_digest())
    elif not is_known(module.__name__) and (module, attributes) not in seen:
        seen.add((module, attributes))
        for name in sorted(attributes & vars(module).keys()):
            feed(name.encode())
            _absorb(vars(module)[name], attributes, feed, seen)


def _absorb_source(module: str, feed: Feed) -> None:
    """Feed the source of one of our modules; nothing for other libraries."""
    if module.partition(".")[0] == "prudent":
        feed(source_digest(_file(module)))


def _absorb_function(function: FunctionType, feed: Feed, seen: set[object]) -> None:
    """Feed a function's code, and all that it reads from around it."""
    if function in seen:
        return
    seen.add(function)
    if (wrapped := getattr(function, "__wrapped__", None)) is not None:
        _absorb(wrapped, frozenset(), feed, seen)  # a decorator of ours around code of the user's
    home = function.__globals__.get("__name__")
    feed(f"{home}.{function.__qualname__}".encode())
    if home is not None and is_known(home):
        _absorb_source(home, feed)
        return
    if inspect.getmodule(function) is None:  # code from exec(): the next process could not load what Numba stores
        feed(UNKNOWN)
    around = _closed_over(function)
    read, attributes = _absorb_code(function.__code__, feed)
    around |= {name: function.__globals__[name] for name in sorted(read & function.__globals__.keys())}
    for name, value in around.items():
        feed(name.encode())
        _absorb(value, frozenset(attributes), feed, seen)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _absorb(value, frozenset(), feed, seen)


def _absorb_code(code: CodeType, feed: Feed) -> tuple[set[str], set[str]]:
    """Feed bytecode and constants, with those of functions inside; the globals and the attributes it reads."""
    read, attributes = set(), set()
    feed(code.co_code + repr((code.co_names, code.co_varnames)).encode())
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _absorb_code(constant, feed)
            read |= inner[0]
            attributes |= inner[1]
        else:
            feed(repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant).encode())
    return read, attributes


def _absorb_class(cls: type, feed: Feed, seen: set[object]) -> None:
    """Feed the methods of a class, those it inherits, and its constants."""
    feed(f"{cls.__module__}.{cls.__qualname__}".encode())
    if cls in seen:
        return
    if is_known(cls.__module__) and _is_where_it_says(cls):
        _absorb_source(cls.__module__, feed)
        return
    seen.add(cls)
    for base in cls.__mro__[1:]:
        _absorb_class(base, feed, seen)
    for name, value in sorted(_members(cls).items()):
        feed(name.encode())
        _absorb(value, frozenset(), feed, seen)


def _members(cls: type) -> Mapping[str, Any]:
    """What was written in a class: its functions, bare, and its public constants. Python writes the names with __."""
    found = {}
    for name, member in vars(cls).items():
        value = getattr(member, "__func__", getattr(member, "fget", member))
        constant = isinstance(value, (bool, int, float, str, tuple, np.ndarray)) and not name.startswith("_")
        if (isinstance(value, FunctionType) or constant) and (not name.startswith("__") or name == "__post_init__"):
            found[name] = value
    return found
