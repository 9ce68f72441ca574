"""Policies at work in live experiments."""

from prudent.live.agent import Agent, Estimate
from prudent.live.intervals import Intervals

__all__ = ["Agent", "Estimate", "Intervals"]
