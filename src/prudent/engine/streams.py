"""Random streams that depend only on what is simulated.

Runs are cut into chunks of fixed size. Each chunk has its own stream, made from the random seed, the content of the
cell (arms, risk, policy, horizon) and the chunk's number: results depend neither on the number of workers, nor on the
order of work, nor on which other cells exist.
"""

import hashlib
import math
from collections.abc import Iterator

import numpy as np

CHUNK = 50
MOST_TASKS = 256


def tasks(runs: int) -> Iterator[tuple[int, list[slice]]]:
    """The runs in chunks of CHUNK, several to a task where they are many: (number of the first chunk, chunks)."""
    parts = [slice(start, min(start + CHUNK, runs)) for start in range(0, runs, CHUNK)]
    size = math.ceil(len(parts) / MOST_TASKS)
    for first in range(0, len(parts), size):
        yield first, parts[first : first + size]


def number_of(part: slice) -> int:
    """The number of a chunk."""
    return int(part.start) // CHUNK


def stream(seed: int, cell: str, chunk: int) -> np.random.Generator:
    """The generator of one chunk of a cell."""
    key = np.frombuffer(hashlib.blake2b(cell.encode(), digest_size=16).digest(), dtype="<u4")
    sequence = np.random.SeedSequence(seed, spawn_key=(*key.tolist(), chunk))
    return np.random.Generator(np.random.PCG64(sequence))
