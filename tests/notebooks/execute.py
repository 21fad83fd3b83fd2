"""Run every notebook in a kernel of its own, as a reader would; with --write its outputs are kept, and its drawings go to the docs.

python tests/notebooks/execute.py [--write] [NAME...]
"""

from __future__ import annotations

import base64
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
IMAGES = ROOT / "docs" / "images"
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


def drawings(book: Any) -> list[bytes]:
    """The PNG pictures a notebook shows."""
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    found = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(each) for each in found]


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
            for number, picture in enumerate(drawings(book), 1):
                (IMAGES / f"notebook-{path.stem[:2]}-{number}.png").write_bytes(picture)
        print(f"{path.name}: {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
