"""Deleting a memory takes out of the graph what came only from it, and leaves all that did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared_core import AgentMemory, Record, Scope


def told(scope: Scope) -> list[str]:
    return sorted(str(each) for each in scope.graph.relations(inferred=False))


def note(scope: Scope, subject: str, predicate: str, object_: str, **more: object) -> Record:
    record = scope.add(f"{subject} {predicate} {object_}")
    scope.graph.add(subject, predicate, object_, source=record.id, **more)  # type: ignore[arg-type]
    return record


@pytest.mark.parametrize(
    ("one", "other"),
    [(("Ann", "likes", "tea"), ("Ann", "lives in", "Lyon")), (("张伟", "喜欢", "茶"), ("张伟", "住在", "杭州"))],
)
def test_b4_deleting_a_record_takes_its_relations_and_the_entities_only_they_named(
    scope: Scope, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    first = note(scope, *one)
    note(scope, *other)
    receipt = scope.delete(first.id)
    assert (receipt.count, receipt.erased) == (1, {"records": 1, "vectors": 1, "relations": 1, "entities": 1})
    assert told(scope) == [" ".join(other)]
    assert {each.name for each in scope.graph.entities()} == {other[0], other[2]}
    assert scope.graph.entity(one[2]) is None


def test_b4_a_relation_of_two_sources_survives_until_both_are_gone(scope: Scope) -> None:
    first = note(scope, "Ann", "likes", "tea", confidence=0.9, attributes={"kind": "green"})
    second = scope.add("Ann drinks tea every day")
    scope.graph.add("Ann", "LIKES", "Tea", source=second.id, confidence=0.6)
    [relation] = scope.graph.relations()
    assert (relation.source, relation.sources, relation.confidence) == (first.id, (first.id, second.id), 0.9)
    assert scope.delete(first.id).erased == {"records": 1, "vectors": 1}
    [relation] = scope.graph.relations()
    assert (relation.sources, relation.confidence, relation.attributes) == ((second.id,), 0.6, {})
    assert relation.object == "Tea"  # the spelling of the erased record is gone as well
    entity = scope.graph.entity("tea")
    assert entity is not None
    assert entity.aliases == ()
    assert scope.delete(second.id).erased == {"records": 1, "vectors": 1, "relations": 1, "entities": 2}
    assert scope.graph.entities() == []


def test_b4_what_was_told_directly_survives_every_record(scope: Scope) -> None:
    record = note(scope, "Ann", "likes", "tea")
    scope.graph.add("Ann", "likes", "tea")
    assert scope.delete(record.id).erased == {"records": 1, "vectors": 1}
    [relation] = scope.graph.relations()
    assert (relation.source, relation.sources) == (None, ())


def test_b5_traits_and_aliases_go_with_the_record_that_told_them(scope: Scope) -> None:
    scope.graph.add("张伟", "喜欢", "茶")
    record = scope.add("张伟是老板，三十岁")
    scope.graph.alias("张伟", "老板", source=record.id)
    scope.graph.describe("张伟", type="人", attributes={"年龄": 30}, source=record.id)
    scope.graph.describe("张伟", attributes={"城市": "杭州"})
    assert scope.delete(record.id).erased == {"records": 1, "vectors": 1, "aliases": 1, "entities": 1}
    entity = scope.graph.entity("张伟")
    assert entity is not None
    assert (entity.aliases, entity.type, entity.attributes) == ((), None, {"城市": "杭州"})
    assert scope.graph.entity("老板") is None


def test_b4_merged_relations_count_as_one_and_survive_the_other_source(scope: Scope) -> None:
    first, second = note(scope, "ACME", "makes", "anvils"), note(scope, "Acme Corp", "makes", "anvils")
    scope.graph.merge("ACME", "Acme Corp")
    assert "relations" not in scope.delete(first.id).erased
    assert told(scope) == ["ACME makes anvils"]
    assert scope.delete(second.id).erased["relations"] == 1
    assert scope.graph.relations() == []


def test_b4_what_came_only_from_a_deleted_source_of_a_record_goes_too(scope: Scope) -> None:
    chat = scope.session("monday")
    [turn] = chat.add_messages([{"role": "user", "content": "I work at ACME"}])
    fact = scope.add("The user works at ACME")
    with scope._engine.store.write() as tx:
        seqs = [tx.rows("seq_by_id", (1, record.id))[0][0] for record in (fact, turn)]
        tx.run("add_link", (*seqs, "rules", 0))
    scope.graph.add("user", "works at", "ACME", source=fact.id)
    assert chat.delete().erased["relations"] == 1
    assert scope.graph.entities() == []


def test_b4_a_deleted_session_takes_its_relations_and_a_cleared_one_leaves_them(scope: Scope) -> None:
    for name, verb in (("monday", "delete"), ("tuesday", "clear")):
        chat = scope.session(name)
        [turn] = chat.add_messages([{"role": "user", "content": f"I like {name}"}])
        scope.graph.add("user", "likes", name, source=turn.id)
        scope.graph.describe(name, type="day", source=turn.id)
        scope.graph.alias(name, f"the day {name}", source=turn.id)
        scope.graph.add("user", "likes", "tea", source=turn.id)
        receipt = getattr(chat, verb)()
        assert receipt.erased.get("relations", 0) == (2 if verb == "delete" else 0)
    assert told(scope) == ["user likes tea", "user likes tuesday"]
    kept = scope.graph.entity("the day tuesday")
    assert kept is not None
    assert (kept.name, kept.type) == ("tuesday", "day")
    assert {each.source for each in scope.graph.relations()} == {None}


def test_b4_a_corrected_message_takes_back_what_it_said(scope: Scope) -> None:
    chat = scope.session("monday")
    first = [{"role": "user", "content": "I like tea", "id": "1"}, {"role": "assistant", "content": "Nice", "id": "2"}]
    turns = chat.add_messages(first)
    scope.graph.add("user", "likes", "tea", source=turns[0].id)
    chat.add_messages(first)
    assert told(scope) == ["user likes tea"]
    chat.replace_messages([{**first[0], "content": "I like coffee"}, first[1]])
    assert told(scope) == []


def test_b4_a_changed_text_takes_back_what_the_old_one_said(scope: Scope) -> None:
    record = note(scope, "Ann", "likes", "tea")
    scope.update(record.id, importance=0.9)
    assert told(scope) == ["Ann likes tea"]
    scope.update(record.id, "Ann hates tea")
    assert told(scope) == []
    assert scope.graph.entities() == []
    again = scope.add("Bob likes tea", id="b")
    scope.graph.add("Bob", "likes", "tea", source=again.id)
    scope.add("Bob hates tea", id="b")
    assert told(scope) == []


@pytest.mark.parametrize(
    ("text", "changed", "other", "said", "by_hand"),
    [
        ("Ann lives in Lyon", "Ann lives in Lyon, France", "Ann moved to Rome", ("Ann", "lives in", "Lyon"), ("Ann", "knows", "Bob")),
        ("张伟住在杭州", "张伟住在杭州西湖区", "张伟搬到上海了", ("张伟", "住在", "杭州"), ("张伟", "认识", "李雷")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("with_triple", [True, False])
def test_b4_what_was_added_by_hand_outlives_a_change_of_the_text(
    scope: Scope, text: str, changed: str, other: str, said: tuple[str, str, str], by_hand: tuple[str, str, str],
    with_triple: bool,
) -> None:  # fmt: skip
    record = scope.add(text, triple=said if with_triple else None)
    if not with_triple:
        scope.graph.add(*said, source=record.id)
    scope.graph.add(*by_hand, source=record.id, attributes={"since": 2020})
    scope.graph.alias(by_hand[2], "Robert", source=record.id)
    scope.graph.describe(by_hand[0], type="engineer", source=record.id)
    scope.update(record.id, changed)
    assert told(scope) == sorted([" ".join(said), " ".join(by_hand)])
    scope.update(record.id, other, **({"triple": None} if with_triple else {}))
    assert told(scope) == [" ".join(by_hand)]
    [relation] = scope.graph.relations()
    assert (relation.source, relation.attributes) == (record.id, {"since": 2020})
    person, friend = scope.graph.entity(by_hand[0]), scope.graph.entity("Robert")
    assert person is not None
    assert friend is not None
    assert (person.type, friend.name) == ("engineer", by_hand[2])
    scope.delete(record.id)
    assert scope.graph.entities() == []


def test_b5_names_and_types_go_with_the_words_that_told_them(scope: Scope) -> None:
    record = scope.add("The boss is Ann, a chemist")
    scope.graph.add("Ann", "likes", "tea")
    scope.graph.alias("Ann", "the boss", source=record.id)
    scope.graph.describe("Ann", type="chemist", attributes={"age": 40}, source=record.id)
    scope.update(record.id, "Bob is the boss")
    ann = scope.graph.entity("Ann")
    assert ann is not None
    assert (ann.aliases, ann.type, ann.attributes) == ((), None, {})


def test_b4_delete_all_and_forget_take_the_whole_graph_and_count_it(memory: AgentMemory) -> None:
    for verb in ("delete_all", "forget"):
        scope, other = memory.scope(user="alice"), memory.scope(user="bob")
        other.graph.add("Bob", "likes", "tea")
        note(scope, "Alpha", "uses", "Kafka")
        scope.graph.add("Kafka", "is a", "queue")
        scope.graph.alias("Kafka", "Apache Kafka")
        scope.graph.rule("uses(A, B) => needs_help_with(A, B)", name="mine")
        assert scope.graph.stats().inferred == 3
        receipt = scope.delete_all() if verb == "delete_all" else memory.forget("alice")
        assert receipt.erased == {
            "records": 1, "vectors": 1, "relations": 2, "inferences": 3, "entities": 4, "aliases": 1, "rules": 1,
        }  # fmt: skip
        assert scope.graph.relations() == scope.graph.entities() == []
        assert told(other) == ["Bob likes tea"]
        assert memory.users() == ["bob"]
    memory.forget("bob")
    assert [len(each.knowledge or ()) for each in memory._engine.graphs._entries.values()] in ([0], [])


def test_b5_what_a_replaced_record_told_is_out_of_sight(scope: Scope) -> None:
    from shared_core.store import ledger

    record = scope.add("张伟是老板")
    scope.graph.add("张伟", "喜欢", "茶")
    scope.graph.add("张伟", "管理", "ACME", source=record.id)
    scope.graph.alias("张伟", "老板", source=record.id)
    scope.graph.describe("张伟", type="经理", source=record.id)
    engine = scope._engine
    for status, seen in (("superseded", False), ("active", True), ("archived", False)):
        assert scope.graph.entity("张伟") is not None
        with engine.store.write() as tx:
            seq, item, number = scope._raw(tx, record.id)
            item.status = status
            ledger.change(tx, number, seq, item, engine.now(), None)
        entity = scope.graph.entity("张伟")
        assert entity is not None
        assert (entity.type == "经理", entity.aliases == ("老板",), len(scope.graph.relations()) == 2) == (seen,) * 3


def test_b4_nothing_of_a_deleted_graph_is_left_in_the_file(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        record = note(scope, "Zebedee", "is secretly fond of", "Quaggas", attributes={"note": "hushhush"})
        scope.graph.alias("Zebedee", "Zebbo", source=record.id)
        scope.graph.describe("Zebedee", type="spymaster", source=record.id)
        assert scope.graph.entity("zebbo") is not None
        scope.delete(record.id)
        scope.graph.add("Xanthippe", "loves", "Quokkas")
        scope.graph.remove("Xanthippe", "loves", "Quokkas")
        assert memory.purge()
    content = b"".join(file.read_bytes() for file in path.parent.iterdir()).lower()
    for word in (b"zebedee", b"zebbo", b"quagga", b"hushhush", b"spymaster", b"secretly", b"xanthippe", b"quokka"):
        assert word not in content


def test_b4_removing_counts_what_went(scope: Scope) -> None:
    graph = scope.graph
    note(scope, "Alpha", "uses", "Kafka")
    graph.add("alpha", "USES", "kafka")
    graph.add("Alpha", "is a", "project")
    assert graph.remove("Alpha", "uses", "Redis").count == 0
    receipt = graph.remove("ALPHA", "uses", "KAFKA")
    assert (receipt.count, receipt.erased) == (1, {"relations": 1, "entities": 1})
    assert told(scope) == ["Alpha is a project"]
    assert scope.count() == 1  # the record stays
    assert graph.delete("nobody").count == 0
    assert graph.delete("project").erased == {"relations": 1, "entities": 2}


def test_b6_a_receipt_counts_the_same_whether_the_graph_is_in_memory_or_not(path: Path) -> None:
    def tell(scope: Scope) -> list[str]:
        ids = [note(scope, "Alpha", "uses", f"queue {number % 3}").id for number in range(6)]
        ids += [note(scope, f"queue {number}", "is a", "queue").id for number in range(3)]
        return [*ids, note(scope, "queue", "is a", "service").id]

    with AgentMemory.open(path, embedder="hashing") as memory:
        warm, cold = memory.scope(user="warm"), memory.scope(user="cold")
        pairs = list(zip(tell(warm), tell(cold), strict=True))
        for one, other in pairs[::-1]:
            warm.graph.stats()
            memory._engine.graphs._reset()
            expected = cold.delete(other).erased
            warm.graph.stats()
            assert warm.delete(one).erased == expected
            assert warm.graph.stats() == cold.graph.stats()


def test_b4_a_long_row_of_deletions_is_still_followed_by_a_graph_in_memory(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared_core.long_term.graph import forgetting

    monkeypatch.setattr(forgetting, "_LOG", 3)
    for number in range(10):
        scope.graph.add("Ann", "likes", f"tea {number}")
    for number in range(10):
        assert len(scope.graph.relations()) == 10 - number
        scope.graph.remove("Ann", "likes", f"tea {number}")
        with scope._engine.store.look() as tx:
            assert tx.rows("count_unrelated", {"scope": 1})[0][0] <= 3
    assert scope.graph.relations() == []
