"""The demo is the product's promise: told through one framework, remembered in the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory
from shared_core.commands import demonstrating
from shared_core.demo.story import story

Run = Callable[..., Any]


@pytest.fixture
def adapters() -> None:
    pytest.importorskip("langchain_core")
    pytest.importorskip("llama_index.core")


def test_the_story_is_long_and_told_in_both_languages() -> None:
    told = story()
    texts = [text for chat in told.chats for message in chat.messages for text in message.values()]
    chinese = sum(any("\u4e00" <= char <= "\u9fff" for char in str(text)) for text in texts)
    assert sum(len(chat.messages) for chat in told.chats) >= 60
    assert 0.3 < chinese / len(texts) < 0.7
    assert len(told.questions) >= 6
    for question in told.questions:
        assert question.expect not in question.ask
        assert any(question.expect in str(text) for text in texts), question.expect


@pytest.mark.usefixtures("adapters")
def test_every_fact_told_in_one_process_is_in_the_prompt_of_the_other(command: Run) -> None:
    done = command("demo", "--keep", "kept.db", "--json")
    assert (done.code, done.err) == (0, "")
    (found,) = done.lines
    assert found["found"] == found["asked"] == len(story().questions)
    assert len({chat["pid"] for chat in found["sessions"]} | {each["pid"] for each in found["questions"]}) == 2
    for answer in found["questions"]:
        assert answer["expect"] in "\n".join(answer["prompt"])
        assert answer["recalled"]
        assert all(hit["text"] in "\n".join(answer["prompt"]) for hit in answer["recalled"])
        assert all(0 <= hit["score"] <= 1 and hit["reason"] for hit in answer["recalled"])
        assert answer["prompt_tokens"] < answer["history_tokens"] / 3
    with AgentMemory.open("kept.db") as memory:
        scope = memory.scope(user=story().user)
        assert scope.sessions()[: len(story().chats)] == [chat.id for chat in story().chats]
        first = scope.session(story().chats[0].id).messages()[0]
        assert first.created_at is not None
        assert first.created_at.date() == story().chats[0].at.date()
        assert memory.check().ok
    assert command("demo", "--keep", "kept.db").code == 2  # the file is there; it is not written over


def lines(*, found: bool) -> Callable[..., Any]:
    """What both halves of the demo print, without running them."""
    chat = {"pid": 1, "session": "厨房", "at": "2026-02-15T19:20:00+00:00", "messages": 14, "first": "今天" * 60}
    hit = {"text": "Tea, [b]please[/b]. " * 20, "score": 0.5, "reason": "words tea", "id": "1", "answers": found}
    question = replace(story().questions[0], ask="Tea or coffee?", expect="Tea", note="a note", means="茶")
    answer = {"pid": 2, "question": question.ask, "note": question.note, "expect": "Tea", "means": "茶", "found": found,
              "prompt_tokens": 300, "history_tokens": 4000, "recalled": [hit] * 5, "prompt": ["..."]}  # fmt: skip
    return lambda part, db: iter([chat] if part == "tell" else [answer])


@pytest.mark.usefixtures("adapters")
def test_it_is_readable_in_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(demonstrating, "_run", lines(found=True))
    found = run("demo")
    assert found.code == 0
    assert max(cell_len(line) for line in found.out.splitlines()) <= 80
    assert "1 of 1 fact reached the prompt." in found.out
    assert "300 tokens instead of 4,000 for the whole history: 92% saved" in found.out


@pytest.mark.usefixtures("adapters")
def test_a_fact_that_does_not_arrive_fails_the_demo(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstrating, "_run", lines(found=False))
    found = run("demo")
    assert found.code == 1
    assert "NOT in the prompt: Tea (茶)" in found.out
    monkeypatch.setattr(demonstrating, "_run", lambda part, db: iter([]))
    assert run("demo", "--json").code == 1


@pytest.mark.usefixtures("adapters")
def test_a_half_that_breaks_is_one_line(run: Run, tmp_path: Path) -> None:
    found = run("demo", "--keep", tmp_path / "no" / "folder" / "x.db")
    assert (found.code, found.err.count("\n")) == (1, 1)
    assert "tell" in found.err


@pytest.mark.parametrize(("module", "extra"), [("langchain_core", "langchain"), ("llama_index.core", "llamaindex")])
def test_without_an_adapter_it_names_the_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    monkeypatch.setattr(demonstrating, "_installed", lambda name: name != module)
    found = run("demo")
    assert (found.code, found.out) == (1, "")
    assert f"pip install 'twinmem[{extra}]'" in found.err


def test_a_package_that_is_not_there() -> None:
    assert not demonstrating._installed("no_such_package")
    assert not demonstrating._installed("no_such_package.core")
