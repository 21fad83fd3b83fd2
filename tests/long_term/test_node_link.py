"""Node-link files (R48): edges are found under either name, and nothing is lost on the way."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.readwrite import json_graph

from shared_core import AgentMemory, Scope
from shared_core.errors import InvalidInput, InvalidType

ATTRIBUTES = {"none": None, "list": [1, "二"], "when": datetime(2026, 1, 2, tzinfo=UTC), "中文": "值", "n": np.int64(7)}
KEPT = {"none": None, "list": [1, "二"], "when": "2026-01-02T00:00:00+00:00", "中文": "值", "n": 7}


def test_r48_a_saved_graph_loads_as_it_was(scope: Scope, memory: AgentMemory, tmp_path: Path) -> None:
    graph, other = scope.graph, memory.scope(user="bob").graph
    record = scope.add("张伟就职于ACME")
    graph.add("张伟", "就职于", "ACME", confidence=0.7, source=record.id, attributes=ATTRIBUTES)
    graph.add_many(
        [("A", "next", "B"), ("B", "next", "C"), ("C", "next", "A"), ("A", "knows", "A"), ("A", "also", "B")]
    )
    graph.add(" acme ", "is a", "company")
    graph.alias("张伟", "老板")
    graph.describe("张伟", type="人", attributes={"age": 30})
    graph.describe("Hermit", type="person")
    assert graph.save(tmp_path / "图.json") == other.load(tmp_path / "图.json") == 7
    mine, theirs = graph.relations(), other.relations()
    assert [(each.triple, each.confidence, each.attributes) for each in theirs] == [
        (each.triple, each.confidence, each.attributes) for each in mine
    ]
    assert theirs[0].attributes == KEPT
    assert {each.source for each in theirs} == {None}
    named = {each.name: each for each in other.entities()}
    assert named == {each.name: each for each in graph.entities()}
    assert named["张伟"].aliases == ("老板",)


@pytest.mark.parametrize("key", ["edges", "links"])
@pytest.mark.parametrize("multigraph", [True, False])
def test_r48_files_of_networkx_load_with_all_edges_under_either_key(
    scope: Scope, tmp_path: Path, key: str, multigraph: bool
) -> None:
    made: Any = nx.MultiDiGraph() if multigraph else nx.DiGraph()
    made.add_node("a", type="thing", 颜色="红")
    made.add_edge(
        "a", "b", **({"key": "likes"} if multigraph else {"label": "likes"}), weight=2, note=None, 备注=["一"]
    )
    made.add_edge("b", "c", relation="knows")
    made.add_edge("c", "a", predicate="sees", confidence=0.5)
    made.add_edge(1, 2)
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(json_graph.node_link_data(made, edges=key)), encoding="utf-8")
    assert scope.graph.load(path) == 4
    found = {str(each): each for each in scope.graph.relations()}
    assert set(found) == {"a likes b", "b knows c", "c sees a", "1 related to 2"} or multigraph
    assert {"a likes b", "b knows c", "c sees a"} <= set(found)
    assert found["c sees a"].confidence == 0.5
    likes = found["a likes b"].attributes
    assert {name: likes[name] for name in ("weight", "note", "备注")} == {"weight": 2, "note": None, "备注": ["一"]}
    entity = scope.graph.entity("a")
    assert entity is not None
    assert (entity.type, entity.attributes) == ("thing", {"颜色": "红"})


def test_r48_what_is_saved_is_read_by_networkx_itself(scope: Scope, tmp_path: Path) -> None:
    scope.graph.add_many([("A", "likes", "B"), ("A", "knows", "B"), ("张伟", "喜欢", "茶")])
    scope.graph.save(tmp_path / "graph.json")
    read = json_graph.node_link_graph(json.loads((tmp_path / "graph.json").read_text(encoding="utf-8")), edges="edges")
    assert isinstance(read, nx.MultiDiGraph)
    assert set(read.edges(keys=True)) == {("A", "B", "likes"), ("A", "B", "knows"), ("张伟", "茶", "喜欢")}


def test_r48_an_empty_graph_and_a_star_of_five_thousand(scope: Scope, memory: AgentMemory, tmp_path: Path) -> None:
    assert scope.graph.save(tmp_path / "empty.json") == scope.graph.load(tmp_path / "empty.json") == 0
    scope.graph.add_many([("hub", "links", f"leaf {number}") for number in range(5_000)])
    assert scope.graph.save(tmp_path / "star.json") == 5_000
    other = memory.scope(user="bob").graph
    assert other.load(tmp_path / "star.json") == 5_000
    assert other.load(tmp_path / "star.json") == 5_000  # told again, it is the same
    assert other.stats() == scope.graph.stats()


@pytest.mark.parametrize(
    "content",
    ["", "no JSON", "[]", "{}", '{"nodes": 1}', '{"nodes": [1]}', '{"nodes": [{}]}', '{"nodes": [], "edges": [{}]}',
     '{"nodes": [], "links": [{"source": "a"}]}', '{"nodes": [{"id": " "}]}', '{"nodes": [{"id": "good"}], "edges": [[]]}',
     '{"nodes": [{"id": "good"}], "edges": [{"source": "a", "target": "b", "confidence": 3}]}',
     '{"nodes": [{"id": "good"}], "edges": [{"source": "a", "target": "b", "confidence": "x"}]}'],
)  # fmt: skip
def test_r48_what_is_no_graph_is_refused_and_nothing_of_it_stays(scope: Scope, tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    with pytest.raises((InvalidInput, InvalidType)):
        scope.graph.load(tmp_path / "bad.json")
    assert scope.graph.entities() == []
