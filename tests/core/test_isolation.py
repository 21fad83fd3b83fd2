"""Nobody reaches another's memory: every verb of every part, ids of every shape, and scores that depend on nobody else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import TwinmemError
from shared_core.testing import ManualClock
from tests import every_verb

ASK = {"facts": {"strategy": "ask"}}
ALICE, BOB = "zqsecretalice", "zqsecretbob"

# Ids that some store, somewhere, took for one another.
IDS = [
    "a", "a ", "A", "a:b", "a/b", "a|b", "a.b", "a\x1fb", "a\tb", "a\nb", "a,b", "a-b", "a::b", "ab", "b",
    "%", "_", "*", "?", "a%", "a_b", "a*", "[a]", "a?", "'; DROP TABLE record; --", '"', "\\", "a\\", "${a}", "{a}",
    "..", ".", "../a", "/", "a/../b", "~", "CON", "-a", "--user", "null", "None", "0", "00", "1", "1.0", "default",
    "caf\u00e9", "cafe\u0301", "ＡＢＣ", "ABC", "ﬁle", "file", "ali\u200bce", "alice", "\u0430lice", "爱丽丝", "愛麗絲",
    "a\0", "a\0b", "ß", "ss", "İ", "i", "I", "ı", "😀", "😀\ufe0f", "x" * 999 + "1", "x" * 999 + "2",
]  # fmt: skip


def opened(path: Path | None = None, **options: Any) -> AgentMemory:
    return AgentMemory.open(path, embedder="hashing", **{"clock": ManualClock(), "settings": ASK, **options})


def state(scope: Scope, file: Path) -> str:
    """All there is of a scope, archives, traces and audit included."""
    scope.export(file, audit=True)
    lines = file.read_text(encoding="utf-8").splitlines()
    archived = [[each.text for each in scope.archive.read(one.id)] for one in scope.archive.list()]
    return "\n".join(
        [*lines[1:], repr(archived), repr(scope.session("monday").working.tasks()), repr(scope.questions())]
    )


def test_the_table_has_every_verb_of_every_part() -> None:
    assert not every_verb.missing()


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    ("intruder", "background"),
    [("another user", False), ("another user", True), ("another agent", False), ("a stranger", False)],
)
def test_e2_no_verb_of_any_part_reaches_what_is_not_its_own(tmp_path: Path, intruder: str, background: bool) -> None:
    who = {"another user": ("bob", "default"), "another agent": ("alice", "other"), "a stranger": ("carol", "default")}
    user, agent = who[intruder]
    with opened(tmp_path / "agent.db", llm=lambda prompt: "[]") as memory:
        alice = memory.scope(user="alice")
        hers = every_verb.filled(alice, "zqname", ALICE)
        other = memory.scope(user=user, agent=agent)
        if intruder != "a stranger":
            every_verb.filled(other, "zqother", BOB)
        other.export(tmp_path / "theirs.jsonl")
        (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "I like tea"}\n', encoding="utf-8")
        before = state(alice, tmp_path / "state")
        assert before.count(ALICE) > 20
        folder = tmp_path / "written"
        folder.mkdir()
        for name in ("theirs.jsonl", "talk.jsonl"):
            (tmp_path / name).rename(folder / name)
        seen = 0
        if background:
            memory.background()
        for name, call in every_verb.calls(hers, folder):
            try:
                shown = repr(_plain(call(other)))
            except TwinmemError as error:
                shown = str(error)
            assert ALICE not in shown, f"{name} shows another's memory: {shown[:300]}"
            for file in folder.iterdir():
                assert ALICE.encode() not in file.read_bytes(), f"{name} wrote another's memory into {file.name}"
            seen += 1
        assert seen > 150
        memory.flush()
        assert state(alice, tmp_path / "state") == before
        report = memory.check()
        assert report.ok, report.problems


def _plain(value: Any) -> Any:
    return list(value.nodes(data=True)) + list(value.edges(data=True)) if hasattr(value, "edges") else value


def test_e2_ids_that_look_alike_or_hold_separators_and_wildcards_are_different_people(tmp_path: Path) -> None:
    with opened(tmp_path / "agent.db") as memory:
        scopes = {id: memory.scope(user=id) for id in IDS}
        for n, (id, scope) in enumerate(scopes.items()):
            scope.add(f"the secret zq{n}z of somebody", id="r")
            scope.session(id).add_messages([{"role": "user", "content": f"I said zq{n}z", "id": "m"}])
            scope.graph.add("Ann", "keeps", f"zq{n}z")
        # Two ids in one: the user's end must not run into the agent's beginning.
        for user, agent in (("a", "b:c"), ("a:b", "c"), ("a:b:c", "default"), ("a", "b"), ("ab", "default")):
            memory.scope(user=user, agent=agent).add(f"pair {user!r} {agent!r}", id="pair")
        assert sorted(memory.users()) == sorted({*IDS, "a:b:c"})
        for n, scope in enumerate(scopes.values()):
            texts = [record.text for record in scope.list() if not record.text.startswith("pair")]
            assert sorted(texts) == sorted([f"the secret zq{n}z of somebody", f"I said zq{n}z"])
            hits = scope.search("the secret of somebody I said", k=50)
            assert all(f"zq{n}z" in hit.record.text for hit in hits if not hit.record.text.startswith("pair"))
            assert [each.name for each in scope.graph.neighbours("Ann")] == [f"zq{n}z"]
        for user, agent in (("a", "b:c"), ("a:b", "c"), ("a:b:c", "default")):
            found = [r.text for r in memory.scope(user=user, agent=agent).list() if r.id == "pair"]
            assert found == [f"pair {user!r} {agent!r}"]
        left = dict(enumerate(IDS))
        for n in range(0, len(IDS), 3):  # a third is forgotten; who is left keeps all
            memory.forget(left.pop(n))
        for n, id in left.items():
            assert memory.scope(user=id).get("r") is not None, id
            assert [m.text for m in memory.scope(user=id).session(id).messages()] == [f"I said zq{n}z"]
        for n in range(0, len(IDS), 3):
            assert memory.scope(user=IDS[n]).list() == []
        assert memory.check().ok


@pytest.mark.parametrize(
    "id", ["", " ", "\t\n", "\u200b", "\ufeff\u200d", "\u3000", None, 7, b"a", "\ud800", "x" * 1_001]
)
def test_e2_an_id_that_names_nobody_is_refused_everywhere(memory: AgentMemory, id: Any) -> None:
    scope = memory.scope(user="alice")
    refused: list[Callable[[], object]] = [
        lambda: memory.scope(user=id),
        lambda: memory.scope(user="alice", agent=id),
        lambda: memory.forget(id),
        lambda: memory.agents(id),
        lambda: scope.session(id),
        lambda: scope.archive.session(id),
    ]
    if id is not None:  # None means a fresh id, or any session
        refused += [lambda: scope.add("text", id=id), lambda: scope.search("text", session=id)]
    for call in refused:
        with pytest.raises(TwinmemError):
            call()
    assert memory.users() == []


PIECES = st.sampled_from(
    [
        "a",
        "b",
        ":",
        "/",
        "%",
        "_",
        "*",
        "?",
        ".",
        "..",
        " ",
        "\x1f",
        "\0",
        "é",
        "e\u0301",
        "Ａ",
        "A",
        "'",
        "\\",
        "\u200b",
    ]
)
SHAPES = st.lists(PIECES, min_size=1, max_size=4).map("".join).filter(lambda id: id.strip(" \x1f\0\u200b"))


@given(people=st.lists(st.tuples(SHAPES, SHAPES), min_size=2, max_size=5, unique=True), session=SHAPES)
@settings(max_examples=settings.default.max_examples // 2)
def test_e2_whatever_two_ids_look_like_their_memories_are_apart(people: list[tuple[str, str]], session: str) -> None:
    with opened(settings={"facts": {"extract": False}}) as memory:
        for n, (user, agent) in enumerate(people):
            scope = memory.scope(user=user, agent=agent)
            scope.add("who am I", id="r", metadata={"n": n})
            scope.session(session).add_messages([{"role": "user", "content": f"it is me {n}", "id": "m"}])
            scope.graph.add("Ann", "is", f"number {n}")
        for n, (user, agent) in enumerate(people):
            scope = memory.scope(user=user, agent=agent)
            assert [record.metadata for record in scope.list(kinds=["fact"])] == [{"n": n}]
            assert {hit.record.text for hit in scope.search("who is me I am it")} == {"who am I", f"it is me {n}"}
            assert [message.text for message in scope.session(session).messages()] == [f"it is me {n}"]
            assert [each.name for each in scope.graph.neighbours("Ann")] == [f"number {n}"]
        user, agent = people[0]
        memory.scope(user=user, agent=agent).delete_all()
        assert memory.scope(user=user, agent=agent).list() == []
        for user, agent in people[1:]:
            assert memory.scope(user=user, agent=agent).count() == 2


# ---------------------------------------------------------------------- scores depend on nobody else

TEXTS = [
    "I moved to Lyon in May", "My sister Ann lives in Oslo", "我喜欢喝乌龙茶", "The red bike is in the cellar", "I am allergic to nuts",
    "Ann works at the harbour", "green tea keeps me awake", "the bridge opened in 1932",
]  # fmt: skip
QUESTIONS = [
    "Where do I live?",
    "tea",
    "乌龙茶",
    "Who is Ann?",
    "what did I say about nuts",
    "When was the bridge opened?",
]


def _life(memory: AgentMemory, noise: bool) -> list[Any]:
    """Alice's memory in full, with much of others' written in between, and everything she can be told of it."""
    alice = memory.scope(user="alice")

    def others(n: int) -> None:
        if noise:
            for user, agent in (("bob", "default"), ("alice", "other"), ("alice2", "default")):
                other = memory.scope(user=user, agent=agent)
                other.add_many([f"{text} says {user} {n}" for text in TEXTS] + TEXTS)
                other.session("s").add_messages([{"role": "user", "content": f"tea Lyon Ann nuts {n}", "id": f"o{n}"}])
                other.graph.add("Ann", "works at", f"tea house {n}")
                other.episodes.add(f"bob drank tea {n}", type="decision")
                other.search("tea")

    for n, text in enumerate(TEXTS):
        others(n)
        alice.add(text, id=f"r{n}")
        alice.session("s").add_messages([{"role": "user", "content": f"{text}, I said", "id": f"m{n}"}])
    alice.graph.add("Ann", "works at", "harbour")
    alice.graph.add("Anne", "works at", "harbour")
    others(99)
    if noise:
        memory.scope(user="bob").delete_all()
        others(100)
    told: list[Any] = []
    for question in QUESTIONS:
        hits = alice.search(question, k=20, explain=True)
        told.append([(hit.record.id, hit.score, hit.parts, hit.record.accesses) for hit in hits])
        told.append([(hit.record.text, hit.score) for hit in alice.search(question, k=20, where={"kind": "turn"})])
        context = alice.session("s").context(question, max_tokens=300)
        told.append((context.text, context.tokens, [(hit.record.text, hit.score) for hit in context.hits]))
        told.append([(each[0], each[1]) for each in alice.graph.similar(question)])
    told += [
        alice.stats(),
        alice.graph.stats(),
        alice.profile.text(),
        alice.graph.proposals(),
        alice.graph.ask("Who works at harbour?"),
    ]
    told += [alice.session("s").summary, alice.session("s").snapshot, alice.graph.text("Ann")]
    return told


MADE_UP = re.compile(r"06[0-9a-f]{28}")  # ids are random where none was given


def test_e2_scores_order_and_statistics_are_bit_for_bit_the_same_whatever_others_keep() -> None:
    with opened() as quiet, opened() as loud:
        alone, among = _life(quiet, noise=False), _life(loud, noise=True)
        assert MADE_UP.sub("id", repr(alone)) == MADE_UP.sub("id", repr(among))
        assert len(loud.users()) == 3
