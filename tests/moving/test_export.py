"""A scope in a file, and back: a user who moves to another machine loses nothing on the way (E5)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType
from shared_core.moving import lines
from shared_core.testing import FixedEmbedder, RecordingEmbedder

pytestmark = pytest.mark.sqlite_only  # they read the rows of the file

Opened = Callable[..., AgentMemory]
Rich = Callable[[Scope], None]

LEFT_BEHIND = {
    "meta": "of a database",
    "scope": "whose it is, said anew; its counters belong to caches and to upkeep",
    "embedder": "numbers; a vector names its own",
    "erased": "for caches",
    "unrelated": "for caches",
    "tombstone": "hashes under the key of one database",
    "audit": "asked for by `audit`, and in the line of its record",
    "archive": "what lies there is exported as records",
    "cold": "the same",
    "cold_link": "the same, as links",
    "vault": "secrets under the key of one database",
}


def values(path: Path) -> list[lines.Line]:
    return list(lines.read(path))


@pytest.mark.parametrize("name", ["alice.jsonl", "记忆.jsonl.zst"])
def test_e5_everything_of_a_scope_comes_back_row_by_row(
    opened: Opened, rich: Rich, state: Any, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    with opened("a.db") as one, opened("b.db") as two:
        rich(one.scope(user="alice"))
        rich(one.scope(user="bob"))
        written = one.scope(user="alice").export(file)
        back = two.scope(user="alice").import_(file)
        assert two.check().ok
        assert (back.new, back.known, back.deleted) == (written.records, 0, 0)
        assert written.bytes == file.stat().st_size
    before, after = state(tmp_path / "a.db"), state(tmp_path / "b.db")
    for table in before:
        assert before[table], f"the memory has no {table} to lose"
        assert after[table] == before[table], table


def test_e5_every_table_and_column_of_the_schema_is_moved_or_left_behind_for_a_reason(
    opened: Opened, state: Any, tmp_path: Path
) -> None:
    """A column that is added later and forgotten here would be lost by whoever moves."""
    opened("a.db").close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    moved = set(state(tmp_path / "a.db"))
    assert {table for table in tables if not table.startswith("sqlite_")} == moved | LEFT_BEHIND.keys()
    assert not moved & LEFT_BEHIND.keys()


def test_e5_importing_twice_adds_nothing(opened: Opened, rich: Rich, state: Any, tmp_path: Path) -> None:
    with opened("a.db") as one:
        scope = one.scope(user="alice")
        rich(scope)
        scope.export(tmp_path / "x.jsonl", audit=True)
        before = state(tmp_path / "a.db")
        again = scope.import_(tmp_path / "x.jsonl")
        assert (again.new, again.known, again.counts) == (0, again.records, {})
        assert state(tmp_path / "a.db") == before


def test_e5_a_header_says_what_a_file_holds(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    with opened() as memory:
        scope = memory.scope(user="用户", agent="cook")
        rich(scope)
        found = scope.export(tmp_path / "x.jsonl")
    header = json.loads((tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()[0])["header"]
    assert (header["format"], header["version"], header["what"]) == ("twinmem", 1, "scope")
    assert (header["user"], header["agent"], header["embedder"]) == (
        "用户",
        "cook",
        {"name": "hashing", "dimensions": 64},
    )
    assert header["counts"] == found.counts
    assert header["counts"]["record"] == sum(line.kind == "record" for line in values(tmp_path / "x.jsonl"))


def test_e5_every_line_is_json_that_any_reader_takes(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    with opened() as memory:
        rich(memory.scope(user="alice"))
        memory.scope(user="alice").export(tmp_path / "x.jsonl")
    text = (tmp_path / "x.jsonl").read_bytes().decode("utf-8")
    assert "里昂" in text  # readable, not escaped
    for line in text.split("\n")[:-1]:
        assert len(json.loads(line, parse_constant=refuse)) == 1


def test_r27_an_export_holds_all_347_records(opened: Opened, tmp_path: Path) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        one.scope(user="alice").add_many([{"text": f"memory {n} 记忆", "id": f"id{n}"} for n in range(347)])
        told: list[tuple[int, int]] = []
        written = one.scope(user="alice").export(
            tmp_path / "x.jsonl", progress=lambda done, of: told.append((done, of))
        )
        assert written.records == 347
        assert told[-1] == (347, 347)
        assert two.scope(user="alice").import_(tmp_path / "x.jsonl").new == 347
        assert {r.id for r in two.scope(user="alice").list()} == {f"id{n}" for n in range(347)}


def test_r72_metadata_of_any_accepted_type_is_the_same_after_a_round_trip(
    opened: Opened, rich: Rich, tmp_path: Path
) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        rich(one.scope(user="alice"))
        one.scope(user="alice").export(tmp_path / "x.jsonl")
        two.scope(user="alice").import_(tmp_path / "x.jsonl")
        old, new = (memory.scope(user="alice").get("old") for memory in (one, two))
    assert old is not None
    assert new is not None
    assert new == old
    json.dumps(new.metadata, allow_nan=False)


LOCALE = """
import sys
from shared_core import AgentMemory
with AgentMemory.open(embedder="hashing") as memory:
    scope = memory.scope(user="用户")
    if sys.argv[1] == "write":
        scope.add("我喜欢乌龙茶 \\U0001f375", metadata={"标签": "茶"})
        scope.session("星期一").add_messages([{"role": "user", "content": "你好 \\U0001f389", "id": "1"}])
        scope.export(sys.argv[2])
    else:
        scope.import_(sys.argv[2])
        assert scope.search("乌龙茶")[0].record.metadata == {"标签": "茶"}
        assert scope.session("星期一").messages()[0].text == "你好 \\U0001f389"
