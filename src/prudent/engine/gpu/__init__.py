"""The stepping engine on a GPU: the policies' own source, compiled by numba-cuda (docs: gpu)."""
