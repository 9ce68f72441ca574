"""How soon are wrong arguments refused? Every public function with every hostile value, against the same call in order.

    python benchmarks/refusals.py [calls to show]

The tests ask for the words of a refusal; here is its time. A line for each of the slowest calls: the processor time
with the worst value, the time with arguments that it takes, and their ratio. A check should cost no more than the
answer, or be over in a moment: no line above a second is to be expected. The last line is what many arms cost,
which grows with their number and not with its square.
"""

import contextlib
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.portfolio_calls import HOSTILE as MATRICES
from helpers.portfolio_calls import PORTFOLIO_CALLS
from helpers.public_calls import HOSTILE, PUBLIC_CALLS
from prudent import Bandit, PrudentError


def seconds(call: Callable[..., Any], arguments: dict[str, Any]) -> float:
    """Processor time of a call, whether it answers or refuses."""
    began = time.process_time()
    with warnings.catch_warnings(), contextlib.suppress(PrudentError):
        warnings.simplefilter("ignore")
        call(**arguments)
    return time.process_time() - began


def main() -> None:
    shown = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    calls = [(*case, HOSTILE) for case in PUBLIC_CALLS]
    calls += [(name, *case, [*MATRICES.values()]) for name, case in PORTFOLIO_CALLS.items()]
    slowest = []
    for name, call, arguments, values in calls:
        seconds(call, arguments)  # compiles what must be compiled
        right = seconds(call, arguments)
        for wrong in arguments:
            tried = [value for value in values if not (wrong in ("function", "result") and callable(value))]
            slowest.append((max(seconds(call, {**arguments, wrong: value}) for value in tried), right, name, wrong))
    slowest.sort(reverse=True)
    for worst, right, name, wrong in slowest[:shown]:
        print(f"{worst:8.3f} s   {right:8.3f} s   {worst / max(right, 1e-6):8.1f} ×   {name}, {wrong}")
    few, many = (seconds(Bandit, {"arms": ["gaussian(0, 1)"] * count}) for count in (10**4, 10**5))
    print(f"{many:8.3f} s   {few:8.3f} s   {many / few:8.1f} ×   Bandit of 100,000 arms, against one of 10,000")


if __name__ == "__main__":
    main()
