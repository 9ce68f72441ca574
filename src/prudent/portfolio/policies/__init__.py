"""Policies that learn a mix, one file each; `base` holds their contract."""
