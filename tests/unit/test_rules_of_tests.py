"""The tests keep the rules of CONTRIBUTING: what they import, and that none measures how long something takes."""

import ast
from pathlib import Path

import prudent

TESTS = Path(__file__).parents[1]
FILES = {path.relative_to(TESTS).as_posix(): ast.parse(path.read_text("utf-8")) for path in TESTS.rglob("*.py")}
LIMITS = {
    f"service/test_{name}.py"
    for name in ("http_server", "doors_server", "service_patience", "service_clocks", "client_shapes", "webhook_posts")
}
"""Files of tests in which a limit of time is what users are promised."""


def imports(tree):
    """Module and name of everything that a file imports from somewhere."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    whole = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    return [(node.module or "", each.name) for node in nodes for each in node.names] + [
        (each.name, "") for node in whole for each in node.names
    ]


def test_what_is_public_is_imported_from_the_package():
    stub = ast.parse(Path(prudent.__file__).with_suffix(".pyi").read_text("utf-8"))
    homes = {(module, name) for module, name in imports(stub) if module}
    found = {file: homes.intersection(imports(tree)) for file, tree in FILES.items()}
    assert {file: names for file, names in found.items() if names} == {}, "from prudent import …"


def test_no_file_imports_tests():
    found = {file: [module.split(".")[-1] for module, _ in imports(tree)] for file, tree in FILES.items()}
    tests = {Path(file).stem for file in FILES if Path(file).name.startswith(("test_", "conftest"))}
    assert [file for file, modules in found.items() if tests.intersection(modules)] == []


def test_the_same_name_is_never_given_to_two_files_of_tests():
    names = [Path(file).name for file in FILES if Path(file).name.startswith("test_")]
    assert sorted(names) == sorted(set(names))


def test_no_test_asserts_how_long_something_took():
    """A limit after which a wait is given up is fine: `time.monotonic() < until`."""
    clocks = {"perf_counter", "process_time", "monotonic", "time"}
    found = []
    for file, tree in FILES.items():
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) and file not in LIMITS]
        for node in asserts:
            taken = [each for each in ast.walk(node) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub)]
            called = [each.func for one in taken for each in ast.walk(one) if isinstance(each, ast.Call)]
            if clocks & {each.attr for each in called if isinstance(each, ast.Attribute)}:
                found.append(f"{file}:{node.lineno}")
    assert found == []
