"""Search through the whole memory: deleted, re-added, too few, zero, broken and far too long vectors (cases E)."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import EmbedderMismatch, InvalidVector
from shared_core.testing import FixedEmbedder

Open = Callable[[], AgentMemory]


def around(angle: float) -> list[float]:
    return [math.cos(angle), math.sin(angle)]


def ids(scope: Scope, query: str, k: int = 5, **more: Any) -> list[str]:
    return [hit.record.id for hit in scope.search(query, k=k, **more)]


# ---------------------------------------------------------------------- R33


@pytest.mark.parametrize("mode", ["meaning", "words", "both"])
def test_r33_deleted_records_are_found_no_more_and_take_no_places(path: Path, mode: str) -> None:
    word = {"meaning": "", "words": " walrus", "both": " walrus"}[mode]
    vectors = {"walrus?": [1, 0]}
    for n in range(20):
        near = n < 10
        angle = (0.01 * n if near else 1.5 + 0.01 * n) if mode != "words" else 1.0
        vectors[f"text {n}{word if near else ''}"] = around(angle)
    embedder = FixedEmbedder({text: [float(x) for x in vector] for text, vector in vectors.items()})

    def check(scope: Scope) -> None:
        assert set(ids(scope, "walrus?", 4)) == {"6", "7", "8", "9"}
        assert not set(ids(scope, "walrus?", 50)) & {str(n) for n in range(6)}
        assert len(ids(scope, "walrus?", 50)) == 14
        assert all(scope.get(str(n)) is None for n in range(6))

    with AgentMemory.open(path, embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        texts = [text for text in vectors if text != "walrus?"]
        scope.add_many([{"text": text, "id": str(n)} for n, text in enumerate(texts)])
        assert set(ids(scope, "walrus?", 10)) == {str(n) for n in range(10)}
        for n in range(6):
            assert scope.delete(str(n)).erased["vectors"] == 1
        check(scope)
        assert memory.check().vectors == 14
    with AgentMemory.open(path, embedder=embedder) as memory:
        check(memory.scope(user="alice"))
        report = memory.check()
        assert (report.ok, report.vectors, report.records) == (True, 14, 14)


# ---------------------------------------------------------------------- R34


def test_r34_every_vector_keeps_its_own_record_through_removals_and_returns(path: Path) -> None:
    basis = np.eye(8)
    vectors: dict[str, Any] = {f"v{n}": basis[n].tolist() for n in range(7)}
    vectors["another v2"] = basis[7].tolist()
    vectors |= {f"q{n}": basis[n].tolist() for n in range(8)}
    embedder = FixedEmbedder(vectors)

    def nearest(scope: Scope, n: int) -> str | None:
        hits = scope.search(f"q{n}", k=1, min_score=0.9)
        return hits[0].record.id if hits else None

    def everything(memory: AgentMemory, expected: dict[int, str | None]) -> None:
        scope = memory.scope(user="alice")
        assert {n: nearest(scope, n) for n in expected} == expected
        assert memory.check().vectors == memory.check().records == scope.count()

    with AgentMemory.open(path, embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        for n in range(5):
            scope.add(f"v{n}", id=f"v{n}")
        everything(memory, {n: f"v{n}" for n in range(5)})
        scope.delete("v1")
        everything(memory, {0: "v0", 1: None, 2: "v2", 3: "v3", 4: "v4"})
        scope.add("v5", id="v5")
        scope.delete("v0")
        scope.delete("v5")
        everything(memory, {0: None, 1: None, 2: "v2", 3: "v3", 4: "v4", 5: None})
        scope.add("another v2", id="v2")
        final = {0: None, 1: None, 2: None, 3: "v3", 4: "v4", 5: None, 7: "v2"}
        everything(memory, final)
    for _ in range(2):
        with AgentMemory.open(path, embedder=embedder) as memory:
            everything(memory, final)


# ---------------------------------------------------------------------- R35


def test_r35_fewer_records_than_asked_for(scope: Scope) -> None:
    assert scope.search("note", k=5) == []
    scope.add_many(["note one", "note two", "note three"])
    assert len(scope.search("note", k=10)) == 3
    assert scope.search("note", k=0) == []
    for wrong in (-1, True, 1.5, "3", None):
        with pytest.raises(ValueError, match="k is a whole number"):
            scope.search("note", k=wrong)


def test_as_many_as_asked_for_come_back_while_there_are_so_many(scope: Scope) -> None:
    scope.add_many([f"note {n}" for n in range(1_200)])
    for k in (1, 5, 300, 1_000, 1_200):
        found = ids(scope, "note", k)
        assert len(found) == len(set(found)) == k


# ---------------------------------------------------------------------- R37


def test_r37_another_embedder_is_named_and_nothing_is_mixed_or_overwritten(path: Path) -> None:
    first = FixedEmbedder(dimensions=8, name="m1")
    with AgentMemory.open(path, embedder=first) as memory:
        scope = memory.scope(user="alice")
        scope.add_many(["tea with milk", "a red bike"])
        scope.session("s").add_messages([{"role": "user", "content": "hello"}])
        before = memory.check()
    for second, named in (
        (FixedEmbedder(dimensions=16, name="m1"), "8.*16"),
        (FixedEmbedder(dimensions=8, name="m2"), "m1.*m2"),
    ):
        with AgentMemory.open(path, embedder=second) as memory:
            scope = memory.scope(user="alice")
            chat = scope.session("s")
            for verb, *arguments in (
                (scope.search, "tea"),
                (scope.add, "more"),
                (scope.add_many, ["more"]),
                (chat.add_messages, [{"role": "user", "content": "more"}]),
                (chat.replace_messages, [{"role": "user", "content": "more"}]),
                (scope.update, scope.list()[0].id, "more"),
            ):
                with pytest.raises(EmbedderMismatch, match=named) as caught:
                    verb(*arguments)
                assert "reembed" in str(caught.value)
            assert second.documents == []
            assert len(scope.list()) == 3
            assert len(chat.messages()) == 1
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
        assert memory.check() == before
        assert memory.scope(user="alice").search("tea", k=1)[0].record.text == "tea with milk"


def test_r37_reembedding_makes_everything_searchable_again(path: Path) -> None:
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
        for user in ("alice", "bob"):
            memory.scope(user=user).add_many([f"note {n} zebra{n}" for n in range(300)])
            memory.scope(user=user).add("？！")  # nothing to embed
        memory.scope(user="alice").session("s").add_messages([{"role": "user", "content": "hello walrus"}])
        memory.scope(user="alice").search("zebra1")
    told: list[tuple[int, int]] = []
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=16, name="m2")) as memory:
        assert memory.reembed(lambda done, total: told.append((done, total))) == 601
        assert told[-1][0] == told[-1][1]
        scope = memory.scope(user="alice")
        assert scope.search("zebra7", k=1)[0].record.text == "note 7 zebra7"
        assert scope.search("walrus", k=1)[0].record.text == "hello walrus"
        report = memory.check()
        assert (report.ok, report.vectors) == (True, 601)
        assert memory.reembed() == 0
    with (
        AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory,
        pytest.raises(EmbedderMismatch),
    ):
        memory.scope(user="alice").search("zebra7")


def test_r37_a_reembedding_that_was_stopped_goes_on_and_leaves_nothing_of_a_third(path: Path) -> None:
    class Stops(FixedEmbedder):
        left = 2

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            self.left -= 1
            if self.left < 0:
                raise ConnectionError("stopped")
            return super().embed_documents(texts)

    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
        memory.scope(user="alice").add_many([f"note {n}" for n in range(600)])
    half = Stops(dimensions=8, name="m2")
    with AgentMemory.open(path, embedder=half) as memory, pytest.raises(ConnectionError):
        memory.reembed()
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
        assert len(memory.scope(user="alice").search("note 7")) == 5  # until it is done, the old one answers
        assert memory.check().ok
    rest = FixedEmbedder(dimensions=8, name="m2")
    with AgentMemory.open(path, embedder=rest) as memory:
        assert memory.reembed() == 600 - 2 * 256
        assert len(rest.documents) == 600 - 2 * 256
    with AgentMemory.open(path, embedder=Stops(dimensions=8, name="m3")) as memory, pytest.raises(ConnectionError):
        memory.reembed()
    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m4")) as memory:
        assert memory.reembed() == 600
        with memory._engine.store.look() as tx:
            assert [tx.rows("count_vectors", {"embedder": n})[0][0] for n in range(4)] == [0, 0, 0, 600]


class Nameless:
    """An embedder as LangChain's fakes are: no name of its own, no length told in advance."""

    def __init__(self, size: int) -> None:
        self._inner = FixedEmbedder(dimensions=size)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._inner.embed_query(text)


