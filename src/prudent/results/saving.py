"""Runs as a Parquet file: a row for each run and snapshot, and in its metadata all else that makes them runs again."""

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from prudent.arms.base import arms as laws
from prudent.bandit import Bandit
from prudent.base.errors import PrudentError, shown
from prudent.base.files import write
from prudent.base.own_classes import check_names_no_file
from prudent.policies.contract import policies, spec
from prudent.results.runs import Runs, Trajectory
from prudent.risk.base import risks

ARRAYS = ("pulls", "mean", "variance", "twin_mean", "twin_variance")
FACTS = ("seed", "seconds", "engine", "common")


def save(runs: Runs, path: str | os.PathLike[str]) -> Path:
    """Write the runs with all their snapshots, and the rounds that were kept. What holds code cannot be saved."""
    import polars as pl  # not needed to simulate, and slow to import

    if not isinstance(runs.bandit, Bandit):
        raise PrudentError("save: runs on an environment hold its code; save table() instead")
    parts = []
    for each in runs.history or [runs]:
        columns = {"run": np.arange(len(each)), "horizon": np.full(len(each), each.horizon)}
        parts.append(pl.DataFrame(columns | {name: getattr(each, name) for name in ARRAYS}))
    table = pl.concat(parts)
    if runs.kept is not None:
        kept = len(runs.kept.arms)
        last = pl.DataFrame({"run": np.arange(kept), "arms": runs.kept.arms, "rewards": runs.kept.rewards})
        last = last.with_columns(pl.lit(runs.horizon).alias("horizon"))
        table = table.join(last, on=["run", "horizon"], how="left", maintain_order="left")
    facts: dict[str, Any] = {name: getattr(runs, name) for name in FACTS}
    facts |= {"policy": spec(runs.policy), "risk": str(runs.risk)}
    facts["arms"] = [[name, str(law)] for name, law in zip(runs.bandit.names, runs.bandit.arms, strict=True)]
    for kind, texts in ((laws, [text for _, text in facts["arms"]]), (risks, [facts["risk"]])):
        for text in texts:
            _made("save", kind, text)
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={"prudent.runs": json.dumps(facts)})
    return write(path, buffer.getvalue())


def load(path: str | os.PathLike[str], policy: Any = None) -> Runs:
    """The runs in a file that `save` wrote. A `policy` must be passed if no spec names its class."""
    import polars as pl

    try:
        data = Path(path).read_bytes()
        facts = json.loads(pl.read_parquet_metadata(io.BytesIO(data))["prudent.runs"])
        table = pl.read_parquet(io.BytesIO(data))
    except OSError as error:
        raise PrudentError(f"load: cannot read {path}: {error.strerror}") from None
    except (pl.exceptions.PolarsError, KeyError, ValueError):
        raise PrudentError(f"load: {path} holds no runs; take a file that Runs.save wrote") from None
    for text in (facts["risk"], *(text for _, text in facts["arms"])):
        check_names_no_file("load", text, "register the class in a package")
    if policy is None:
        check_names_no_file("load", facts["policy"], "pass policy=…")
    made = _made("load", policies, facts["policy"], "pass policy=…") if policy is None else policy
    names, texts = zip(*facts["arms"], strict=True)
    shared: dict[str, Any] = {name: facts[name] for name in FACTS}
    shared |= {"policy": made, "risk": risks.parse(facts["risk"]), "bandit": Bandit(texts, names)}
    rounds = table["horizon"].unique(maintain_order=True).to_list()
    shape = (len(rounds), -1, len(facts["arms"]))
    record = {name: table[name].to_numpy().reshape(shape).swapaxes(0, 1) for name in ARRAYS}
    if "arms" in table.columns:
        rows = table.filter(pl.col("arms").is_not_null())
        shared["kept"] = Trajectory(rows["arms"].to_numpy(), rows["rewards"].to_numpy())
    return Runs.at_snapshots(rounds, record, **shared)


def _made(owner: str, kind: Any, text: str, fix: str = "register its class, or name it as file.py:Class") -> Any:
    try:
        return kind.parse(text)
    except PrudentError as error:
        raise PrudentError(f"{owner}: {shown(text)} cannot be made from its text ({error}); {fix}") from None
