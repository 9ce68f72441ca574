"""How much memory this machine has, and what needs more of it."""

import os

from prudent.base.errors import PrudentError


def check_memory(owner: str, numbers: float, what: str) -> None:
    """Refuse what this machine cannot hold before it is asked for: many systems promise more memory than they have."""
    needed, there = 8.0 * numbers, memory()
    if needed > there:
        size = f"{needed / 2**30:,.3g} GiB of memory, and this machine has {there / 2**30:,.3g}"
        raise PrudentError(f"{owner}: {what} need {size}; take fewer")


def memory() -> float:
    """The memory of this machine in bytes; infinite where the system does not tell (Windows)."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
