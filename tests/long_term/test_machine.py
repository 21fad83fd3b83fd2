"""The graph in memory against one built anew, and against plain Python, through any row of changes."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import NotFound
from shared_core.long_term.graph.names import entity_key, predicate_key
from tests.long_term.test_inference import naive

NAMES = ["Alpha", "alpha", "Kafka", "queue", "张伟", "张 伟", "腾讯"]
names = st.sampled_from(NAMES)
predicates = st.sampled_from(["uses", "is a", "使用", "part of", "likes"])
changes = st.one_of(
    st.tuples(st.just("add"), names, predicates, names, st.integers(0, 3)),
    st.tuples(st.just("add"), names, predicates, names, st.integers(0, 3)),
    st.tuples(st.just("remove"), names, predicates, names),
    st.tuples(st.just("delete record"), st.integers(1, 3)),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("alias"), names, names, st.integers(0, 3)),
    st.tuples(st.just("merge"), names, names),
    st.tuples(st.just("split"), names),
    st.tuples(st.just("describe"), names, st.integers(0, 3)),
    st.tuples(st.just("rule")),
    st.tuples(st.just("drop rule")),
    st.tuples(st.just("cold")),
)


def everything(scope: Scope) -> tuple[object, ...]:
    graph = scope.graph
    return (
        [each.model_dump(exclude={"premises", "rule"}) for each in graph.relations(inferred=False)],
        sorted((tuple(each.triple), round(each.confidence, 9)) for each in graph.relations() if each.inferred),
        graph.entities(),
        graph.stats(),
        [graph.text(name) for name in NAMES],
    )


@given(st.lists(changes, max_size=10))
def test_b4_a_graph_kept_current_is_the_graph_built_anew(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        graph = scope.graph
        ids = {0: None} | {number: scope.add(f"note {number}", id=f"r{number}").id for number in (1, 2, 3)}
        for step in steps:
            with suppress(NotFound):
                match step:
                    case ("add", subject, predicate, object_, source):
                        graph.add(subject, predicate, object_, source=ids[source], confidence=0.9 - source / 10)
                    case ("remove", subject, predicate, object_):
                        graph.remove(subject, predicate, object_)
                    case ("delete record", source):
                        scope.delete(f"r{source}")
                        scope.add(f"note {source}", id=f"r{source}")
                    case ("alias", one, other, source):
                        graph.alias(one, other, source=ids[source])
                    case ("describe", name, source):
                        graph.describe(name, type="thing", attributes={"by": source}, source=ids[source])
                    case ("rule",):
                        graph.rule("likes(A, B) => uses(B, A)", name="odd")
                    case ("drop rule",):
                        graph.drop_rule("odd")
                    case ("cold",):
                        memory._engine.graphs.drop()
                    case (verb, *arguments):
                        getattr(graph, verb)(*arguments)
            kept = everything(scope)
            memory._engine.graphs.drop()
            assert kept == everything(scope)
            with memory._engine.store.look() as tx:
                kept_ids = {row[0] for row in tx.rows("scope_entities", {"scope": 1})}
                assert all(tx.rows("entity_in_use", {"id": entity}) for entity in kept_ids)


@given(st.lists(st.tuples(st.booleans(), names, predicates, names, st.integers(1, 3)), max_size=12))
def test_b6_inference_over_the_store_is_a_naive_closure_of_what_is_told(
    steps: list[tuple[bool, str, str, str, int]],
) -> None:
    from shared_core.long_term.graph.predicates import compiled, meaning_of

    told: dict[tuple[str, str, str], set[int]] = {}
    numbers: dict[str, int] = {}
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        for number in (1, 2, 3):
            scope.add(f"note {number}", id=f"r{number}")
        for adds, subject, predicate, object_, source in steps:
            if adds:
                scope.graph.add(subject, predicate, object_, source=f"r{source}")
                key = (entity_key(subject), predicate_key(predicate), entity_key(object_))
                told.setdefault(key, set()).add(source)
            else:
                before = scope.graph.stats()
                erased = scope.delete(f"r{source}").erased
                scope.add(f"note {source}", id=f"r{source}")
                for sources in told.values():
                    sources.discard(source)
                told = {key: sources for key, sources in told.items() if sources}
                assert erased.get("relations", 0) == before.relations - len(told)
            facts = {
                (numbers.setdefault(s, len(numbers)), meaning_of(p).meaning, numbers.setdefault(o, len(numbers)))
                for s, p, o in told
            }
            inferred = naive(facts, compiled([])) - facts
            found = {
                (numbers[entity_key(s)], meaning_of(predicate_key(p)).meaning, numbers[entity_key(o)])
                for s, p, o in (each.triple for each in scope.graph.relations() if each.inferred)
            }
            assert found == inferred
            if not adds:
                assert erased.get("inferences", 0) >= before.inferred - len(inferred)
