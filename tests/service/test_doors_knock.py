"""A sample of the requests that nobody should send; `python benchmarks/doors.py` sends 10,000."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks/doors.py"


def test_nothing_breaks_leaks_or_keeps_others_waiting():
    spec = importlib.util.spec_from_file_location("doors", SCRIPT)
    doors = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(doors)
    found = doors.knock(cases=300, seconds=60.0, seed=18)
    assert found["requests"] >= 30
    wrong = {name: found[name] for name in ("5xx", "leaks", "tracebacks", "told in the log")}
    assert not any(wrong.values()), wrong
    assert found["longest wait of others, s"] < 2.0