def test_r37_an_embedder_that_tells_no_length_can_be_changed_too(path: Path) -> None:
    with AgentMemory.open(path, embedder=Nameless(8)) as memory:
        memory.scope(user="alice").add("tea with milk")
    with AgentMemory.open(path, embedder=Nameless(16)) as memory:
        scope = memory.scope(user="alice")
        with pytest.raises((EmbedderMismatch, InvalidVector), match=r"16.*8.*reembed"):
            scope.search("tea")
        assert memory.reembed() == 1
        assert scope.search("tea")[0].record.text == "tea with milk"
        assert memory.check().ok


@pytest.mark.sqlite_only
def test_r37_what_is_written_while_a_reembedding_runs_gets_its_vector_too(path: Path) -> None:
    class Interfering(FixedEmbedder):
        meanwhile: Any = None

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
            return super().embed_documents(texts)

    with AgentMemory.open(path, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
        memory.scope(user="alice").add_many([{"text": f"note {n}", "id": f"{n}"} for n in range(300)])
    new = Interfering(dimensions=8, name="m2")
    with AgentMemory.open(path, embedder=new) as memory:
        script = f"""
from shared_core import AgentMemory
from shared_core.testing import FixedEmbedder
with AgentMemory.open({str(path)!r}, embedder=FixedEmbedder(dimensions=8, name="m1")) as memory:
    scope = memory.scope(user="alice")
    scope.update("3", "changed walrus")
    scope.delete("4")
    scope.add("added otter")
"""
        import subprocess
        import sys

        done = iter([False, True])

        def progress(count: int, total: int) -> None:
            if next(done, False):
                subprocess.run([sys.executable, "-c", script], check=True)

        memory.reembed(progress)
        report = memory.check()
        assert report.ok, report.problems
        assert report.vectors == 300
        assert memory.scope(user="alice").search("walrus", k=1)[0].record.id == "3"


@pytest.mark.parametrize("wrong", [[1.0, 2.0, 3.0], [], "text", None, [[1.0, 2.0]]])
def test_r37_a_wrong_length_stores_nothing(wrong: Any) -> None:
    class Third(FixedEmbedder):
        def embed_documents(self, texts: list[str]) -> Any:
            vectors: list[Any] = super().embed_documents(texts)
            return [wrong if text == "third" else vector for text, vector in zip(texts, vectors, strict=True)]

    with AgentMemory.open(embedder=Third(dimensions=2)) as memory:
        scope = memory.scope(user="alice")
        scope.add("first")
        scope.add("second")
        for attempt in (lambda: scope.add("third"), lambda: scope.add_many(["fourth", "third"])):
            with pytest.raises(InvalidVector):
                attempt()
        assert [r.text for r in scope.list()] == ["first", "second"]
        assert memory.check().ok


# ---------------------------------------------------------------------- R38


def test_r38_a_zero_vector_is_like_nothing_and_a_broken_one_is_refused() -> None:
    embedder = FixedEmbedder(
        {
            "x": [0, 0],
            "y": [math.nan, 1],
            "z": [math.inf, 1],
            "near": [1, 0],
            "far": [0.5, 0.8],
            "q": [1, 0.1],
            "zero": [0, 0],
        }
    )
    with AgentMemory.open(embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        for text in ("y", "z"):
            with pytest.raises(ValueError, match="NaN or infinity"):
                scope.add(text)
        assert scope.list() == []
        scope.add_many([{"text": text, "id": text} for text in ("x", "near", "far")])
        hits = scope.search("q")
        assert [h.record.id for h in hits] == ["near", "far", "x"]
        assert hits[-1].score == 0
        assert all(math.isfinite(h.score) for h in hits)
        first = [(h.record.id, h.score) for h in scope.search("zero")]
        assert {score for _, score in first} == {0.0}
        assert all([(h.record.id, h.score) for h in scope.search("zero")] == first for _ in range(3))
        for attempt in (lambda: scope.search("y"), lambda: scope.search("z"), lambda: scope.update("near", "y")):
            with pytest.raises(ValueError, match="NaN or infinity"):
                attempt()
        assert scope.get("near").text == "near"


def test_r38_equal_records_come_in_the_order_of_their_ids() -> None:
    with AgentMemory.open(embedder=FixedEmbedder({f"same {n}": [1, 0] for n in range(9)} | {"same": [1, 0]})) as memory:
        scope = memory.scope(user="alice")
        for n in (3, 1, 7, 0, 5):
            scope.add(f"same {n}", id=f"id{n}", kind="event")
        assert ids(scope, "same", 9) == ["id0", "id1", "id3", "id5", "id7"]
        assert ids(scope, "same", 3) == ["id0", "id1", "id3"]


# ---------------------------------------------------------------------- R39


def test_r39_a_text_longer_than_the_embedder_takes_is_kept_whole_and_found_by_its_end() -> None:
    long = "天气很好我们去公园散步" * 460 + "保险箱密码是七七四一"
    with AgentMemory.open(embedder=FixedEmbedder(longest=500)) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"别的事情第{n}件" for n in range(20)])
        record = scope.add(long)
        assert len(long) > 5_000
        assert scope.get(record.id).text == long
        assert ids(scope, "保险箱密码", 1) == [record.id]
        assert ids(scope, "七七四一", 1) == [record.id]
        assert ids(scope, long, 1) == [record.id]
        [turn] = scope.session("s").add_messages([{"role": "user", "content": long}])
        assert turn.text == long
        english = "no spaces" + "x" * 3_000 + " the code is quokka"
        last = scope.add(english)
        assert ids(scope, "quokka", 1) == [last.id]


