"""The policy that is to be evaluated: an arm, probabilities of arms, or one that learns."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from prudent.base.arrays import Array, as_array
from prudent.base.errors import PrudentError, near, shown
from prudent.base.text import number
from prudent.policies.contract import policies
from prudent.policies.learners import is_learner

OWNER = "evaluate"
METHODS = WEIGHTS, ROBUST, ARMS = "weights", "doubly-robust", "arms"


def shares_of(given: Any, labels: Sequence[str]) -> Array | None:
    """The probability of each arm under the policy; None if it is one that learns, and so has no such probabilities."""
    if isinstance(given, Mapping):
        return _shares_by_name(given, labels)
    if isinstance(given, (str, int, np.integer)) and _label(given) in labels:
        return np.array([float(label == _label(given)) for label in labels])
    if isinstance(given, str):
        _check_policy(given, labels)
        return None
    if hasattr(given, "_fields") or is_learner(given):
        return None
    if isinstance(given, (Sequence, np.ndarray)):
        shares = as_array(OWNER, "policy", given)
        if shares.shape != (len(labels),):
            raise PrudentError(
                f"{OWNER}: policy must have {len(labels)} probabilities, one for each arm, got {shown(given)}"
            )
        return _checked(shares, given)
    raise PrudentError(f"{OWNER}: policy must be an arm, probabilities of arms, or a policy, got {shown(given)}")


def _shares_by_name(given: Mapping[Any, Any], labels: Sequence[str]) -> Array:
    shares = np.zeros(len(labels))
    for name, share in given.items():
        if not isinstance(share, Real):
            raise PrudentError(f"{OWNER}: the probability of {shown(name)} must be a number, got {shown(share)}")
        if _label(name) not in labels:
            if float(share) == 0.0:
                continue
            known = near(_label(name), labels)
            raise PrudentError(f"{OWNER}: arm {shown(name)} has no row in the log, so nothing is known of it; {known}")
        shares[list(labels).index(_label(name))] += float(share)
    return _checked(shares, given)


def _checked(shares: Array, given: Any) -> Array:
    if not ((shares >= 0.0) & (shares <= 1.0)).all() or abs(shares.sum() - 1.0) > 1e-6:
        raise PrudentError(f"{OWNER}: policy must hold probabilities from 0 to 1 that sum to 1, got {shown(given)}")
    return np.asarray(shares / shares.sum())


def _check_policy(given: str, labels: Sequence[str]) -> None:
    """Refuse a text that is neither an arm nor the spec of a policy."""
    name = given.partition("(")[0].strip()
    if name not in policies:
        hint = near(given, [*labels, *policies.names()])
        hint = hint if hint.startswith("did") else f"arms: {shown(', '.join(labels), str)}"
        raise PrudentError(f"{OWNER}: policy must be an arm of the log or a policy, got {shown(given)}; {hint}")
    policies.parse(given)


def written(shares: Array, labels: Sequence[str]) -> str:
    """`A`, or `0.5 A + 0.5 B`."""
    parts = [(share, label) for share, label in zip(shares, labels, strict=True) if share > 0.0]
    return parts[0][1] if len(parts) == 1 else " + ".join(f"{number(share, 3)} {label}" for share, label in parts)


def _label(given: Any) -> str:
    """What an arm is called, which may be given as a number."""
    return given if isinstance(given, str) else shown(given, str)
