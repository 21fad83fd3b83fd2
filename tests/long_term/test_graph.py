"""The graph a user sees: nothing overwritten, nothing of others, limits that hold, current everywhere."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound
from shared_core.long_term.graph.values import Relation
from shared_core.testing import ManualClock
from tests.conftest import Python

FOUR = [("Ann", "works_at", "Lab"), ("Ann", "founded", "Lab"), ("Lab", "employs", "Ann"), ("Ann", "knows", "Ann")]


def edges(scope: Scope) -> set[tuple[str, str, str]]:
    return {tuple(each.triple) for each in scope.graph.relations(inferred=False)}


# ---------------------------------------------------------------------- R45: several relations between two things


def test_r45_no_relation_overwrites_another(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        graph = memory.scope(user="alice").graph
        for number, triple in enumerate(FOUR):
            graph.add(*triple, confidence=0.5 + number / 10, attributes={"number": number})
        graph.add(*FOUR[0])
    with AgentMemory.open(path, embedder="hashing") as memory:
        graph = memory.scope(user="alice").graph
        drawn = graph.to_networkx()
        assert isinstance(drawn, nx.MultiDiGraph)
        assert sorted(drawn.edges(keys=True)) == sorted((s, o, p) for s, p, o in FOUR)
        for number, (subject, predicate, object_) in enumerate(FOUR):
            data = drawn.edges[subject, object_, predicate]
            assert data["attributes"] == {"number": number}
            assert data["confidence"] == (1.0 if number == 0 else 0.5 + number / 10)
        assert {n.predicate for n in graph.neighbours("Ann")} == {"works_at", "founded", "employs", "knows"}
        assert {tuple(each.relations[0].triple) for each in graph.paths("Ann", "Lab")} == set(FOUR[:3])


@pytest.mark.parametrize("predicate", ["works_at", "founded", "employs", "knows", "WORKS AT", "Founded"])
def test_r45_a_filter_on_any_predicate_reaches_the_neighbour(scope: Scope, predicate: str) -> None:
    scope.graph.add_many(FOUR)
    expected = "Ann" if predicate == "knows" else "Lab"
    found = scope.graph.neighbours("Ann", predicate)
    assert [each.name for each in found] == [expected]
    assert found[0].outgoing is (predicate != "employs")
    assert scope.graph.neighbours("Ann", "hates") == []


def test_r45_the_same_relation_twice_is_one_with_the_best_of_both(scope: Scope) -> None:
    graph = scope.graph
    graph.add("张伟", "就职于", "ACME", confidence=0.4, attributes={"since": 2020, "desk": "A"})
    again = graph.add("张伟", "就职于", "ACME", confidence=0.9, attributes={"desk": "B"})
    graph.add("张伟", "就职于", "ACME", confidence=0.2)
    assert again.confidence == 0.9
    assert graph.stats().relations == 1
    found = graph.relations()
    assert (found[0].confidence, found[0].attributes) == (0.9, {"since": 2020, "desk": "B"})


# ---------------------------------------------------------------------- R25: nobody else's


def test_r25_each_user_sees_and_deletes_only_their_own_graph(memory: AgentMemory) -> None:
    a, b = memory.scope(user="A"), memory.scope(user="B")
    other_agent = memory.scope(user="A", agent="second")
    a.graph.add("Ming", "likes", "tea")
    b.graph.add("Ming", "likes", "chess")
    b.graph.add("chess", "is a", "game")
    for scope, mine, theirs in ((a, "tea", "chess"), (b, "chess", "tea")):
        graph = scope.graph
        assert [each.name for each in graph.neighbours("Ming")][:1] == [mine]
        assert graph.entity(theirs) is None
        assert graph.neighbours(theirs) == graph.paths("Ming", theirs) == graph.ask(f"Who likes {theirs}?") == []
        assert theirs not in graph.text("Ming") + repr(graph.subgraph("Ming")) + repr(graph.to_networkx().nodes)
        assert [answer.text for answer in graph.ask(f"Who likes {mine}?")] == ["Ming"]
    assert (a.graph.stats().entities, b.graph.stats().entities, other_agent.graph.stats().entities) == (2, 3, 0)
    assert memory.users() == ["A", "B"]
    assert a.graph.delete("Ming").count == 1
    assert a.graph.entity("Ming") is None
    assert [each.name for each in b.graph.neighbours("Ming", inferred=False)] == ["chess"]
    a.graph.alias("Ming", "明")
    assert b.graph.entity("明") is None


def test_r25_a_source_of_another_user_is_no_source(memory: AgentMemory) -> None:
    theirs = memory.scope(user="B").add("Ming likes chess")
    with pytest.raises(NotFound, match="no record"):
        memory.scope(user="A").graph.add("Ming", "likes", "chess", source=theirs.id)
    assert memory.scope(user="A").graph.entities() == []


def test_r25_reading_a_graph_creates_nothing(memory: AgentMemory) -> None:
    graph = memory.scope(user="ghost").graph
    assert graph.neighbours("x") == graph.relations() == graph.entities() == graph.ask("who is x?") == []
    assert graph.subgraph("x") is None
    assert graph.text("x") == ""
    assert graph.to_networkx().number_of_nodes() == 0
    assert memory.users() == []


# ---------------------------------------------------------------------- R48: reopened, round-tripped, bounded

ATTRIBUTES = {
    "none": None,
    "list": [1, "二", [3]],
    "when": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    "中文": "值",
    "scalar": np.float32(0.5),
    "count": np.int64(7),
    "nested": {"deep": {"er": True}},
}
KEPT = {**ATTRIBUTES, "when": "2026-01-02T03:04:00+00:00", "scalar": 0.5, "count": 7}


def test_r48_attributes_survive_reopening_as_documented(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        memory.scope(user="alice").graph.add("张伟", "喜欢", "茶", attributes=ATTRIBUTES)
    with AgentMemory.open(path, embedder="hashing") as memory:
        [relation] = memory.scope(user="alice").graph.relations()
        assert relation.attributes == KEPT
        [(_, _, data)] = memory.scope(user="alice").graph.to_networkx().edges(data=True)
        assert data["attributes"] == KEPT


def test_r48_cycles_end_in_every_verb(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("A", "part of", "B"), ("B", "part of", "C"), ("C", "part of", "A"), ("A", "is a", "A")])
    assert {each.names for each in graph.paths("A", "C", 5)} == {("A", "C"), ("A", "B", "C")}
    part = graph.subgraph("A", 10)
    assert part is not None
    assert len(part.relations) == 4
    inferred = {tuple(each.triple) for each in graph.relations() if each.inferred}
    assert inferred == {("A", "part of", "C"), ("B", "part of", "A"), ("C", "part of", "B")}
    graph.alias("A", "B")
    graph.alias("B", "C")
    graph.alias("C", "A")
    assert graph.stats().entities == 1


def star(scope: Scope, count: int = 5_000) -> None:
    scope.graph.add_many([("hub", "links", f"leaf {number}") for number in range(count)])


@pytest.mark.timing
def test_r48_a_star_of_five_thousand_keeps_to_its_limits(scope: Scope) -> None:
    star(scope)
    graph = scope.graph
    begun = time.perf_counter()
    assert len(graph.neighbours("hub")) == 5_000
    assert [each.name for each in graph.neighbours("hub", limit=3)] == ["leaf 0", "leaf 1", "leaf 2"]
    part = graph.subgraph("leaf 7", 2)
    assert part is not None
    assert (len(part.relations), part.complete) == (1_000, False)
    assert part.relations[0].object == "leaf 7"
    small = graph.subgraph("leaf 7", 1)
    assert small is not None
    assert ([str(each) for each in small.relations], small.complete) == (["hub links leaf 7"], True)
    assert graph.text("hub").count("\n- ") == 11
    assert graph.text("hub").endswith("- … and 4990 more")
    assert graph.text("hub", 2).count("hub links") == 2
    assert [each.names for each in graph.paths("leaf 1", "leaf 2")] == [("leaf 1", "hub", "leaf 2")]
    assert graph.paths("leaf 1", "leaf 2", 1) == []
    assert time.perf_counter() - begun < 5


def test_r48_paths_between_two_hubs_are_the_shortest_hundred(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([(hub, "links", f"leaf {number}") for hub in ("one", "two") for number in range(2_000)])
    graph.add("one", "knows", "two")
    found = graph.paths("one", "two")
    assert len(found) == 100
    assert found[0].names == ("one", "two")
    assert {len(each) for each in found[1:]} == {2}
    assert len(graph.paths("one", "two", limit=5)) == 5


# ---------------------------------------------------------------------- B4: what it knows, and how it says it


def test_b4_paths_and_subgraphs_agree_with_plain_networkx(scope: Scope) -> None:
    triples = [
        ("a", "p", "b"), ("b", "p", "c"), ("c", "q", "a"), ("c", "p", "d"), ("e", "p", "d"), ("e", "q", "a"),
        ("b", "q", "c"), ("f", "p", "f"), ("d", "p", "g"), ("g", "p", "h"), ("x", "p", "y"),
    ]  # fmt: skip
    scope.graph.add_many(triples)
    plain = nx.MultiGraph()
    plain.add_edges_from((s, o, f"{s}{p}{o}") for s, p, o in triples)
    for a in plain:
        reached = nx.single_source_shortest_path_length(plain, a, cutoff=2)
        part = scope.graph.subgraph(a, 2)
        assert part is not None
        assert {each.name for each in part.entities} == set(reached)
        inside = {t for t in triples if t[0] in reached and t[2] in reached}
        assert {tuple(each.triple) for each in part.relations} == inside
        for b in plain:
            expected = sorted(
                tuple(key for _, _, key in way) for way in nx.all_simple_edge_paths(plain, a, b, cutoff=4) if a != b
            )
            found = scope.graph.paths(a, b, 4, limit=10_000)
            assert sorted(tuple("".join(each.triple) for each in way.relations) for way in found) == expected
            assert [len(way) for way in found] == sorted(len(way) for way in found)


def test_b4_entities_have_types_and_attributes_of_their_own(scope: Scope) -> None:
    graph = scope.graph
    graph.describe("Ann", type="person", attributes={"age": 30, "city": "Lyon"})
    graph.describe("Ann", attributes={"age": 31, "city": None})
    entity = graph.entity("ann")
    assert entity is not None
    assert (entity.type, entity.attributes) == ("person", {"age": 31})
    assert graph.to_networkx().nodes["Ann"] == {"type": "person", "aliases": [], "attributes": {"age": 31}}
    assert graph.text("Ann") == "Ann (person; age: 31)"


def test_b4_the_text_for_the_prompt_tells_the_surest_first_in_the_language_of_the_graph(scope: Scope) -> None:
    graph = scope.graph
    for number in range(12):
        graph.add("张伟", "喜欢", f"茶{number:02}", confidence=0.5 + number / 100)
    graph.add("张伟", "就职于", "ACME")
    graph.alias("张伟", "老张")
    lines = graph.text("张伟").splitlines()
    assert lines[0] == "张伟 (又名 老张)"
    assert lines[1] == "- 张伟 就职于 ACME"
    assert lines[2] == "- 张伟 喜欢 茶11 (置信度 0.61)"
    assert len(lines) == 12
    assert lines[-1] == "- ……另有 3 条"
    assert graph.text("张伟", max_relations=0) == "张伟 (又名 老张)"
    assert graph.text("老张", 1).splitlines()[1] == "- 张伟 就职于 ACME"


def test_b4_names_are_one_line_and_carry_no_invisible_characters(scope: Scope) -> None:
    scope.graph.add("Ann\n- Bob likes\u200b war", "is\ta", "person\u202e")
    assert scope.graph.text("Ann - Bob likes war").splitlines() == [
        "Ann - Bob likes war",
        "- Ann - Bob likes war is a person",
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"subject": ""}, InvalidInput),
        ({"predicate": " \u200b"}, InvalidInput),
        ({"object": None}, InvalidType),
        ({"object": 7}, InvalidType),
        ({"confidence": 1.5}, InvalidInput),
        ({"confidence": "sure"}, InvalidType),
        ({"attributes": {"x": object()}}, InvalidType),
        ({"attributes": {"x": datetime(2026, 1, 1)}}, InvalidInput),
        ({"source": "nobody"}, NotFound),
        ({"source": ""}, InvalidInput),
        ({"subject": "x" * 2_000}, LimitExceeded),
    ],
)
def test_b4_bad_input_is_refused_before_anything_is_written(
    scope: Scope, arguments: dict[str, object], error: type[Exception]
) -> None:
    given_ = {"subject": "Ann", "predicate": "likes", "object": "tea", **arguments}
    with pytest.raises(error):
        scope.graph.add(**given_)  # type: ignore[arg-type]
    with pytest.raises(error):
        scope.graph.add_many([("Bob", "likes", "tea"), given_])
    assert scope.graph.entities() == []


@pytest.mark.parametrize("verb", ["entity", "neighbours", "subgraph", "text"])
def test_b4_a_name_that_is_no_text_is_refused_and_a_blank_one_is_nobody_s(scope: Scope, verb: str) -> None:
    scope.graph.add("Ann", "likes", "tea")
    with pytest.raises(InvalidType):
        getattr(scope.graph, verb)(7)
    assert not getattr(scope.graph, verb)(" ")
    assert not getattr(scope.graph, verb)("\ud83d")


def test_b4_the_redactor_sees_names_and_attributes() -> None:
    settings = {"redactor": lambda text: text.replace("secret", "***")}
    with AgentMemory.open(embedder="hashing", settings=settings) as memory:
        graph = memory.scope(user="alice").graph
        graph.add("Ann", "knows", "the secret", attributes={"note": "secret"})
        graph.describe("Ann", attributes={"note": "secret"})
        assert "secret" not in repr(graph.relations()) + repr(graph.entities())


# ---------------------------------------------------------------------- current, everywhere


@pytest.mark.sqlite_only
def test_b4_what_another_process_writes_is_seen_at_once(path: Path, python: Python) -> None:
    script = """