def test_r39_with_longer_pieces_than_it_takes_the_embedders_own_error_is_raised_and_nothing_stored() -> None:
    with AgentMemory.open(embedder=FixedEmbedder(longest=500), settings={"recall": {"piece_chars": 9_999}}) as memory:
        scope = memory.scope(user="alice")
        with pytest.raises(ValueError, match="this model takes 500"):
            scope.add("字" * 5_000)
        assert scope.list() == []


def test_r39_a_long_record_is_as_near_as_its_nearest_piece() -> None:
    piece = "owl " * 59 + "end."
    embedder = FixedEmbedder({piece: [1, 0], "q": [1, 0]} | {"emu " * 59 + "end.": [0, 1]})
    with AgentMemory.open(embedder=embedder) as memory:
        scope = memory.scope(user="alice")
        scope.add(f"{'emu ' * 59}end. {piece}", id="long")
        assert scope.search("q")[0].score == pytest.approx(1.0, abs=1e-3)
        scope.delete("long")
        assert scope.search("q") == []
        assert memory.check().vectors == 0


# ---------------------------------------------------------------------- what else a search takes


def test_a_search_keeps_to_a_session_and_leaves_out_what_it_is_told_to(scope: Scope) -> None:
    for name in ("a", "b"):
        scope.session(name).add_messages([{"role": "user", "content": f"walrus {n} in {name}"} for n in range(3)])
    scope.add("walrus fact", id="fact")
    assert {h.record.session for h in scope.search("walrus", k=10, session="a")} == {"a"}
    assert len(scope.search("walrus", k=10, session="a")) == 3
    assert scope.search("walrus", session="nowhere") == []
    everything = ids(scope, "walrus", 10)
    assert len(everything) == 7
    assert "fact" not in ids(scope, "walrus", 10, exclude=["fact"])
    assert ids(scope, "walrus", 10, exclude=everything) == []
    assert "fact" not in ids(scope, "walrus", 10, exclude="fact")


