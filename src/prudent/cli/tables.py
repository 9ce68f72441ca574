"""Tables that fit: columns where the terminal is wide enough for them, and otherwise one record below the other.

Numbers are never cut or broken. Prose wraps at words, and specs do where nothing else helps.
"""

import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

import click

Rows = Sequence[Mapping[str, str]]

PROSE = 24
"""Characters to which a column of words may be narrowed; below that, sentences become strips."""

GAP = 2
"""Spaces between two columns."""

PLAINER = str.maketrans("─−", "--")

MIN_COLUMNS = 20
"""The narrowest terminal that is taken seriously."""


def terminal_width() -> int:
    """Columns of the terminal; what COLUMNS says if it is set, and 80 into a file or pipe."""
    return max(MIN_COLUMNS, shutil.get_terminal_size().columns)


def print_rows(title: str, rows: Rows, *, left: Collection[str] = ()) -> None:
    """The rows under a title: a column for every key of the first row, those of `left` being words."""
    width = terminal_width()
    click.secho(_writable("\n".join(wrapped(_printable(title), width))), bold=True)
    click.echo(_writable("\n".join(["", *lines_of(rows, left, width)])))


def print_text(text: str) -> None:
    """A sentence, wrapped at words; the lines of a list item are indented."""
    lines = wrapped(text, terminal_width() - 2)
    indent = "  " if text.startswith("- ") else ""
    click.echo(_writable("\n".join([lines[0], *(indent + line for line in lines[1:])])))


def lines_of(rows: Rows, left: Collection[str], width: int) -> Iterator[str]:
    """The rows as a table if all columns fit side by side, and as records if not."""
    rows = [{name: _printable(text) for name, text in row.items()} for row in rows]
    widths = _widths(rows, left, width)
    return _records(rows, width) if widths is None else _table(rows, left, widths)


def _widths(rows: Rows, left: Collection[str], width: int) -> dict[str, int] | None:
    """The width of every column, or None if they are too many."""
    least, most = {}, {}
    for name in rows[0]:
        texts = {row[name] for row in rows}
        widest = max(map(_length, texts))
        most[name] = max(widest, _length(name))
        if name in left:
            widest = min(widest, max(PROSE, *map(_longest_word, texts)))
        least[name] = max(widest, _longest_word(name))
    spare = width - sum(least.values()) - GAP * (len(least) - 1)
    if spare < 0:
        return None
    wanted = {name: most[name] - least[name] for name in least}
    share = min(1.0, spare / max(1, sum(wanted.values())))
    return {name: least[name] + int(share * wanted[name]) for name in least}


def _table(rows: Rows, left: Collection[str], widths: Mapping[str, int]) -> Iterator[str]:
    header = {name: wrapped(name, width) for name, width in widths.items()}
    height = max(map(len, header.values()))
    yield from _beside({name: [""] * (height - len(lines)) + lines for name, lines in header.items()}, left, widths)
    yield (" " * GAP).join("─" * width for width in widths.values())
    folded = [{name: wrapped(row[name], width) for name, width in widths.items()} for row in rows]
    apart = any(len(lines) > 1 for row in folded for lines in row.values())
    for i, row in enumerate(folded):
        if apart and i:
            yield ""
        yield from _beside(row, left, widths)


def _beside(cells: Mapping[str, list[str]], left: Collection[str], widths: Mapping[str, int]) -> Iterator[str]:
    """The lines of one row, whose cells may have several each."""
    for i in range(max(map(len, cells.values()))):
        parts = []
        for name, width in widths.items():
            text = cells[name][i] if i < len(cells[name]) else ""
            blank = " " * (width - _length(text))
            parts.append(text + blank if name in left else blank + text)
        yield (" " * GAP).join(parts).rstrip()


def _records(rows: Rows, width: int) -> Iterator[str]:
    """A line or more for each value, with its name before it; values that are empty are left out."""
    margin = max(map(_length, rows[0])) + GAP
    below = width - margin < PROSE // 2  # then values stand below their names
    for i, row in enumerate(rows):
        if i:
            yield ""
        for name, text in row.items():
            if text and below:
                yield from wrapped(name, width)
                yield from (f"{'':{GAP}}{line}" for line in wrapped(text, width - GAP))
            elif text:
                first, *others = wrapped(text, width - margin)
                yield f"{name}{'':{margin - _length(name)}}{first}"
                yield from (f"{'':{margin}}{line}" for line in others)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines, broken between words; only a word that is longer than a line is broken itself."""
    if _length(text) <= width:
        return [text]
    lines = [""]
    for word in _words(text):
        if lines[-1] and _length(lines[-1]) + 1 + _length(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
        while _length(lines[-1]) > width:
            cut = next(i for i in range(len(lines[-1]), 0, -1) if _length(lines[-1][:i]) <= width)
            lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    return lines


def _words(text: str) -> list[str]:
    """What stays on one line: words, and numbers with their error, power of ten or unit."""
    return re.split(r"(?<![±×=])\s+(?![±×%=])", text)


def _longest_word(text: str) -> int:
    return max(map(_length, _words(text)))


def _printable(text: str) -> str:
    """One line, without characters that move the cursor; names come from files."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _writable(text: str) -> str:
    """The text with a ? for each letter that stdout's encoding lacks; pipes of Windows have no lines and no Greek."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAINER).encode(encoding, "replace").decode(encoding)
    return text


def _length(text: str) -> int:
    """The columns that a text takes on the screen; some letters take two and accents none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
