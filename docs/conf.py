"""How the site is built: `make docs` writes it into docs/_build/site, and nothing in it needs another host."""

import sys
from pathlib import Path

import prudent

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "prudent"
author = project_copyright = "The prudent maintainers"
version = release = prudent.__version__
language = "en"
smartquotes = False  # they would turn --option into a dash

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"]
extensions += ["site_parts.mathml", "site_parts.citations", "site_parts.docstrings", "site_parts.generated"]
extensions += ["site_parts.notebooks"]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

bibtex_bibfiles = ["../src/prudent/references.bib"]
bibtex_default_style = "by_key"

autodoc_typehints = "none"  # what a parameter takes is said in its words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"prudent {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it fetches pages, which a browser forbids where the site is opened from a folder
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"

linkcheck_timeout = 10  # make links
linkcheck_retries = 2

html_domain_indices = False  # the names of modules are too long for a telephone, and the reference lists them
