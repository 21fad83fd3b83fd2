"""What follows by rules (B6): all of it, nothing else, and gone with what it rests on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, NotFound
from shared_core.long_term.graph.inference import Atom, Clause, Closure, Fact, parse
from shared_core.long_term.graph.predicates import BUILTIN, clause, compiled, meaning_of

RULES = [
    "p(A, B) & p(B, C) => p(A, C)",
    "q(A, B) & p(B, C) => q(A, C)",
    "q(A, B) & q(C, B) => r(A, C)",
    "r(A, B) => q(B, A)",
    "p(A, B) & q(B, C) & r(C, D) => s(A, D)",
    "s(A, A) & p(A, B) => q(B, A)",
    "p(A, B) & p(B, A) => r(A, B)",
]


def naive(told: set[Fact], clauses: tuple[Clause, ...]) -> set[Fact]:
    """Every fact that follows, by trying everything until nothing new comes: slow, and plainly right."""
    known = set(told)
    while True:
        fresh = set()
        for each in clauses:
            for binding in bindings(each.body, {}, known):
                head = (binding[each.head.subject], each.head.predicate, binding[each.head.object])
                if head[0] != head[2] and head not in known:
                    fresh.add(head)
        if not fresh:
            return known
        known |= fresh


def bindings(body: tuple[Atom, ...], so_far: dict[str, int], known: set[Fact]) -> list[dict[str, int]]:
    if not body:
        return [so_far]
    found = []
    for subject, predicate, object_ in known:
        atom, binding = body[0], dict(so_far)
        if predicate != atom.predicate:
            continue
        if binding.setdefault(atom.subject, subject) == subject and binding.setdefault(atom.object, object_) == object_:
            found += bindings(body[1:], binding, known)
    return found


facts = st.tuples(st.integers(0, 2), st.sampled_from("pqrs"), st.integers(0, 2))
steps = st.lists(st.tuples(st.booleans(), st.lists(facts, max_size=4)), max_size=10)


@settings(max_examples=200)
@given(st.sets(st.sampled_from(RULES), max_size=5), steps)
def test_b6_what_follows_is_what_a_naive_closure_finds_however_facts_come_and_go(
    rules: set[str], changes: list[tuple[bool, list[Fact]]]
) -> None:
    clauses = tuple(Clause(text, *parse(text)) for text in sorted(rules))
    closure = Closure(clauses)
    told: set[Fact] = set()
    for adds, batch in changes:
        before = set(closure.derived)
        if adds:
            told |= set(batch)
            gained = closure.add(batch)
            assert set(gained) <= set(closure.derived) - before
        else:
            told -= set(batch)
            lost = closure.remove(batch)
            assert lost == before - set(closure.derived) - told
        assert closure.told == told
        assert closure.told | set(closure.derived) == naive(told, clauses)
        assert not closure.told & set(closure.derived)
        for head, derivation in closure.derived.items():  # every proof is one, and none goes in circles
            assert all(premise in closure for premise in derivation.premises)
            binding: dict[str, int] = {}
            for atom, premise in zip(derivation.clause.body, derivation.premises, strict=True):
                assert atom.predicate == premise[1]
                assert binding.setdefault(atom.subject, premise[0]) == premise[0]
                assert binding.setdefault(atom.object, premise[2]) == premise[2]
            assert head == (binding[derivation.clause.head.subject], head[1], binding[derivation.clause.head.object])
            grounded(closure, head)


def grounded(closure: Closure, fact: Fact, above: frozenset[Fact] = frozenset()) -> None:
    assert fact not in above
    if fact not in closure.told:
        for premise in closure.derived[fact].premises:
            grounded(closure, premise, above | {fact})


def test_b6_facts_that_only_prove_each_other_fall_together() -> None:
    closure = Closure([Clause("swap", *parse("p(A, B) => q(B, A)")), Clause("back", *parse("q(A, B) => p(B, A)"))])
    closure.add([(1, "p", 2)])
    closure.add([(3, "r", 4)])
    assert closure.remove([(1, "p", 2)]) == {(2, "q", 1)}
    assert not closure.derived


def test_b6_the_limit_keeps_the_nearest_conclusions_and_says_that_there_are_more() -> None:
    closure = Closure([Clause("t", *parse("p(A, B) & p(B, C) => p(A, C)"))], limit=10)
    closure.add([(number, "p", number + 1) for number in range(50)])
    assert len(closure.derived) == 10
    assert closure.full
    assert all(object_ - subject == 2 for subject, _, object_ in closure.derived)


# ---------------------------------------------------------------------- rules as text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uses(A, B) & is_a(B, C) => uses(A, C)", "uses(A, B) & is_a(B, C) => uses(A, C)"),
        ("uses(A,B),is a(B,C)->uses(A,C)", "uses(A, B) & is_a(B, C) => uses(A, C)"),
        ("使用（甲，乙）且 是（乙，丙）→ 使用（甲，丙）", "uses(甲, 乙) & is_a(乙, 丙) => uses(甲, 丙)"),
        ("employs(A, B) and 位于(A, C) => works_in_place(B, C)", "works_at(B, A) & located_in(A, C) => works_in_place(B, C)"),
        ("married_to(A, B) => married_to(B, A)", "married_to(A, B) => married_to(B, A)"),
    ],
)  # fmt: skip
def test_b6_rules_are_read_in_both_languages_by_meaning(text: str, expected: str) -> None:
    assert str(clause("x", text)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "uses(A, B)", "uses(A, B) => ", "=> uses(A, B)", "uses(A) => uses(A, B)", "uses(A, B) => uses(A, C)",
     "uses(A, B) & is_a(C, D) => uses(A, D)", "uses(A, B) => uses(A, A)", "a(A, B) => b(A, B) => c(A, B)",
     "a(A,B) & b(B,C) & c(C,D) & d(D,E) & e(E,F) => f(A,F)", "a(A, B) b(B, C) => c(A, C)", "x" * 500],
)  # fmt: skip
def test_b6_what_is_no_rule_is_refused(scope: Scope, text: str) -> None:
    with pytest.raises(InvalidInput):
        scope.graph.rule(text)
    assert len(scope.graph.rules()) == len(BUILTIN)


def test_b6_builtin_rules_are_rules() -> None:
    assert len(compiled([])) == len(BUILTIN)
    assert {meaning_of(key).meaning for key in ("uses", "使用", "用了", "utilizes", "built on", "采用")} == {"uses"}
    assert {meaning_of(key).meaning for key in ("is a", "is an", "是", "是一种", "kind of")} == {"is_a"}


# ---------------------------------------------------------------------- in the graph


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([("Alpha", "uses", "RabbitMQ"), ("RabbitMQ", "is a", "message queue")], "Alpha uses message queue"),
        ([("凤凰", "用了", "RocketMQ"), ("RocketMQ", "是一种", "消息队列")], "凤凰 用了 消息队列"),
        ([("Ann", "lives in", "Lyon"), ("Lyon", "is in", "France")], "Ann lives in France"),
        ([("张伟", "住在", "深圳"), ("深圳", "位于", "广东")], "张伟 住在 广东"),
        ([("张伟", "就职于", "研究院"), ("研究院", "隶属于", "腾讯")], "张伟 就职于 腾讯"),
        ([("ACME", "employs", "Ann"), ("ACME", "part of", "Globex")], "Ann works_at Globex"),
    ],
)  # fmt: skip
def test_b6_an_inferred_relation_is_marked_and_names_its_premises(
    scope: Scope, told: list[tuple[str, str, str]], expected: str
) -> None:
    scope.graph.add_many([{"subject": s, "predicate": p, "object": o, "confidence": 0.5} for s, p, o in told])
    [found] = [each for each in scope.graph.relations() if each.inferred]
    assert " ".join(found.triple) == expected
    assert set(found.premises) == set(told)
    assert (found.confidence, found.source, found.sources) == (0.25, None, ())
    assert found.rule in BUILTIN
    assert found in [n.relation for n in scope.graph.neighbours(found.subject, found.predicate)]
    assert found not in [n.relation for n in scope.graph.neighbours(found.subject, inferred=False)]
    data = scope.graph.to_networkx().edges[found.subject, found.object, found.predicate]
    assert (data["inferred"], data["rule"]) == (True, found.rule)
    assert not scope.graph.to_networkx(inferred=False).has_edge(found.subject, found.object)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("way", ["remove", "delete the record", "delete the entity", "supersede"])
def test_b6_it_is_gone_when_a_premise_goes(scope: Scope, which: int, way: str) -> None:
    graph = scope.graph
    told = [("Alpha", "uses", "RabbitMQ"), ("RabbitMQ", "is a", "message queue")]
    notes = [scope.add(" ".join(each)) for each in told]
    for triple, note in zip(told, notes, strict=True):
        graph.add(*triple, source=note.id)
    assert graph.stats().inferred == 1
    if way == "remove":
        assert graph.remove(*told[which]).erased == {"relations": 1, "entities": 1, "inferences": 1}
    elif way == "delete the record":
        assert scope.delete(notes[which].id).erased["inferences"] == 1
    elif way == "delete the entity":
        assert graph.delete(told[which][2]).erased["inferences"] == 1
    else:
        engine = scope._engine
        with engine.store.write() as tx:
            from shared_core.store import ledger

            seq, item, number = scope._raw(tx, notes[which].id)
            item.status = "superseded"
            ledger.change(tx, number, seq, item, engine.now(), None)
    assert graph.stats().inferred == 0
    assert graph.ask("Which projects use a message queue?") == []


def test_b6_it_stays_while_it_follows_in_another_way(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("Alpha", "uses", "Kafka"), ("Alpha", "uses", "RabbitMQ")])
    graph.add_many([("Kafka", "is a", "queue"), ("RabbitMQ", "is a", "queue")])
    [found] = [each for each in graph.relations() if each.inferred]
    for premise in found.premises:
        assert graph.remove(*premise).erased.get("inferences", 0) == 0
        [other] = [each for each in graph.relations() if each.inferred]
        assert (other.triple, premise in other.premises) == (found.triple, False)
        graph.add(*premise)


def test_b6_what_is_told_outright_is_not_inferred_and_stays(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("Alpha", "uses", "Kafka"), ("Kafka", "is a", "queue"), ("Alpha", "使用", "queue")])
    assert graph.stats().inferred == 0
    graph.remove("Alpha", "使用", "queue")
    assert graph.stats().inferred == 1
    graph.add("Alpha", "uses", "queue")
    graph.remove("Kafka", "is a", "queue")
    assert {str(each) for each in graph.relations()} == {"Alpha uses Kafka", "Alpha uses queue"}


def test_b6_rules_of_the_user_work_at_once_on_what_was_told_before(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("Tom", "parent of", "Ann"), ("Ann", "child", "Eve"), ("张父", "父亲", "张祖")])
    declared = graph.rule("parent_of(A, B) & parent_of(B, C) => grandparent_of(A, C)", name="grand", confidence=0.8)
    assert declared in graph.rules()
    [found] = [each for each in graph.relations() if each.inferred]
    assert (tuple(found.triple), found.rule, found.confidence) == (("Tom", "grandparent_of", "Eve"), "grand", 0.8)
    assert [a.text for a in graph.ask("Who is the grandparent of Eve?")] == ["Tom"]
    graph.drop_rule("grand")
    assert graph.stats().inferred == 0
    with pytest.raises(NotFound):
        graph.drop_rule("grand")


def test_b6_a_builtin_rule_can_be_turned_off_and_replaced(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("Alpha", "uses", "Kafka"), ("Kafka", "is a", "queue")])
    graph.drop_rule("using a kind")
    assert graph.stats().inferred == 0
    assert "using a kind" not in [rule.name for rule in graph.rules()]
    graph.rule(BUILTIN["using a kind"], name="using a kind")
    assert graph.stats().inferred == 1


def test_b6_inference_follows_merges_and_splits(scope: Scope) -> None:
    graph = scope.graph
    graph.add_many([("Alpha", "uses", "Rabbit"), ("RabbitMQ", "is a", "queue")])
    assert graph.stats().inferred == 0
    graph.merge("RabbitMQ", "Rabbit")
    assert graph.stats().inferred == 1
    graph.split("RabbitMQ", "Rabbit")
    assert graph.stats().inferred == 0


def test_b6_a_deletion_that_breaks_an_alias_takes_the_inference_along(scope: Scope) -> None:
    graph = scope.graph
    note = scope.add("Rabbit is short for RabbitMQ")
    graph.add_many([("Alpha", "uses", "Rabbit"), ("RabbitMQ", "is a", "queue")])
    graph.alias("RabbitMQ", "Rabbit", source=note.id)
    assert graph.stats().inferred == 1
    assert scope.delete(note.id).erased == {"records": 1, "vectors": 1, "aliases": 1, "inferences": 1}
    assert graph.stats().inferred == 0


def test_b6_the_limit_on_inferences_gives_the_same_ones_every_time() -> None:
    chain = [(f"n{number:02}", "part of", f"n{number + 1:02}") for number in range(30)]
    found = []
    for step in (1, 30):
        with AgentMemory.open(embedder="hashing", settings={"graph": {"inferred": 20}}) as memory:
            graph = memory.scope(user="alice").graph
            for start in range(0, 30, step):
                graph.add_many(chain[start : start + step])
                graph.stats()
            found.append({each.triple for each in graph.relations() if each.inferred})
    assert found[0] == found[1]
    assert len(found[0]) == 20
