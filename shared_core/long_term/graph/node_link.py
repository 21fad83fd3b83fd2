"""Graphs as node-link JSON, the format of networkx and D3.

networkx has called the edges "links" and then "edges", and a reader that expects one of them finds
no edges in the other; this reads both, and writes "edges", without networkx' help or its warnings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.json_values import check_values, first_line
from shared_core.long_term.graph.values import Entity, Relation

Person = tuple[str, str | None, dict[str, Any], list[str]]
"""Name, type, attributes, aliases."""

_LARGEST = 256 * 2**20  # bytes of a file, which is held whole
_NAMES = ("name", "label")
_PREDICATES = ("predicate", "relation", "label", "type", "key")
_RESERVED = frozenset({"source", "target", "key", "predicate", "confidence", "attributes"})


def write(path: str | os.PathLike[str], entities: Sequence[Entity], relations: Sequence[Relation]) -> int:
    """Write a graph, whole or not at all; how many relations."""
    nodes = [
        {"id": each.name, "type": each.type, "aliases": list(each.aliases), "attributes": each.attributes}
        for each in entities
    ]
    edges = [
        {
            "source": each.subject, "target": each.object, "key": each.predicate, "predicate": each.predicate,
            "confidence": each.confidence, "attributes": each.attributes,
        }
        for each in relations
    ]  # fmt: skip
    whole = {"directed": True, "multigraph": True, "graph": {"format": "twinmem 1"}, "nodes": nodes, "edges": edges}
    target = Path(path)
    waiting = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        waiting.write_text(json.dumps(whole, ensure_ascii=False, indent=1), encoding="utf-8")
        waiting.replace(target)
    finally:
        waiting.unlink(missing_ok=True)
    return len(edges)


def read(path: str | os.PathLike[str]) -> tuple[list[Person], list[dict[str, Any]]]:
    """The entities and relations of a file, with edges under "edges" or "links"; relations as `add`'s arguments.

    Raises `InvalidInput` for what is no node-link graph.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST} bytes")
        check_values(raw)
        whole = json.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise InvalidInput(f"{os.fspath(path)} can't be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise InvalidInput(f"{os.fspath(path)} is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(f"{os.fspath(path)} can't be read as JSON: {first_line(error)}") from error
    if not isinstance(whole, Mapping) or not isinstance(whole.get("nodes"), list):
        raise InvalidInput(f"{os.fspath(path)} is no node-link graph: it needs the lists nodes and edges (or links)")
    lists = [whole.get(key) or [] for key in ("edges", "links")]
    if not all(isinstance(each, list) for each in lists):
        raise InvalidInput(f"{os.fspath(path)} is no node-link graph: edges (or links) is a list")
    edges = [edge for each in lists for edge in each]
    if not all(isinstance(each, Mapping) for each in (*whole["nodes"], *edges)):
        raise InvalidInput(f"{os.fspath(path)} is no node-link graph: nodes and edges are objects")
    names: dict[Any, str] = {}
    people = []
    for node in whole["nodes"]:
        person = _person(node)
        names[_key(node.get("id"))] = person[0]
        people.append(person)
    return people, [_edge(edge, names) for edge in edges]


def _key(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else json.dumps(value, sort_keys=True)


def _person(node: Mapping[str, Any]) -> Person:
    id_ = node.get("id")
    name = id_ if isinstance(id_, str) else next((node[key] for key in _NAMES if isinstance(node.get(key), str)), id_)
    if name is None:
        raise InvalidInput("a node without an id; give every node one")
    given, aliases = node.get("attributes"), node.get("aliases")
    attributes = dict(given) if isinstance(given, Mapping) else {}
    attributes |= {key: value for key, value in node.items() if key not in ("id", "type", "aliases", "attributes")}
    type_ = node.get("type")
    if type_ is not None and not isinstance(type_, str):
        attributes["type"], type_ = type_, None
    others = [each for each in aliases if isinstance(each, str)] if isinstance(aliases, list) else []
    return str(name), type_ or None, attributes, others


def _edge(edge: Mapping[str, Any], names: Mapping[Any, str]) -> dict[str, Any]:
    ends = [edge.get("source"), edge.get("target")]
    if None in ends:
        raise InvalidInput("an edge without source or target; give it both")
    predicate = next((edge[key] for key in _PREDICATES if isinstance(edge.get(key), str) and edge[key].strip()), None)
    given = edge.get("attributes")
    attributes = dict(given) if isinstance(given, Mapping) else {}
    attributes |= {key: value for key, value in edge.items() if key not in _RESERVED and value != predicate}
    confidence = edge.get("confidence", 1.0)
    return {
        "subject": names.get(_key(ends[0]), str(ends[0])),
        "predicate": predicate or "related to",
        "object": names.get(_key(ends[1]), str(ends[1])),
        "confidence": 1.0 if confidence is None else confidence,
        "attributes": attributes,
    }
