"""Engines: they play policies on bandits."""

from prudent.engine.simulation import simulate

__all__ = ["simulate"]
