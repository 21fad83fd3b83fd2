"""What every benchmark prints and writes: one readable table, and a JSON file that says where it was measured.

twinmem is imported inside functions only: scale.py measures how long that takes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import table as rich_table
from rich.console import Console

if TYPE_CHECKING:
    from shared_core.evaluation.run import PartResult
    from shared_core.evaluation.tables import Table


def console() -> Console:
    """A console that doesn't fold the tables at 80 columns when its output goes to a file."""
    return Console() if sys.stdout.isatty() else Console(width=150)


def write_json(path: str | Path | None, body: Mapping[str, Any]) -> None:
    """Write `body` with `environment()` to `path`; nothing without a path. Figures are rounded to six digits."""
    from shared_core.evaluation.machine import environment

    if path is not None:
        text = json.dumps(_rounded({**environment(), **body}), ensure_ascii=False, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def table(each: Table) -> rich_table.Table:
    """A table of figures; the best of each column in bold, its notes as further rows."""
    from shared_core.evaluation.tables import figure

    out = rich_table.Table(title=each.title, title_justify="left", title_style="bold")
    out.add_column(each.first, no_wrap=True)
    for column in each.columns:
        out.add_column(column, justify="right")
    tops = each.tops
    for name, row in each.rows:
        cells = []
        for column in each.columns:
            value = row.get(column)
            text = figure(column, value)
            cells.append(f"[bold]{text}[/bold]" if value is not None and tops.get(column) == value else text)
        out.add_row(name, *cells)
    for name, note in each.notes.items():
        out.add_row(name, f"[dim]{note}[/dim]", *[""] * (len(each.columns) - 1))
    return out


def show(out: Console, found: PartResult) -> None:
    """Print everything about a part, what loses last."""
    from shared_core.evaluation import tables

    for each in tables.tables(found):
        out.print(table(each))
    lost = tables.losing(found)
    if lost:
        out.print("\n".join(["[bold]What loses[/bold]:", *(f"  {line}" for line in lost)]))
