"""An export of any store is read by any store: what users see of a memory is the same afterwards (E5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shared_core import AgentMemory, Scope


def seen(scope: Scope) -> dict[str, Any]:
    """All that a user can see of a scope."""
    records = {r.id: r for r in scope.list(where={"status": {"$ne": "?"}})}
    return {
        "records": records,
        "sources": {id: scope.sources(id) for id in records},
        "sessions": scope.sessions(),
        "messages": {name: scope.session(name).messages() for name in scope.sessions()},
        "relations": scope.graph.relations(),
        "entities": scope.graph.entities(),
        "rules": scope.graph.rules(),
        "profile": scope.profile.text(),
        "questions": len(scope.questions()),
    }


def told(scope: Scope) -> Scope:
    chat = scope.session("星期一")
    chat.add_messages(
        [{"id": "1", "role": "user", "content": "I live in Lyon"}, {"id": "2", "role": "assistant", "content": "Ah"}]
    )
    chat.add_messages(
        [
            {"id": "3", "role": "user", "content": "我搬到巴黎了"},
            {"id": "4", "role": "user", "content": "I moved to Oslo"},
        ]
    )
    chat.end()
    scope.add("Keeps bees 🐝", pinned=True, metadata={"深": [1, None]}, kind="rule")
    scope.graph.alias("Oslo", "奥斯陆")
    scope.graph.describe("Oslo", type="city")
    scope.search("Oslo")
    return scope


def test_e5_what_a_user_sees_is_the_same_after_a_round_trip(path: Path, tmp_path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as one:
        scope = told(one.scope(user="alice"))
        before = seen(scope)
        assert before["relations"]
        scope.export(tmp_path / "x.jsonl.zst", audit=True)
        copy = one.scope(user="bob")
        found = copy.import_(tmp_path / "x.jsonl.zst")
        assert (found.known, found.deleted) == (0, 0)
        after = seen(copy)
        assert {k: v for k, v in after.items() if k != "relations"} == {
            k: v for k, v in before.items() if k != "relations"
        }
        assert [str(r) for r in after["relations"]] == [str(r) for r in before["relations"]]
        assert copy.import_(tmp_path / "x.jsonl.zst").new == 0
        assert [h.record.text for h in copy.search("巴黎")] == [h.record.text for h in scope.search("巴黎")]
        assert [change.action for change in copy.history(next(iter(before["records"])))]
        one.scope(user="bob").delete_all()
        assert copy.import_(tmp_path / "x.jsonl.zst").new == 0
        assert copy.import_(tmp_path / "x.jsonl.zst", revive=True).new == len(before["records"])
        assert one.check().ok


def test_e5_a_bundle_is_read_by_another_scope(path: Path, tmp_path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        told(memory.scope(user="alice")).session("星期一").export(tmp_path / "x.jsonl")
        copy = memory.scope(user="carol", agent="cook")
        assert copy.import_(tmp_path / "x.jsonl").new > 4
        assert [m.id for m in copy.session("星期一").messages()] == ["1", "2", "3", "4"]
        assert memory.check().ok
