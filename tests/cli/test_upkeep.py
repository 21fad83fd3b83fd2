"""A damaged database is noticed and mended, and a database moves to another embedder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_whole_database(run: Run, alice: Path) -> None:
    found = run("check")
    assert found.code == 0
    assert "agent.db is whole: 6 records, 5 vectors." in found.out
    value = run("check", "--json").lines[0]
    assert (value["ok"], value["records"], value["problems"], value["fixed"]) == (
        True,
        6,
        [],
        0,
    )  # five messages, and a fact heard in them


def test_lost_vectors_are_found_and_made_again(run: Run, alice: Path) -> None:
    with closing(sqlite3.connect(alice)) as raw:
        raw.execute("DELETE FROM vector")
        raw.commit()
    broken = run("check")
    assert broken.code == 1
    assert "a text without a vector" in broken.out
    assert run("check", "--json").lines[0]["ok"] is False
    assert run("check", "--fix").code == 0
    assert run("check").code == 0
    assert run("search", "river", "--kind", "turn", "--json").lines[0]["record"]["message_id"] == "m1"


def test_a_file_that_is_no_database(run: Run) -> None:
    Path("agent.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    for verb in (["check"], ["users"], ["search", "x"], ["reembed"]):
        found = run(*verb)
        assert (found.code, found.out, found.err.count("\n")) == (1, "", 1)
        assert "agent.db" in found.err


def test_moving_to_another_embedder_and_back(run: Run, alice: Path) -> None:
    moved = run("reembed", "--json").lines[0]
    assert (moved["was"], moved["embedder"], moved["embedded"]) == ("hashing", "use-multilingual-v3", 5)
    assert (
        run("search", "Which city did I move to?", "-k", "1", "--kind", "turn", "--json").lines[0]["record"][
            "message_id"
        ]
        == "m1"
    )
    assert "nothing to do" in run("reembed").out
    assert "5 records embedded with hashing (was use-multilingual-v3)" in run("reembed", "-e", "hashing").out


@pytest.mark.parametrize("verb", [["users"], ["stats"], ["check"], ["reembed"], ["show"], ["search", "x"]])
def test_reading_creates_nothing(run: Run, verb: list[str], tmp_path: Path) -> None:
    found = run(*verb, "--db", "none.db")
    assert (found.code, found.out) == (1, "")
    assert "no database at none.db" in found.err
    Path("empty.db").touch()
    assert run(*verb, "--db", "empty.db").code == 1
    assert run(*verb, "--db", tmp_path).code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["empty.db"]
    assert Path("empty.db").stat().st_size == 0
