"""Input that once did harm, by a sentence that says what must happen. Each entry also keeps all promises of judge.py.

How entries are written is said in entries.py.
"""

from calls import CALLS
from entries import (
    OWN_POLICY,
    OWN_RISK,
    answered,
    cells_of_another,
    clean,
    deep_manifest,
    edited,
    flipped,
    other_columns,
    part_as_folder,
    refused,
    right,
    script,
    true,
    without_code,
    wrong,
)
from sandbox import Case
from valid import STUDY, TABLE

TWO = "--arm 'uniform(0, 1)' --arm 'beta(1, 2)'"
SIMULATE = f"simulate {TWO} --policy mv-lcb --horizon 20 --runs 2"
GUESSES = "--option 'a: uniform(0, 1)' --option 'b: beta(1..2, 2)'"
PLAN = "plan --rho 1 --horizon 20 --draws 10 --runs 2 --policy mv-lcb --policy exp-exp --out new"
PILOT = f"{PLAN} --pilot table.csv"
PORTFOLIO = "portfolio table.csv --horizon 20 --runs 2"
FOUR_ROWS = "\n0.1{0}0.8\n0.2{0}0.7\n0.4{0}0.9\n0.3{0}0.6\n"
BROAD = STUDY.replace("steps = 2", "steps = 200_000")

CSV = {
    "a cell of 100 kB is not printed whole": refused(PORTFOLIO, "line 2", table_csv=f"a,b\n1{'[' * 100_000},1\n2,3\n"),
    "a return of 1e300 is refused in one line": refused(
        PORTFOLIO, "1e.?300|finite|large", table_csv=TABLE.replace("0.03", "1e300")
    ),
    "a pilot with decimal commas between commas is refused": refused(
        PILOT, "line 2", table_csv="old,new\n0,1,0,8\n0,2,0,7\n0,4,0,9\n"
    ),
    "a pilot with decimal commas between semicolons is read": answered(
        PILOT, "mv-lcb", table_csv=("old;new" + FOUR_ROWS.format(";")).replace(".", ",")
    ),
    "a pilot whose row has a field too many is refused": refused(
        PILOT, "line 3.* cells", table_csv="old,new\n0.1,0.2\n0.3,0.4,0.5\n0.2,0.6\n"
    ),
    "a pilot with two columns of one name is refused": refused(
        PILOT, "two columns", table_csv="old,old,new\n1,2,3\n4,5,6\n7,8,8\n"
    ),
    "a pilot without a line of names is refused": refused(PILOT, "names", table_csv=FOUR_ROWS.format(",")[1:]),
    "an arm from one of two columns of one name is refused": refused(
        f"{SIMULATE} --arm \"empirical('table.csv', 'a')\"", "two columns", table_csv="a,a\n1,2\n3,4\n"
    ),
    "returns with a field of 200 kB are refused": refused(
        PORTFOLIO, "line 2", table_csv=f"a,b\n{'9' * 200_000},1\n2,3\n"
    ),
    "a pilot with a field of 200 kB is refused": refused(PILOT, "line 2", table_csv=f"a,b\n{'9' * 200_000},1\n2,3\n"),
    "a data column with a field of 200 kB is refused": refused(
        f"{SIMULATE} --arm \"empirical('table.csv', 'a')\"", "line 2", table_csv=f"a,b\n{'x' * 200_000},1\n2,3\n"
    ),
    "a pilot with semicolons is read": answered(PILOT, "mv-lcb", table_csv="old;new" + FOUR_ROWS.format(";")),
    "a table with a byte order mark is read": answered(PORTFOLIO, "east", table_csv=b"\xef\xbb\xbf" + TABLE.encode()),
}

