"""The same verbs on a PostgreSQL server, and the way there and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shared_core.commands.database import Place
from tests.servers import Server

Run = Callable[..., Any]


@pytest.fixture
def address(server: Server) -> Iterator[str]:
    yield server.address(server.schema_of(None))
    server.clean()


def test_a_memory_goes_to_a_server_and_back(
    run: Run, alice: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = run("copy", address, "--json")
    assert there.code == 0, there.err
    counts = there.lines[0]["rows"]
    assert counts["record"] > 0
    assert counts["vector"] > 0
    asked = [hit["record"]["id"] for hit in run("search", "river", "--json").lines]
    monkeypatch.setenv("TWINMEM_DB", address)
    assert [hit["record"]["id"] for hit in run("search", "river", "--json").lines] == asked
    assert run("stats").out.startswith(f"{Place(address)}: ")
    back = run("copy", "back.db")
    assert back.code == 0, back.err
    assert "compared" in back.out
    assert [hit["record"]["id"] for hit in run("search", "river", "--db", "back.db", "--json").lines] == asked


def test_a_copy_goes_only_into_an_empty_place(run: Run, alice: Path, address: str) -> None:
    assert run("copy", address).code == 0
    again = run("copy", address)
    assert again.code == 1
    assert "holds a memory already" in again.err


def test_verbs_work_on_a_server(run: Run, talk: Path, address: str) -> None:
    missing = run("search", "river", "--db", address)
    assert missing.code == 1
    assert "no database at" in missing.err
    assert run("import", talk, "--user", "alice", "--embedder", "hashing", "--db", address).code == 0
    assert run("users", "--db", address).out.splitlines()[-1].split() == ["alice", "default"]
    assert run("check", "--db", address).code == 0
    stats = run("stats", "--db", address, "--json").lines[0]
    assert stats["total"]["messages"] == 5
    assert "bytes" not in stats
    assert run("show", "--db", address, "--json").lines
    assert run("reembed", "--embedder", "hashing", "--db", address).code == 0
    assert "server" in run("backup", "copy.db", "--db", address).err


def test_looking_at_a_server_makes_nothing_there(run: Run, server: Server, address: str) -> None:
    assert run("stats", "--db", address).code == 1
    with psycopg.connect(server.uri) as connection:
        schema = address.rpartition("=")[2]
        assert connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,)


def test_no_password_is_printed(run: Run) -> None:
    done = run("stats", "--db", "postgresql://me:hunter2@127.0.0.1:1/app")
    assert done.code == 1
    assert "can't be reached" in done.err
    assert "hunter2" not in done.err + done.out


def test_a_role_sees_its_users_rows(run: Run, alice: Path, server: Server, address: str) -> None:
    assert "roles are a server's" in run("isolate", "role_of_alice").err
    assert run("copy", address).code == 0
    other = Path("other.json")
    other.write_text(json.dumps([{"id": "x", "role": "user", "content": "Bob's secret"}]), encoding="utf-8")
    assert run("import", other, "--user", "bob", "--embedder", "hashing", "--db", address).code == 0
    with psycopg.connect(server.uri, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS role_of_alice")
        connection.execute("CREATE ROLE role_of_alice LOGIN")
    try:
        assert run("isolate", "role_of_alice", "--db", address).code == 0
        with psycopg.connect(server.uri) as connection:
            connection.execute("SET ROLE role_of_alice")
            connection.execute("SELECT set_config('twinmem.user', 'alice', false)")
            schema = address.rpartition("=")[2]
            seen = connection.execute(f'SELECT DISTINCT "user" FROM "{schema}".scope').fetchall()
        assert seen == [("alice",)]
    finally:
        server.clean()
        with psycopg.connect(server.uri, autocommit=True) as connection:
            connection.execute("DROP OWNED BY role_of_alice")
            connection.execute("DROP ROLE role_of_alice")
