"""The sandbox needs what only Linux has: files in memory, handles of processes, limits of data."""

import sys

collect_ignore = [] if sys.platform == "linux" else ["test_fuzz.py"]
