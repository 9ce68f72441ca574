"""Worlds: simulations of environments and learners that are plain Python, interpreted (docs: worlds)."""
