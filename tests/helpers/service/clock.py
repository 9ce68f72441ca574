"""A clock that tests set."""


class Clock:
    """Milliseconds since 1970."""

    def __init__(self):
        self.time = 1_800_000_000_000

    def __call__(self):
        return self.time

    def advance(self, seconds):
        """So much time goes by."""
        self.time += round(1000 * seconds)
