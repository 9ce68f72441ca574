"""Write docs/literature/references.md from src/prudent/references.bib: `python docs/references.py`."""

import re
import unicodedata
from pathlib import Path

from prudent.catalogue import bibliography

PAGE = Path(__file__).parent / "literature/references.md"
HEAD = """# References

This page is for readers who meet a key such as Sani12 in brackets and want the paper behind it. `prudent cite Sani12`
prints an entry as BibTeX. The digits of a key are the year in which the work became known, which may be the year before
it was printed. The page is written by `python docs/references.py` from `src/prudent/references.bib`, so changes belong
there.

"""
ACCENTS = {"'": "\N{COMBINING ACUTE ACCENT}", "`": "\N{COMBINING GRAVE ACCENT}", '"': "\N{COMBINING DIAERESIS}"}


def page() -> str:
    """The whole page: one line per paper, by key."""
    return HEAD + "".join(f"- **{key}** {line(text)}\n" for key, text in sorted(bibliography().items()))


def line(text: str) -> str:
    """Authors, title, place and year of a BibTeX entry."""
    fields = {name: plain(value) for name, value in re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.MULTILINE)}
    authors = ", ".join(" ".join(reversed(name.split(", "))) for name in fields["author"].split(" and "))
    place = next(fields[kind] for kind in ("journal", "booktitle", "publisher", "institution") if kind in fields)
    volume = f" {fields['volume']}" if "volume" in fields else ""
    number = f"({fields['number']})" if "number" in fields else ""
    pages = f", {fields['pages']}" if "pages" in fields else ""
    authors = authors.replace(", others", " et al")
    return f"{authors}. *{fields['title']}*. {place}{volume}{number}{pages}, {fields['year']}."


def plain(value: str) -> str:
    """BibTeX as text: accents composed, braces gone, long dashes."""
    value = re.sub(r"\{\\(['`\"])(\w)\}", lambda found: found[2] + ACCENTS[found[1]], value)
    return unicodedata.normalize("NFC", re.sub(r"[{}]", "", value).replace("--", "–"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
