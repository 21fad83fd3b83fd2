"""Hostile files: whatever an importer is given, it ends in bounded time and memory, and leaves nothing half-done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core import AgentMemory
from shared_core.errors import TwinmemError
from shared_core.formats import FORMATS, SYSTEMS

BOUNDED = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
from shared_core import AgentMemory
from shared_core.errors import TwinmemError
with AgentMemory.open(embedder="hashing") as memory:
    scope = memory.scope(user="alice")
    begin = time.process_time()
    for format in sys.argv[2:]:
        try:
            scope.graph.load(sys.argv[1]) if format == "graph" else scope.import_(sys.argv[1], format=format)
        except TwinmemError as error:
            assert len(str(error)) < 5_000, len(str(error))
        else:
            print("taken by", format)
    assert time.process_time() - begin < 100
    assert scope.count() == 0, scope.list()[:3]
    assert memory.check().ok
"""
HEADER = json.dumps(
    {"header": {"format": "twinmem", "version": 1, "what": "scope", "counts": {"record": 10**9}}}
).encode()


def bomb(line: bytes, times: int) -> bytes:
    import zstandard

    packer = zstandard.ZstdCompressor(level=3).compressobj()
    parts = [packer.compress(HEADER + b"\\n")]
    parts += [packer.compress(line * 1024) for _ in range(times)]
    return b"".join([*parts, packer.flush()])


FILES: dict[str, tuple[str, Any]] = {
    "deep": ("a.json", lambda: b"[" * 5_000_000),
    "deep objects": ("a.json", lambda: b'{"a":' * 1_000_000),
    "many lists": ("a.jsonl", lambda: b'{"messages": [' + b"[]," * 6_000_000 + b"[]]}"),
    "huge number": ("a.jsonl", lambda: b'{"role": "user", "content": ' + b"9" * 5_000_000 + b"}"),
    "huge exponent": ("a.jsonl", lambda: b'{"role": "user", "content": "x", "created_at": 1e999999999}'),
    "not UTF-8": ("a.jsonl", lambda: b'{"role": "user", "content": "\xff\xfe"}'),
    "UTF-16": ("a.json", lambda: '[{"role": "user", "content": "x"}]'.encode("utf-16")),
    "NUL": ("a.json", lambda: b"\0" * 1_000_000),
    "gzip": ("a.json.gz", lambda: __import__("gzip").compress(b"[" * 10_000_000)),
    "empty": ("a.json", lambda: b""),
    "repeated keys": ("a.json", lambda: b"{" + b",".join(b'"a%d": "lol"' % (n % 7) for n in range(60_000)) + b"}"),
    "zstd of one line": ("a.jsonl.zst", lambda: bomb(b"x" * 1024, 600)),
    "zstd of many lines": ("a.jsonl.zst", lambda: bomb(b"\n" * 1024, 1_200)),
    "zstd cut short": ("a.jsonl.zst", lambda: bomb(b"{}\n", 3)[:-7]),
    "zstd of a huge window": ("a.jsonl.zst", lambda: b"\x28\xb5\x2f\xfd\x00\xf8" + b"\0" * 100),
}  # fmt: skip


@pytest.mark.sqlite_only
@pytest.mark.parametrize("name", FILES)
def test_e5_a_hostile_file_is_refused_in_bounded_time_and_memory(tmp_path: Path, name: str) -> None:
    file, make = FILES[name]
    path = tmp_path / file
    path.write_bytes(make())
    formats = ["twinmem", "auto", "graph", *(("openai", "chatgpt", "mem0") if "zstd" not in name else ())]
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(path), *formats],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert name == "repeated keys" or not done.stdout, (
        done.stdout
    )  # an object in which no memory stands is an empty one


def test_e5_a_line_of_a_gigabyte_is_refused_when_its_limit_is_reached(tmp_path: Path) -> None:
    """The file is sparse: it says a gigabyte and holds nothing."""
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"role": "user", "content": "')
        file.truncate(2**30)
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(path), "openai", "twinmem"], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2_000:]


# ---------------------------------------------------------------------- odd values in our own format

ODD: list[Any] = [
    None, True, -1, 0, 2**63, 10**30, 1e308, "", " ", "\0", "\ud800", "x" * 3_000, [], {}, [[]], {"a": [{}]}, "2024-02-30", "9999-12-31T23:59:59Z",
    "turn", "nobody", "</memories>", "../../etc/passwd", [None], ["a", 1], {"id": None},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    from tests.every_verb import filled

    folder = tmp_path_factory.mktemp("exported")
    with AgentMemory.open(folder / "a.db", embedder="hashing", settings={"facts": {"strategy": "ask"}}) as memory:
        scope = memory.scope(user="alice")
        filled(scope, "zqword", "zqsecret")
        scope.export(folder / "a.jsonl")
    return [json.loads(line) for line in (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()]


@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_e5_any_odd_value_in_an_export_is_refused_whole_or_taken_whole(
    exported: list[dict[str, Any]], tmp_path: Path, data: st.DataObject
) -> None:
    lines = json.loads(json.dumps(exported))
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, len(lines) - 1))
        path = data.draw(st.sampled_from(places(lines[place])))
        target: Any = lines[place]
        for key in path[:-1]:
            target = target[key]
        how = data.draw(st.sampled_from(["odd", "odd", "drop", "double"]))
        if how == "odd":
            target[path[-1]] = data.draw(st.sampled_from(ODD))
        elif how == "drop" and isinstance(target, dict):
            del target[path[-1]]
        else:
            lines.insert(place, lines[place])
        if not all(isinstance(line, dict) and line and places(line) for line in lines):
            break
    file = tmp_path / "odd.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="bob")
        try:
            scope.import_(file)
        except TwinmemError:
            assert scope.count() == 0
            assert scope.graph.entities() == []
        scope.list(where={"status": {"$exists": True}}), scope.search("zqword"), scope.questions(), scope.profile.text()
        for name in scope.sessions():
            chat = scope.session(name)
            chat.messages(), chat.context("zqword"), chat.working.text(), chat.summary, chat.snapshot
        scope.graph.relations(), scope.procedures.list(), scope.episodes.timeline(None)
        memory.check(fix=True)  # an entity of which no other line tells
        report = memory.check()
        assert report.ok, report.problems


def test_every_importer_is_named_here() -> None:
    assert len(FORMATS) + len(SYSTEMS) >= 9
