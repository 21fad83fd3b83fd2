"""How the tests of the readers write an export: as JSON, JSONL or raw bytes, into a fresh folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(name, value)`: bytes and text as they are, a list as lines for .jsonl, else as JSON."""

    def _write(name: str, value: Any, indent: int | None = 1) -> Path:
        path = tmp_path / name
        if isinstance(value, bytes):
            path.write_bytes(value)
        elif isinstance(value, str):
            path.write_text(value, encoding="utf-8")
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in value), encoding="utf-8")
        else:
            path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
        return path

    return _write
