"""From short to long term: what matters stays, what says the same becomes one, and nothing is lost on the way (D7)."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.testing import FixedEmbedder, ManualClock, ScriptedLLM
from shared_core.values import Status


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[AgentMemory]:
    """A private memory that reads facts out of talk."""
    with AgentMemory.open(embedder="hashing", clock=clock) as opened:
        yield opened


@pytest.fixture
def scope(memory: AgentMemory) -> Scope:
    return memory.scope(user="alice")


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def facts(scope: Scope) -> list[str]:
    return [record.text for record in scope.list(kinds=["fact"])]


# ---------------------------------------------------------------------- near-duplicates


@pytest.mark.parametrize(
    ("one", "other", "denial"),
    [
        ("Ann likes green tea", "ANN likes green tea!", "Ann likes no green tea"),
        ("王芳喜欢绿茶", "王芳 喜欢绿茶。", "王芳不喜欢绿茶"),
    ],
)
def test_d7_near_duplicates_become_one_and_siblings_survive(scope: Scope, one: str, other: str, denial: str) -> None:
    siblings = [
        one + (" on Monday" if one.isascii() else "，周一"),
        one + (" on Tuesday" if one.isascii() else "，周二"),
    ]
    old = scope.add(one, importance=0.9, metadata={"a": 1})
    for text in siblings:
        scope.add(text)
    new = scope.add(other, importance=0.2, metadata={"b": 2})
    scope.search(one, k=1)
    report = scope.consolidate()
    assert [(merge.kept, merge.merged) for merge in report.merges] == [(new.id, (old.id,))]
    kept, gone = scope.get(new.id), scope.get(old.id)
    assert kept is not None
    assert gone is not None
    assert (kept.importance, kept.metadata, kept.seen, kept.supersedes) == (0.9, {"a": 1, "b": 2}, 2, old.id)
    assert kept.accesses == 1
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, new.id)
    assert sorted(facts(scope)) == sorted([other, *siblings])
    assert [change.action for change in scope.history(new.id)][-1] == "merged"
    assert scope.history(new.id)[-1].detail["records"] == [old.id]
    assert scope.history(old.id)[-1].detail["by"] == new.id
    assert one not in [hit.record.text for hit in scope.search(one, k=10)]
    scope.add(denial)
    assert not scope.consolidate().merges
    assert denial in facts(scope)


def test_d7_synonyms_merge_where_the_triple_agrees_and_the_texts_are_alike(clock: ManualClock) -> None:
    texts = {"Ann lives in Rome": [1.0, 0.0], "Ann resides in Rome": [0.9, 0.43], "Ann lives in Rome with Bob": [1.0, 0.0],
             "Ann dwells in Rome": [0.0, 1.0]}  # fmt: skip
    with AgentMemory.open(embedder=FixedEmbedder(texts), clock=clock) as memory:
        scope = memory.scope(user="alice")
        scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
        scope.add("Ann resides in Rome", triple=("ann", "resides in", "rome"))
        scope.add("Ann lives in Rome with Bob", triple=("Ann", "lives in", "Rome"))
        assert len(scope.consolidate().merges) == 1
        assert sorted(facts(scope)) == ["Ann lives in Rome with Bob", "Ann resides in Rome"]
        # The graph still knows where she lives, once.
        assert {each.name for each in scope.graph.neighbours("Ann")} == {"Rome"}


def test_d7_an_unlike_pair_is_not_merged_though_the_triple_agrees(clock: ManualClock) -> None:
    texts = {"Ann lives in Rome": [1.0, 0.0], "Ann resides in Rome": [0.0, 1.0]}
    with AgentMemory.open(embedder=FixedEmbedder(texts), clock=clock) as memory:
        scope = memory.scope(user="alice")
        scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
        scope.add("Ann resides in Rome", triple=("Ann", "resides in", "Rome"))
        assert not scope.consolidate().merges
        assert scope.count() == 2


def test_d7_likeness_alone_merges_nothing(clock: ManualClock) -> None:
    """Every vector is the same: all pairs are proposed, and none that says something else is merged."""

    class Same(FixedEmbedder):
        def _vector(self, text: str) -> list[float]:
            return [1.0] + [0.0] * 63

    with AgentMemory.open(embedder=Same(), clock=clock) as memory:
        scope = memory.scope(user="alice")
        names, things = (
            ["Ann", "Anna", "Bob"],
            ["tea", "no tea", "green tea", "tea on Monday", "tea on Tuesday", "2 teas", "3 teas"],
        )
        texts = [f"{name} likes {thing}" for name in names for thing in things]
        zh = [
            f"{name}{verb}{thing}"
            for name in ("张伟", "张伟民")
            for verb in ("喜欢", "不喜欢")
            for thing in ("茶", "红茶")
        ]
        scope.add_many([*texts, *zh])
        before = sorted(facts(scope))
        assert not scope.consolidate().merges
        assert sorted(facts(scope)) == before
        assert set(texts) <= set(before)


def test_d7_consolidating_twice_does_nothing_more_and_looks_at_nothing_twice(scope: Scope) -> None:
    scope.add_many(["Ann likes tea", "ann likes TEA", "Bob likes milk", "bob likes milk!", "Cem likes rye"])
    first = scope.consolidate()
    assert (first.examined, len(first.merges)) == (5, 2)
    again = scope.consolidate()
    assert (again.examined, again.merges, again.remembered) == (0, (), ())
    scope.add("cem likes RYE")
    third = scope.consolidate()
    assert (third.examined, len(third.merges)) == (1, 1)
    assert scope.count() == 3


def test_d7_a_merge_can_be_taken_back_and_is_not_made_again(scope: Scope) -> None:
    old, new = scope.add("Ann likes tea"), scope.add("ANN likes tea")
    scope.search("tea")
    scope.consolidate()
    back = scope.separate(new.id)
    assert sorted(record.id for record in back) == sorted([old.id, new.id])
    assert {record.status for record in back} == {Status.ACTIVE}
    assert [record.seen for record in back] == [1, 1]
    assert not scope.consolidate().merges
    assert len(facts(scope)) == 2
    assert scope.separate(old.id)[0].id == old.id
    with pytest.raises(LookupError):
        scope.separate("nobody")


def test_d7_deleting_what_stands_for_two_deletes_both_and_other_sources_keep_it(scope: Scope) -> None:
    """What was merged must not outlive the deletion of what it was merged into, nor go because one of two turns goes."""
    one, two = scope.add("Ann likes tea"), scope.add("ANN likes tea!")
    scope.consolidate()
    receipt = scope.delete(two.id)
    assert set(receipt.ids) == {one.id, two.id}
    assert scope.get(one.id) is None
    monday, friday = scope.session("monday"), scope.session("friday")
    monday.add_messages([user("Remember: the gate code of the garden is blue moon", id="1")])
    friday.add_messages([user("Remember: the gate code of the garden is blue moon!", id="2")])
    before = facts(scope)
    scope.consolidate()
    monday.delete()
    assert len(facts(scope)) >= 1, before
    friday.delete()
    assert facts(scope) == []


def test_d7_r49_secrets_and_open_questions_are_left_alone(clock: ManualClock) -> None:
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"facts": {"strategy": "ask"}}) as memory:
        scope = memory.scope(user="alice")
        scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
        scope.add("ANN lives in Rome!", triple=("Ann", "lives in", "Rome"))
        scope.add("Ann lives in Oslo", triple=("Ann", "lives in", "Oslo"))
        [question] = scope.questions()
        scope.add_many(["The wifi password is Tulip", "the wifi password is tulip"])
        scope.consolidate()
        assert [each.id for each in scope.questions()] == [question.id]
        assert {"The wifi password is Tulip", "the wifi password is tulip"} <= set(facts(scope))


def test_d7_d4_what_was_true_then_is_found_before_and_after_a_merge(scope: Scope, clock: ManualClock) -> None:
    scope.add("Ann likes tea")
    then = clock.advance(days=1)
    clock.advance(days=1)
    scope.add("ANN likes tea")
    scope.consolidate()
    assert [hit.record.text for hit in scope.search("tea", as_of=then)] == ["Ann likes tea"]
    assert [hit.record.text for hit in scope.search("tea")] == ["ANN likes tea"]


# ---------------------------------------------------------------------- turns that matter


@pytest.mark.parametrize(
    ("important", "small"),
    [("Please remember: always water the fern", "Thanks!"), ("请记住：花要每天浇水", "好的，谢谢！")],
)
def test_d7_every_few_interactions_what_matters_becomes_a_memory(scope: Scope, important: str, small: str) -> None:
    chat = scope.session("monday")
    said = [important, small, "Nice weather outside", small, "And so on"]
    for text in said[:4]:
        chat.add_messages([user(text)])
    before = len(scope.list(where={"kind": "fact"}))
    chat.add_messages([user(said[4])])
    kept = [
        record for record in scope.list(kinds=["fact"]) if record.text == important or important.endswith(record.text)
    ]
    assert kept, facts(scope)
    assert len(facts(scope)) <= before + 1
    assert small not in facts(scope)
    assert scope.stats().interactions == 5


def test_d7_a_turn_over_the_threshold_without_facts_is_kept_with_its_source_and_survives_clear(scope: Scope) -> None:
    chat = scope.session("monday")
    text = "Whatever you do, the deployment of build 77 is important for us and the fern"
    chat.add_messages([user(text, id="m1"), {"role": "assistant", "content": "Noted, 77."}, user("What is 5 plus 5?")])
    assert text not in facts(scope)
    chat.end()
    assert text not in facts(scope), "the turn is found itself, as long as it is there"
    assert scope.search("deployment of build 77", k=3)[0].record.kind == "turn"
    chat.clear()
    [record] = [record for record in scope.list(kinds=["fact"]) if record.text == text]
    assert record.importance > 0.6
    assert chat.messages() == []
    assert scope.search("deployment of build 77")[0].record.id == record.id
    assert "What is 5 plus 5?" not in facts(scope)


def test_d7_with_promote_always_a_turn_that_matters_is_kept_with_its_source(path: Path) -> None:
    settings = {"consolidation": {"promote": "always"}}
    with AgentMemory.open(path, embedder="hashing", settings=settings) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("monday")
        text = "Whatever you do, the deployment of build 77 is important for us and the fern"
        chat.add_messages([user(text, id="m1"), {"role": "assistant", "content": "Noted, 77."}])
        chat.end()
        [record] = [record for record in scope.list(kinds=["fact"]) if record.text == text]
        assert [(s["message_id"], s["extractor"]) for s in scope.sources(record.id)] == [("m1", "consolidation")]
        assert scope.search("deployment of build 77", k=3)[0].record.kind == "turn", "the turn stands for it"


def test_d7_clearing_consolidates_first_and_deleting_keeps_nothing(scope: Scope) -> None:
    for verb, left in (("clear", 1), ("delete", 0)):
        chat = scope.session(verb)
        chat.add_messages([user(f"It is important that the {verb} of crate 12 is painted")])
        getattr(chat, verb)()
        assert sum(verb in text for text in facts(scope)) == left


def test_d7_what_somebody_erased_is_not_remembered_again(scope: Scope) -> None:
    chat = scope.session("monday")
    chat.add_messages([user("I live in Lyon, that is important", id="1")])
    for record in scope.list(kinds=["fact"]):
        scope.delete(record.id)
    chat.end()
    scope.consolidate()
    assert facts(scope) == []


def test_d7_nothing_is_derived_where_facts_are_off(clock: ManualClock) -> None:
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"facts": {"extract": False}}) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([user(f"It is important: crate {n}") for n in range(20)])
        chat.end()
        scope.consolidate()
        chat.clear()
        assert scope.count() == 0


def test_d7_a_cleared_session_leaves_a_summary_if_so_set_carried_on_the_next_time(clock: ManualClock) -> None:
    settings = {"consolidation": {"keep_summary": True}}
    with AgentMemory.open(embedder="hashing", clock=clock, settings=settings) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([user("We decided to paint the boat green, budget 4200 euros")])
        chat.clear()
        chat.add_messages([user("We decided to sell the barn to Marco on May 3")])
        chat.clear()
        [summary] = scope.list(kinds=["summary"])
        assert summary.importance == 0.7
        for said in ("4200", "green", "Marco", "May 3"):
            assert said in summary.text
        chat.delete()
        assert scope.list(kinds=["summary"]) == []


def test_d7_with_an_llm_what_it_owes_is_read_before_the_turns_go(clock: ManualClock) -> None:
    llm = ScriptedLLM([ConnectionError("down"), '{"facts": [{"subject": "user", "predicate": "lives_in", "object": "Lyon", '
                       '"text": "I live in Lyon"}]}'], repeat=True)  # fmt: skip
    settings = {"summary": {"llm": "never"}, "snapshot": {"llm": "never"}}
    with AgentMemory.open(embedder="hashing", clock=clock, llm=llm, settings=settings) as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([user("I live in Lyon")])
        assert facts(scope) == []
        chat.clear()
        assert facts(scope) == ["I live in Lyon"]


# ---------------------------------------------------------------------- many on one subject


def tell(scope: Scope, name: str, count: int) -> list[str]:
    if name.isascii():
        given = [(f"{name} likes thing {n}", (name, "likes", f"thing {n}")) for n in range(count)]
    else:
        given = [(f"{name}喜欢东西{n}号", (name, "喜欢", f"东西{n}号")) for n in range(count)]
    scope.add_many([{"text": text, "triple": triple} for text, triple in given])
    return [text for text, _ in given]


@pytest.mark.parametrize("name", ["Ann", "王芳"])
def test_d7_many_small_memories_on_a_subject_fold_into_one_and_stay_findable(scope: Scope, name: str) -> None:
    texts = tell(scope, name, 10)
    tell(scope, "Bob", 3)
    report = scope.consolidate(fold=True)
    [fold] = report.folds
    summary = scope.get(fold.record)
    assert summary is not None
    assert (summary.kind, summary.importance, fold.subject) == ("summary", 0.7, name)
    assert len(summary.text) <= 500
    assert all(text in summary.text for text in texts)
    assert {source["record"] for source in scope.sources(summary.id)} == set(fold.facts)
    for text in texts:
        assert scope.search(text, k=1)[0].record.text == text, "the original is still the answer"
    assert not scope.consolidate(fold=True).folds
    assert not scope.consolidate().folds


@pytest.mark.parametrize("change", ["supersede", "update", "delete"])
def test_d7_a_summary_never_says_what_is_no_longer_so(scope: Scope, change: str) -> None:
    tell(scope, "Ann", 8)
    home = scope.add("Ann lives in Rome", triple=("Ann", "lives in", "Rome"))
    [fold] = scope.consolidate(fold=True).folds
    assert home.id in fold.facts
    if change == "supersede":
        scope.add("Ann lives in Oslo", triple=("Ann", "lives in", "Oslo"))
    elif change == "update":
        scope.update(home.id, "Ann lives in Bari", triple=("Ann", "lives in", "Bari"))
    else:
        scope.delete(home.id)
    assert not [record for record in scope.list(kinds=["summary"]) if "Rome" in record.text]
    [again] = scope.consolidate(fold=True).folds
    renewed = scope.get(again.record)
    assert renewed is not None
    assert "Rome" not in renewed.text
    assert again.record == fold.record


def test_d7_an_llm_folds_better_and_one_that_fails_or_loses_a_number_does_no_harm(clock: ManualClock) -> None:
    numbers = ", ".join(map(str, range(8)))
    for answer, expected in ((f"Ann likes things {numbers}.", f"Ann likes things {numbers}."), ("Ann likes things.", None),
                             ("", None), (ConnectionError("down"), None), ("x" * 5_000, None)):  # fmt: skip
        llm = ScriptedLLM([answer], repeat=True)
        with AgentMemory.open(embedder="hashing", clock=clock, llm=llm) as memory:
            scope = memory.scope(user="alice")
            tell(scope, "Ann", 8)
            [fold] = scope.consolidate(fold=True).folds
            summary = scope.get(fold.record)
            assert summary is not None
            assert summary.text == expected if expected else summary.text.startswith("About Ann: Ann likes thing 0")


# ---------------------------------------------------------------------- long work


def test_d7_it_can_be_stopped_without_harm_tells_how_far_it_is_and_goes_on(clock: ManualClock) -> None:
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"consolidation": {"batch": 10}}) as memory:
        scope = memory.scope(user="alice")
        for n in range(50):
            scope.add(f"Person {n} has key {n * 7}")
            scope.add(f"Person {n} owns hat {n * 7}!")
            scope.add(f"PERSON {n} owns hat {n * 7}")
        told: list[tuple[int, int]] = []
        first = scope.consolidate(progress=lambda done, total: told.append((done, total)), stop=lambda: len(told) >= 3)
        assert first.stopped
        assert told == [(10, 150), (20, 150), (30, 150)]
        assert memory.check().ok
        second = scope.consolidate()
        assert not second.stopped
        assert second.examined <= 130, "it goes on where it was"
        assert len(first.merges) + len(second.merges) == 50
        assert scope.count() == 100
        with pytest.raises(TypeError):
            scope.consolidate(progress=3)  # type: ignore[arg-type]


def test_d7_others_can_write_in_between(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing", settings={"consolidation": {"batch": 5}}) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"Person {n} owns a hat" for n in range(20)])
        new: list[str] = []

        def meanwhile(done: int, total: int) -> None:
            new.append(scope.add(f"Meanwhile {done}").id)

        scope.consolidate(progress=meanwhile)
        assert new
        assert all(scope.get(id) for id in new)
        assert scope.consolidate().examined >= len(new), "what was written meanwhile is looked at the next time"
        assert memory.check().ok


KILLED = """
import sys
from shared_core import AgentMemory
memory = AgentMemory.open(sys.argv[1], embedder="hashing", settings={"consolidation": {"batch": 4}})
scope = memory.scope(user="alice")
print("begin", flush=True)
scope.consolidate(progress=lambda done, total: print(done, flush=True), fold=True)
print("end", flush=True)
"""


@pytest.mark.sqlite_only
def test_d7_r41_killed_anywhere_nothing_is_lost_and_it_goes_on(path: Path) -> None:
    rng = random.Random(3)
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        for n in range(60):
            scope.add(f"Person {n} owns hat {n}", importance=0.9)
            scope.add(f"PERSON {n} owns hat {n}", importance=0.1)
        tell(scope, "Ann", 9)
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.08))
        process.kill()
        process.wait()
        process.stdout.close()
        with AgentMemory.open(path, embedder="hashing") as memory:
            assert memory.check().ok
            texts = {text.casefold() for text in facts(memory.scope(user="alice"))}
            assert {f"person {n} owns hat {n}" for n in range(60)} <= texts
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.consolidate(fold=True)
        kept = [record for record in scope.list(kinds=["fact"]) if "hat" in record.text]
        assert len(kept) == 60
        assert {record.importance for record in kept} == {0.9}
        assert {record.seen for record in kept} == {2}
        assert len(scope.list(kinds=["summary"])) == 1


async def test_d7_the_async_twin_does_the_same(scope: Scope) -> None:
    await scope.aadd_many(["Ann likes tea", "ANN likes tea"])
    report = await scope.aconsolidate()
    assert len(report.merges) == 1
    assert len(await scope.aseparate(report.merges[0].kept)) == 2


def test_d7_the_cost_is_that_of_what_is_new(clock: ManualClock) -> None:
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        scope = memory.scope(user="alice")
        rng = random.Random(5)
        scope.add_many([" ".join(f"word{rng.randrange(5_000)}" for _ in range(8)) for _ in range(3_000)])
        scope.search("word1")
        scope.consolidate()
        start = time.process_time()
        scope.add("word1 word2 word3")
        assert scope.consolidate().examined == 1
        one = time.process_time() - start
        assert one < 0.5


def test_d7_stats_tell_short_and_long_term(scope: Scope) -> None:
    chat = scope.session("s")
    chat.add_messages([user("hello there"), {"role": "assistant", "content": "hi"}, user("bye now")])
    scope.add("Ann likes tea")
    stats = scope.stats()
    assert (stats.messages, stats.interactions, stats.long_term) == (3, 2, 1)
    assert stats.tokens > 0


def test_d7_facts_that_expire_or_are_not_there_any_more(scope: Scope, clock: ManualClock) -> None:
    scope.add("Ann likes tea", expires_in=timedelta(days=1))
    scope.add("ANN likes tea")
    scope.consolidate()
    clock.advance(days=2)
    assert facts(scope) == ["ANN likes tea"], "told without an end as well, it stays"
