"""Policies at work in live experiments."""

from prudent.live.agent import Agent, Estimate

__all__ = ["Agent", "Estimate"]
