"""A question finds its answer, and whoever asks sees how well it fits and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope

Run = Callable[..., Any]


def test_the_answer_its_score_and_why(run: Run, alice: Path) -> None:
    found = run("search", "Who moved to Lyon?", "--top", "1")
    assert found.code == 0
    assert "I moved to Lyon and live near the river" in found.out
    assert "words" in found.out
    assert "said by user in monday, 2026-03-02" in found.out
    assert "monday · m1 · turn-" in found.out


def test_the_same_for_programs(run: Run, alice: Path) -> None:
    lines = run("search", "元宝 猫", "-k", "2", "--json").lines
    assert len(lines) == 2
    first = lines[0]
    assert list(first) == ["user", "agent", "score", "reason", "parts", "record"]
    assert (first["user"], first["agent"], first["record"]["message_id"]) == ("alice", "default", "m3")
    assert 0 <= lines[1]["score"] <= first["score"] <= 1
    assert first["parts"]["cosine"] <= 1


def test_search_says_what_the_library_says(run: Run, alice: Path) -> None:
    lines = run("search", "lovely weather in Lyon", "--json").lines
    with AgentMemory.open(alice, embedder="hashing") as memory:
        hits = memory.scope(user="alice").search("lovely weather in Lyon")
    assert [(line["record"]["id"], line["score"]) for line in lines] == [(hit.record.id, hit.score) for hit in hits]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--where", '{"role": "assistant"}', "-k", "1"], ["m2"]),
        (["--session", "monday", "--min-score", "0.99"], []),
        (["--kind", "rule"], []),
    ],
)
def test_filters(run: Run, alice: Path, options: list[str], ids: list[str]) -> None:
    found = run("search", "Lyon", *options, "--json")
    assert (found.code, [line["record"]["message_id"] for line in found.lines]) == (0, ids)


def test_nothing_found_is_no_error(run: Run, alice: Path) -> None:
    found = run("search", "Lyon", "--kind", "rule")
    assert (found.code, found.out, found.err) == (0, "Nothing remembered fits.\n", "")


# ---------------------------------------------------------------------- whose memory


@pytest.fixture
def crowd(alice: Path) -> Path:
    with AgentMemory.open(alice, embedder="hashing") as memory:
        for number in range(8):
            memory.scope(user=f"user-{number}").add(f"secret number {number}")
    return alice


def test_with_several_users_one_has_to_be_named(run: Run, crowd: Path) -> None:
    for line in (["search", "secret"], ["show"], ["stats", "--agent", "default"]):
        found = run(*line)
        assert (found.code, found.out) == (2, "")
        assert "'alice', 'user-0', 'user-1', 'user-2', 'user-3' and 4 more" in found.err
        assert "--user" in found.err


def test_nobody_sees_another_ones_memory(run: Run, crowd: Path) -> None:
    lines = run("search", "secret number", "--user", "user-3", "-k", "50", "--json").lines
    assert [line["record"]["text"] for line in lines] == ["secret number 3"]


def test_an_unknown_user_is_an_error_and_not_an_empty_answer(run: Run, alice: Path) -> None:
    found = run("search", "Lyon", "--user", "alcie")
    assert found.code == 1
    assert found.err == "twinmem: agent.db holds the memory of 'alice', not 'alcie'\n"


# ---------------------------------------------------------------------- embedders


class Foreign:
    """An embedder only a program has."""

    name, dimensions = "someone-elses-model", 3

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0, 0.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0, 0.0]


def test_a_database_is_searched_with_the_embedder_it_was_written_with(run: Run, alice: Path) -> None:
    """`alice` was embedded by hashing; nobody should have to say so again."""
    assert run("search", "river", "--json").lines[0]["record"]["message_id"] == "m1"
    assert run("search", "river", "--embedder", "default").code == 1


def test_a_programs_own_embedder_leaves_all_but_search(run: Run, tmp_path: Path) -> None:
    with AgentMemory.open("agent.db", embedder=Foreign()) as memory:
        scope: Scope = memory.scope(user="alice")
        scope.add("I like tea")
    for verb in ("users", "stats", "show", "check"):
        assert run(verb).code == 0, verb
    found = run("search", "tea")
    assert found.code == 1
    assert "someone-elses-model" in found.err
    assert run("reembed", "--embedder", "hashing").code == 0
    assert run("search", "tea", "--json").lines[0]["record"]["text"] == "I like tea"
