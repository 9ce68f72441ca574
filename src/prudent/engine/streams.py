"""Random streams that depend on the question alone.

Runs are cut into chunks of fixed size. Each chunk has its own stream, made from the seed, the content of the cell
(arms, risk, policy, horizon) and the chunk's number: results depend neither on the number of workers, nor on the
order of work, nor on which other cells exist.
"""

import hashlib
from collections.abc import Iterator

import numpy as np

CHUNK = 25


def chunks(runs: int) -> Iterator[slice]:
    """The runs in pieces of CHUNK."""
    for start in range(0, runs, CHUNK):
        yield slice(start, min(start + CHUNK, runs))


def stream(seed: int, cell: str, chunk: int) -> np.random.Generator:
    """The generator of one chunk of a cell."""
    key = np.frombuffer(hashlib.blake2b(cell.encode(), digest_size=16).digest(), dtype="<u4")
    sequence = np.random.SeedSequence(seed, spawn_key=(*key.tolist(), chunk))
    return np.random.Generator(np.random.PCG64(sequence))
