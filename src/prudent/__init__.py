"""Risk-averse multi-armed bandits: plan a trial, run it live, report its risk.

The public names are those of the stub beside this file, `__init__.pyi`. Each is imported on first use, so that
`import prudent` and the command line start at once.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, tuple[str, str]]:
    """The module of each public name and what it is called there, read from the stub; "" is a module itself."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    pairs = [(node, each.name) for node in imports for each in node.names]
    modules = {name: ".".join(filter(None, ("prudent", node.module, name))) for node, name in pairs if node.level}
    return {name: (modules[name], "") if node.level else (str(node.module), name) for node, name in pairs}


_HOME = _public_names()
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'prudent' has no attribute {name!r}")
    home, attribute = _HOME[name]
    value = getattr(import_module(home), attribute) if attribute else import_module(home)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOME, *(name for name in globals() if name.startswith("__"))})