SPECS = {
    "a number that ends in letters is refused in one line": refused(
        f"{SIMULATE} --arm 'gaussian(1and, 1)'", "cannot read arm"
    ),
    "a beta law with two tiny parameters that differ is drawn or refused": clean(
        f"simulate {TWO} --arm 'beta(1e-9, 1e-300)' --policy ucb1 --horizon 200 --runs 3"
    ),
    "an arm of 1e300 is forecast without a warning or refused": clean(
        "study run study.toml --dry-run",
        study_toml='policies = ["ucb1"]\nrisks = ["cvar"]\nhorizons = [20]\nruns = 3\n'
        '[bandits.b]\narms = ["uniform(0, 1)", "gaussian(1e300, 1)"]\n',
    ),
    "the word false means False in a spec": true(
        "MVLCB(unbiased=False) == MVLCB(unbiased=parsed('mv-lcb(unbiased=false)').unbiased)"
    ),
    "the word no is not a truth value": refused(f"{SIMULATE} --policy 'mv-lcb(unbiased=no)'", "unbiased"),
    "quoted text is not a truth value": refused(
        f"{SIMULATE} --policy 'anytime-mv-lcb(unbiased=\"False\")'", "unbiased"
    ),
    "a study's policy may say false": clean(
        "study run study.toml --dry-run", study_toml=STUDY.replace("c={c}", "c={c}, unbiased=false")
    ),
    "text is not a truth value in Python": wrong("MVLCB(unbiased='no')", "unbiased"),
    "text is not a truth value for short": wrong("two_assets().optimal(1.0, short='no')", "short"),
    "text is not a truth value for remember": wrong("Agent('ucb1', 2, remember='no', scale=1)", "remember"),
    "text is not a truth value for asked": wrong("Agent('ucb1', 2, scale=1).tell(0, 0.5, asked='no')", "asked"),
    "20,000 minus signs are refused": refused(f"{SIMULATE} --arm {'-' * 20_000}1", "arm"),
    "20,000 brackets are refused": refused(f"{SIMULATE} --policy '{'(' * 20_000}'", "policy"),
    "beta draws that do not end are refused": refused(f"{SIMULATE} --arm 'beta(1e-100, 1e-100)'", "beta"),
    "a beta law with one tiny parameter is drawn or refused": clean(f"{SIMULATE} --arm 'beta(1e-320, 1)'"),
    "a guess that reaches a tiny beta is refused": refused(
        f"{PLAN} {GUESSES} --option 'beta(1e-300..1e-300, 1e-300)'", "beta"
    ),
    "a study that reaches a tiny beta is refused": refused(
        "study run study.toml", "beta", study_toml=STUDY.replace("uniform(0, 1)", "beta(1e-200, 1e-200)")
    ),
    "costs of large size that differ are no tie": true(
        "Bandit([Gaussian(1e9, .05), Gaussian(1e9 + 1e-4, .05)]).best(MeanVariance(float('inf'))) == 1"
    ),
    "variances that differ beside a large mean are no tie": true(
        "Bandit([Gaussian(1e9, .5), Gaussian(1e9, .4999)]).best(MeanVariance(1)) == 1"
    ),
    "complex data are refused": wrong("Empirical([1 + 2j, 3])", "complex|number|real"),
    "arms near 1e200 are refused or simulated without NaN": clean(
        "simulate --arm 'gaussian(1e200, 1)' --arm 'gaussian(-1e200, 1)' --policy ucb1 --horizon 20 --runs 3"
    ),
    "arms near 1e200 give strict JSON or are refused": clean(
        "simulate --arm 'gaussian(1e200, 1)' --arm 'gaussian(-1e200, 1)' --policy exp-exp --horizon 20 --runs 3 --json"
    ),
}

