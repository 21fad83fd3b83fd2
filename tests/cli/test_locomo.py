"""The public set of long conversations: imported once, and asked about, the right turns come back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo-dev.json"
Run = Callable[..., Any]

pytestmark = pytest.mark.skipif(not LOCOMO.exists(), reason="the data lies beside the project, not in it")


def test_a_second_import_adds_nothing(run: Run) -> None:
    first = run("import", LOCOMO, "--embedder", "hashing", "--json").lines[0]
    assert first["format"] == "locomo"
    assert first["new"] == first["messages"] > 2_500
    assert len(first["users"]) == 5
    second = run("import", LOCOMO, "--format", "locomo", "--json").lines[0]
    assert (second["new"], second["changed"], second["known"]) == (0, 0, first["messages"])
    assert run("search", "camping").code == 2  # five people: whose memory?
    assert run("search", "camping", "--user", first["users"][0]).code == 0


def test_answers_come_from_the_right_turns(run: Run, tmp_path: Path) -> None:
    """One conversation with the default embedder; its first single-hop questions."""
    sample = json.loads(LOCOMO.read_text(encoding="utf-8"))[1]
    file = tmp_path / "one.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    assert run("import", file).code == 0
    asked = [each for each in sample["qa"] if each["category"] == 4 and len(each["evidence"]) == 1][:5]
    right = 0
    for each in asked:
        found = {line["record"]["message_id"] for line in run("search", each["question"], "-k", "10", "--json").lines}
        right += bool(found & set(re.findall(r"D\d+:\d+", each["evidence"][0])))
    assert right >= 3
