"""Engines: they run policies on bandits."""
