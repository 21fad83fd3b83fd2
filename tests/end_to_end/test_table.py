"""The table of `docs/adapters.md`: every test it names is there, and no number of the references is left out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "adapters.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))


@cache
def names(file: str) -> frozenset[str]:
    """The tests of a file, and the classes that hold standard suites."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def test_every_test_that_the_table_names_is_there() -> None:
    assert len(NAMED) > 150
    assert [f"{file}::{name}" for file, name in NAMED if name not in names(file)] == []


@pytest.mark.parametrize(
    ("heading", "numbers"),
    [
        ("LangChain 5:", [f"5 #{n}" for n in range(1, 27)]),
        ("LlamaIndex 0:", [f"0 fact {n}" for n in range(1, 11)]),
        ("LlamaIndex 3:", [f"3.2 {letter}" for letter in "abcdefghijklmnopqrst"]),
        ("LlamaIndex 6:", [f"6 #{n}" for n in range(1, 27)]),
    ],
)
def test_no_number_of_the_references_is_left_out(heading: str, numbers: list[str]) -> None:
    [section] = [each for each in PAGE.split("\n## ") if each.startswith(heading)]
    rows = [[cell.strip() for cell in line.split(" | ")] for line in section.splitlines() if line.startswith("| ")]
    told = {row[0].removeprefix("| "): row[2] for row in rows}
    assert [number for number in numbers if number not in told] == []
    for number in numbers:
        assert "::" in told[number] or "none: " in told[number], f"{number} has neither a test nor a reason"
