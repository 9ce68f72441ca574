"""The script that asks how strong the tests are: which tokens it changes, and that every room has tests."""

import ast
import itertools
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
MUTANTS = runpy.run_path(str(ROOT / "benchmarks" / "mutants.py"))
SOURCE = '''"""Texts with 1 + 1 stay."""

def f(é: tuple[int, 1] = 2, *, flag: bool = True) -> "1 < 2":
    """Docs: 3 > 2."""
    if not flag and é < max(1e100, é):
        return f"{é + 1}" * (
            é  # - and 7
            // -3
        )
'''


def test_code_is_changed_and_texts_are_not(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(SOURCE, encoding="utf-8")
    mutants = list(MUTANTS["mutants_of"](path))
    changes = {(mutant.before, mutant.after) for mutant in mutants}
    assert changes == {
        ("2", "3"), ("True", "False"), ("not", ""), ("and", "or"), ("<", "<="), ("<", ">"), ("max", "min"), ("*", "/"),
        ("//", "/"), ("-", ""), ("3", "4"),
    }  # fmt: skip
    assert len(mutants) == len(changes)
    whole = ast.dump(ast.parse(SOURCE))
    assert all(ast.dump(ast.parse(mutant.source())) != whole for mutant in mutants)
    (divided,) = (mutant.source().decode() for mutant in mutants if mutant.before == "//")
    assert divided == SOURCE.replace("// -3", "/ -3")


def test_every_file_of_the_source_has_tests_of_its_own():
    always = {"tests/unit/test_refusals.py", "tests/unit/test_package.py"}
    for path in sorted((ROOT / "src/prudent").rglob("*.py")):
        tests = MUTANTS["tests_of"](path)
        assert len(set(tests)) == len(tests)
        assert set(tests) > always or path.stem in ("__init__", "__main__")


def test_tests_are_found_by_the_name_of_a_file_then_by_its_room_and_comparisons_of_laws_come_last():
    tests = MUTANTS["tests_of"](ROOT / "src/prudent/engine/leap/hypergeometric.py")
    assert tests[0] == "tests/statistical/test_hypergeometric.py"
    assert {"tests/unit/engine/test_engine.py", "tests/unit/policies/test_ties.py"} <= set(tests)
    assert "tests/statistical/test_leaping.py" in tests[tests.index("tests/unit/test_refusals.py") :]


def test_tests_that_import_from_a_file_come_first():
    for file, wanted in (
        ("arms/user_laws.py", "arms/test_own_laws"),
        ("engine/resumed.py", "live/test_agent_forecast"),
        ("base/registry.py", "base/test_registry"),
        ("confidence/fixed_n.py", "properties/test_confidence_widths"),
    ):
        first = MUTANTS["tests_of"](ROOT / "src/prudent" / file)[:4]
        assert any(wanted in test for test in first), file


def test_every_folder_of_unit_tests_is_one_of_the_source_and_what_the_table_names_is_there():
    folders = {path.parent.name for path in (ROOT / "tests/unit").glob("*/test_*.py")}
    assert folders <= {path.parent.name for path in (ROOT / "src/prudent").glob("*/__init__.py")}
    entries = {path.stem for path in (ROOT / "src/prudent").iterdir()}
    assert MUTANTS["COMPILED"] | MUTANTS["NAMING"] | set(MUTANTS["ALSO"]) <= entries
    for room, names in MUTANTS["ALSO"].items():
        found = [list(ROOT.glob(f"tests/*/**/test_{name}.py")) for name in names.split()]
        assert all(found), room
        in_its_folder = set(ROOT.glob(f"tests/unit/{room}/**/test_*.py"))
        assert in_its_folder.isdisjoint(itertools.chain(*found)), f"{room} need not name what its folder holds"


def test_every_mutant_of_the_source_is_another_program():
    mutants = MUTANTS["all_mutants"]("^(theory/lower|bandit)")
    assert len({mutant.path for mutant in mutants}) == 2
    for mutant in mutants:
        assert ast.dump(ast.parse(mutant.source())) != ast.dump(ast.parse(mutant.path.read_bytes()))