STUDIES = {
    "a TOML integer of 5,000 digits is refused": refused(
        "study run study.toml", "study.toml", study_toml=STUDY.replace("seed = 7", f"seed = {'7' * 5_000}")
    ),
    "a TOML key of 200 kB is not printed whole": refused(
        "study run study.toml", "study.toml", study_toml=f"{'k' * 200_000} = 1"
    ),
    "a manifest of 100,000 brackets is refused": refused("study show made", "manifest", damage=deep_manifest),
    "another file's bytes in the list of cells are refused": refused(
        "study show made --csv", "cells.parquet", damage=cells_of_another
    ),
    "compact refuses a name of 300 letters": refused(f"study compact {'x' * 300}", "too long|letters"),
    "a forecast refuses a name of 300 letters": refused(
        f"study run study.toml --dry-run --out {'x' * 300}", "too long|letters"
    ),
    "None among policies is refused": wrong("in_study(policies=['mv-lcb', None])", "policies"),
    "None as the only policy is refused": wrong("in_study(policies=[None])", "policies"),
    "a policy that stands twice under two spellings is refused": wrong(
        "in_study(policies=['mv-lcb', 'mv-lcb(c=5.0)'])", "leave one|twice"
    ),
    "values closer than twelve digits are refused": wrong(
        "in_study(policies=['mv-lcb(c={c})'], ranges={'c': [1.0000000000001, 1.0000000000002]})", "leave one|twice"
    ),
    "a TOML file with a byte order mark is read": answered(
        "study run study.toml --dry-run", "cells", study_toml=b"\xef\xbb\xbf" + STUDY.encode()
    ),
    "a TOML file of 5,000 brackets is refused": refused(
        "study run study.toml", "study.toml", study_toml="x = " + "[" * 5_000
    ),
    "3,000 mistakes are cut to a few lines": refused(
        "study run study.toml",
        "study.toml",
        study_toml=STUDY.replace('["gaussian', "[" + '"nobody(1)", ' * 3_000 + '"gaussian'),
    ),
    "a mistake in a file of many cells is told at once": refused(
        "study run study.toml", "unused", study_toml=BROAD.replace("[ranges]", "[ranges]\nunused = [1]")
    ),
    "a seed of 2^63 is refused or run": clean(
        "study run study.toml --out new", study_toml=STUDY.replace("seed = 7", f"seed = {2**63}")
    ),
    "a seed of 2^80 is refused or run": clean(
        "study run study.toml --out new", study_toml=STUDY.replace("seed = 7", f"seed = {2**80}")
    ),
    "zero workers are refused before anything is written": refused(
        "study run study.toml --out new --workers 0", "workers"
    ),
    "an unknown backend is refused before anything is written": refused(
        "study run study.toml --out new --backend gpu", "backend"
    ),
    "an unknown backend is refused in a forecast too": refused(
        "study run study.toml --out new --backend gpu --dry-run", "backend"
    ),
    "an unknown option is refused before anything is written": refused(
        "study run study.toml --out new --cluster nonsense", "--cluster"
    ),
    "a million threads are refused or not started": clean("study run study.toml --out new --workers 1000000"),
    "an empty name for a folder is refused": refused("study run study.toml --out ''", "out|folder"),
    "compact refuses a folder that is not there": refused("study compact nowhere", "nowhere"),
    "compact refuses a file": refused("study compact table.csv", "table.csv"),
    "compact refuses an empty name": refused("study compact ''", "study|folder"),
    "a value of infinity chooses nothing": refused("study show made --where c=inf", "c=inf|finite|no finished cell"),
    "a horizon with a fraction chooses nothing": refused("study show made --horizon 20.5", "20.5|no finished cell"),
    "a horizon that is not a number is refused": refused("study show made --horizon nan", "nan"),
    "an infinite horizon is refused": refused("study compare made mv-lcb exp-exp --horizon inf", "inf"),
    "flipped bits in the list of cells never give a wrong table": script(
        "import entries; entries.try_flips()", answers="^0 wrong tables"
    )._replace(args=("made",)),
    "a flipped bit in the list of cells does not end in a traceback": clean(
        "study plot made regret", damage=flipped(8_003)
    ),
    "show reports a part that is a folder": clean("study show made", damage=part_as_folder),
    "run reports a part that is a folder": clean("study run study.toml --out made", damage=part_as_folder),
    "show reports a part with other columns": clean("study show made", damage=other_columns),
    "run mends a part with other columns": answered("study run study.toml --out made", "made", damage=other_columns),
    "a manifest without its code is refused": refused("study show made", "manifest", damage=without_code),
    **{
        f"a cell is computed anew when {what} of a user's policy is edited": edited(
            OWN_POLICY.format(width=width), *lines, "{'policies': [own.Own()]}"
        )
        for what, width, lines in (
            ("the code", "0.1", ("own.py", "0.1 / arm", "0.5 / arm")),
            ("a value in another module", "lib.WIDTH", ("lib.py", "WIDTH = 0.1", "WIDTH = 0.5")),
            ("a function in another module", "lib.width()", ("lib.py", "return 0.1", "return 0.5")),
            ("an array", "TABLE[1]", ("own.py", "[0.1, 0.2]", "[0.1, 0.5]")),
        )
    },
    "a cell is computed anew when a user's risk measure is edited": edited(
        OWN_RISK, "own.py", "2.0 * x", "3.0 * x", "{'risks': [own.Own()]}"
    ),
    "a cell is computed anew when what a user's risk measure calls is edited": edited(
        OWN_RISK.replace("2.0 *", "lib.WIDTH *"), "lib.py", "= 0.1", "= 0.5", "{'risks': [own.Own()]}"
    ),
}

