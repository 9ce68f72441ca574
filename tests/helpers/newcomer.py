"""A newcomer of each role, who has nothing but the built site: they follow links from the front page to the tutorial of
their role, copy its code, and run it.

    python tests/helpers/newcomer.py

does all of it, with the `prudent` of this environment, in an empty folder. The tests follow the links only, and compare
the code with that of the pages, which other tests run.
"""

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

SITE = Path(__file__).parents[2] / "docs/_build/site"
ROLES = {"researcher": "researchers", "practitioner": "practitioners", "contributor": "contributors"}
"""The tutorial of each role, and the room of the site in which its reader begins."""

LINK = re.compile(r'<a class="[^"]*reference internal[^"]*" href="([^"#]+)[^"]*">')
CODE = re.compile(r'<div class="highlight-python notranslate"><div class="highlight"><pre>(.*?)</pre>', re.DOTALL)
CLICKS = 3


def way(role: str) -> list[Path]:
    """The pages from the front page to the tutorial of a role, through the text of pages and not through the menu."""
    ways = [[SITE / "index.html"]]
    for _ in range(CLICKS):
        ways = [[*pages, page] for pages in ways for page in targets(pages[-1]) if page not in pages]
        for pages in ways:
            if pages[1].parent.name == ROLES[role] and pages[-1] == SITE / f"tutorials/{role}.html":
                return pages
    raise LookupError(f"no way from the front page to the tutorial for a {role} in {CLICKS} clicks")


def targets(page: Path) -> list[Path]:
    """The pages to which the text of a page links, in order."""
    text = page.read_text(encoding="utf-8").split("<article", 1)[1].split("</article>", 1)[0]
    found = [(page.parent / link).resolve() for link in LINK.findall(text) if not urlsplit(link).scheme]
    return [target for target in dict.fromkeys(found) if target.suffix == ".html"]


def code_of(page: Path) -> list[str]:
    """The blocks of Python of a page, as a reader copies them."""
    return [html.unescape(re.sub(r"<[^>]+>", "", block)) for block in CODE.findall(page.read_text(encoding="utf-8"))]


def main() -> None:
    """Run the tutorial of each role, and say how it went."""
    for role in ROLES:
        pages = way(role)
        print(f"{role}: {' → '.join(str(page.relative_to(SITE)) for page in pages)}")
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "copied.py"
            script.write_text("\n".join(code_of(pages[-1])), encoding="utf-8")
            if subprocess.run([sys.executable, str(script)], cwd=folder, check=False).returncode:
                sys.exit(f"the code for a {role} fails")


if __name__ == "__main__":
    main()
