"""A plan made from a pilot of a real trial holds on the trial's other patients."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plan_actg175.py"


@pytest.mark.skipif(importlib.util.find_spec("lifelines") is None, reason="the data is inside lifelines")
def test_the_recommended_policy_beats_randomisation_on_patients_the_pilot_did_not_hold(tmp_path, monkeypatch):
    """95 % for all together, on a fixed stream, from nothing. The plan ranks by the worst trials too, so that a policy
    which it calls worse may have the smaller mean."""
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    spec = importlib.util.spec_from_file_location("plan_actg175", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    policies = ("vts", "exp-exp", "mv-lcb(c=1, unbiased=True)", "ucb1", "round-robin")
    _, rivals = example.plan_and_check(tmp_path, seed=0, policies=policies, draws=30, runs=300)
    (uniform,) = rivals.filter(policy="round-robin").rows(named=True)
    assert uniform["high"] < 0.0
