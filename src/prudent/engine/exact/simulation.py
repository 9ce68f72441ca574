"""`simulate(…, engine="exact")`: checks, one pass, results."""

import math
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from prudent.bandit import Bandit, check_bandit
from prudent.base.errors import PrudentError, check_integer
from prudent.compile.announce import Compiling
from prudent.engine.exact.forward import MOST_VALUES, check_size, last_layer
from prudent.engine.exact.lattice import Lattice
from prudent.engine.exact.results import ExactResults
from prudent.policies.binding import bind, check_arms
from prudent.policies.contract import UNSET, Setting, policies, spec
from prudent.policies.optimal import TABLED, Optimal
from prudent.policies.units import Scale, check_scale, core, fitted, units_of, warn_of_size
from prudent.results.comparison import are_several
from prudent.risk.base import RiskMeasure, risks

MOST_ROUNDS = 100_000
"""More rounds than any machine has memory for, but of policies with few phases."""


def simulate_exactly(
    bandit: Any,
    policy: Any,
    *,
    risk: RiskMeasure | str,
    horizon: int,
    scale: Scale = None,
    others: Mapping[str, Any] = MappingProxyType({}),
    patience: float = math.inf,
) -> ExactResults:
    """The distributions of a policy on arms with few values (docs: exact); `others` are settings it cannot serve. What
    would take more than about `patience` seconds is refused."""
    if are_several(bandit) or are_several(policy):
        raise PrudentError("simulate: engine='exact' takes one bandit and one policy; call it for each of several")
    if given := [name for name, value in others.items() if value is not None and value is not False]:
        raise PrudentError(f"simulate: engine='exact' has no {given[0]}; leave it out, or use engine='auto'")
    bandit = check_bandit("simulate", bandit)
    policy, risk = policies.make("simulate", policy), risks.make("simulate", risk)
    horizon = check_integer("simulate", "horizon", horizon, low=1, high=MOST_ROUNDS)
    scale = check_scale("simulate", scale)
    units = units_of(scale, bandit)
    values = [_values(bandit, arm) for arm in range(len(bandit))]
    check_arms(made := fitted(policy, units), bandit)
    if isinstance(made, Optimal) and len(bandit) == 2 and horizon > TABLED:  # too long for engines that play runs
        ready: Any = made.tabulated(horizon, risk if made.risk is UNSET else made.risk)
    else:
        ready = bind(policy, Setting.of(bandit, risk, horizon, units))
    if core(ready) is not ready:
        why = "forgets, so that the order of rewards matters and the states are too many"
        raise PrudentError(f"simulate: {spec(policy)} {why}; use engine='auto' in place of 'exact'")
    if scale is None:
        warn_of_size(spec(policy), made, bandit)
    check_size(spec(policy), ready, [len(each) for each in values], horizon)
    started = time.perf_counter()
    lattice = Lattice(values, horizon)
    with Compiling(spec(policy)):
        layer = last_layer(spec(policy), ready, lattice, patience)
    return ExactResults(bandit, policy, risk, horizon, lattice, layer, time.perf_counter() - started)


def _values(bandit: Bandit, arm: int) -> Any:
    atoms = bandit.arms[arm].atoms()
    if atoms is None or len(atoms[0]) > MOST_VALUES:
        raise PrudentError(
            f"simulate: engine='exact' is for arms with at most {MOST_VALUES} different values, got"
            f" {bandit.arms[arm]}; use engine='auto'"
        )
    return np.asarray(atoms[0])
