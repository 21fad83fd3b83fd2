"""`twinmem evaluate`: a user's own questions put to their own memory (C7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory

Run = Callable[..., Any]

CASES: list[dict[str, Any]] = [
    {"question": "Where do I live?", "expected": "I moved to Lyon", "answer": "Lyon", "category": "home"},
    {"question": "我的猫叫什么？", "expected": ["我养了一只叫元宝的猫"], "answer": "元宝", "category": "pets"},
    {"question": "What colour is my car?", "expected": ["My car is blue"], "category": "none such"},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(case, ensure_ascii=False) for case in CASES), encoding="utf-8")
    return path


@pytest.fixture
def models(tmp_path: Path) -> None:
    """A module of the user's own, in the folder the command runs in."""
    (tmp_path / "my_models_for_test.py").write_text(
        "def ask(prompt):\n"
        "    if '问题' in prompt: return '元宝' if '元宝' in prompt else '不知道'\n"
        "    return 'Lyon' if 'Lyon' in prompt else 'no idea'\n"
        "def judge(prompt): return 'yes' if 'Given answer: Lyon' in prompt or '给出的答案：元宝' in prompt else 'no'\n"
        "value = 3\n",
        encoding="utf-8",
    )


def test_c7_one_command_tells_hit_rate_recall_and_growth(run: Run, alice: Path, questions: Path) -> None:
    done = run("evaluate", questions)
    assert (done.code, done.err) == (0, "")
    head, row = (line.split() for line in done.out.splitlines()[1:3])
    assert head == ["questions", "R@1", "R@5", "R@10", "hit@5", "MRR"]
    assert row[:2] == ["all", "3"]
    assert row[5] == ".667"
    assert "What colour is my car?" in done.out.split("Nothing expected in the first five")[1]
    assert "My car is blue" in done.out.split("Expected, and not in this memory")[1]
    assert "--llm" in done.out
    assert "over 0.7" in done.out
    assert "in the last 30 days" in done.out


def test_c7_the_same_for_programs(run: Run, alice: Path, questions: Path) -> None:
    [line] = run("evaluate", questions, "--json", "-k", "3", "--days", "2").lines
    assert line["retrieval"]["n"] == line["questions"] == 3
    assert line["retrieval"]["hit@5"] == pytest.approx(2 / 3)
    assert {"R@1", "R@3", "R@5", "R@10"} <= line["retrieval"].keys()
    assert line["by_category"]["home"]["hit@5"] == 1.0
    assert line["missed"] == ["What colour is my car?"]
    assert line["growth"]["by_kind"]["turn"] == 5
    assert len(line["growth"]["by_day"]) == 2
    assert line["answers"] is None


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("judge", [(), ("--judge", "my_models_for_test:judge")], ids=["F1", "judge"])
def test_c7_answers_with_and_without_memory(run: Run, alice: Path, questions: Path, judge: tuple[str, ...]) -> None:
    [line] = run("evaluate", questions, "--llm", "my_models_for_test:ask", *judge, "--json").lines
    assert line["answers"]["n"] == 2
    assert (line["answers"]["with"], line["answers"]["without"], line["answers"]["gain"]) == (1.0, 0.0, 1.0)
    assert ("exact with" in line["answers"]) is (not judge)
    shown = run("evaluate", questions, "--llm", "my_models_for_test:ask", *judge).out
    assert "Answers to 2 questions" in shown


def test_c7_measuring_changes_nothing(run: Run, alice: Path, questions: Path) -> None:
    def accesses() -> list[int]:
        with AgentMemory.open(alice, embedder="hashing") as memory:
            return [record.accesses for record in memory.scope(user="alice").list()]

    before = accesses()
    assert run("evaluate", questions).code == 0
    assert accesses() == before == [0] * len(before)
    with AgentMemory.open(alice, embedder="hashing") as memory:
        assert "twinmem evaluate" not in memory.scope(user="alice").sessions()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "questions.jsonl:1: "),
        ("[]", "a line is a JSON object"),
        ('{"question": "x"}', "neither expected nor answer"),
        ('{"expected": ["x"]}', "no question"),
        ('{"question": "x", "expected": [1]}', "expected is an id or a text"),
        ('{"question": "x", "expect": ["y"]}', "unknown key 'expect'"),
        ("", "holds no questions"),
    ],
)
def test_c7_a_broken_file_is_named_with_its_line(run: Run, alice: Path, questions: Path, line: str, says: str) -> None:
    questions.write_text(line, encoding="utf-8")
    done = run("evaluate", questions)
    assert done.code == 1
    assert says in done.err
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("given", ["gpt", "my_models_for_test", "nowhere_at_all:ask", "my_models_for_test:other",
                                   "my_models_for_test:value"])  # fmt: skip
def test_c7_a_model_that_is_none_is_a_wrong_call(run: Run, alice: Path, questions: Path, given: str) -> None:
    done = run("evaluate", questions, "--llm", given)
    assert done.code == 2
    assert "--llm" in done.err


def test_c7_a_file_that_is_not_there(run: Run, alice: Path) -> None:
    assert run("evaluate", "nothing.jsonl").code == 1