import sys
from shared_core import AgentMemory
with AgentMemory.open(sys.argv[1], embedder="hashing") as memory:
    graph = memory.scope(user="alice").graph
    exec(sys.argv[2])
    print([str(each) for each in graph.relations()])
"""
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        note = scope.add("Ann likes tea")
        scope.graph.add("Ann", "likes", "tea", source=note.id)
        assert len(scope.graph.relations()) == 1
        python(script, path, "graph.add('Bob', 'likes', 'tea'); graph.alias('Bob', 'Robert')")
        assert {str(each) for each in scope.graph.relations()} == {"Ann likes tea", "Bob likes tea"}
        assert scope.graph.entity("robert") is not None
        python(script, path, f"memory.scope(user='alice').delete({note.id!r})")
        assert {str(each) for each in scope.graph.relations()} == {"Bob likes tea"}
        python(script, path, "graph.split('Robert'); graph.remove('Bob', 'likes', 'tea')")
        assert scope.graph.relations() == []
        assert scope.graph.entity("Robert") is None


def _in_child(scope: Scope, results: object) -> None:
    results.put([str(each) for each in scope.graph.relations()])  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_b4_a_forked_child_builds_a_graph_of_its_own(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.graph.add("Ann", "likes", "tea")
        held, free = threading.Event(), threading.Event()

        def hold() -> None:
            with scope.graph._reading():
                held.set()
                free.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        child = context.Process(target=_in_child, args=(scope, results))
        child.start()  # forked while another thread holds the parent's graph: its lock must not be waited for
        try:
            assert results.get(timeout=30) == ["Ann likes tea"]
        finally:
            free.set()
            thread.join()
            child.join(5)
            child.kill()


def test_b4_threads_write_and_read_one_graph(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        graph = memory.scope(user="alice").graph
        errors: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for step in range(15):
                    graph.add(f"thing {number}", "uses", f"part {step}")
                    assert len(graph.neighbours(f"thing {number}")) == step + 1
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert graph.stats().relations == 60


def test_b4_a_failed_write_leaves_nothing_behind(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    from shared_core.store import audit

    scope.graph.add("Ann", "likes", "tea")
    assert scope.graph.stats().relations == 1

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(audit, "note", fail)
        for act in (
            lambda: scope.graph.add("Bob", "likes", "tea"),
            lambda: scope.graph.alias("Ann", "Annie"),
            lambda: scope.graph.remove("Ann", "likes", "tea"),
        ):
            with pytest.raises(KeyboardInterrupt):
                act()
    assert edges(scope) == {("Ann", "likes", "tea")}
    assert [each.name for each in scope.graph.entities()] == ["Ann", "tea"]
    assert scope.graph.entity("Annie") is None


def test_b4_an_expired_record_takes_its_relations_out_of_sight(clock: ManualClock, scope: Scope) -> None:
    note = scope.add("Ann is in Rome this week", expires_in=timedelta(days=7))
    scope.graph.add("Ann", "in", "Rome", source=note.id)
    scope.graph.add("Rome", "located in", "Italy")
    assert [answer.text for answer in scope.graph.ask("Where is Ann?")] == ["Rome", "Italy"]
    clock.advance(days=8)
    assert scope.graph.ask("Where is Ann?") == []
    assert edges(scope) == {("Rome", "located in", "Italy")}
    clock.advance(days=-8)
    assert len(edges(scope)) == 2


def test_b4_every_verb_has_an_async_twin_that_does_the_same(scope: Scope, tmp_path: Path) -> None:
    verbs = [
        name for name in dir(scope.graph)
        if not name.startswith("_") and not (name[0] == "a" and hasattr(scope.graph, name[1:]))
    ]  # fmt: skip
    assert {"add", "alias", "ask", "draw", "neighbours", "paths", "to_networkx"} <= set(verbs)
    assert [name for name in verbs if not hasattr(scope.graph, "a" + name)] == []

    async def work() -> None:
        graph = scope.graph
        assert isinstance(await graph.aadd("张伟", "就职于", "ACME"), Relation)
        assert [each.name for each in await graph.aneighbours("张伟")] == ["ACME"]
        assert [answer.text for answer in await graph.aask("谁在ACME工作？")] == ["张伟"]
        assert await graph.asave(tmp_path / "graph.json") == 1

    asyncio.run(work())


# ---------------------------------------------------------------------- the cost of a relation


@pytest.mark.timing
@pytest.mark.sqlite_only
def test_b4_adding_a_relation_costs_the_same_at_ten_thousand(path: Path) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        graph = memory.scope(user="alice").graph

        def measure(start: int) -> tuple[float, float]:
            writes, reads = [], []
            for number in range(start, start + 60):
                begun = time.perf_counter()
                graph.add(f"thing {number % 500}", "uses", f"part {number}")
                done = time.perf_counter()
                graph.neighbours(f"part {number}")
                reads.append(time.perf_counter() - done)
                writes.append(done - begun)
            return median(writes), median(reads)

        measure(0)
        few = measure(100)
        graph.add_many([(f"thing {n % 3_000}", ("uses", "is_a", "knows")[n % 3], f"part {n}") for n in range(10_000)])
        measure(20_000)
        many = measure(30_000)
        assert many[0] < 0.002
        assert many[0] < 4 * few[0]
        assert many[1] < 4 * few[1] + 0.001


# ---------------------------------------------------------------------- reading back what was told

names = st.sampled_from(["Ann", "ann", "Bob", "张伟", "张 伟", "ACME", "ＡＣＭＥ", "tea"])


@given(st.lists(st.tuples(names, st.sampled_from(["uses", "is a", "喜欢", "IS_A"]), names), max_size=12))
def test_b4_the_graph_is_the_set_of_what_was_told(triples: list[tuple[str, str, str]]) -> None:
    from shared_core.long_term.graph.names import entity_key, predicate_key

    with AgentMemory.open(embedder="hashing") as memory:
        graph = memory.scope(user="alice").graph
        for triple in triples:
            graph.add(*triple)
        keyed = {(entity_key(s), predicate_key(p), entity_key(o)) for s, p, o in triples}
        found = [each.triple for each in graph.relations(inferred=False)]
        assert len(found) == len(keyed)
        assert {(entity_key(s), predicate_key(p), entity_key(o)) for s, p, o in found} == keyed
        first = {}
        for s, _, o in triples:
            first.setdefault(entity_key(s), s)
            first.setdefault(entity_key(o), o)
        assert {each.name for each in graph.entities()} == set(first.values())
        json.dumps([each.model_dump(mode="json") for each in graph.relations()])
