"""The lines that run the trial as it was planned."""

from prudent.base.text import risk_name
from prudent.plan.advise import Advice, check_advice
from prudent.plan.experiment import FILE

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
    whole, support = advice.horizon + trial.told, trial.limits
    given = [repr(advice.recommended), "options", f"horizon={whole}", f"risk={risk_name(trial.risk)!r}"]
    if support is not None:
        given.append(f"support={support!r}")
    if not outcome.larger_is_better:
        given.append("larger_is_better=False")
    unit = f" in {outcome.unit}" if outcome.unit else ""
    return "\n".join(
        [
            *(["import json", "from pathlib import Path", ""] if trial.told else []),
            "from prudent import Agent",
            "",
            f"options = {trial.names!r}",
            *_call("agent = Agent", given),
            *(_pilot(advice) if trial.told else []),
            f"for person in range({advice.horizon}):",
            "    arm = agent.ask()",
            '    print(f"Person {person + 1} gets {arm}.")',
            f"    outcome = float(input({f'Outcome{unit}: '!r}))",
            "    agent.tell(arm, outcome)",
            '    agent.save("trial.json")',
            "",
        ]
    )


def _pilot(advice: Advice) -> list[str]:
    """The lines that let the agent begin with what the pilot has shown."""
    return [
        f"file = Path({str(advice.out / FILE)!r})",
        "plan = json.loads(file.read_text())",
        'for option, outcomes in plan["pilot"].items():',
        "    for outcome in outcomes:",
        "        agent.tell(option, outcome, asked=False)",
    ]


def _call(called: str, given: list[str]) -> list[str]:
    """A call on one line if that is short, and with a line for each argument if not."""
    whole = f"{called}({', '.join(given)})"
    return [whole] if len(whole) <= SHORT else [f"{called}(", *(f"    {each}," for each in given), ")"]
