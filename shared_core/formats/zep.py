"""Zep and Graphiti: the edges of a graph, each a fact with four times, as their APIs give them in JSON.

`{"edges": [...], "nodes": [...]}`, `{"facts": [...]}`, a list of edges, or one a line. What became
false (`invalid_at`) or was replaced (`expired_at`) comes along as history. Without the nodes, or the
names of both ends beside the edge, a fact has no triple.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import as_name, at, moment
from shared_core.formats.json_stream import Item, Layout, Source
from shared_core.formats.told import Told, identity, needed, spoken, without_nothing

_WHAT = "a Zep fact"
_LISTS = ("edges", "facts")


def matches(sample: Any) -> bool:
    """Whether a file's first item is such an edge or holds some.

    >>> matches({"edges": [{"uuid": "1", "fact": "Ann works at ACME"}]}), matches({"fact": "x"})
    (True, False)
    """
    if isinstance(sample, list):
        return bool(sample) and matches(sample[0])
    if not isinstance(sample, dict):
        return False
    for key in _LISTS:
        if isinstance(sample.get(key), list):
            return not sample[key] or matches(sample[key][0])
    return isinstance(sample.get("fact"), str) and bool({"uuid", "uuid_"} & sample.keys())


def read(source: Source) -> Iterator[Told]:
    """The facts of an export."""
    if source.layout is not Layout.OBJECT:
        for item in source.items():
            yield from _listed(item, {})
        return
    names: dict[str, str] = {}
    for key, item in source.entries():  # the nodes may stand behind the edges that need them
        if key == "nodes" and isinstance(item.value, list):
            names |= dict(_node(value) for value in item.value if isinstance(value, dict))
    for key, item in source.entries():
        if key in _LISTS:
            yield from _listed(item, names)


def _node(value: Mapping[str, Any]) -> tuple[str, str]:
    return str(value.get("uuid") or value.get("uuid_")), as_name(value.get("name")) or ""


def _listed(item: Item, names: Mapping[str, str]) -> Iterator[Told]:
    values = item.value if isinstance(item.value, list) else [item.value]
    for number, value in enumerate(values, 1):
        with at(f"{item.where}, fact {number}" if isinstance(item.value, list) else item.where):
            if not isinstance(value, dict):
                raise InvalidInput(f"expected {_WHAT}: an object with 'uuid' and 'fact'")
            found = _fact(value, names)
        yield found


def _fact(value: Mapping[str, Any], names: Mapping[str, str]) -> Told:
    ends = [
        as_name(value.get(f"{end}_node_name")) or names.get(str(value.get(f"{end}_node_uuid")))
        for end in ("source", "target")
    ]
    predicate = as_name(value.get("name"))
    whole = bool(ends[0] and ends[1] and predicate)
    ended, invalid = moment(value.get("expired_at")), moment(value.get("invalid_at"))
    episodes, attributes = value.get("episodes") or value.get("episode_uuids"), value.get("attributes")
    about = without_nothing(relation=None if whole else predicate, episodes=episodes, attributes=attributes)
    return Told(
        id=f"zep:{identity(value, 'uuid', 'uuid_', what=_WHAT)}",
        text=needed(value, "fact", _WHAT),
        triple=(str(ends[0]), spoken(str(predicate)), str(ends[1])) if whole else None,
        metadata={"zep": about} if about else {},
        created_at=moment(value.get("created_at")),
        valid_from=moment(value.get("valid_at")),
        valid_until=invalid or ended,
        ended=invalid is not None or ended is not None,
    )
