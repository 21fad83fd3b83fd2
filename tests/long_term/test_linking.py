"""One thing under many names (B5, R46): told, never guessed, and always undone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, NotFound
from shared_core.long_term.graph.likeness import likeness
from shared_core.long_term.graph.names import entity_key, shown


def names(scope: Scope) -> list[str]:
    return [each.name for each in scope.graph.entities()]


def triples(scope: Scope) -> list[str]:
    return sorted(str(each) for each in scope.graph.relations(inferred=False))


# ---------------------------------------------------------------------- R46: spelling


@pytest.mark.parametrize(
    ("spellings", "others"),
    [
        (["ACME", " acme ", "ＡＣＭＥ", "ACME"], ["ACME Labs", "ACME."]),
        (["张伟", "张 伟", " 张伟 ", "张\u3000伟"], ["张伟民", "张卫"]),
        (["App v1", "app  V1", "Ａｐｐ ｖ１"], ["App v2", "App v11"]),
        (["腾讯 QQ", "腾讯QQ"], ["腾讯"]),
        (["C++", "c++"], ["C", "C#"]),
        (["Straße", "STRASSE"], ["Strasbourg"]),
    ],
)
def test_r46_spellings_of_a_name_are_one_node_and_near_names_are_not(
    scope: Scope, spellings: list[str], others: list[str]
) -> None:
    for number, name in enumerate(spellings):
        scope.graph.add(name, "is", f"fact {number}")
    for name in others:
        scope.graph.add(name, "is", "another")
    entity = scope.graph.entity(spellings[-1])
    assert entity is not None
    assert entity.name == spellings[0]
    assert list(entity.aliases) == list(dict.fromkeys(shown(each) for each in spellings if shown(each) != spellings[0]))
    assert len(scope.graph.neighbours(spellings[1])) == len(spellings)  # the edges of all spellings, united
    assert set(others) <= set(names(scope))
    assert len(names(scope)) == 1 + len(others) + len(spellings) + 1


def test_r46_a_relation_told_in_two_spellings_is_one_and_shows_both_names(scope: Scope) -> None:
    for name in ("ACME", " acme ", "ＡＣＭＥ", "ACME"):
        scope.graph.add(name, "is a", "company")
    assert triples(scope) == ["ACME is a company"]
    entity = scope.graph.entity("acme")
    assert entity is not None
    assert entity.aliases == ("acme", "ＡＣＭＥ")


@given(st.text(max_size=12))
def test_r46_a_key_is_settled_and_blind_to_case_width_and_space(text: str) -> None:
    key = entity_key(text)
    assert entity_key(key) == key
    assert entity_key(f" {text} ") == key
    assert entity_key(shown(text)) == key


# ---------------------------------------------------------------------- B5: aliases


@pytest.mark.parametrize(
    ("name", "aliases", "fact"),
    [
        ("Zhang San", ["Director Zhang", "the boss"], ("Zhang San", "leads", "Alpha")),
        ("张三", ["张主任", "老板", "Zhang San"], ("张三", "负责", "凤凰项目")),
    ],
)
def test_b5_a_told_alias_resolves_in_every_verb(
    scope: Scope, name: str, aliases: list[str], fact: tuple[str, str, str]
) -> None:
    graph = scope.graph
    graph.add(*fact)
    for alias in aliases:
        graph.alias(name, alias)
        graph.add(alias, "likes", f"tea of {alias}")
    entity = graph.entity(aliases[-1].upper())
    assert entity is not None
    assert entity.name == name
    assert set(entity.aliases) == set(aliases)
    for alias in aliases:
        assert {each.name for each in graph.neighbours(alias)} == {fact[2], *(f"tea of {each}" for each in aliases)}
        assert graph.paths(alias, fact[2])[0].names == (name, fact[2])
        assert graph.text(alias).startswith(name)
    assert graph.add(aliases[0], "owns", "bike").subject == name
    assert name in graph.to_networkx()
    assert not set(aliases) & set(graph.to_networkx())


def test_b5_an_alias_can_be_told_before_anything_else(scope: Scope) -> None:
    scope.graph.alias("张伟", "老板")
    scope.graph.add("老板", "住在", "杭州")
    assert triples(scope) == ["张伟 住在 杭州"]
    assert [a.text for a in scope.graph.ask("张伟住在哪里？")] == ["杭州"]
    assert [a.text for a in scope.graph.ask("老板住在哪里？")] == ["杭州"]


def test_b5_a_name_means_one_thing_and_the_last_told(scope: Scope) -> None:
    graph = scope.graph
    graph.alias("Zhang San", "the boss")
    graph.add("the boss", "likes", "tea")
    graph.alias("Li Si", "the boss")
    assert [each.name for each in graph.neighbours("Li Si")] == ["tea"]
    assert graph.neighbours("Zhang San") == []
    assert graph.entity("the boss") == graph.entity("Li Si")
    assert graph.add("the boss", "owns", "bike").subject == "Li Si"
    graph.split("the boss")
    assert triples(scope) == ["the boss likes tea", "the boss owns bike"]
    with pytest.raises(NotFound):
        graph.split("the boss")


def test_b5_an_alias_that_goes_round_changes_nothing(scope: Scope) -> None:
    graph = scope.graph
    graph.add("A", "likes", "tea")
    graph.alias("A", "B")
    assert graph.alias("B", "A").name == "A"
    assert graph.alias("A", "a").name == "A"
    assert graph.merge("A", "B").name == "A"
    entity = graph.entity("B")
    assert entity is not None
    assert (entity.name, entity.aliases) == ("A", ("B",))


# ---------------------------------------------------------------------- B5: merges and splits


def test_b5_a_merge_unites_the_edges_and_a_split_gives_each_its_own_back(scope: Scope) -> None:
    graph = scope.graph
    graph.add("ACME", "located in", "Lyon")
    graph.add("ACME Corp", "located in", "Lyon")
    graph.add("ACME Corp", "makes", "anvils")
    graph.describe("ACME Corp", type="company", attributes={"founded": 1949})
    before = triples(scope)
    assert graph.merge("ACME", "ACME Corp").aliases == ("ACME Corp",)
    assert triples(scope) == ["ACME located in Lyon", "ACME makes anvils"]
    merged = graph.entity("acme corp")
    assert merged is not None
    assert (merged.name, merged.type, merged.attributes) == ("ACME", "company", {"founded": 1949})
    assert [each.name for each in graph.split("ACME Corp")] == ["ACME Corp", "ACME"]
    assert triples(scope) == before
    alone = graph.entity("ACME")
    assert alone is not None
    assert (alone.aliases, alone.type) == ((), None)
    graph.merge("ACME", "ACME Corp")
    assert len(triples(scope)) == 2


def test_b5_what_is_told_while_merged_stays_with_the_name_it_was_told_of(scope: Scope) -> None:
    graph = scope.graph
    graph.add("张三", "喜欢", "茶")
    graph.add("小张", "喜欢", "酒")
    graph.merge("张三", "小张")
    graph.add("小张", "住在", "杭州")
    assert len(graph.neighbours("张三")) == 3
    graph.split("张三", "小张")
    assert triples(scope) == ["小张 住在 杭州", "小张 喜欢 酒", "张三 喜欢 茶"]


def test_b5_groups_merge_as_a_whole_and_split_where_they_are_told_to(scope: Scope) -> None:
    graph = scope.graph
    for name in ("a1", "a2", "b1", "b2"):
        graph.add(name, "likes", f"tea {name}")
    graph.merge("a1", "a2")
    graph.merge("b1", "b2")
    graph.merge("a2", "b2")
    assert len(graph.neighbours("b1")) == 4
    graph.split("a1", "b2")
    assert {each.name for each in graph.neighbours("a2")} == {"tea a1", "tea a2"} | {
        each.name for each in graph.neighbours("a1")
    }
    graph.split("a1")
    assert [each.name for each in graph.neighbours("a2")] != [each.name for each in graph.neighbours("a1")]


def test_b5_splitting_the_name_that_others_mean_lets_all_of_them_go(scope: Scope) -> None:
    graph = scope.graph
    for name in ("A", "B", "C"):
        graph.add(name, "likes", f"tea {name}")
    graph.merge("A", "B")
    graph.merge("A", "C")
    assert {each.name for each in graph.split("A")} == {"A", "B", "C"}
    assert triples(scope) == ["A likes tea A", "B likes tea B", "C likes tea C"]


def test_b5_a_mere_spelling_can_be_split_off_and_merged_again(scope: Scope) -> None:
    graph = scope.graph
    graph.add("Apple", "makes", "phones")
    graph.add("apple", "is a", "fruit")
    assert len(graph.neighbours("Apple")) == 2
    assert {each.name for each in graph.split("apple")} == {"Apple", "apple"}
    graph.add("apple", "grows on", "trees")
    graph.add("Apple", "located in", "Cupertino")
    assert {each.name for each in graph.neighbours("apple")} == {"fruit", "trees"}
    assert {each.name for each in graph.neighbours("Apple")} == {"phones", "Cupertino"}
    graph.merge("Apple", "apple")
    assert len(graph.neighbours("APPLE")) == 4


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [("merge", ("Ann", "nobody")), ("merge", ("nobody", "Ann")), ("split", ("Ann",)), ("split", ("nobody",)),
     ("split", ("Ann", "Bob"))],
)  # fmt: skip
def test_b5_there_is_nothing_to_undo_or_unite_is_an_error(scope: Scope, verb: str, arguments: tuple[str, ...]) -> None:
    scope.graph.add("Ann", "likes", "tea")
    scope.graph.add("Bob", "likes", "tea")
    before = triples(scope)
    with pytest.raises(NotFound):
        getattr(scope.graph, verb)(*arguments)
    with pytest.raises(InvalidInput):
        scope.graph.alias("Ann", " ")
    assert triples(scope) == before


@given(st.lists(st.tuples(st.sampled_from(["alias", "merge", "split", "split2"]), *[st.sampled_from("ABCDE")] * 2)))
def test_b5_any_row_of_merges_and_splits_keeps_every_relation_and_comes_undone(
    steps: list[tuple[str, str, str]],
) -> None:
    """Whatever was merged and split, splitting all names again gives the graph as it was told."""
    with AgentMemory.open(embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        graph = scope.graph
        for name in "ABCDE":
            graph.add(name, "likes", f"tea {name}")
        before = triples(scope)
        for verb, one, other in steps:
            try:
                if verb == "split":
                    graph.split(one)
                elif verb == "split2":
                    graph.split(one, other)
                else:
                    getattr(graph, verb)(one, other)
            except NotFound:
                pass
            found = {each.name for name in "ABCDE" for each in graph.neighbours(name)}
            assert found == {f"tea {name}" for name in "ABCDE"}
            assert graph.stats().relations == 5
        for name in "ABCDE":
            while True:
                try:
                    graph.split(name)
                except NotFound:
                    break
        assert triples(scope) == before


# ---------------------------------------------------------------------- B5: proposals


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ACME", "ACME Inc."), ("José García", "Jose Garcia"), ("International Business Machines", "IBM"),
        ("Zhang San", "Director Zhang"), ("Caroline Smith", "Caroline"), ("Kubernetes", "Kubernettes"),
        ("张三", "张主任"), ("腾讯", "腾讯公司"), ("字节跳动", "字节跳动有限公司"), ("e-mail", "email"),
    ],
)  # fmt: skip
def test_b5_likely_aliases_are_proposed_and_never_merged_unasked(scope: Scope, one: str, other: str) -> None:
    scope.graph.add(one, "likes", "乌龙茶")
    scope.graph.add(other, "likes", "咖啡")
    [proposal] = scope.graph.proposals()
    assert {proposal.name, proposal.other} == {one, other}
    assert proposal.reason
    assert len(names(scope)) == 4
    scope.graph.merge(one, other)
    assert scope.graph.proposals() == []
    scope.graph.split(one, other)
    assert scope.graph.proposals() == []  # the user has said that they are two
    scope.graph.merge(one, other)
    scope.graph.split(other)
    assert scope.graph.proposals() == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("App v1", "App v2"), ("张伟", "张伟民"), ("王芳", "王方"), ("ACME", "ACME Labs"), ("Monday", "Tuesday"),
        ("Room 101", "Room 102"), ("Ann Smith", "Bob Smith"), ("张主任", "张老师"), ("tea", "team"), ("Conference Room 101", "Conference Room 102"),
    ],
)  # fmt: skip
def test_b5_different_things_are_not_proposed(scope: Scope, one: str, other: str) -> None:
    scope.graph.add(one, "likes", "乌龙茶")
    scope.graph.add(other, "likes", "咖啡")
    assert scope.graph.proposals() == []


def test_b5_two_that_have_a_relation_are_two(scope: Scope) -> None:
    scope.graph.add("Caroline", "sister of", "Caroline Smith")
    assert likeness("caroline", "caroline smith") is not None
    assert scope.graph.proposals() == []
