"""The migrations: numbered scripts that are only ever added to."""

from __future__ import annotations

import sqlite3
from importlib.resources import files


def migrations() -> list[tuple[int, str, str]]:
    """All migrations in order: number, name, SQL."""
    found = []
    for file in files("shared_core.store.migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append((int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def split(script: str) -> list[str]:
    """The statements of a script, so that they run inside one transaction (executescript commits)."""
    found, buffer = [], ""
    for line in script.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            found.append(buffer.strip())
            buffer = ""
    return found
