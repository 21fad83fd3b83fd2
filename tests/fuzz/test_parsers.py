"""Whatever a caller, a file or a model says, a parser ends: with a value, or with an error that says what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Message
from shared_core.errors import TwinmemError
from shared_core.recall import dates, expansion, where
from shared_core.recall.text import query_terms, terms
from shared_core.short_term import snapshot, summary, tokens
from shared_core.writing.extraction import json_text, llm
from shared_core.writing.extraction.rules import extract

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ODD = st.sampled_from([
    None, True, 0, -1, 2**63, 2**64, 10**400, 1e308, float("inf"), float("nan"), "", " ", "\0", "\ud800", "ﬁ", "١٢", "x" * 5_000,
    "9999-12-31", "0001-01-01", "2024-02-30T25:61:00Z", [], {}, [[]], {"": {}}, "\u202e", "</memories>", "{0}", "%s", b"x",
])  # fmt: skip
VALUES = st.recursive(ODD | st.text(max_size=20) | st.integers() | st.floats(), lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)), max_leaves=12)  # fmt: skip
OPERATORS = st.sampled_from([*where.OPERATORS, *where.CONNECTIVES, "$near", "$", "kind", "importance", "metadata.n", "n", "created_at",
                             "entities", "status", "", "metadata.", "id", "subject", "\0"])  # fmt: skip
FILTERS = st.recursive(VALUES, lambda inner: st.one_of(
    st.dictionaries(OPERATORS, inner, max_size=3), st.lists(inner, max_size=3)), max_leaves=12)  # fmt: skip


@pytest.fixture(scope="module")
def filled() -> Any:
    with AgentMemory.open(embedder="hashing", settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="alice")
        for n, value in enumerate([1, "a", True, None, [1, "a"], {"k": {"j": 1}}, 2.5, 10**30]):
            scope.add(f"note {n}", id=f"{n}", metadata={"n": value}, entities=["Ann"] if n % 2 else [])
        yield scope


@given(FILTERS)
def test_r29_any_filter_is_applied_the_same_in_both_ways_or_refused(filled: Any, tree: Any) -> None:
    try:
        listed = {record.id for record in filled.list(where=tree)}
    except TwinmemError:
        with pytest.raises(TwinmemError):
            filled.search("note", k=50, where=tree)
        return
    assert {hit.record.id for hit in filled.search("note", k=50, where=tree)} == listed


@pytest.mark.parametrize("operator", ["$not", "$match", "$and"])
def test_r29_a_filter_nested_without_end_is_refused(filled: Any, operator: str) -> None:
    tree: Any = {"n": 1}
    for _ in range(5_000):
        tree = {"n": {"$match": tree}} if operator == "$match" else {operator: tree if operator == "$not" else [tree]}
    with pytest.raises(TwinmemError, match="nested"):
        filled.search("note", where=tree)
    wide = {"$or": [{"n": n} for n in range(20_000)]}
    begin = time.monotonic()
    assert [record.id for record in filled.list(where=wide)] == ["0"]
    assert time.monotonic() - begin < 20


TEXT = st.lists(
    st.sampled_from(["yesterday", "昨天", "上周五", "last", "2024-02-30", "May 99", "三月", "12:99", "in 10", "years", "99999999", "一百年前",
                     "ago", " ", "?", "我", "I", "live in", "住在", "\0", "\ud800", "\u200b", "ﬁ", "😀", "٣", "²", "\n", "<think>", "</think>",
                     "```json", "{", "}", "[", '"', "\\", ",", ":", "facts", "text", "</memories>", "## ", "null", "1e999", "don't"])
    | st.text(max_size=6), max_size=14,
).map("".join)  # fmt: skip


@given(TEXT)
def test_r68_any_question_is_answered_and_any_text_is_cut(filled: Any, text: str) -> None:
    dates.asked_dates(text.encode("utf-8", "replace").decode(), NOW)
    terms(text), query_terms(text), tokens.count(text)
    filled.search(text, k=3)
    filled.search([{"role": "user", "content": text}], k=3)


@given(TEXT)
def test_d2_rules_read_any_message(text: str) -> None:
    for fact in extract(Message(role="user", content=text), at=NOW, speaker=None, previous=None):
        assert fact.text.strip()


ANSWERS = st.one_of(TEXT, VALUES.map(lambda value: json.dumps(value, default=str)), VALUES.map(
    lambda value: "```json\n" + json.dumps({"facts": [value], "queries": value, "key_info": value}, default=str) + "\n```"))  # fmt: skip


@given(ANSWERS)
def test_r22_any_answer_of_a_model_is_read_or_refused(answer: str) -> None:
    for parse in (
        lambda: llm.parse(answer, at=NOW),
        lambda: expansion.parse(answer),
        lambda: summary.read(answer, "en"),
        lambda: snapshot.read(answer, "zh", 400),
        lambda: list(json_text.candidates(answer)),
    ):
        with suppress(TwinmemError, ValueError):
            parse()


SLOW: dict[str, str] = {
    "thoughts that never end": "<think>" * 100_000,
    "thoughts": "<think>x</think>" * 50_000 + '{"facts": []}',
    "fences": "```json\n" * 50_000,
    "brackets": "[" * 200_000 + '{"a"',
    "objects": '{"a":' * 40_000,
    "quotes": '{"a": "' * 40_000,
    "backslashes": '{"a": "' + "\\" * 200_000,
}


@pytest.mark.parametrize("name", SLOW)
def test_r22_an_endless_answer_takes_bounded_time(name: str) -> None:
    begin = time.process_time()
    for parse in (lambda text: llm.parse(text, at=NOW), expansion.parse, lambda text: summary.read(text, "en")):
        with suppress(TwinmemError, ValueError):
            parse(SLOW[name])
    assert time.process_time() - begin < 20


def test_thoughts_are_left_out_wherever_they_stand() -> None:
    cut: Callable[[str], str] = json_text.without_thoughts
    assert cut("<think>a</think>yes<Thinking>b</thinking>!") == "yes!"
    assert cut("a</think>yes") == "yes"
    assert cut("yes <think>a") == "yes <think>a"
    assert cut("<think><think>a</think>yes") == "yes"


# ---------------------------------------------------------------------- messages of both frameworks


@given(content=VALUES, calls=VALUES, name=VALUES, extra=VALUES)
def test_r15_any_message_is_stored_whole_or_refused(
    filled: Any, content: Any, calls: Any, name: Any, extra: Any
) -> None:
    chat = filled.session("odd")
    message = {"role": "assistant", "content": content, "tool_calls": calls, "name": name, "payload": extra}
    try:
        chat.replace_messages([message])
    except TwinmemError:
        return
    chat.messages(), chat.window(), chat.tools(), chat.context("note", max_tokens=200), filled.list()


@given(payload=VALUES, content=VALUES, calls=st.lists(VALUES, max_size=2))
def test_r05_a_stored_message_of_any_shape_is_shown_by_both_adapters(
    payload: Any, content: Any, calls: list[Any]
) -> None:
    """What one framework or an import has written is read by the other; it may be anything that JSON holds."""
    lc = pytest.importorskip("langchain_mem.messages")
    li = pytest.importorskip("llamaindex_mem.messages")
    for own in (
        payload,
        {"langchain": payload},
        {"llamaindex": payload},
        {"langchain": {"type": "ai", "data": payload}},
    ):
        try:
            message = Message(
                role="assistant", content=content, tool_calls=calls, payload=own if isinstance(own, dict) else None
            )
        except ValueError:
            continue
        for decode in (lc.from_core, li.decode):
            with suppress(TwinmemError):
                decode(message)


# ---------------------------------------------------------------------- limits


def test_every_limit_is_enforced_with_its_name_and_nothing_is_stored(path: Path) -> None:
    limits = {
        "text_chars": 100,
        "batch": 3,
        "query_chars": 50,
        "k": 10,
        "metadata_bytes": 60,
        "metadata_depth": 3,
        "id_chars": 20,
    }
    with AgentMemory.open(path, embedder="hashing", settings={"limits": limits}) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        refused: dict[str, list[Callable[[], object]]] = {
            "text_chars": [
                lambda: scope.add("x" * 101), lambda: chat.add_messages([{"role": "user", "content": "x" * 101}]),
                lambda: scope.episodes.add("x" * 101, type="t"), lambda: scope.profile.set("style", "x" * 101),
                lambda: scope.add("x", triple=("a", "b", "x" * 101)),
            ],
            "batch": [
                lambda: scope.add_many(["a", "b", "c", "d"]),
                lambda: chat.add_messages([{"role": "user", "content": f"{n}"} for n in range(4)]),
                lambda: chat.replace_messages([{"role": "user", "content": f"{n}"} for n in range(4)]),
                lambda: scope.graph.add_many([("a", "b", f"{n}") for n in range(4)]),
            ],
            "query_chars": [lambda: scope.search("x" * 51), lambda: chat.context("x" * 51)],
            "limits.k": [lambda: scope.search("x", k=11), lambda: scope.procedures.match("x", k=11)],
            "metadata_bytes": [lambda: scope.add("x", metadata={"a": "x" * 61})],
            "metadata": [lambda: scope.add("x", metadata={"a": {"b": {"c": {"d": {}}}}})],
            "id_chars": [
                lambda: scope.add("x", id="x" * 21), lambda: scope.session("x" * 21), lambda: memory.scope(user="x" * 21),
                lambda: memory.scope(user="a", agent="x" * 21),
                lambda: chat.add_messages([{"role": "user", "content": "x", "id": "x" * 21}]),
            ],
        }  # fmt: skip
        for name, calls in refused.items():
            for call in calls:
                with pytest.raises(TwinmemError, match=name):
                    call()
        assert memory.users() == []


def test_what_the_repair_of_json_chokes_on_is_no_answer() -> None:
    for output in ('{"```json{```', '```json\n{[{"```json\n{[{""ete:l ["b"]}]\n```'):  # found by `guided`
        assert all(isinstance(value, dict | list) for value in json_text.candidates(output))


@pytest.mark.parametrize("parser", ["a_filter", "an_answer_of_a_model", "an_export"])
def test_guided_by_coverage_each_parser_ends_with_a_value_or_an_error_of_ours(parser: str) -> None:
    """A short run; `make torture` has the long one."""
    pytest.importorskip("atheris", reason="atheris has no wheel for this platform")
    command = [sys.executable, "-m", "tests.fuzz.guided", parser, "-runs=2000", "-max_len=1000", "-seed=7"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
