"""Backup, restore and rekey from the shell, where a key never stands in the history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_backup_and_the_way_back(run: Run, alice: Path) -> None:
    made = run("backup", "copy.db")
    assert made.code == 0
    assert "not encrypted, checked" in made.out
    alice.unlink()
    back = run("restore", "copy.db", "--json")
    assert back.code == 0
    assert run("search", "river", "--kind", "turn", "--json").lines[0]["record"]["message_id"] == "m1"


def test_a_database_that_is_there_is_replaced_only_when_told(run: Run, alice: Path) -> None:
    assert run("backup", "copy.db").code == 0
    refused = run("restore", "copy.db")
    assert refused.code != 0
    assert "exists" in refused.err
    assert run("restore", "copy.db", "--force").code == 0
    assert run("check").code == 0


def test_a_damaged_backup_replaces_nothing(run: Run, alice: Path) -> None:
    Path("copy.db").write_bytes(alice.read_bytes()[:5000])
    refused = run("restore", "copy.db", "--force")
    assert refused.code != 0
    assert run("check").code == 0


def test_e4_encrypting_a_memory_and_changing_its_key(run: Run, alice: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "TWINMEM_NEW_KEY" in run("backup", "sealed.db", "--encrypt").err
    monkeypatch.setenv("TWINMEM_NEW_KEY", "first")
    assert run("backup", "sealed.db", "--encrypt", "--json").lines[0]["encrypted"] is True
    assert "give its key" in run("stats", "--db", "sealed.db").err
    monkeypatch.setenv("TWINMEM_KEY", "first")
    assert run("check", "--db", "sealed.db").code == 0
    monkeypatch.setenv("TWINMEM_NEW_KEY", "second")
    assert run("rekey", "--db", "sealed.db").code == 0
    assert "key does not open" in run("check", "--db", "sealed.db").err
    monkeypatch.setenv("TWINMEM_KEY", "second")
    assert run("check", "--db", "sealed.db").code == 0
    assert run("restore", "sealed.db", "--db", "back.db").code == 0
    assert run("check", "--db", "back.db").code == 0
