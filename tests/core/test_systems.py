"""The table of `docs/systems.md`: whoever looks a system up finds its code, and tests named after it."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_YET = "—"
LINES = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in (ROOT / "docs" / "systems.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
]
ROWS = [line for line in LINES[2:] if line]


@cache
def names_in(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_"))


def paths(cell: str) -> list[str]:
    """The paths of a cell; a dash is none, and anything else is a slip."""
    if cell == NOT_YET:
        return []
    found = re.findall(r"`([^`]+)`", cell)
    assert ", ".join(f"`{path}`" for path in found) == cell, f"not a list of paths: {cell!r}"
    return found


def test_the_table_has_four_columns_and_every_system_once_in_order() -> None:
    assert LINES[0] == ["id", "system", "module", "tests"]
    assert {len(row) for row in ROWS} == {4}
    ids = [row[0] for row in ROWS]
    assert [id for id in ids if not re.fullmatch(r"[A-Z]\d+", id)] == []
    keys = [(id[0], int(id[1:])) for id in ids]
    assert keys == sorted(set(keys))
    for _, group in groupby(keys, key=lambda key: key[0]):  # none is left out
        numbers = [number for _, number in group]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_what_a_row_names_is_there(row: list[str]) -> None:
    id, system, modules, tests = row
    assert system
    assert [path for path in paths(modules) if not (ROOT / path).exists()] == []
    for path in paths(tests):
        file = ROOT / "tests" / path
        assert file.is_file(), f"{id}: there is no {file}"
        named = re.compile(rf"_{id.lower()}(_|$)")
        assert any(named.search(name) for name in names_in(file)), f"{id}: no test of {path} is named after it"
    assert not paths(tests) or paths(modules), f"{id} has tests, but no module"
