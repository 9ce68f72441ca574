"""`prudent serve` as users start it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from prudent.cli import reach


class ServedCommand:
    """`prudent serve` as a process of its own, which has printed its address and its token."""

    def __init__(self, folder, *options):
        source = str(Path(reach.__file__).parents[2])
        command = [sys.executable, "-m", "prudent", "serve", "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": source}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]
        self.token = self.process.stdout.readline().split()[-1]

    @property
    def environment(self):
        return {"PRUDENT_SERVER": self.url, "PRUDENT_TOKEN": self.token}

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        with self.process.stdout:
            return self.process.wait(timeout=120)