def test_a_conversation_as_a_question_leads_with_its_newest_user_message(scope: Scope) -> None:
    scope.add_many([{"text": "Ann drives a lorry", "id": "lorry"}, {"text": "Ben keeps otters", "id": "otters"}])
    talk = [{"role": "user", "content": "What does Ben keep?"}, {"role": "assistant", "content": "otters"},
            {"role": "user", "content": "And what does Ann drive?"}, {"role": "assistant", "content": ""}]  # fmt: skip
    assert ids(scope, talk, 1) == ["lorry"]
    assert ids(scope, talk[:2], 1) == ["otters"]
    for wrong in (5, None, ["text"], [5], {"role": "user", "content": "x"}):
        with pytest.raises((TypeError, ValueError)):
            scope.search(wrong)


def test_as_of_shows_what_was_known_then(scope: Scope, clock: Any) -> None:
    scope.add("tea in the morning", id="old")
    then = clock.now
    clock.advance(days=1)
    scope.add("tea in the evening", id="new")
    assert ids(scope, "tea", as_of=then) == ["old"]
    assert set(ids(scope, "tea", as_of=clock.now)) == {"old", "new"}
    assert ids(scope, "tea", as_of=then.replace(year=2020)) == []


def test_b1_the_bundled_embedder_finds_by_meaning_in_both_languages() -> None:
    with AgentMemory.open() as memory:
        scope = memory.scope(user="alice")
        scope.add_many(["I moved to Lyon in May", "My dog is called Biscuit", "我的生日是三月八号", "她在医院工作"])
        assert scope.search("What is the name of my pet?", k=1)[0].record.text == "My dog is called Biscuit"
        assert scope.search("我什么时候过生日？", k=1)[0].record.text == "我的生日是三月八号"
        assert scope.search("Who is a nurse?", k=1)[0].record.text == "她在医院工作"
        scope.add("broken \ud83d surrogate and \0 nul")
        assert len(scope.search("x" * 50_000, k=5)) == 5


