"""The lines that run the trial as it was planned."""

from prudent.plan.advise import Advice, check_advice
from prudent.text import risk_name

HOW = (
    "Save these lines as trial.py and run them. For every person they say which option to give and ask for the outcome;"
    " after each they save the trial in trial.json. If outcomes come late, ask for the next people first and tell each"
    " outcome when it is known. After a stop, Agent.load('trial.json') goes on where it was."
)

SHORT = 60
"""Characters of a line that fits into every terminal."""


def lines_to_run(advice: Advice) -> str:
    """A complete script: the planned policy, live."""
    trial = check_advice("lines_to_run", advice).trial
    outcome = trial.outcome
    given = [repr(advice.recommended), "options", f"horizon={advice.horizon}", f"risk={risk_name(trial.risk)!r}"]
    if trial.support is not None:
        given.append(f"support={trial.support!r}")
    if not outcome.larger_is_better:
        given.append("larger_is_better=False")
    unit = f" in {outcome.unit}" if outcome.unit else ""
    return "\n".join(
        [
            "from prudent import Agent",
            "",
            f"options = {trial.names!r}",
            *_call("agent = Agent", given),
            f"for person in range({advice.horizon}):",
            "    arm = agent.ask()",
            '    print(f"Person {person + 1} gets {arm}.")',
            f"    outcome = float(input({f'Outcome{unit}: '!r}))",
            "    agent.tell(arm, outcome)",
            '    agent.save("trial.json")',
            "",
        ]
    )


def _call(called: str, given: list[str]) -> list[str]:
    """A call on one line if that is short, and with a line for each argument if not."""
    whole = f"{called}({', '.join(given)})"
    return [whole] if len(whole) <= SHORT else [f"{called}(", *(f"    {each}," for each in given), ")"]
