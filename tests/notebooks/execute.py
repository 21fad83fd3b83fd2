"""Run every notebook in a kernel of its own, as a reader would; with --write its outputs are kept.

python tests/notebooks/execute.py [--write] [NAME...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
_INSTEAD = {"text/html": "(shown as a table)", "image/png": "(a picture)"}


def execute(path: Path) -> Any:
    """The notebook with fresh outputs; raises on the first cell that fails."""
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)  # when it ran is no part of it
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            for kind, instead in _INSTEAD.items():
                if kind in data:
                    data["text/plain"] = instead
    return book


def main(arguments: list[str]) -> None:
    """Run those named, or all."""
    write = "--write" in arguments
    names = [each for each in arguments if not each.startswith("--")]
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and not any(path.name.startswith(name) for name in names):
            continue
        start = time.monotonic()
        book = execute(path)
        if write:
            nbformat.write(book, path)
        print(f"{path.name}: {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
