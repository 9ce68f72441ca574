"""The lines that run the trial as it was planned."""

from prudent.plan.advise import Advice, check_advice

HOW = (
    "Save these lines as trial.py and run them. For every person they say which option to give and ask for the outcome;"
    " after each they save the trial in trial.json. If outcomes come late, ask for the next people first and tell each"
    " outcome when it is known. After a stop, Agent.load('trial.json') goes on where it was."
)


def lines_to_run(advice: Advice) -> str:
    """A complete script: the planned policy, live."""
    trial = check_advice("lines_to_run", advice).trial
    outcome = trial.outcome
    minus = "" if outcome.larger_is_better else "-"
    given = [repr(advice.recommended), "options", f"horizon={advice.horizon}", f"risk={str(trial.risk)!r}"]
    if trial.support is not None:
        low, high = sorted(outcome.sign * end + 0.0 for end in trial.support)
        given.append(f"support=({low!r}, {high!r})")
    unit = f" in {outcome.unit}" if outcome.unit else ""
    gains = [] if outcome.larger_is_better else ["# Smaller is better, so the agent is told minus the outcome."]
    return "\n".join(
        [
            "from prudent import Agent",
            "",
            f"options = {trial.names!r}",
            f"agent = Agent({', '.join(given)})",
            *gains,
            f"for person in range({advice.horizon}):",
            "    arm = agent.ask()",
            '    print(f"Person {person + 1} gets {arm}.")',
            f"    outcome = float(input({f'Outcome{unit}: '!r}))",
            f"    agent.tell(arm, {minus}outcome)",
            '    agent.save("trial.json")',
            "",
        ]
    )
