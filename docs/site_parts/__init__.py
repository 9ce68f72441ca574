"""What the site needs beyond Sphinx: formulas without scripts, citations by key, docstrings, generated parts."""
