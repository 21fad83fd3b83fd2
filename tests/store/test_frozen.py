"""Databases written by each earlier schema open, and say what they said."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from shared_core import AgentMemory
from shared_core.errors import StoreDamaged, StoreTooNew
from shared_core.store.migrating import migrations
from tests.store.frozen import DATA

FILES = sorted(DATA.glob("schema_*.sqlite"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_database_of_an_earlier_schema_opens_and_says_what_it_said(file: Path, path: Path) -> None:
    shutil.copy(file, path)
    with AgentMemory.open(path, embedder="hashing") as memory:
        report = memory.check()
        assert report.ok, report.problems
        assert memory.users() == ["alice", "bob"]
        alice = memory.scope(user="alice")
        texts = {r.id: r.text for r in alice.list(kinds=["fact"])}
        assert texts["oslo"] == "I live in Oslo now"
        assert texts["tea"] == "我喜欢绿茶"
        lyon = alice.get("lyon")
        assert lyon is not None
        assert (lyon.superseded_by, lyon.metadata) == ("oslo", {"n": 1})
        assert [m.text for m in alice.session("monday").messages()] == ["I work at Orbit", "Noted"]
        assert alice.session("monday").working.current is not None
        assert alice.search("绿茶", k=1)[0].record.id == "tea"
        assert alice.graph.entity("老板") is not None
        assert alice.procedures.match("brewing tea", k=1)
        assert [e.text for e in alice.list(kinds=["event"])].count("decided on Lyon") == 1
        assert alice.history("gone")[-1].action == "deleted"
        assert memory.scope(user="bob", agent="other").count() == 1
        alice.add("written by this version")
        assert memory.check().ok


def test_each_schema_that_there_was_has_its_file() -> None:
    """Nothing has been released yet; from the first release on, no file here may be made anew."""
    assert [file.stem for file in FILES] == [f"schema_{number}" for number, *_ in migrations()]


def test_what_was_written_before_there_was_a_schema_or_after_ours_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE record (id TEXT)")
    connection.commit()
    with pytest.raises(StoreDamaged, match="another program"):
        AgentMemory.open(path, embedder="hashing")
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        AgentMemory.open(path, embedder="hashing")
