"""The multi-period problem: which sequence of arms has the sum of rewards with the least risk."""
