"""Engines: they run policies on bandits."""

from prudent.engine.simulation import choose_engine, simulate

__all__ = ["choose_engine", "simulate"]