"""


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.zst"])
def test_r73_the_locale_changes_nothing_in_an_export(tmp_path: Path, python: Any, name: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(LOCALE, encoding="utf-8")
    run = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0])"
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii:backslashreplace",
                  "PYTHONCOERCECLOCALE": "0"}  # fmt: skip
    flags = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    for first, second in ((ascii_only, dict(os.environ)), (dict(os.environ), ascii_only)):
        python(run, script, "write", tmp_path / name, env=first, flags=flags)
        python(run, script, "read", tmp_path / name, env=second, flags=flags)
    found = next(line for line in values(tmp_path / name) if line.kind == "record")
    assert found.value["text"] == "我喜欢乌龙茶 \U0001f375"


# ---------------------------------------------------------------------- vectors


def test_e5_vectors_come_along_and_nothing_is_embedded_again(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    with opened("a.db", FixedEmbedder()) as one:
        rich(one.scope(user="alice"))
        one.scope(user="alice").export(tmp_path / "x.jsonl")
    recorder = RecordingEmbedder(FixedEmbedder())
    with opened("b.db", recorder) as two:
        two.scope(user="alice").import_(tmp_path / "x.jsonl")
        assert recorder.documents == []
        assert two.scope(user="alice").search("Alice lives in Lyon", k=1)[0].record.text == "Alice lives in Lyon"


def test_e5_another_embedder_embeds_anew_and_finds_the_same(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    with opened("a.db", FixedEmbedder()) as one, opened("b.db", "hashing") as two:
        rich(one.scope(user="alice"))
        one.scope(user="alice").export(tmp_path / "x.jsonl")
        scope = two.scope(user="alice")
        scope.import_(tmp_path / "x.jsonl")
        report = two.check()
        assert report.ok, report.problems
        for text in ("Alice lives in Lyon", "张伟就职于 ACME"):
            assert scope.search(text, k=1)[0].record.text == text


def test_e5_without_vectors_a_file_is_smaller_and_loses_nothing_else(
    opened: Opened, rich: Rich, state: Any, tmp_path: Path
) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        rich(one.scope(user="alice"))
        whole = one.scope(user="alice").export(tmp_path / "x.jsonl")
        bare = one.scope(user="alice").export(tmp_path / "y.jsonl", vectors=False)
        assert bare.bytes < whole.bytes
        two.scope(user="alice").import_(tmp_path / "y.jsonl")
    assert state(tmp_path / "b.db") == state(tmp_path / "a.db")


def test_e5_a_vector_that_does_not_belong_to_its_text_is_not_taken(opened: Opened, tmp_path: Path) -> None:
    """A redactor that changes a text makes the vector of the old one useless, and telling."""
    with opened("a.db") as one:
        one.scope(user="alice").add("call 555", id="x")
        one.scope(user="alice").export(tmp_path / "x.jsonl")
    settings = {"redactor": lambda text: text.replace("555", "###")}
    with opened("b.db", **settings) as two:
        scope = two.scope(user="alice")
        scope.import_(tmp_path / "x.jsonl")
        assert [r.text for r in scope.list()] == ["call ###"]
        assert scope.search("call ###", k=1)[0].score == 1.0
        assert two.check().ok


# ---------------------------------------------------------------------- bundles


def test_e5_a_session_bundle_holds_its_talk_the_weightiest_memories_the_newest_events_and_the_graph(
    opened: Opened, tmp_path: Path
) -> None:
    with opened("a.db") as one:
        scope = one.scope(user="alice")
        for name in ("monday", "tuesday"):
            scope.session(name).add_messages([{"role": "user", "content": f"secret of {name}", "id": "1"}])
        scope.add_many([{"text": f"fact {n}", "importance": n / 100, "id": f"f{n}"} for n in range(80)])
        scope.add_many([{"text": f"event {n}", "kind": "event", "id": f"e{n:03}"} for n in range(120)])
        scope.graph.add("Alice", "knows", "Bob", source="f1")
        found = scope.session("monday").export(tmp_path / "x.jsonl")
    assert found.records == 1 + 50 + 100
    ids = {line.value["id"] for line in values(tmp_path / "x.jsonl") if line.kind == "record"}
    assert {f"f{n}" for n in range(30, 80)} <= ids
    assert "tuesday" not in (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    with opened("b.db") as two:
        scope = two.scope(user="alice")
        scope.import_(tmp_path / "x.jsonl")
        assert scope.sessions() == ["monday"]
        assert [m.text for m in scope.session("monday").messages()] == ["secret of monday"]
        assert [str(r) for r in scope.graph.relations()] == ["Alice knows Bob"]
        assert two.check().ok


def test_e5_the_numbers_of_a_bundle_are_settings(opened: Opened, tmp_path: Path) -> None:
    with opened(transfer={"memories": 2, "events": 1}) as memory:
        scope = memory.scope(user="alice")
        scope.add_many(
            [{"text": f"fact {n}"} for n in range(5)] + [{"text": f"event {n}", "kind": "event"} for n in range(5)]
        )
        assert scope.session("none").export(tmp_path / "x.jsonl").records == 3


# ---------------------------------------------------------------------- what can go wrong


def test_e5_a_broken_export_leaves_the_old_file(opened: Opened, rich: Rich, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    with opened() as memory:
        scope = memory.scope(user="alice")
        rich(scope)
        scope.export(file)
        before = file.read_bytes()

        def stop(done: int, of: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            scope.export(file, progress=stop)
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if "jsonl" in each.name] == ["x.jsonl"]


def test_e5_where_nothing_can_be_written(opened: Opened, tmp_path: Path) -> None:
    with opened() as memory:
        scope = memory.scope(user="alice")
        for path in (tmp_path, tmp_path / "no" / "x.jsonl", ""):
            with pytest.raises(InvalidInput):
                scope.export(path)
        with pytest.raises(InvalidType):
            scope.export(7)  # type: ignore[arg-type]


def test_e5_an_empty_scope_is_a_header(opened: Opened, tmp_path: Path) -> None:
    with opened() as memory:
        assert memory.scope(user="nobody").export(tmp_path / "x.jsonl").counts == {}
        assert memory.users() == []
        assert memory.scope(user="nobody").import_(tmp_path / "x.jsonl").records == 0
        assert memory.users() == []


# ---------------------------------------------------------------------- any memory at all

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).filter(
    lambda t: any(c.isalnum() for c in t)
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXT, part, max_size=3),
    max_leaves=5,
)
RECORD = st.fixed_dictionaries(
    {"text": TEXT},
    optional={
        "kind": st.sampled_from(["fact", "rule", "event", "summary"]), "importance": st.floats(0, 1), "pinned": st.booleans(),
        "confidence": st.floats(0, 1), "metadata": st.dictionaries(TEXT, PLAIN, max_size=3), "type": TEXT, "id": TEXT,
        "entities": st.lists(TEXT, max_size=3), "triple": st.tuples(TEXT, TEXT, TEXT),
    },
)  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=30) | st.none()},
    optional={"id": TEXT},
)


@settings(max_examples=25)
@given(
    records=st.lists(RECORD, max_size=6), talks=st.dictionaries(TEXT, st.lists(MESSAGE, max_size=4), max_size=3),
    packed=st.booleans(),
)  # fmt: skip
def test_e5_any_memory_is_the_same_after_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, state: Any, records: Any, talks: Any, packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = folder / ("x.jsonl.zst" if packed else "x.jsonl")
    with (
        AgentMemory.open(folder / "a.db", embedder="hashing") as one,
        AgentMemory.open(folder / "b.db", embedder="hashing") as two,
    ):
        scope = one.scope(user="alice")
        scope.add_many(records)
        for name, talk in talks.items():
            scope.session(name).add_messages(talk)
        scope.export(file)
        two.scope(user="alice").import_(file)
        assert two.check().ok
    assert state(folder / "b.db") == state(folder / "a.db")


async def test_e5_async_twins(opened: Opened, rich: Rich, state: Any, tmp_path: Path) -> None:
    with opened("a.db") as one, opened("b.db") as two:
        rich(one.scope(user="alice"))
        await one.scope(user="alice").aexport(tmp_path / "x.jsonl")
        await one.scope(user="alice").session("empty-headed").aexport(tmp_path / "y.jsonl")
        await two.scope(user="alice").aimport_(tmp_path / "x.jsonl")
    assert state(tmp_path / "b.db") == state(tmp_path / "a.db")
    assert any(line.kind == "record" for line in values(tmp_path / "y.jsonl"))
