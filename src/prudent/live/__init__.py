"""Policies at work in live experiments."""

from prudent.live.agent import Agent, Estimate, Intervals

__all__ = ["Agent", "Estimate", "Intervals"]
