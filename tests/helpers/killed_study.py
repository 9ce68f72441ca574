"""A study in a process that is to be killed, in a module that imports nothing else."""

import multiprocessing
import time

from prudent.study import Study, run, timing


def play(facts, folder, progress):
    """Many small parts, so that it can be killed between any two; `progress` is told of each."""
    multiprocessing.set_start_method("fork", force=True)  # for locks without names, which are no litter when it dies
    timing.TASK = 0.005
    run(Study(**facts), folder, workers=2, progress=lambda _: progress.send(None))
    time.sleep(60)
