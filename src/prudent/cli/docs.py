"""The command `docs`: the pages of the documentation, which come with the package."""

import re
import sys
import tempfile
import webbrowser
from itertools import groupby
from pathlib import Path

import click

import prudent
from prudent.base.errors import PrudentError, near
from prudent.cli.tables import print_text, terminal_width

PACKAGE = Path(prudent.__file__).parent
FOLDERS = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")
"""The pages of an installed package, and those of a clone."""

_BUILT = re.compile(r"^(```|:::)\{.*?^\1\n?|^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)
"""What the site makes of a page: tables of contents, and parts that are made from the package."""

_HTML = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><base href="{base}/"><style>body {{ max-width: 46rem; margin: auto;
padding: 1rem; font: 1rem/1.5 system-ui, sans-serif }} pre {{ overflow: auto; background: #f3f3f3; padding: .6rem }}
table {{ border-collapse: collapse }} td, th {{ border: 1px solid #bbb; padding: .2rem .5rem }}
img {{ max-width: 100% }}</style><main>{body}</main></html>
"""


@click.command(short_help="Show a page of the documentation.")
@click.argument("name", required=False)
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
def docs(name: str | None, browser: bool) -> None:
    """Show a page of the documentation, or list the pages.

    NAME is the page as messages and docstrings name it: `prudent docs leaping`.
    """
    pages = find_pages()
    if name is None:
        list_pages(pages)
        return
    wanted = name if name in pages else name.rpartition("/")[2].removesuffix(".md")
    if wanted not in pages:
        hint = near(wanted, pages) or "prudent docs lists all"
        raise PrudentError(owner="docs", parameter="NAME", allowed="be a page", got=name, fix=hint)
    text = _BUILT.sub("", pages[wanted].read_text("utf-8"))
    if browser:
        open_in_browser(wanted, text, pages[wanted].parent)
    else:
        print_page(text)


def list_pages(pages: dict[str, Path]) -> None:
    """The pages of each room, with their titles."""
    click.echo("prudent docs NAME shows one of these pages.")
    for room, names in groupby(pages, key=lambda name: pages[name].parent.name):
        click.secho(f"\n{room}", bold=True)
        for name in names:
            print_text(f"- {name}: {title_of(pages[name])}")


def find_pages() -> dict[str, Path]:
    """The pages by name; the index of a room has the room's name, and the second page of a name its room before it."""
    folder = next((each for each in FOLDERS if (each / "concepts").is_dir()), None)
    if folder is None:
        fix = "install prudent from its wheel or a clone"
        raise PrudentError("the pages of the documentation are not installed", owner="docs", fix=fix)
    found = sorted(folder.glob("*/*.md"), key=lambda path: (path.parent.name, path.name != "index.md", path.name))
    pages: dict[str, Path] = {}
    for path in found:
        name = path.parent.name if path.stem == "index" else path.stem
        pages[f"{path.parent.name}/{name}" if name in pages else name] = path
    return pages


def title_of(path: Path) -> str:
    """The first heading."""
    with path.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), path.parent.name)


def print_page(text: str) -> None:
    """In the terminal, through its pager if it has one; as it is into a file or pipe."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(terminal_width(), 100))
    with console.pager(styles=True):
        console.print(Markdown(text))


def open_in_browser(name: str, text: str, folder: Path) -> None:
    """As a page of its own, whose pictures are those of the folder."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark").enable("table").render(text)
    with tempfile.NamedTemporaryFile("w", suffix=f"-{name}.html", delete=False, encoding="utf-8") as file:
        file.write(_HTML.format(title=name, base=folder.as_uri(), body=body))
    click.echo(file.name)
    webbrowser.open(Path(file.name).as_uri())
