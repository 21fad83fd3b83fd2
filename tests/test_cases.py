"""Every published case of `../shared/cases.md` is a test here, named after its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CASES = TESTS.parents[1] / "shared" / "cases.md"


def named() -> dict[str, set[str]]:
    """By number of a case, the files with tests named after it."""
    found: dict[str, set[str]] = {}
    for file in TESTS.rglob("test_*.py"):
        for name in re.findall(r"^ *(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.M):
            for number in re.findall(r"(?<=_)r\d\d(?=_)", name):
                found.setdefault(number.upper(), set()).add(str(file.relative_to(TESTS)))
    return found


@pytest.mark.skipif(not CASES.exists(), reason="the cases stand beside the project, not in it")
def test_every_case_has_a_test_with_its_number() -> None:
    numbers = re.findall(r"^### (R\d+)", CASES.read_text(encoding="utf-8"), re.M)
    assert len(numbers) > 50
    known = named()
    missing = [number for number in numbers if number not in known]
    assert not missing, f"cases without a test: {', '.join(missing)}"