def test_a_memory_in_the_other_language_is_not_pushed_aside_by_texts_that_merely_look_like_answers() -> None:
    """Capitals and words of time say that a text may be an answer, not that it answers this question."""
    scope = AgentMemory.open().scope(user="u")
    scope.session("s").add_messages(
        [
            {
                "role": "user",
                "content": "I'm Wenjing. I moved from Hangzhou to Lisbon on 2 February, and live near Rossio.",
            },
            {
                "role": "user",
                "content": "Last week we took the train to Porto and met Ana and Rui for dinner on Saturday.",
            },
            {"role": "user", "content": "对了，有件事很重要：我对花生严重过敏，连花生油都不行。"},
            {
                "role": "user",
                "content": "In May my friend Marta from Madrid will visit us for the Santo Antonio party.",
            },
        ]
    )
    assert "花生" in scope.search("Which food am I allergic to?", k=1)[0].record.text


def test_a_filter_that_keeps_a_turn_out_does_not_hide_what_was_read_from_it() -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages([{"role": "user", "content": "I live in Lyon"}])
        [fact] = scope.list(kinds=["fact"])
        assert [hit.record.kind for hit in scope.search("Where do I live?")] == ["turn"]
        for where in ({"id": fact.id}, {"type": fact.type}, {"kind": {"$ne": "turn"}}):
            assert [hit.record.id for hit in scope.search("Where do I live?", where=where)] == [fact.id]
