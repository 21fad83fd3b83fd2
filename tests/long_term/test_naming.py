"""What is known of whatever a text names, for the prompt; what lies around several entities; names by meaning (B4)."""

from __future__ import annotations

import pytest

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType
from shared_core.testing import FixedEmbedder


def tell(scope: Scope) -> None:
    for triple in (
        ("Ann Lee", "works at", "ACME"), ("ACME", "is a", "company"), ("张伟", "就职于", "ACME"), ("张伟", "喜欢", "茶"),
        ("user", "lives in", "Lyon"), ("Bob", "knows", "Ann Lee"), ("Alpha", "uses", "message queue"),
    ):  # fmt: skip
        scope.graph.add(*triple)
    scope.graph.alias("张伟", "老板")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Does acme still pay ann lee?", ["ACME", "Ann Lee"]),
        ("老板喜欢什么？ACME呢？", ["张伟", "ACME"]),
        ("Tell 张伟 that Bob called", ["张伟", "Bob"]),
        ("Where do I live, and is Bob there?", ["Bob", "user"]),
        ("我住在哪里？", ["user"]),
        ("Anna works at ACMEs", []),
        ("Which message queues do we use?", ["message queue", "user"]),
        ("nothing of the kind", []),
        ("", []),
    ],
)
def test_b4_the_entities_a_text_names_are_found_in_its_order(scope: Scope, text: str, names: list[str]) -> None:
    tell(scope)
    assert [entity.name for entity in scope.graph.named(text)] == names
    assert [entity.name for entity in scope.graph.named(text, limit=1)] == names[:1]


def test_b4_what_is_known_of_them_is_a_line_each_and_none_twice(scope: Scope) -> None:
    tell(scope)
    scope.graph.describe("Ann Lee", type="engineer", attributes={"desk": 4})
    assert scope.graph.about("How are Ann Lee and Bob?") == [
        "- Ann Lee (engineer; desk: 4)", "- Bob knows Ann Lee", "- Ann Lee works at ACME",
    ]  # fmt: skip
    assert scope.graph.about("老板好吗？") == ["- 张伟 (又名 老板)", "- 张伟 喜欢 茶", "- 张伟 就职于 ACME"]
    assert scope.graph.about("Bob? Ann Lee?", max_entities=1) == ["- Bob knows Ann Lee"]
    for n in range(20):
        scope.graph.add("Bob", "owns", f"boat {n}")
    assert len(scope.graph.about("Bob", max_relations=3)) == 3
    assert scope.graph.about("the weather") == []


def test_b4_of_a_long_text_the_end_is_read(scope: Scope) -> None:
    tell(scope)
    assert scope.graph.named("Bob " + "x" * 5_000) == []
    assert [entity.name for entity in scope.graph.named("x" * 200_000 + " Bob")] == ["Bob"]
    assert [entity.name for entity in scope.graph.named(["ACME", "Bob and ACME"])] == ["ACME", "Bob"]
    assert [entity.name for entity in scope.graph.named(["ACME " + "x" * 3_995, "Bob"])] == ["ACME"]
    assert scope.graph.named([]) == []


def test_b4_what_a_user_knows_no_other_is_told(scope: Scope, memory: AgentMemory) -> None:
    tell(scope)
    other = memory.scope(user="mallory").graph
    assert (other.about("Ann Lee, ACME, 张伟"), other.named("Bob"), other.around(["ACME"]), other.similar("ACME")) == (
        [],
        [],
        [],
        [],
    )


def test_b4_what_lies_around_several_entities_is_the_nearest_first(scope: Scope) -> None:
    tell(scope)
    scope.graph.add("Bob", "mentions", "ACME")
    graph = scope.graph
    assert [str(each) for each in graph.around(["Bob"], 1, without=["mentions"])] == ["Bob knows Ann Lee"]
    assert {str(each) for each in graph.around(["Bob", "nobody", "张伟"], 1)} == {
        "Bob knows Ann Lee", "Bob mentions ACME", "张伟 就职于 ACME", "张伟 喜欢 茶",
    }  # fmt: skip
    two = [str(each) for each in graph.around(["Bob"], 2, without=["mentions"])]
    assert two == ["Bob knows Ann Lee", "Ann Lee works at ACME"]
    assert len(graph.around(["ACME"], 2, limit=2)) == 2
    assert graph.around(["ACME"], 0) == graph.around([], 2) == []


def test_b4_names_near_in_meaning_come_with_their_likeness() -> None:
    embedder = FixedEmbedder({"RabbitMQ": [1, 0, 0], "tea": [0, 1, 0], "queue": [0.9, 0.1, 0], "Kafka": [0.5, 0, 0.5]})
    with AgentMemory.open(embedder=embedder) as memory:
        graph = memory.scope(user="alice").graph
        assert graph.similar("queue") == []
        graph.add("RabbitMQ", "is like", "Kafka")
        graph.add("RabbitMQ", "is not", "tea")
        found = graph.similar("queue", 2)
        assert [entity.name for entity, _ in found] == ["RabbitMQ", "Kafka"]
        assert found[0][1] == pytest.approx(0.9939, abs=1e-3)
        assert all(type(score) is float for _, score in found)
        assert [entity.name for entity, _ in graph.similar([0, 1, 0], 1)] == ["tea"]
        with pytest.raises(InvalidInput):
            graph.similar([1.0, 0.0])
        assert graph.similar("  ") == graph.similar("queue", 0) == []


def test_b4_many_are_described_at_once_or_none(scope: Scope) -> None:
    record = scope.add("Ann and Bob are engineers")
    people = [{"name": name, "type": "engineer", "source": record.id} for name in ("Ann", "Bob")]
    with pytest.raises(InvalidInput):
        scope.graph.describe_many([*people, {"name": " "}])
    with pytest.raises(InvalidInput):
        scope.graph.describe_many([*people, {"name": "Eve", "kind": "spy"}])
    assert scope.graph.entities() == []
    scope.graph.describe_many([])
    scope.graph.describe_many([*people, {"name": "Ann", "attributes": {"age": 30}, "source": record.id}])
    assert [(each.name, each.type, each.attributes) for each in scope.graph.entities()] == [
        ("Ann", "engineer", {"age": 30}), ("Bob", "engineer", {}),
    ]  # fmt: skip
    scope.delete(record.id)
    assert scope.graph.entities() == []


def test_b4_names_are_looked_for_in_texts_only(scope: Scope) -> None:
    with pytest.raises(InvalidType):
        scope.graph.named(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        scope.graph.about("Bob", max_entities=-1)
