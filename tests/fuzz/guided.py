"""Coverage-guided fuzzing (atheris, libFuzzer) of what reads texts and files of others.

    python -m tests.fuzz.guided PARSER [-max_total_time=60] [CORPUS]

Ends with 0 if every input gave a value or an error of ours; any other exception ends it and is printed with
the input. `PARSER` is one of those in `PARSERS`; the rest goes to libFuzzer.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["shared_core"]):
    from shared_core.errors import TwinmemError
    from shared_core.formats.reading import read_all
    from shared_core.memory import AgentMemory
    from shared_core.moving import lines
    from shared_core.moving.parsing import Parser, at
    from shared_core.recall import where
    from shared_core.recall.question import question
    from shared_core.recall.text import analysed
    from shared_core.settings import Settings
    from shared_core.short_term import summary, tokens
    from shared_core.values import Message
    from shared_core.writing.extraction import json_text
    from shared_core.writing.extraction.rules import extract
    from shared_core.writing.intake import Intake
    from shared_core.writing.redaction.policy import counted

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = Settings()
GRAPH = AgentMemory.open(embedder="hashing").scope(user="alice").graph
GRAPH.add_many([("Apollo", "uses", "RabbitMQ"), ("RabbitMQ", "is a", "message queue"), ("张伟", "就职于", "ACME")])
FILE = Path(tempfile.mkdtemp(prefix="twinmem-fuzz-")) / "given.jsonl"


def text_of(data: bytes) -> str:
    """Any text, with a lone surrogate where the bytes spell one."""
    return data.decode("utf-8", "replace").replace("\x7f", "\ud800")


def a_filter(data: bytes) -> None:
    where.parse(json.loads(data))


def a_question(data: bytes) -> None:
    question(text_of(data), SETTINGS, NOW)


def a_message(data: bytes) -> None:
    text = text_of(data)
    extract(Message(role="user", content=text), at=NOW)
    analysed(text)
    counted([text], SETTINGS.redaction)


def an_answer_of_a_model(data: bytes) -> None:
    list(json_text.candidates(text_of(data)))


def a_summary(data: bytes) -> None:
    assert tokens.count(summary.within(text_of(data), 40)) <= 40


def a_graph_question(data: bytes) -> None:
    GRAPH.ask(text_of(data))


def an_export(data: bytes) -> None:
    parser = Parser(Intake(SETTINGS))
    FILE.write_bytes(data)
    for line in lines.read(FILE):
        if line.kind != lines.HEADER:
            with at(line.where):
                parser.read(line.kind, line.value)


def a_file_of_others(data: bytes) -> None:
    FILE.write_bytes(data)
    for each in read_all(FILE):
        list(getattr(each, "messages", ()))


PARSERS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (a_filter, a_question, a_message, an_answer_of_a_model, a_summary, a_graph_question, an_export, a_file_of_others)
}  # fmt: skip


SEEDS: dict[str, list[str]] = {
    "a_filter": ['{"kind": "fact"}', '{"$and": [{"n": {"$gt": 1}}, {"$not": {"metadata.k": {"$in": [1, "a", null]}}}]}',
                 '{"created_at": {"$gte": "2026-01-01T00:00:00Z"}, "entities": {"$contains": "Ann"}}'],
    "a_question": ["Where did we go last May?", "上周三我们去了哪里？", "What did my sister say in 2023 about B-52?"],
    "a_message": ["I moved to Rome and sold the car, mail bob@example.com or call 13800138000", "我上周搬到了北京，不再喜欢喝咖啡",
                  "My sister Anna, who lives in Oslo, no longer works at ACME.", "My card is 4111 1111 1111 1111, password: hunter2"],
    "an_answer_of_a_model": ['```json\n{"facts": [{"text": "a", "triple": ["a", "b", "c"]}]}\n```', "<think>x</think>[1, {'a': None,}"],
    "a_summary": ["Key information:\n- User: I like tea\nDecisions:\n- use Redis", "决定:\n- 使用Redis\n关键信息:\n- 我住在杭州。我喜欢茶。" * 4],
    "a_graph_question": ["Which of our projects use a message queue?", "我们有哪些项目用了消息队列？", "张伟在哪里工作？", "Is RabbitMQ a message queue?"],
    "an_export": [], "a_file_of_others": [
        '[{"role": "user", "content": "x"}]', '{"results": [{"id": "1", "memory": "x", "created_at": "2024-01-01T00:00:00Z"}]}',
        '[{"sample_id": "c", "conversation": {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "x"}]}, "qa": []}]',
        '[{"mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}}}}]',
        '{"namespace": ["memories", "u"], "key": "k", "value": {"text": "x"}}', '{"type": "human", "data": {"content": "x"}}'],
}  # fmt: skip


def seeds(name: str, folder: Path) -> Path:
    """A folder with inputs to begin with."""
    folder.mkdir()
    given = [each.encode() for each in SEEDS[name]]
    if name == "an_export":
        with AgentMemory.open(embedder="hashing") as memory:
            scope = memory.scope(user="alice")
            scope.session("s").add_messages([{"role": "user", "content": "I live in Lyon and like tea"}])
            scope.graph.add("Ann", "knows", "Bob")
            scope.export(FILE)
        whole = FILE.read_bytes().splitlines(keepends=True)
        given += [b"".join(whole), *(whole[0] + line for line in whole[1:])]
    for number, each in enumerate(given):
        (folder / str(number)).write_bytes(each)
    return folder


def main(arguments: list[str]) -> None:
    """Fuzz the parser that the first argument names."""
    parser = PARSERS[arguments[1]]

    def once(data: bytes) -> None:
        with suppress(
            TwinmemError, *((json.JSONDecodeError, UnicodeDecodeError, RecursionError) if parser is a_filter else ())
        ):
            parser(data)

    corpus = seeds(parser.__name__, FILE.parent / "corpus")
    atheris.Setup([arguments[0], *arguments[2:], str(corpus), f"-artifact_prefix={FILE.parent}/"], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