PLANS = {
    "two options of one name are refused": refused(f"{PLAN} {GUESSES} --option 'a: beta(2, 2)'", "a"),
    "an option called like a column is refused": refused(f"{PILOT} --option 'east: beta(2, 2)'", "east"),
    "an option called like a counted one is refused": refused(
        f"{PLAN} --option 'option 2: beta(1, 2)' --option 'beta(1, 1)' --option 'beta(2, 2)'", "option 2"
    ),
    "99,999,999,999 options are refused": refused(
        f"{PLAN} --option '99999999999 * gaussian(0, 1)'", "99,?999,?999,?999"
    ),
    "a trade-off beyond floats is refused": refused(
        f"{PLAN.replace('--rho 1', '--accept 1e-320 1 1e300')} {GUESSES}", "accept|trade-off|rho"
    ),
    "a plan with the seed -1 is refused": refused(f"{PLAN} {GUESSES} --seed -1", "seed"),
    "a plan with the seed 2^63 is refused or made": clean(f"{PLAN} {GUESSES} --seed {2**63}"),
    "a plan for zero rounds is refused": refused(f"{PLAN} {GUESSES} --horizon 0", "horizon"),
    "a plan with zero workers writes nothing": refused(f"{PLAN} {GUESSES} --workers 0", "workers"),
}

SIZES = {
    **{
        f"{command.split()[0]} refuses {runs} runs": refused(f"{command} --runs {runs}", "runs|memory|too large")
        for runs in ("1e15", "1e18", "1e30")
        for command in (SIMULATE, PORTFOLIO, f"identify {TWO} --strategy lucb --delta 0.1", f"{PLAN} {GUESSES}")
    },
    **{
        f"bounds of {n} rounds are printed or refused": clean(f"bounds {TWO} --horizon {n}")
        for n in ("1e300", "1e15", "1")
    },
    "a portfolio of 1e300 rounds is refused": refused(f"{PORTFOLIO} --horizon 1e300", "horizon"),
    "a budget of 1e12 with every reward kept is refused": refused(
        f"identify {TWO} --strategy sequential-halving --risk 'cvar(0.1)' --budget 1e12 --runs 2",
        "budget|memory|too large",
    ),
    "years of rounds obey Ctrl-C": clean(SIMULATE.replace("mv-lcb", "ucb1").replace("20", str(2**53)), small=False),
    "a long round of one run obeys Ctrl-C": clean(SIMULATE.replace("mv-lcb", "ucb1").replace("20", "1e9"), small=False),
    "a long search obeys Ctrl-C": clean(
        f"identify {TWO.replace('1, 2', '1, 1.001')} --strategy lucb --risk 'cvar(0.1)' --delta 0.01 --runs 50",
        small=False,
    ),
    "an agent of ten million arms is made in seconds or refused": right(
        "Agent('mv-lcb', 10**7, horizon=10**8, scale=1, risk='mean-variance(rho=1)').ask()"
    ),
    "a portfolio with infinite tolerance prints strict JSON": answered(f"{PORTFOLIO} --rho inf --json", "weights"),
    "the paper without a name of a figure is refused": refused("paper ''", "figure|name"),
}

