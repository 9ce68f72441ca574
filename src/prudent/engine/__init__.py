"""Engines: they play policies on bandits."""

from prudent.engine.simulation import choose_engine, simulate

__all__ = ["choose_engine", "simulate"]
