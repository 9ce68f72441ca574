"""The script that asks how strong the tests are: which tokens it changes, and that every room has tests."""

import ast
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


def test_every_file_of_the_source_has_tests():
    for path in sorted((ROOT / "src/prudent").rglob("*.py")):
        tests = MUTANTS["tests_of"](path)
        assert tests
        assert len(set(tests)) == len(tests)
    mirrored = MUTANTS["tests_of"](ROOT / "src/prudent/engine/hypergeometric.py")
    assert mirrored[0] == "tests/statistical/test_hypergeometric.py"
    globs = {glob for room in MUTANTS["TESTS"].values() for glob in room.split()}
    assert [glob for glob in globs if not list(ROOT.glob(f"tests/{glob}.py"))] == []


def test_every_mutant_of_the_source_is_another_program():
    mutants = MUTANTS["all_mutants"]("^(theory/lower|bandit)")
    assert len({mutant.path for mutant in mutants}) == 2
    for mutant in mutants:
        assert ast.dump(ast.parse(mutant.source())) != ast.dump(ast.parse(mutant.path.read_bytes()))