AGENTS = {
    **{
        f"an agent with {what} is refused": wrong(f"agent({changes})", "agent state")
        for what, changes in {
            "a mean outside of its support": "mean=5.0",
            "a variance larger than its support allows": "variance=100.0",
            "a variance after one pull": "pulls=1, variance=0.5",
            "rewards outside of its support": "remember=True, rewards=[0.5, 3.0], mean=1.75, variance=1.5625, pulls=2",
            "10^400 open asks": "open_asks=10**400",
            "10^400 pulls": "pulls=10**400",
            "2^63 pulls": "pulls=2**63",
            "an even increment of its generator": "inc='0'",
            "a word for a truth value": "unbiased='x'",
            "a list for a truth value": "unbiased=[]",
        }.items()
    },
    "an agent loads the file it saved after tiny rewards": true(
        "tells(Agent('ucb1', 1, remember=True, scale=1), [0, 5e-324, 5e-324]) is not None"
    ),
    "a truth value is a reward": right("Agent('ucb1', 2, scale=1).tell(0, np.True_, asked=False)"),
    "loading an agent from nowhere is refused": wrong("Agent.load('nowhere.json')", "nowhere.json"),
    "saving an agent below a file is refused": wrong(
        "Agent('ucb1', 2, scale=1).save('table.csv/agent.json')", "table.csv"
    ),
    "saving an agent on a full disk is refused": wrong(
        "full_disk(); Agent('ucb1', 200, scale=1).save('agent.json')", "cannot write"
    ),
}

DISKS = {
    **{
        f"{command.split()[0]} refuses --out where a file is": refused(f"{command} --out table.csv", "table.csv")
        for command in (PORTFOLIO, "paper fig2-left --runs 2", f"{PLAN} {GUESSES}", "study run study.toml")
    },
    **{
        f"{command.split()[0]} refuses --out below a file": refused(f"{command} --out table.csv/x", "table.csv")
        for command in (
            PORTFOLIO,
            "paper fig2-left --runs 2",
            f"{PLAN} {GUESSES}",
            "study run study.toml",
            "study plot made regret",
        )
    },
    **{
        f"{command.split()[0]} refuses --out of 3,000 letters": refused(
            f"{command} --out {'x' * 3_000}", "too long|letters"
        )
        for command in (
            PORTFOLIO,
            "paper fig2-left --runs 2",
            f"{PLAN} {GUESSES}",
            "study run study.toml",
            "study plot made regret",
        )
    },
    "plot refuses --out where a folder is": refused("study plot made regret --out made", "made"),
    **{
        f"{command.split()[0]} says that the disk is full": script(
            f"import entries; entries.full_disk(); entries.prudent({command!r})", refused="cannot write|too large"
        )._replace(args=("made",))
        for command in (
            f"{PORTFOLIO} --out new",
            "paper fig2-left --runs 2",
            f"{PLAN} {GUESSES}",
            "study run study.toml",
            "study plot made regret",
        )
    },
    **{
        f"{' '.join(command.split()[:2])} says that it has no rights": script(
            f"import entries; entries.no_rights('shut'); entries.prudent({command!r})", refused="shut"
        )._replace(args=("made",))
        for command in (
            f"{PORTFOLIO} --out shut/x",
            "paper fig2-left --runs 2 --out shut/x",
            f"{PLAN} {GUESSES} --out shut/x",
            "study run study.toml --out shut/x",
            "study plot made regret --out shut/x.svg",
            "study show shut/x",
            "portfolio shut/x.csv --horizon 5",
        )
    },
}

CASES: dict[str, Case] = {**CSV, **SPECS, **STUDIES, **PLANS, **SIZES, **AGENTS, **DISKS, **CALLS}
