"""How the commands speak: text and tables for a person, JSON Lines for a program; the only module that imports rich.

Output is UTF-8 whatever the locale says: under `LC_ALL=C` Python would write ASCII, and a memory
in Chinese could not be shown. What is remembered is data from anywhere, so no character of it
reaches the terminal as a command.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# C0 and C1 controls but newline and tab: as pictures, since ESC in a memory could repaint the screen.
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_CONTROLS |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def speak_utf8() -> None:
    """Make the standard streams write UTF-8, and escape what is no character instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def readable(text: str) -> str:
    """A command-line argument or file name as the person typed it.

    Under `LC_ALL=C` every byte of "你好" arrives as a lone surrogate; it was UTF-8 all the same.

    >>> readable(b"\\xe4\\xbd\\xa0".decode("ascii", "surrogateescape"))
    '你'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace").decode("utf-8", "replace")
    return text


def _escaped(text: str) -> bool:
    return all("\udc80" <= char <= "\udcff" for char in text if "\ud800" <= char <= "\udfff")


def inert(text: str) -> str:
    """Text that can be printed anywhere: readable, without control characters.

    >>> inert("red \\x1b[31m alert")
    'red ␛[31m alert'
    """
    return readable(text).translate(_CONTROLS)


# ---------------------------------------------------------------------- for a person


def styled(text: str, style: str = "") -> Text:
    """A text to print as it stands: no markup in it is obeyed."""
    return Text(inert(text), style=style)


def joined(*parts: str | tuple[str, str]) -> Text:
    """Texts, or pairs of text and style, one after the other."""
    return Text.assemble(*(inert(part) if isinstance(part, str) else (inert(part[0]), part[1]) for part in parts))


def clipped(text: str, more: str = "") -> Group:
    """A text on one line, cut where the terminal ends, and `more` in full below it."""
    first = Text(inert(" ".join(text.split())), no_wrap=True, overflow="ellipsis")
    return Group(first, styled(more.strip(), "dim")) if more else Group(first)


def padded(text: str, cells: int, style: str = "") -> Text:
    """A text filled up to a width; a Chinese character is two cells wide."""
    return styled(text + " " * max(0, cells - cell_len(text)), style)


def say(*lines: RenderableType | str) -> None:
    """Print lines, wrapped to the terminal, or to 80 columns (or COLUMNS) in a pipe."""
    console = _console(sys.stdout)
    with console.capture() as capture:
        for line in lines:
            console.print(styled(line) if isinstance(line, str) else line)
    # Tables fill their last column up with spaces, which only get in the way of whoever copies or compares.
    text = capture.get()
    sys.stdout.write(text if console.is_terminal else re.sub(r" +$", "", text, flags=re.MULTILINE))
    sys.stdout.flush()


def note(text: str) -> None:
    """Print one line about the output, which is not part of it."""
    _console(sys.stderr).print(styled(text, "dim"))


def fail(text: str) -> None:
    """Print what went wrong, on one line that no terminal's width breaks."""
    line = " ".join(inert(text).split())
    _console(sys.stderr).print(Text(line), soft_wrap=True)


def columns(rows: Iterable[Sequence[RenderableType]], *, fixed: int = 1, right: Sequence[int] = ()) -> Table:
    """Rows without lines; the first `fixed` columns keep their width, the others wrap."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for number, row in enumerate(rows):
        if number == 0:
            for place in range(len(row)):
                side = "right" if place in right else "left"
                grid.add_column(justify=side, no_wrap=place < fixed, overflow="fold")  # type: ignore[arg-type]
        grid.add_row(*row)
    return grid


def table(heads: Sequence[str], rows: Iterable[Sequence[str | int]], *, right: Iterable[int] = ()) -> Table:
    """A table with heads; numbers, and the columns named in `right`, stand on the right."""
    body = [list(row) for row in rows]
    numeric = {*right} | {
        place for place in range(len(heads)) if body and all(isinstance(row[place], int) for row in body)
    }
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, head in enumerate(heads):
        found.add_column(head, justify="right" if place in numeric else "left", overflow="fold")
    for row in body:
        found.add_row(*(Text(f"{cell:,}") if isinstance(cell, int) else styled(cell) for cell in row))
    return found


def text_of(text: str) -> str | tuple[str, str]:
    """What a record or message says; a mark where it says nothing, as a tool call does."""
    return text if text.strip() else ("(no text)", "dim")


def when(time: datetime | None) -> str:
    """A time to the minute, in UTC."""
    return "" if time is None else f"{time:%Y-%m-%d %H:%M}"


def number(count: int, noun: str) -> str:
    """A count with its noun.

    >>> number(1, "message"), number(1200, "message"), number(2, "memory")
    ('1 message', '1,200 messages', '2 memories')
    """
    plural = noun.removesuffix("y") + "ies" if noun.endswith("ry") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"


def _console(stream: Any) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False)


# ---------------------------------------------------------------------- for a program


def write_json(value: Mapping[str, Any]) -> None:
    """One JSON object on a line of its own; valid JSON also where a payload holds NaN."""
    sys.stdout.write(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------------- while it takes time


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """A bar on a terminal's standard error, gone when done; its function is told how much is done (of how much).

    Without `total` it only shows that something goes on. In a pipe or a file nothing is written.
    """
    console = _console(sys.stderr)
    shape = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()] if total is not None else [MofNCompleteColumn()]
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), *shape,
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(inert(what), total=total)
        yield lambda done, of=None: bar.update(task, completed=done, total=of)
