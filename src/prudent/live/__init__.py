"""Policies at work in live experiments."""
